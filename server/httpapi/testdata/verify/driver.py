# Prints for each case on standard input whether it verifies: now, secret, body, and names and values of headers, in base64.
import base64
import runpy
import sys


class Headers(dict):  # finds names in any case
    def get(self, name, default=None):
        return super().get(name.lower(), default)


verified = runpy.run_path(sys.argv[1])["verified"]
for line in sys.stdin:
    now, secret, body, *header = [base64.b64decode(field) for field in line.rstrip("\n").split(" ")]
    headers = Headers({header[i].decode().lower(): header[i + 1].decode() for i in range(0, len(header), 2)})
    print("true" if verified(headers, body, secret.decode(), int(now)) else "false")
