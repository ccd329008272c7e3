// All that a shop needs of Cauri's API. No client library, and no package.
import { createHmac, timingSafeEqual } from "node:crypto";

const { CAURI_URI, CAURI_API_KEY, CAURI_WEBHOOK_SECRET } = process.env;

/** Asks a customer's phone to pay. The answer is PENDING, or already final; the final status comes as a webhook. */
export const collect = (payment) => request("POST", "/v1/payments", { application: "shop", ...payment });

/** Asks for a payment. */
export const payment = (id) => request("GET", `/v1/payments/${id}`);

/** Pays all of a payment back. */
export const refund = (id, reference) => request("POST", `/v1/payments/${id}/refund`, { reference });

/** Lists the numbers that behave in known ways. */
export const testNumbers = async () => (await request("GET", "/v1/test_numbers")).data;

/** Says whether a webhook is genuine. The body is the Buffer that arrived, never a parsed object. */
export function verified(body, headers) {
  return [headers["x-service-signature"], headers["x-service-signature-previous"]].some((signature) => {
    if (!CAURI_WEBHOOK_SECRET || !signature) return false;
    const want = Buffer.from("sha256=" + createHmac("sha256", CAURI_WEBHOOK_SECRET).update(body).digest("hex"));
    const got = Buffer.from(signature);
    return got.length === want.length && timingSafeEqual(got, want);
  });
}

/** An answer of the API that is an error. */
export class CauriError extends Error {
  constructor(status, body) {
    super(`${status} ${body.error}: ${body.message}`);
    this.status = status;
    this.code = body.error;
  }
}

// A request whose answer is lost, is no JSON, or asks for patience is sent again: its reference makes sure that it counts once.
async function request(method, path, body, attempts = 3) {
  let wait = 500;
  try {
    const answer = await fetch(CAURI_URI + "/api" + path, {
      method,
      headers: { Authorization: `Bearer ${CAURI_API_KEY}`, "Content-Type": "application/json" },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(40_000), // an operator's timeout takes up to 35 s
    });
    wait = Number(answer.headers.get("Retry-After") ?? 0.5) * 1000;
    const content = await answer.json();
    if (answer.ok) return content;
    throw new CauriError(answer.status, content);
  } catch (error) {
    if (attempts === 1 || wait > 5000 || refused(error)) throw error; // who waits longer asks again later
  }
  await new Promise((done) => setTimeout(done, wait));
  return request(method, path, body, attempts - 1);
}

/** Says whether an error is an answer that says what is wrong with the request. Sent again, it is refused again. */
export const refused = (error) => error instanceof CauriError && error.status < 500 && error.status !== 429;
