import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Scanner;

/** Prints for each case on standard input whether it verifies: now, secret, body, and names and values of headers, in base64. */
final class Driver {
    public static void main(String[] args) throws Exception {
        Scanner lines = new Scanner(System.in, UTF_8);
        while (lines.hasNextLine()) {
            String[] fields = lines.nextLine().split(" ", -1);
            Map<String, String> headers = new HashMap<>();
            for (int i = 3; i < fields.length; i += 2) {
                headers.put(text(fields[i]).toLowerCase(Locale.ROOT), text(fields[i + 1]));
            }
            Instant now = Instant.ofEpochSecond(Long.parseLong(text(fields[0])));
            System.out.println(Verify.verified(headers, Base64.getDecoder().decode(fields[2]), text(fields[1]), now));
        }
    }

    private static String text(String field) {
        return new String(Base64.getDecoder().decode(field), UTF_8);
    }
}
