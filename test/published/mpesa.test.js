// What a merchant's code does with the published client mpesa-node, unchanged: only its base URL and its credentials are the sandbox's. Its base
// URL has a path, or is the root of a port.
const assert = require("node:assert/strict");
const fs = require("node:fs");
const http = require("node:http");
const os = require("node:os");
const path = require("node:path");
const { after, before, test } = require("node:test");
const Mpesa = require("mpesa-node");

const env = process.env, uri = env.CAURI_URI, port = env.PORT;
const manual = "254712000001", poor = "254712000002", pays = "254712000003", nobody = "254712999999";
const accepted = "Success. Request accepted for processing", processed = "The service request is processed successfully.";

// received are the callbacks that came, by their paths.
const received = {};
let shop, certificate;

before(async () => {
  certificate = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "mpesa-")), "certificate.pem");
  fs.writeFileSync(certificate, await (await fetch(`${env.CAURI_MPESA_URI}/certificate`)).text());
  shop = http.createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      (received[request.url] ??= []).push({ method: request.method, headers: request.headers, raw: body, body: JSON.parse(body) });
      response.setHeader("Content-Type", "application/json");
      response.end('{"ResultCode":0,"ResultDesc":"Accepted"}');
    });
  });
  await new Promise((resolve) => shop.listen(port, "127.0.0.1", resolve));
});
after(() => {
  shop.close();
  fs.rmSync(path.dirname(certificate), { recursive: true });
});

// until waits for what a condition returns.
async function until(what, condition) {
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 20))) {
    const value = await condition();
    if (value) return value;
  }
  assert.fail(`no ${what} within a minute`);
}

// v1 calls Cauri's own API.
async function v1(method, path) {
  const response = await fetch(`${uri}/v1${path}`, { method, headers: { Authorization: `Bearer ${env.CAURI_API_KEY}` } });
  assert.ok(response.ok, `${method} ${path} answered ${response.status}`);
  return response.json();
}

// payment is the transaction of /v1 with a reference.
const payment = async (reference) => (await v1("GET", `/payments?reference=${reference}`)).data[0];

// answer answers the phone of the payer when it rings.
async function answer(reference, how) {
  const prompts = `/test_clients/%2B${manual}/prompts`;
  const rings = await until(`prompt of ${reference}`, async () => (await v1("GET", prompts)).data.find((p) => p.reference === reference));
  await v1("POST", `${prompts}/${rings.id}/${how}`);
}

// refused is the error of a call, as the client gets it.
const refused = (call) => call.then(() => assert.fail("it was not refused"), ({ response: { status, data } }) => ({ status, ...data }));

for (const [how, baseURL] of [["by path", env.CAURI_MPESA_URI], ["by port", env.CAURI_MPESA_ROOT_URI]]) {
  const client = (more) => {
    const mpesa = new Mpesa({
      consumerKey: env.CAURI_MPESA_CONSUMER_KEY, consumerSecret: env.CAURI_MPESA_CONSUMER_SECRET,
      lipaNaMpesaShortCode: env.CAURI_MPESA_SHORTCODE, lipaNaMpesaShortPass: env.CAURI_MPESA_PASSKEY, shortCode: env.CAURI_MPESA_SHORTCODE,
      initiatorName: env.CAURI_MPESA_INITIATOR_NAME, securityCredential: env.CAURI_MPESA_INITIATOR_PASSWORD, certPath: certificate, ...more,
    });
    mpesa.baseURL = baseURL;
    return mpesa;
  };
  const callbacks = `/callbacks/${how.replace(" ", "-")}`;
  const url = `http://127.0.0.1:${port}${callbacks}`;
  // called waits for the callback at a path, and returns its content.
  const called = async (path) => (await until("callback", () => received[callbacks + path]))[0];

  test(`a push rings, is approved, and is told by callback, query and /v1, ${how}`, async () => {
    const mpesa = client();
    const { data: pushed } = await mpesa.lipaNaMpesaOnline(manual, 100, `${url}/paid/order-7`, "order-7");
    assert.match(pushed.MerchantRequestID, /^[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}[0-9]{4,7}$/);
    assert.match(pushed.CheckoutRequestID, /^ws_CO_[0-9]{15}712000001$/);
    const { MerchantRequestID, CheckoutRequestID } = pushed;
    assert.deepEqual(pushed, {
      MerchantRequestID, CheckoutRequestID, ResponseCode: "0", ResponseDescription: accepted, CustomerMessage: accepted,
    });

    const { data: waits } = await mpesa.lipaNaMpesaQuery(CheckoutRequestID);
    assert.equal(`${waits.ResponseCode} ${waits.ResultCode} ${waits.ResultDesc}`, "0 4999 The transaction is still under processing");
    const locked = await refused(mpesa.lipaNaMpesaOnline(manual, 100, `${url}/locked`, "order-8"));
    assert.match(`${locked.status} ${locked.errorCode} ${locked.errorMessage}`, /^500 500\.001\.1001 Unable to lock subscriber/);

    await answer(CheckoutRequestID, "approve");
    const { method, headers, raw, body } = await called("/paid/order-7");
    assert.equal(`${method} ${headers["content-type"]} ${headers.businessshortcode}`,
      `POST application/json;charset=UTF-8 ${env.CAURI_MPESA_SHORTCODE}`);
    const { CallbackMetadata, ...told } = body.Body.stkCallback;
    assert.deepEqual(told, { MerchantRequestID, CheckoutRequestID, ResultCode: 0, ResultDesc: processed });
    const items = Object.fromEntries(CallbackMetadata.Item.map(({ Name, Value }) => [Name, Value]));
    assert.match(items.MpesaReceiptNumber, /^[A-Z][A-L][1-9A-V][0-9A-Z]{7}$/);
    assert.equal(`${items.Amount} ${items.PhoneNumber} ${"Balance" in items}`, `100 ${manual} true`);
    assert.match(raw, /"Value":100\.00\}/);

    const { data: paid } = await mpesa.lipaNaMpesaQuery(CheckoutRequestID);
    assert.equal(`${paid.ResultCode} ${paid.ResultDesc}`, `0 ${processed}`);
    const booked = await payment(CheckoutRequestID);
    assert.equal(`${booked.status} ${booked.amount} ${booked.currency} ${booked.operator} ${booked.orderRef} ${booked.source}`,
      "SUCCESS 100 KES mpesa order-7 native");
    assert.equal(received[callbacks + "/paid/order-7"].length, 1);
  });

  test(`a push that fails is told by callback and query, in their own words, ${how}`, async () => {
    const mpesa = client();
    const failed = async (number, path, code, text, ...asked) => {
      const { data: { CheckoutRequestID } } = await mpesa.lipaNaMpesaOnline(number, 100, url + path, "order-9");
      if (number === manual) await answer(CheckoutRequestID, "cancel");
      const { body: { Body: { stkCallback } } } = await called(path);
      assert.deepEqual(Object.keys(stkCallback), ["MerchantRequestID", "CheckoutRequestID", "ResultCode", "ResultDesc"]);
      assert.equal(stkCallback.ResultCode, code);
      assert.equal(stkCallback.ResultDesc, text);
      const { data } = await mpesa.lipaNaMpesaQuery(CheckoutRequestID);
      assert.equal(`${data.ResultCode} ${data.ResultDesc}`, `${code} ${asked[0] ?? text}`);
    };
    await failed(manual, "/cancelled", 1032, "Request cancelled by user", "Request Cancelled by user.");
    await failed(poor, "/poor", 1, "The balance is insufficient for the transaction.");
    await failed(nobody, "/nobody", 1037, "No response from user.", "DS timeout user cannot be reached.");
  });

  test(`what is wrong is told in Daraja's errors, ${how}`, async () => {
    const said = ({ status, errorCode, errorMessage }) => `${status} ${errorCode} ${errorMessage}`;
    const push = (mpesa, ...changed) => refused(mpesa.lipaNaMpesaOnline(...changed));
    assert.equal(said(await push(client({ consumerSecret: "wrong" }), poor, 1, url, "r")), "400 400.008.01 Invalid Authentication passed");
    assert.equal(said(await push(client({ lipaNaMpesaShortPass: "wrong" }), poor, 1, url, "r")), "500 500.001.1001 Wrong credentials");
    assert.equal(said(await push(client({ lipaNaMpesaShortCode: "999999" }), poor, 1, url, "r")), "500 500.001.1001 Merchant does not exist");
    assert.equal(said(await push(client(), "0712000002", 1, url, "r")), "400 400.002.02 Bad Request - Invalid PartyA");
    assert.equal(said(await push(client(), poor, 0, url, "r")), "400 400.002.02 Bad Request - Invalid Amount");
    assert.equal(said(await push(client(), poor, 1, "nowhere", "r")), "400 400.002.02 Bad Request - Invalid CallBackURL");
    assert.equal(said(await refused(client().lipaNaMpesaQuery("ws_CO_281120261015003712345678"))),
      "500 500.001.1001 The transaction does not Exist");
  });

  test(`a customer pays by C2B, and the payment is given back once, ${how}`, async () => {
    const mpesa = client(), places = `http://127.0.0.1:${port}/shop${callbacks.slice("/callbacks".length)}`;
    const { data: registered } = await mpesa.c2bRegister(`${places}/confirmation`, `${places}/validation`);
    assert.match(registered.OriginatorCoversationID, /^[0-9a-f]{4}-/);
    assert.equal((await mpesa.c2bSimulate(pays, 70, "house-12")).data.ResponseCode, "0");
    const place = `/shop${callbacks.slice("/callbacks".length)}`;
    const { body: confirmed } = (await until("confirmation", () => received[`${place}/confirmation`]))[0];
    const { body: asked } = received[`${place}/validation`][0];
    assert.equal(`${asked.TransID} ${asked.OrgAccountBalance}`, `${confirmed.TransID} `);
    assert.equal(`${confirmed.TransAmount} ${confirmed.BillRefNumber} ${confirmed.BusinessShortCode}`, `70.00 house-12 ${env.CAURI_MPESA_SHORTCODE}`);
    assert.equal((await payment(confirmed.TransID)).status, "SUCCESS");

    const reverse = async (path) => {
      const { data } = await mpesa.reversal(confirmed.TransID, 70, `${url}/late`, url + path);
      assert.equal(data.ResponseCode, "0");
      return (await called(path)).body.Result;
    };
    assert.equal((await reverse("/reversed")).ResultCode, 0);
    assert.equal((await reverse("/reversed-again")).ResultCode, "R000001");
    assert.equal((await payment(confirmed.TransID)).refundedAmount, 70);
  });

  test(`a payout is told by its result, and so is a wrong password, ${how}`, async () => {
    const pay = async (mpesa, path) => {
      const { data } = await mpesa.b2c(env.CAURI_MPESA_SHORTCODE, pays, 100, `${url}/late`, url + path);
      assert.equal(data.ResponseCode, "0");
      const { Result } = (await called(path)).body;
      assert.equal(Result.OriginatorConversationID, data.OriginatorConversationID);
      return Result;
    };
    const paid = await pay(client(), "/payout");
    assert.equal(`${paid.ResultType} ${paid.ResultCode}`, "0 0");
    const parameters = Object.fromEntries(paid.ResultParameters.ResultParameter.map(({ Key, Value }) => [Key, Value]));
    assert.equal(`${parameters.TransactionAmount} ${parameters.TransactionReceipt}`, `100 ${paid.TransactionID}`);
    const { status, type, amount } = await payment(paid.OriginatorConversationID);
    assert.equal(`${status} ${type} ${amount}`, "SUCCESS disbursement 100");
    assert.equal((await pay(client({ securityCredential: "wrong-password" }), "/payout-refused")).ResultCode, 2001);
  });

  test(`the short code and the passkey of Safaricom's sandbox work too, ${how}`, async () => {
    const built = { lipaNaMpesaShortCode: "174379", lipaNaMpesaShortPass: "bfb279f9aa9bdbcf158e97dd71a467cd2e0c893059b10f78e6b72ada1ed2c919" };
    const { data } = await client(built).lipaNaMpesaOnline(poor, 5, `${url}/built-in`, "order-10");
    assert.equal(data.ResponseCode, "0");
    assert.equal((await called("/built-in")).headers.businessshortcode, "174379");
  });
}
