// What pages do beyond HTML: they follow the sandbox, copy texts, and let the sandbox's clock run. Every page is
// complete without it.
(() => {
  // The stream tells that something has changed. htmx then replaces the live parts of the page: soon after a quiet time,
  // and every 2.5 seconds while a lot changes, because each replacement costs the api a page. Phones ring sooner.
  const live = document.querySelector("[data-stream]");
  let stream, waits, replaced = -Infinity;
  const say = (connected) => {
    live.classList.toggle("off", !connected);
    live.firstElementChild.textContent = connected ? live.dataset.live : live.dataset.lost;
  };
  const changed = () => {
    waits ??= setTimeout(() => {
      waits = undefined;
      replaced = performance.now();
      htmx.trigger(live, "changed");
    }, Math.max(250, replaced + Number(live.dataset.pause ?? 2500) - performance.now()));
  };
  const told = (e) => {
    const of = live.dataset.of?.split(",");
    if (!of || of.includes(e.data) || e.data === "reset") changed();
  };
  const follow = () => {
    stream = new EventSource(live.dataset.stream);
    stream.addEventListener("open", () => {
      say(true);
      changed(); // what changed since the page was made, or while the stream was away, is not known
    });
    stream.addEventListener("change", told);
    stream.addEventListener("error", () => {
      say(false);
      if (stream.readyState === EventSource.CLOSED) setTimeout(again, 5000);
    });
  };
  const again = () => {
    if (document.hidden || stream && stream.readyState !== EventSource.CLOSED) return;
    follow();
    changed();
  };
  if (live) {
    if (!document.hidden) follow();
    // A browser opens six connections to a host, so a hidden tab gives its own back.
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) stream?.close();
      else again();
    });
    addEventListener("pagehide", () => stream?.close());
    // Each update says when the page is read again although nothing changes: what it shows may have ended.
    let due;
    const reread = () => {
      clearTimeout(due);
      const every = Number(document.getElementById("stopped").dataset.every);
      if (every) due = setTimeout(() => (document.hidden || changed(), reread()), every * 1000);
    };
    document.addEventListener("htmx:oobAfterSwap", (e) => e.detail.target.id === "stopped" && reread());
    reread();
  }

  // What has not changed is not replaced. What is replaced keeps the focus, and how far its parts are scrolled.
  const marks = ["id", "href", "name", "value"];
  const like = (e) => [e.localName, e.closest("[data-key]")?.dataset.key, e.form?.action, ...marks.map((name) => e.getAttribute(name))].join(" ");
  const all = (part) => [part, ...part.querySelectorAll("*")];
  document.addEventListener("htmx:oobBeforeSwap", (e) => {
    const { target, fragment } = e.detail, had = document.activeElement;
    if (fragment.firstElementChild?.isEqualNode(target)) e.detail.shouldSwap = false;
    const seen = {}, kept = [];
    for (const e of all(target)) {
      const mark = like(e), nth = seen[mark] = (seen[mark] ?? -1) + 1;
      if (e === had || e.scrollLeft || e.scrollTop) kept.push({ mark, nth, left: e.scrollLeft, top: e.scrollTop, focus: e === had });
    }
    queueMicrotask(() => { // after all parts
      let part = document.getElementById(target.id);
      for (const { mark, nth, left, top, focus } of kept) {
        const again = all(part).filter((e) => like(e) === mark)[nth];
        again?.scrollTo({ left, top, behavior: "instant" });
        if (!focus) continue;
        again?.focus({ preventScroll: true });
        for (; document.activeElement === document.body && part !== document.body; part = part.parentElement) {
          part.tabIndex = -1; // what had the focus is gone
          part.focus({ preventScroll: true });
        }
      }
    });
  });

  // Nothing moves what a person is reading: new rows of a list that begins above the window wait behind a button.
  const newer = document.querySelector(".newer");
  let waiting; // the list whose new rows wait
  const keysOf = (list) => [...list.querySelectorAll("[data-key]")].map((row) => row.dataset.key);
  const show = () => {
    waiting = undefined;
    newer.replaceChildren();
    htmx.trigger(live, "changed");
  };
  document.addEventListener("htmx:oobBeforeSwap", (e) => {
    const { target, fragment } = e.detail;
    if (!target.hasAttribute("data-list")) return;
    const before = new Set(keysOf(target));
    const n = keysOf(fragment).filter((key) => !before.has(key)).length;
    if (n === 0 || target.getBoundingClientRect().top >= 0) return;
    e.detail.shouldSwap = false;
    waiting = target;
    const button = document.createElement("button");
    button.className = "btn main";
    button.textContent = n === 1 ? newer.dataset.one : newer.dataset.many.replace("%s", n);
    button.addEventListener("click", () => {
      scrollTo({ top: 0 });
      show();
    });
    newer.replaceChildren(button);
  });
  addEventListener("scroll", () => {
    if (waiting && waiting.getBoundingClientRect().top >= 0) show();
  }, { passive: true });

  // A phone is replaced when its screen changes, so that nobody loses a digit of a PIN.
  const rung = document.querySelector("#rung");
  const rings = [];
  let quiet; // a screen reader hears of phones every five seconds at most
  const ring = () => {
    if (quiet || !rings.length) return;
    rung.textContent = rings.splice(0).join(". ");
    quiet = setTimeout(() => {
      quiet = undefined;
      ring();
    }, 5000);
  };
  document.addEventListener("htmx:oobBeforeSwap", (e) => {
    const { target, fragment } = e.detail;
    if (!target.closest(".hand")) return;
    const shows = target.dataset.shows, next = fragment.querySelector("[data-shows]")?.dataset.shows;
    if (shows && shows === next) e.detail.shouldSwap = false;
    if (!e.detail.shouldSwap) return;
    if (shows && target.contains(document.activeElement)) setTimeout(() => document.getElementById(target.id)?.focus());
    if (next?.startsWith("rings")) {
      rings.push(target.closest(".hand").dataset.rings);
      ring();
    }
  });
  const pinOf = (hand) => hand?.querySelector('[name="pin"]');
  const typed = (hand) => {
    const pin = pinOf(hand), said = hand.querySelector("[data-typed]");
    if (!pin) return;
    const n = pin.value.length;
    hand.querySelectorAll(".pin i").forEach((box, k) => box.classList.toggle("at", k === n));
    if (!said) return;
    said.dataset.rings ??= said.textContent;
    said.textContent = n ? said.dataset.typed.replace("%s", n) : said.dataset.rings;
  };
  const press = (hand, key) => {
    const pin = pinOf(hand);
    if (!pin) return false;
    if (/^[0-9]$/.test(key)) pin.value = (pin.value + key).slice(0, 4);
    else if (key === "*" || key === "Backspace") pin.value = pin.value.slice(0, -1);
    else if (key === "#" || key === "Enter") pin.form.requestSubmit();
    else if (key === "Escape") hand.querySelector("[data-cancel]").click();
    else return false;
    typed(hand);
    return true;
  };
  const phones = () => document.querySelectorAll(".hand").forEach(typed);
  document.addEventListener("htmx:oobAfterSwap", phones);
  phones();
  document.addEventListener("input", (e) => {
    if (e.target.name === "pin") typed(e.target.closest(".hand"));
  });
  document.addEventListener("click", (e) => {
    const key = e.target.closest("[data-digit]");
    if (key) press(key.closest(".hand"), key.dataset.digit);
  });
  document.addEventListener("keydown", (e) => {
    const on = e.target.closest(".phone");
    if (!on || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input") || e.key === "Enter" && e.target !== on) return;
    if (press(on.closest(".hand"), e.key)) e.preventDefault();
  });
  // What a form was refused for is on the page as it is now: the sandbox is suspended, or the session has ended.
  document.addEventListener("htmx:responseError", (e) => e.detail.elt.matches("form") && location.reload());

  // A clock that runs goes on from the time at which the page was made.
  const began = new WeakMap();
  setInterval(() => {
    for (const clock of document.querySelectorAll("time[data-runs]")) {
      if (!began.has(clock)) began.set(clock, Date.now());
      const at = new Date(Date.parse(clock.dataset.runs) + Date.now() - began.get(clock));
      clock.firstElementChild.textContent = at.toISOString().slice(11, 19);
    }
  }, 1000);

  // A browser that reads QR codes takes a picture in place of an address.
  const picture = document.querySelector("[data-scan]");
  if (picture && "BarcodeDetector" in globalThis) {
    picture.hidden = false;
    picture.addEventListener("change", async (e) => {
      const bitmap = await createImageBitmap(e.target.files[0]).catch(() => undefined);
      const [code] = bitmap ? await new BarcodeDetector({ formats: ["qr_code"] }).detect(bitmap) : [];
      picture.querySelector("[role=status]").textContent = code ? "" : e.target.dataset.none;
      if (!code) return;
      e.target.form.elements.address.value = code.rawValue;
      e.target.form.requestSubmit();
    });
  }

  const copied = document.getElementById("copied");
  document.addEventListener("click", async (e) => {
    const copy = e.target.closest("[data-copy]:not(.ok)");
    if (!copy || !navigator.clipboard) return;
    await navigator.clipboard.writeText(copy.dataset.copy);
    const icon = copy.querySelector("use"), before = icon.getAttribute("href");
    const show = (done) => {
      copy.classList.toggle("ok", done);
      icon.setAttribute("href", done ? before.replace(/#.*/, "#check") : before);
      copied.textContent = done ? copied.dataset.says : "";
    };
    show(true);
    setTimeout(show, 1200, false);
  });

  // A dialog takes the place of the page that its link leads to.
  document.addEventListener("click", (e) => {
    const opens = e.target.closest("[data-dialog]"), closes = e.target.closest("dialog [data-close]");
    if (!opens && !closes) return;
    e.preventDefault();
    if (opens) document.getElementById(opens.dataset.dialog).showModal();
    else closes.closest("dialog").close();
  });
  // The language of code that somebody chose is the one of the next page too.
  try {
    const chosen = localStorage.getItem("language");
    for (const one of document.getElementsByName("language")) {
      if (one.value === chosen) one.checked = true;
      one.addEventListener("change", () => localStorage.setItem("language", one.value));
    }
  } catch {} // a browser that keeps nothing

  // Single keys. None acts while a field has the focus, or for a person who has switched them off in Setup.
  const step = (by) => {
    const rows = [...document.querySelectorAll("main a.row")].filter((row) => row.checkVisibility());
    const at = rows.indexOf(document.activeElement);
    rows[at < 0 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)]?.focus();
  };
  const keys = {
    "/": () => document.getElementById("find").focus(),
    j: () => step(1),
    k: () => step(-1),
    "?": () => document.getElementById("keys").showModal(),
  };
  document.addEventListener("keydown", (e) => {
    if (!document.querySelector("[data-keys]") || !Object.hasOwn(keys, e.key) || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.target.closest("input, textarea, select, [contenteditable]") || document.querySelector("dialog[open]")) return;
    e.preventDefault();
    keys[e.key]();
  });
})();
