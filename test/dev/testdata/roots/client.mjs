import { readFileSync } from "node:fs";

const kept = { ...process.env };
const filled = (text) => text.replace(/\{([A-Z_]+)\}/g, (_, name) => kept[name]);

async function send(step) {
  for (const begun = Date.now(); ; await new Promise((done) => setTimeout(done, 50))) {
    const answer = await fetch(new URL(step.path, base), { method: step.method, headers: step.headers, body: step.body });
    const text = await answer.text();
    if (!answer.ok || Date.now() - begun > 60_000) throw new Error(`${step.path} is answered ${answer.status} ${text}`);
    for (const [name, pattern] of step.keep) kept[name] = text.match(pattern)[1];
    if (text.includes(step.until ?? "")) return;
  }
}

let base, step;
for (const line of [...readFileSync(process.argv[2], "utf8").split("\n"), "end"]) {
  const [, word, rest] = line.match(/^(\S*) ?(.*)$/);
  if (step && ["base", "GET", "POST", "end"].includes(word)) {
    await send(step);
    step = undefined;
  }
  if (word === "base") base = filled(rest);
  if (word === "GET" || word === "POST") step = { method: word, path: filled(rest), headers: {}, keep: [] };
  if (word === "header") step.headers[filled(rest).split(": ")[0]] = filled(rest).split(": ")[1];
  if (word === "keep") step.keep.push(rest.split(/ (.*)/, 2));
  if (word === "body" || word === "until") step[word] = filled(rest);
}
