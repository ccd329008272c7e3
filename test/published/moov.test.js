// What a merchant's code does with the published SOAP client soap, from the WSDL of the sandbox: only its address is the sandbox's.
const assert = require("node:assert/strict");
const { before, test } = require("node:test");
const soap = require("soap");

const { CAURI_URI: uri, CAURI_API_KEY: apiKey, CAURI_MOOV_TOKEN: token } = process.env;
const manual = "2290195000001", poor = "0195000002", unknown = "2290195999999";
const wsdl = `${uri}/operators/moov/com.tlc.merchant.api/UssdPush?wsdl`;

let moov;
before(async () => (moov = await soap.createClientAsync(wsdl)));

// said is what an operation of the service answers.
const said = async (operation, request) => Object.values((await moov[`${operation}Async`]({ token, ...request }))[0])[0];
const asked = (operation, request) => said(operation, { request });

const push = (msisdn, externaldata1, amount = "500") => ({ msisdn, message: "Two <tickets> & more", amount, externaldata1, externaldata2: "", fee: "0" });

// answer answers the phone of the payer when it rings.
async function answer(reference, how) {
  const prompts = `${uri}/v1/test_clients/%2B${manual}/prompts`, headers = { Authorization: `Bearer ${apiKey}` };
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 20))) {
    const { data } = await (await fetch(prompts, { headers })).json();
    const rings = data.find((prompt) => prompt.reference === reference);
    if (rings) return assert.equal((await fetch(`${prompts}/${rings.id}/${how}`, { method: "POST", headers })).status, 200);
  }
  assert.fail(`the phone does not ring for ${reference}`);
}

test("the WSDL describes every operation", () => {
  assert.deepEqual(Object.keys(moov.describe().UssdPush.UssdPushPort).sort(), [
    "Push", "PushWithPending", "airtimetrans", "cashintrans", "getBalance", "getMobileAccountStatus", "getTransactionStatus", "transferFlooz",
  ]);
});

test("Push waits for the payer, and getTransactionStatus tells the same by either reference", async () => {
  for (const [how, status, description] of [["approve", "0", "SUCCESS"], ["cancel", "92", "Cancelled by the subscriber"]]) {
    const paying = said("Push", push(manual, how));
    await answer(how, how);
    const paid = await paying;
    assert.deepEqual({ ...paid, referenceid: paid.referenceid.length }, { description, referenceid: 17, status, transid: how });
    for (const transid of [how, paid.referenceid]) assert.deepEqual(await asked("getTransactionStatus", { transid }), paid);
  }
  const failed = await said("Push", push(poor, "poor"));
  assert.equal(`${failed.status} ${failed.description}`, "10 Insufficient funds");
});

test("PushWithPending does not wait, and a reference is taken once", async () => {
  assert.deepEqual(await said("PushWithPending", push(manual, "pending")), { description: "IN PENDING STATE", status: "100" });
  assert.equal((await said("PushWithPending", push(manual, "pending"))).status, "95");
  await answer("pending", "approve");
  assert.equal((await asked("getTransactionStatus", { transid: "pending" })).status, "0");
});

test("payouts come from the float", async () => {
  const float = async () => (await asked("getBalance", { msisdn: manual })).balance;
  const before = Number(await float());
  const sent = await asked("transferFlooz", { destination: manual, amount: "100", referenceid: "salary-1", walletid: "0", extendeddata: "" });
  assert.equal(sent.status, "0");
  assert.equal(sent.transactionid, "salary-1");
  assert.equal(sent.senderbalanceafter, await float());
  assert.equal(Number(await float()), before - 100);
  const given = await asked("cashintrans", { amount: "50", destination: manual, referenceid: "salary-2", remarks: "" });
  assert.equal(`${given.status} ${given.referenceid}`, "0 salary-2");
  assert.equal((await asked("airtimetrans", { amount: "5000000", destination: manual, referenceid: "salary-3", remarks: "" })).status, "8");
  assert.equal(await float(), `${before - 150}.00`);
});

test("getMobileAccountStatus tells who has a number", async () => {
  const account = await asked("getMobileAccountStatus", { msisdn: manual });
  assert.equal(`${account.status} ${account.firstname} ${account.lastname} ${account.subscriberstatus}`, "0 ama dossou ACTIVE");
  assert.equal((await asked("getMobileAccountStatus", { msisdn: unknown })).status, "555");
});

test("what is wrong is a status, or a fault", async () => {
  assert.equal((await said("getBalance", { token: "wrong", request: { msisdn: manual } })).status, "98");
  const wrong = await said("Push", push(manual, "wrong", "x")).then(() => null, (error) => error);
  assert.equal(wrong.response.status, 500);
  assert.deepEqual(wrong.root.Envelope.Body.Fault, { faultcode: "soap:Server", faultstring: 'For input string: "x"' });
});
