"""Prints each body of standard input as json.dumps writes it after json.loads: form and text, in base64."""

import base64
import itertools
import json
import sys

SEPARATORS = (None, (",", ":"))

for line in sys.stdin:
    body = base64.b64decode(line)
    for separators, indent, ascii_only, order in itertools.product(SEPARATORS, (None, 2, 4), (True, False), (True, False)):
        text = json.dumps(json.loads(body), separators=separators, indent=indent, ensure_ascii=ascii_only, sort_keys=order)
        form = f"dumps {separators} {indent} {ascii_only} {order}"
        print(base64.b64encode(form.encode()).decode(), base64.b64encode(text.encode()).decode())
