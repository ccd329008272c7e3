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

async function placeOrder({ msisdn, amount }) {
  const order = { id: randomUUID(), msisdn, amount, state: "waiting", payments: 0 };
  orders.set(order.id, order); // first, since the webhook can be faster than the answer
  settle(order, await cauri.collect({ amount, currency: "RWF", msisdn, reference: `${order.id}-pay`, order_ref: order.id }));
  return order;
}

async function giveBack(order) {
  if (order.state === "paid") {
    order.state = "refunding";
    await cauri.refund(order.payment, `${order.id}-refund`);
  }
  return order;
}

// settle takes what the answer or the webhook says of a payment, whichever comes first. The second one changes nothing.
function settle(order, { id, status }) {
  if (order.state !== "waiting" || status === "PENDING") return;
  order.payment = id;
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
      return order ? [200, order] : [404, { error: "no such order" }];
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
