import java.net.URI;
import java.net.http.*;
import java.nio.file.*;
import java.util.*;
import java.util.regex.*;

class Client {
    static final Map<String, String> kept = new HashMap<>(System.getenv());
    static final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    String method, path, body = "", until = "";
    final List<String> headers = new ArrayList<>();
    final Map<String, String> keep = new LinkedHashMap<>();

    static String filled(String text) {
        return Pattern.compile("\\{([A-Z_]+)\\}").matcher(text).replaceAll(name -> Matcher.quoteReplacement(kept.get(name.group(1))));
    }

    void send(URI base) throws Exception {
        for (long begun = System.nanoTime(); ; Thread.sleep(50)) {
            var request = HttpRequest.newBuilder(base.resolve(path)).method(method, HttpRequest.BodyPublishers.ofString(body));
            if (!headers.isEmpty()) {
                request.headers(headers.toArray(String[]::new));
            }
            var answer = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() / 100 != 2 || System.nanoTime() - begun > 60e9) {
                throw new Exception(path + " is answered " + answer.statusCode() + " " + answer.body());
            }
            keep.forEach((name, pattern) -> {
                var found = Pattern.compile(pattern).matcher(answer.body());
                found.find();
                kept.put(name, found.group(1));
            });
            if (answer.body().contains(until)) {
                return;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        var lines = new ArrayList<>(Files.readAllLines(Path.of(args[0])));
        lines.add("end");
        URI base = null;
        Client step = null;
        for (var line : lines) {
            var word = line.split(" ", 2)[0];
            var rest = line.substring(Math.min(line.length(), word.length() + 1));
            if (step != null && List.of("base", "GET", "POST", "end").contains(word)) {
                step.send(base);
                step = null;
            }
            switch (word) {
                case "base" -> base = URI.create(filled(rest));
                case "GET", "POST" -> {
                    step = new Client();
                    step.method = word;
                    step.path = filled(rest);
                }
                case "header" -> step.headers.addAll(List.of(filled(rest).split(": ", 2)));
                case "keep" -> step.keep.put(rest.split(" ", 2)[0], rest.split(" ", 2)[1]);
                case "body" -> step.body = filled(rest);
                case "until" -> step.until = filled(rest);
                default -> { }
            }
        }
    }
}
