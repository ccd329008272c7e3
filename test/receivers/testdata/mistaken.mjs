// A receiver that makes one mistake before it verifies, named by $MISTAKE. It needs no package.
import { createHmac } from "node:crypto";
import { createServer } from "node:http";

const mistakes = {
  writesAgain: (chunks) => JSON.stringify(JSON.parse(Buffer.concat(chunks))),
  latin1: (chunks) => Buffer.concat(chunks).toString("latin1"),
  ascii: (chunks) => Buffer.concat(chunks).toString("ascii"),
  decomposes: (chunks) => Buffer.concat(chunks).toString().normalize("NFD"),
  threeBytes: (chunks) => Buffer.concat(chunks).toString().replace(/[\u{10000}-\u{10ffff}]/gu, "?"),
  joinsTexts: (chunks) => chunks.map((chunk) => chunk.toString()).join(""),
};

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = mistakes[process.env.MISTAKE](chunks);
  const signature = "sha256=" + createHmac("sha256", process.env.CAURI_WEBHOOK_SECRET).update(body).digest("hex");
  response.writeHead(request.headers["x-service-signature"] === signature ? 204 : 401).end();
}).listen(process.env.PORT, "127.0.0.1");
