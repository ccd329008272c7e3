<?php

// Prints for each case on standard input whether it verifies: now, secret, body, and names and values of headers, in base64.
require $argv[1];

while (($line = fgets(STDIN)) !== false) {
    $fields = array_map("base64_decode", explode(" ", rtrim($line, "\n")));
    [$now, $secret, $body] = $fields;
    $headers = [];
    for ($i = 3; $i < count($fields); $i += 2) {
        $headers[strtolower($fields[$i])] = $fields[$i + 1];
    }
    echo verified($headers, $body, $secret, (int) $now) ? "true\n" : "false\n";
}
