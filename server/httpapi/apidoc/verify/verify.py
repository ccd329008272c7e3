import base64
import hashlib
import hmac
import time


def verified(headers, body, secret, now=None):
    """Whether a delivery is genuine and at most five minutes old.

    headers finds names in any case, as request.headers of Flask and Django. body is the bytes that arrived, never parsed text. secret is
    the sandbox's webhook-signing-secret, exactly as it is in its Secret. After a rotation, the new and the previous secret verify.
    """
    sent_at = headers.get("webhook-timestamp", "")
    now = time.time() if now is None else now
    if not secret or not sent_at.isdecimal() or abs(now - int(sent_at)) > 300:
        return False
    plain = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    if not any(equal(headers.get(name, ""), plain) for name in ("X-Service-Signature", "X-Service-Signature-Previous")):
        return False
    key = base64.b64decode(secret[len("whsec_"):]) if secret.startswith("whsec_") else secret.encode()
    signed = f"{headers.get('webhook-id', '')}.{sent_at}.".encode() + body
    standard = "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
    return any(equal(one, standard) for one in headers.get("webhook-signature", "").split(" "))


def equal(got, want):
    return hmac.compare_digest(got.encode(), want.encode())  # in constant time
