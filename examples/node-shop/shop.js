// A shop: it takes orders, has customers pay by mobile money, and pays them back.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import * as cauri from "./cauri.js";

const failures = {
  INSUFFICIENT_FUNDS: "There is not enough money in your wallet.",
  PIN_INVALID: "The PIN was wrong.",
  USER_CANCELLED: "You cancelled the payment.",
  TIMEOUT: "You did not confirm the payment in time.",
  ACCOUNT_BLOCKED: "Your wallet is blocked. Please ask your operator.",
};

const orders = new Map(); // a real shop has a database
const asked = new Map(); // when the shop asked for the payment of an order last, by making it or by looking
const patience = 5000; // how many milliseconds the shop waits for the webhook of a payment, or for the service, before it asks again

async function placeOrder({ msisdn, amount }) {
  const order = { id: randomUUID(), msisdn, amount, state: "waiting", payments: 0 };
  orders.set(order.id, order); // first, since the webhook can be faster than the answer
  await ask(order).catch((error) => {
    if (cauri.refused(error)) throw error; // of others nobody knows yet what became of the payment
  });
  return order;
}

// showOrder asks for the payment if no webhook came for a while, since it may be lost.
async function showOrder(order) {
  if (order.state === "waiting" && Date.now() - asked.get(order.id) > patience) await ask(order).catch(() => {}); // the next look asks again
  return order;
}

// ask makes the payment of an order, or asks for it. A payment without an answer is made again with the same reference, so it counts once.
async function ask(order) {
  asked.set(order.id, Date.now());
  const { id, msisdn, amount, payment } = order;
  const found = payment ? cauri.payment(payment) : cauri.collect({ amount, currency: "RWF", msisdn, reference: `${id}-pay`, order_ref: id });
  settle(order, await found);
}

async function giveBack(order) {
  if (order.state === "paid") {
    order.state = "refunding";
    await cauri.refund(order.payment, `${order.id}-refund`);
  }
  return order;
}

// settle takes what an answer or the webhook says of a payment, whichever comes first. Later ones change nothing.
function settle(order, { id, status }) {
  if (order.state !== "waiting") return;
  order.payment = id;
  if (status === "PENDING") return;
  if (status === "SUCCESS") {
    order.state = "paid";
    order.payments++; // here a real shop would send the goods
  } else {
    order.state = "failed";
    order.reason = failures[status] ?? "The payment failed. Please try again later.";
  }
}

function receive(event) {
  const order = orders.get(event.order_ref);
  if (!order) return; // not ours
  if (event.event === "payment.completed") settle(order, { id: event.tx_id, status: event.status });
  if (event.event === "payment.refunded" && event.parent_tx_id === order.payment) {
    order.state = event.status === "SUCCESS" ? "refunded" : "paid";
  }
}

async function handle(request, body) {
  const [, kind, id, action] = request.url.split("/");
  const order = orders.get(id);
  switch (`${request.method} ${kind} ${action ?? ""}`.trim()) {
    case "POST webhooks":
      if (!cauri.verified(body, request.headers)) return [401, { error: "not verified" }];
      receive(JSON.parse(body));
      return [204];
    case "POST orders":
      return [201, await placeOrder(JSON.parse(body))];
    case "GET orders":
      return order ? [200, await showOrder(order)] : [404, { error: "no such order" }];
    case "POST orders refund":
      return order ? [200, await giveBack(order)] : [404, { error: "no such order" }];
  }
  return [404, { error: "not found" }];
}

export const shop = createServer(async (request, response) => {
  try {
    const [status, answer] = await handle(request, Buffer.concat(await request.toArray()));
    response.writeHead(status, { "Content-Type": "application/json" }).end(answer && JSON.stringify(answer));
  } catch (error) {
    console.error(error);
    response.writeHead(502).end('{"error":"the payment service did not answer as expected"}');
  }
});

if (import.meta.url === pathToFileURL(process.argv[1]).href) shop.listen(process.env.PORT ?? 3000, "127.0.0.1");
