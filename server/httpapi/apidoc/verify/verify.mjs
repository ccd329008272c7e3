import { createHmac, timingSafeEqual } from "node:crypto";

// Whether a delivery is genuine. The body is the Buffer that arrived, never a parsed object; signature is the header
// X-Service-Signature, or X-Service-Signature-Previous, which is there for 24 hours after a rotation of the secret: accept if
// either matches. secret is the sandbox's webhook-signing-secret, exactly as it is in the Secret.
export function verified(body, signature, secret) {
  if (!secret || typeof signature !== "string") return false;
  const want = Buffer.from("sha256=" + createHmac("sha256", secret).update(body).digest("hex"));
  const got = Buffer.from(signature);
  return got.length === want.length && timingSafeEqual(got, want);
}
