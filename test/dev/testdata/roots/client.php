<?php
$kept = getenv();

function filled(string $text): string
{
    global $kept;
    return preg_replace_callback('/\{([A-Z_]+)\}/', fn ($name) => $kept[$name[1]], $text);
}

// As Guzzle joins a request to its base_uri: an absolute path replaces the path of the base URL.
function joined(string $base, string $reference): string
{
    if (preg_match('#^https?://#', $reference)) {
        return $reference;
    }
    $u = parse_url($base);
    return $u['scheme'] . '://' . $u['host'] . (isset($u['port']) ? ':' . $u['port'] : '') . $reference;
}

function send(string $base, array $step): void
{
    global $kept;
    for ($begun = time(); ; usleep(50000)) {
        $context = stream_context_create(['http' => [
            'method' => $step['method'], 'header' => $step['headers'], 'content' => $step['body'] ?? '', 'follow_location' => 0,
        ]]);
        $text = file_get_contents(joined($base, $step['path']), false, $context);
        if ($text === false || time() - $begun > 60) {
            fwrite(STDERR, $step['path'] . ' is answered ' . $text);
            exit(1);
        }
        foreach ($step['keep'] as [$name, $pattern]) {
            preg_match('/' . $pattern . '/', $text, $found);
            $kept[$name] = stripslashes($found[1]);
        }
        if (str_contains($text, $step['until'] ?? '')) {
            return;
        }
    }
}

$base = '';
$step = null;
foreach ([...file($argv[1], FILE_IGNORE_NEW_LINES), 'end'] as $line) {
    [$word, $rest] = explode(' ', $line, 2) + ['', ''];
    if ($step && in_array($word, ['base', 'GET', 'POST', 'end'], true)) {
        send($base, $step);
        $step = null;
    }
    match ($word) {
        'base' => $base = filled($rest),
        'GET', 'POST' => $step = ['method' => $word, 'path' => filled($rest), 'headers' => [], 'keep' => []],
        'header' => $step['headers'][] = filled($rest),
        'keep' => $step['keep'][] = explode(' ', $rest, 2),
        'body', 'until' => $step[$word] = filled($rest),
        default => null,
    };
}
