using System;
using System.Text;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

// Prints each body of standard input as Newtonsoft.Json writes it after it has parsed it: form and text, in base64.
static class Rewrite {
    static void Main() {
        string line;
        while ((line = Console.In.ReadLine()) != null) {
            var body = Encoding.UTF8.GetString(Convert.FromBase64String(line));
            foreach (Formatting formatting in Enum.GetValues(typeof(Formatting))) {
                // Both read times, and write them without zeros at their end.
                Print("lossy JObject " + formatting, JObject.Parse(body).ToString(formatting));
                Print("lossy JsonConvert " + formatting, JsonConvert.SerializeObject(JsonConvert.DeserializeObject(body), formatting));
                foreach (StringEscapeHandling escapes in Enum.GetValues(typeof(StringEscapeHandling))) {
                    var settings = new JsonSerializerSettings { DateParseHandling = DateParseHandling.None, StringEscapeHandling = escapes };
                    var value = JsonConvert.DeserializeObject(body, settings);
                    Print("JsonConvert " + formatting + " " + escapes, JsonConvert.SerializeObject(value, formatting, settings));
                }
            }
        }
    }

    static void Print(string form, string text) {
        Console.WriteLine(Encode(form) + " " + Encode(text));
    }

    static string Encode(string text) {
        return Convert.ToBase64String(Encoding.UTF8.GetBytes(text));
    }
}
