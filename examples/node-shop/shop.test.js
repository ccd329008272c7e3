// Runs against a sandbox: CAURI_URI, CAURI_API_KEY and CAURI_WEBHOOK_SECRET. Its webhook is http://127.0.0.1:$PORT/webhooks.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { testNumbers } from "./cauri.js";
import { shop } from "./shop.js";

let address, numbers;

before(async () => {
  shop.listen(process.env.PORT ?? 3000, "127.0.0.1");
  await once(shop, "listening");
  address = `http://127.0.0.1:${shop.address().port}`;
  numbers = await testNumbers();
});

after(() => shop.close());

const number = (outcome) => numbers.find((n) => n.currency === "RWF" && n.collectionOutcome === outcome).msisdn;

async function call(method, path, body, headers) {
  const answer = await fetch(address + path, { method, headers, body: body && JSON.stringify(body) });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.json();
}

async function until(order, state) {
  for (let i = 0; i < 1200; i++) {
    const now = await call("GET", `/orders/${order.id}`);
    if (now.state === state) return now;
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.fail(`the order never became ${state}: ${JSON.stringify(await call("GET", `/orders/${order.id}`))}`);
}

test("a customer pays, and gets the money back", async () => {
  const order = await call("POST", "/orders", { msisdn: number("SUCCESS"), amount: 1500 });
  const paid = await until(order, "paid");
  assert.equal(paid.payments, 1);
  assert.match(paid.payment, /^TX_/);

  await call("POST", `/orders/${order.id}/refund`);
  await until(order, "refunded");
});

test("a customer without money is told so, and can try again", async () => {
  const order = await call("POST", "/orders", { msisdn: number("INSUFFICIENT_FUNDS"), amount: 1500 });
  const failed = await until(order, "failed");
  assert.equal(failed.reason, "There is not enough money in your wallet.");
  assert.equal(failed.payments, 0);

  await until(await call("POST", "/orders", { msisdn: number("SUCCESS"), amount: 1500 }), "paid");
});

test("a forged webhook changes nothing", async () => {
  const order = await call("POST", "/orders", { msisdn: number("TIMEOUT"), amount: 1500 });
  const forged = { event: "payment.completed", tx_id: "TX_FORGED", order_ref: order.id, status: "SUCCESS" };
  for (const signature of [undefined, "sha256=" + createHmac("sha256", "guess").update(JSON.stringify(forged)).digest("hex")]) {
    const answer = await fetch(address + "/webhooks", {
      method: "POST",
      headers: signature && { "X-Service-Signature": signature },
      body: JSON.stringify(forged),
    });
    assert.equal(answer.status, 401);
  }
  assert.equal((await call("GET", `/orders/${order.id}`)).state, "waiting");
});

test("a webhook that comes twice counts once", async () => {
  const order = await until(await call("POST", "/orders", { msisdn: number("SUCCESS"), amount: 700 }), "paid");
  const event = JSON.stringify({ event: "payment.completed", tx_id: order.payment, order_ref: order.id, status: "SUCCESS" });
  const body = event.replace(/}$/, ', "raw":null}'); // an event has this blank, which JSON.stringify does not write
  const signature = "sha256=" + createHmac("sha256", process.env.CAURI_WEBHOOK_SECRET).update(body).digest("hex");
  for (let i = 0; i < 2; i++) {
    const answer = await fetch(address + "/webhooks", { method: "POST", headers: { "X-Service-Signature": signature }, body });
    assert.equal(answer.status, 204);
  }
  assert.equal((await call("GET", `/orders/${order.id}`)).payments, 1);
});
