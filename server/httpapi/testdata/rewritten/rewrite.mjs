// Prints each body of standard input as JSON.stringify writes it after JSON.parse: form and text, in base64.
import { createInterface } from "node:readline";

const sorted = (value) =>
  value && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])]))
    : value;

for await (const line of createInterface({ input: process.stdin })) {
  const body = Buffer.from(line, "base64").toString();
  for (const order of [(value) => value, sorted]) {
    for (const space of [undefined, 2, 4, "\t"]) {
      const text = JSON.stringify(order(JSON.parse(body)), null, space);
      console.log(Buffer.from(`stringify ${space}`).toString("base64"), Buffer.from(text).toString("base64"));
    }
  }
}
