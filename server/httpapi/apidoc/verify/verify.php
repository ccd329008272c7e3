<?php

/**
 * Whether a delivery is genuine and at most five minutes old. $headers has names in lower case:
 * array_change_key_case(getallheaders()). $body is file_get_contents("php://input"), never a parsed array. $secret is the sandbox's
 * webhook-signing-secret, exactly as it is in its Secret. After a rotation, the new and the previous secret verify.
 */
function verified(array $headers, string $body, string $secret, ?int $now = null): bool
{
    $sentAt = $headers["webhook-timestamp"] ?? "";
    if ($secret === "" || !ctype_digit($sentAt) || abs(($now ?? time()) - (int) $sentAt) > 300) {
        return false;
    }
    $plain = "sha256=" . hash_hmac("sha256", $body, $secret);
    if (!hash_equals($plain, $headers["x-service-signature"] ?? "") &&
        !hash_equals($plain, $headers["x-service-signature-previous"] ?? "")) { // hash_equals takes constant time
        return false;
    }
    $key = str_starts_with($secret, "whsec_") ? base64_decode(substr($secret, strlen("whsec_"))) : $secret;
    $signed = ($headers["webhook-id"] ?? "") . ".$sentAt.$body";
    $standard = "v1," . base64_encode(hash_hmac("sha256", $signed, $key, true));
    foreach (explode(" ", $headers["webhook-signature"] ?? "") as $one) {
        if (hash_equals($standard, $one)) {
            return true;
        }
    }
    return false;
}
