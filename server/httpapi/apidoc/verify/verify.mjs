import { createHmac, timingSafeEqual } from "node:crypto";

// Whether a delivery is genuine and at most five minutes old. headers has names in lower case, as request.headers of Node.js. body is the
// Buffer that arrived, never a parsed object. secret is the sandbox's webhook-signing-secret, exactly as it is in its Secret. After a
// rotation, the new and the previous secret verify.
export function verified(headers, body, secret, now = Date.now()) {
  const { "webhook-id": id, "webhook-timestamp": sentAt, "webhook-signature": signatures = "" } = headers;
  if (!secret || !/^[0-9]+$/.test(sentAt) || Math.abs(now / 1000 - Number(sentAt)) > 300) return false;
  const plain = "sha256=" + createHmac("sha256", secret).update(body).digest("hex");
  if (!equal(headers["x-service-signature"], plain) && !equal(headers["x-service-signature-previous"], plain)) return false;
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : secret;
  const standard = "v1," + createHmac("sha256", key).update(`${id}.${sentAt}.`).update(body).digest("base64");
  return signatures.split(" ").some((one) => equal(one, standard));
}

// In constant time.
function equal(got = "", want) {
  const a = Buffer.from(got), b = Buffer.from(want);
  return a.length === b.length && timingSafeEqual(a, b);
}
