<?php

// Prints each body of standard input as json_encode writes it after json_decode: form and text, in base64.
$flags = [JSON_UNESCAPED_SLASHES, JSON_UNESCAPED_UNICODE, JSON_PRETTY_PRINT, JSON_PRESERVE_ZERO_FRACTION];

while (($line = fgets(STDIN)) !== false) {
    $body = base64_decode($line);
    for ($chosen = 0; $chosen < 1 << count($flags); $chosen++) {
        $options = 0;
        foreach ($flags as $i => $flag) {
            $options |= $chosen >> $i & 1 ? $flag : 0;
        }
        foreach ([true, false] as $arrays) {
            $text = json_encode(json_decode($body, $arrays), $options);
            echo base64_encode("json_encode $options"), " ", base64_encode($text), "\n";
        }
    }
}
