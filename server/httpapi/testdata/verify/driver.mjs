// Prints for each case on standard input whether it verifies: now, secret, body, and names and values of headers, in base64.
import { readFileSync } from "node:fs";

const { verified } = await import(process.argv[2]);
for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const [now, secret, body, ...header] = line.split(" ").map((field) => Buffer.from(field, "base64"));
  const headers = {};
  for (let i = 0; i < header.length; i += 2) headers[header[i].toString().toLowerCase()] = header[i + 1].toString();
  console.log(verified(headers, body, secret.toString(), Number(now) * 1000));
}
