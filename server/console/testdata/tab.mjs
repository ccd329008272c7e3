// Runs console.js in a page without a browser, and prints which streams are open after each step.
import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

const listeners = {};
const listen = (name, f) => (listeners[name] ??= []).push(f);
const fire = (name) => listeners[name]?.forEach((f) => f({}));
const streams = [];
const live = {
  dataset: { stream: "stream", live: "Live", lost: "Reconnecting" }, classList: { toggle() {} }, firstElementChild: {},
};
Object.assign(globalThis, {
  document: {
    hidden: process.argv[3] === "hidden", querySelector: () => live, querySelectorAll: () => [],
    getElementById: () => live, addEventListener: listen,
  },
  addEventListener: listen,
  htmx: { trigger() {} },
  EventSource: class EventSource {
    static CLOSED = 2;
    readyState = 1;
    constructor() { streams.push(this); }
    addEventListener() {}
    close() { this.readyState = EventSource.CLOSED; }
  },
});
const say = (step) => console.log(step, streams.map((s) => (s.readyState === 1 ? "open" : "closed")).join(" ") || "none");

runInThisContext(readFileSync(process.argv[2], "utf8"));
say("loaded:");
for (const hidden of [true, false]) {
  document.hidden = hidden;
  fire("visibilitychange");
  say(hidden ? "hidden:" : "shown:");
}
fire("pagehide");
say("left:");
process.exit(0); // the clock of the page goes on
