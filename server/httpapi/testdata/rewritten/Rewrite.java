import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Scanner;

/** Prints each body of standard input as Jackson and Gson write it after they have parsed it: form and text, in base64. */
final class Rewrite {
    public static void main(String[] args) throws Exception {
        List<ObjectMapper> jackson = List.of(
            new ObjectMapper(),
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT),
            new ObjectMapper().enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS),
            JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build());
        List<Gson> gson = List.of(
            new Gson(), // leaves out what is null
            new GsonBuilder().serializeNulls().create(),
            new GsonBuilder().serializeNulls().disableHtmlEscaping().create(),
            new GsonBuilder().serializeNulls().setPrettyPrinting().create());
        Scanner lines = new Scanner(System.in, UTF_8);
        while (lines.hasNextLine()) {
            String body = new String(Base64.getDecoder().decode(lines.nextLine()), UTF_8);
            for (int i = 0; i < jackson.size(); i++) {
                print("Jackson tree " + i, jackson.get(i).writeValueAsString(jackson.get(i).readTree(body)));
                print("Jackson map " + i, jackson.get(i).writeValueAsString(jackson.get(i).readValue(body, Map.class)));
            }
            for (int i = 0; i < gson.size(); i++) {
                print((i == 0 ? "lossy " : "") + "Gson " + i, gson.get(i).toJson(gson.get(i).fromJson(body, JsonElement.class)));
                print((i == 0 ? "lossy " : "") + "Gson " + i, gson.get(i).toJson(gson.get(i).fromJson(body, Map.class)));
            }
        }
    }

    private static void print(String form, String text) {
        System.out.println(encode(form) + " " + encode(text));
    }

    private static String encode(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
    }
}
