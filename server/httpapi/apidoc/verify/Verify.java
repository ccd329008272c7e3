import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

final class Verify {
    /**
     * Whether a delivery is genuine and at most five minutes old. headers has names in lower case. body is the bytes that arrived, never
     * parsed text. secret is the sandbox's webhook-signing-secret, exactly as it is in its Secret. After a rotation, the new and the
     * previous secret verify.
     */
    static boolean verified(Map<String, String> headers, byte[] body, String secret, Instant now) throws GeneralSecurityException {
        String sentAt = headers.getOrDefault("webhook-timestamp", "");
        if (secret == null || secret.isEmpty() || !sentAt.matches("[0-9]{1,12}")
                || Duration.between(Instant.ofEpochSecond(Long.parseLong(sentAt)), now).abs().compareTo(Duration.ofMinutes(5)) > 0) {
            return false;
        }
        String plain = "sha256=" + HexFormat.of().formatHex(sign(secret.getBytes(UTF_8), body));
        if (!equal(headers.get("x-service-signature"), plain) && !equal(headers.get("x-service-signature-previous"), plain)) {
            return false;
        }
        byte[] key = secret.startsWith("whsec_") ? Base64.getDecoder().decode(secret.substring("whsec_".length())) : secret.getBytes(UTF_8);
        byte[] before = (headers.get("webhook-id") + "." + sentAt + ".").getBytes(UTF_8);
        String standard = "v1," + Base64.getEncoder().encodeToString(sign(key, before, body));
        for (String one : headers.getOrDefault("webhook-signature", "").split(" ")) {
            if (equal(one, standard)) {
                return true;
            }
        }
        return false;
    }

    private static byte[] sign(byte[] key, byte[]... parts) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        for (byte[] part : parts) {
            mac.update(part);
        }
        return mac.doFinal();
    }

    /** In constant time. */
    private static boolean equal(String got, String want) {
        return got != null && MessageDigest.isEqual(got.getBytes(UTF_8), want.getBytes(UTF_8));
    }
}
