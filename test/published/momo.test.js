// What a merchant's code does with the published client mtn-momo, unchanged: only its base URL and its credentials are the sandbox's.
const assert = require("node:assert/strict");
const { randomUUID } = require("node:crypto");
const http = require("node:http");
const { after, before, test } = require("node:test");
const momo = require("mtn-momo");

const { CAURI_URI: uri, CAURI_API_KEY: apiKey, CAURI_MTN_SUBSCRIPTION_KEY: primaryKey, PORT: port } = process.env;
const [manual, poor, blocked, cancels, pays] = [1, 2, 3, 4, 5].map((n) => `25078800000${n}`);
const anybody = "250788999999";

// received are the callbacks and webhooks that came, by their paths.
const received = {};
let shop, collections, disbursements, secret;

before(async () => {
  shop = http.createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      (received[request.url] ??= []).push({ method: request.method, headers: request.headers, body: JSON.parse(body) });
      response.end();
    });
  });
  await new Promise((resolve) => shop.listen(port, "127.0.0.1", resolve));
  const { Users, Collections, Disbursements } = momo.create({ baseUrl: `${uri}/operators/mtn`, callbackHost: "127.0.0.1" });
  const users = Users({ primaryKey });
  const userId = await users.create("127.0.0.1");
  secret = { primaryKey, userId, userSecret: (await users.login(userId)).apiKey };
  collections = Collections(secret);
  disbursements = Disbursements(secret);
});
after(() => shop.close());

// until waits for what a condition returns.
async function until(what, condition) {
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 20))) {
    const value = await condition();
    if (value) return value;
  }
  assert.fail(`no ${what} within a minute`);
}

// kind is the class of an error of the client.
const kind = (error) => error.constructor.name;

// v1 calls Cauri's own API.
async function v1(method, path, body) {
  const response = await fetch(`${uri}/v1${path}`, {
    method, headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" }, body: body && JSON.stringify(body),
  });
  assert.ok(response.ok, `${method} ${path} answered ${response.status}`);
  return response.json();
}

// advance moves the clock, and waits until that is done.
async function advance(by) {
  const { target } = await v1("POST", "/clock/advance", { by, wait: "60s" });
  assert.equal(target, undefined, "the clock is not there after a minute");
}

const order = (partyId, amount = "500", currency = "EUR") => ({
  amount, currency, externalId: "order-1042", payer: { partyIdType: "MSISDN", partyId },
  payerMessage: "Two tickets", payeeNote: "shop",
});
const payout = ({ payer, ...rest }) => ({ ...rest, payee: payer });

// failed waits until a payment has failed, and returns the error of the client.
async function failed(call) {
  const reference = await collections.requestToPay(call);
  return until("failure", () => collections.getTransaction(reference).then(() => null, (error) => error));
}

test("a payment rings, is approved, and is told by status, callback, webhook and /v1", async () => {
  const before = Number((await collections.getBalance()).availableBalance);
  const reference = await collections.requestToPay({ ...order(manual, "1000.0"), callbackUrl: `http://127.0.0.1:${port}/callbacks/1` });
  assert.equal((await collections.getTransaction(reference)).status, "PENDING");

  const { data: [prompt] } = await v1("GET", `/test_clients/%2B${manual}/prompts`);
  assert.equal(prompt.reference, reference);
  await v1("POST", `/test_clients/%2B${manual}/prompts/${prompt.id}/approve`);

  const paid = await collections.getTransaction(reference);
  assert.deepEqual({ ...paid, financialTransactionId: paid.financialTransactionId.length }, {
    financialTransactionId: 10, externalId: "order-1042", amount: "1000", currency: "EUR",
    payer: { partyIdType: "MSISDN", partyId: manual }, payerMessage: "Two tickets", payeeNote: "shop", status: "SUCCESSFUL",
  });
  const [callback] = await until("callback", () => received["/callbacks/1"]);
  assert.equal(callback.method, "POST");
  assert.deepEqual(callback.body, paid);
  const [webhook] = await until("webhook", () => {
    const found = (received["/webhooks"] ?? []).filter((w) => w.body.reference === reference);
    return found.length && found;
  });
  assert.equal(webhook.body.event, "payment.completed");
  assert.equal(webhook.body.currency, "RWF");
  const listed = (await v1("GET", "/payments")).data.find((p) => p.reference === reference);
  assert.deepEqual([listed.source, listed.status, listed.amount, listed.currency], ["native", "SUCCESS", 1000, "RWF"]);
  assert.equal(Number((await collections.getBalance()).availableBalance), before + 1000);

  const refund = await v1("POST", `/payments/${listed.id}/refund`, { amount: 400 });
  assert.equal(refund.status, "SUCCESS");
  assert.equal(Number((await collections.getBalance()).availableBalance), before + 600);
});

test("every failure has its reason, which the client makes an error of", async () => {
  for (const [number, name] of [
    [poor, "NotEnoughFundsError"], [cancels, "ApprovalRejectedError"],
    ["250790000907", "PayerLimitReachedError"], ["250790000908", "ServiceUnavailableError"],
    ["46733123450", "InternalProcessingError"], ["46733123451", "ApprovalRejectedError"], ["46733123452", "ExpiredError"],
    ["46733123455", "PayerNotFoundError"], ["46733123457", "NotAllowedError"], ["46733123460", "InvalidCurrencyError"],
  ]) {
    assert.equal(kind(await failed(order(number))), name, number);
  }
  const paid = await collections.requestToPay(order(anybody)); // in MTN's sandbox any number pays
  await until("payment", () => collections.getTransaction(paid).then((t) => t.status === "SUCCESSFUL"));
  const error = await failed(order(blocked)); // the client has no class for it
  assert.equal(error.transaction.reason, "SENDER_ACCOUNT_NOT_ACTIVE");
});

test("requests that are refused", async () => {
  const refused = (call) => call.then(() => assert.fail("it was accepted"), (error) => kind(error));
  assert.equal(await refused(collections.requestToPay(order(pays, "500", "USD"))), "InvalidCurrencyError");
  const elsewhere = { ...order(pays), callbackUrl: "http://shop.example/" };
  assert.equal(await refused(collections.requestToPay(elsewhere)), "InvalidCallbackUrlHostError");
  const wrong = momo.create({ baseUrl: `${uri}/operators/mtn`, callbackHost: "127.0.0.1", environment: "production" });
  assert.equal(await refused(wrong.Collections(secret).getBalance()), "NotAllowedTargetEnvironmentError");
});

test("a transfer pays from the float, and its reference is taken", async () => {
  const before = Number((await disbursements.getBalance()).availableBalance);
  const callbackUrl = `http://127.0.0.1:${port}/callbacks/2`;
  const reference = await disbursements.transfer({ ...payout(order(pays, "200")), callbackUrl });
  const paid = await disbursements.getTransaction(reference);
  assert.equal(paid.status, "SUCCESSFUL");
  assert.equal(paid.payee.partyId, pays);
  assert.equal(Number((await disbursements.getBalance()).availableBalance), before - 200);
  const [callback] = await until("callback", () => received["/callbacks/2"]);
  assert.deepEqual(callback.body, paid);

  const again = await disbursements.transfer({ ...payout(order(pays, "200")), referenceId: reference }).catch((error) => error);
  assert.equal(kind(again), "ResourceAlreadyExistError");
  const rich = await disbursements.transfer(payout(order(pays, "90000")));
  const failure = await disbursements.getTransaction(rich).catch((error) => error);
  assert.equal(kind(failure), "NotEnoughFundsError");
});

test("account holders", async () => {
  assert.deepEqual(await collections.isPayerActive(pays), { result: true });
  assert.equal(await disbursements.isPayerActive(pays), true);
  assert.deepEqual(await collections.isPayerActive(blocked), { result: false });
  assert.deepEqual(await collections.isPayerActive(anybody), { result: true }); // in MTN's sandbox any number is active
});

test("refunds, which the client has no method for, through its own connection", async () => {
  const reference = await collections.requestToPay(order(pays, "700"));
  await until("payment", () => collections.getTransaction(reference).then((t) => t.status === "SUCCESSFUL"));
  const before = Number((await disbursements.getBalance()).availableBalance);
  const refund = async (referenceId, amount) => {
    const callbackUrl = `http://127.0.0.1:${port}/callbacks/${referenceId}`;
    const { status } = await disbursements.client.post("/disbursement/v1_0/refund", {
      amount, currency: "EUR", externalId: "refund-1", payerMessage: "Sorry", payeeNote: "shop", referenceIdToRefund: reference,
    }, { headers: { "X-Reference-Id": referenceId, "X-Callback-Url": callbackUrl } });
    assert.equal(status, 202);
    return (await disbursements.client.get(`/disbursement/v1_0/refund/${referenceId}`)).data;
  };
  const given = await refund(randomUUID(), "300");
  assert.deepEqual([given.status, given.amount, given.payee.partyId], ["SUCCESSFUL", "300", pays]);
  assert.equal(Number((await disbursements.getBalance()).availableBalance), before - 300);
  const id = randomUUID();
  const rest = await refund(id, "400");
  const [callback] = await until("callback", () => received[`/callbacks/${id}`]);
  assert.deepEqual(callback.body, rest);
  await assert.rejects(refund(randomUUID(), "1")); // nothing is left
});

// It is the last one: the clock stays where it is.
test("a token ends with its hour on the sandbox's clock", async () => {
  await collections.getBalance();
  await advance("59m");
  await collections.getBalance();
  await advance("2m");
  assert.equal(kind(await collections.getBalance().catch((error) => error)), "UnspecifiedError");
  const { Collections } = momo.create({ baseUrl: `${uri}/operators/mtn`, callbackHost: "127.0.0.1" });
  assert.equal((await Collections(secret).getBalance()).currency, "EUR"); // with a new token
});
