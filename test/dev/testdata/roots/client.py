import os, re, sys, time
from urllib.parse import urljoin
from urllib.request import Request, urlopen

kept = dict(os.environ)


def filled(text):
    return re.sub(r"\{([A-Z_]+)\}", lambda name: kept[name[1]], text)


def send(step):
    begun = time.time()
    while True:
        body = step["body"].encode() if "body" in step else None
        request = Request(urljoin(base, step["path"]), data=body, headers=step["headers"], method=step["method"])
        with urlopen(request) as answer:
            text = answer.read().decode()
        for name, pattern in step["keep"]:
            kept[name] = re.search(pattern, text)[1]
        if step.get("until", "") in text:
            return
        if time.time() - begun > 60:
            sys.exit(f"{step['path']} is answered {text}")
        time.sleep(0.05)


base, step = "", None
with open(sys.argv[1]) as lines:
    for line in [*lines, "end"]:
        word, _, rest = line.rstrip("\n").partition(" ")
        if word in ("base", "GET", "POST", "end") and step:
            send(step)
            step = None
        if word == "base":
            base = filled(rest)
        elif word in ("GET", "POST"):
            step = {"method": word, "path": filled(rest), "headers": {}, "keep": []}
        elif word == "header":
            name, _, value = filled(rest).partition(": ")
            step["headers"][name] = value
        elif word == "keep":
            step["keep"].append(rest.split(" ", 1))
        elif word in ("body", "until"):
            step[word] = filled(rest)
