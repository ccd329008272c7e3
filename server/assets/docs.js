// What the pages that describe the APIs do beyond HTML: search, buttons that copy, a menu that follows the page, and a
// language that stays chosen. All that the pages say is there without it.
(() => {
  const all = (selector, of = document) => [...of.querySelectorAll(selector)];

  // The choice is the one of the console's examples too.
  try {
    const chosen = localStorage.getItem("language");
    for (const one of document.getElementsByName("language")) {
      if (one.value === chosen) one.checked = true;
      one.addEventListener("change", () => localStorage.setItem("language", one.value));
    }
  } catch {} // a browser that keeps nothing

  const copied = document.createElement("div");
  copied.className = "sr";
  copied.role = "status";
  document.body.append(copied);
  for (const figure of all("figure.code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.ariaLabel = "Copy";
    const sprite = document.querySelector(".find use").getAttribute("href").split("#")[0];
    button.innerHTML = `<svg class="i" aria-hidden="true"><use href="${sprite}#copy"></use></svg>`;
    button.addEventListener("click", async () => {
      if (!navigator.clipboard) return;
      await navigator.clipboard.writeText(all("pre", figure).find((pre) => pre.checkVisibility()).textContent);
      const done = (yes) => {
        button.classList.toggle("ok", yes);
        button.querySelector("use").setAttribute("href", `${sprite}#${yes ? "check" : "copy"}`);
        copied.textContent = yes ? "Copied" : "";
      };
      done(true);
      setTimeout(done, 1200, false);
    });
    figure.querySelector("figcaption").append(button);
  }

  // The menu marks what is at the top of the window.
  const menu = document.getElementById("menu");
  const links = new Map(all(".contents a").map((a) => [a.hash.slice(1), a]));
  const targets = [...links.keys()].map((id) => document.getElementById(id));
  let marked;
  const follow = () => {
    const line = innerHeight / 4;
    const at = targets.findLast((target) => target.getBoundingClientRect().top <= line) ?? targets[0];
    const link = links.get(at.id);
    if (link === marked) return;
    marked?.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    marked = link;
    show();
  };
  const show = () => {
    const top = marked.offsetTop - menu.clientHeight / 2;
    if (Math.abs(top - menu.scrollTop) > menu.clientHeight / 3) menu.scrollTo({ top });
  };
  targets.sort((a, b) => a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1);
  addEventListener("scroll", follow, { passive: true });
  addEventListener("resize", follow);
  follow();
  menu.addEventListener("toggle", show);
  menu.addEventListener("click", (e) => {
    if (e.target.closest(".contents a") && menu.matches(":popover-open")) menu.hidePopover();
  });

  // Search looks for all words in titles, routes, names and texts, in this order.
  const form = document.querySelector(".find"), find = document.getElementById("find"), found = document.getElementById("found");
  const text = (selector, of) => all(selector, of).map((e) => e.textContent).join(" ").toLowerCase();
  let entries;
  const index = () => all("main [id]").map((e) => {
    const title = e.querySelector("h1, h2, h3, dt code:last-of-type")?.textContent ?? e.id;
    const route = e.matches("article") ? e.querySelector(".route code")?.textContent ?? "" : "";
    const group = e.querySelector("[id]"); // its members are entries of their own
    const names = group ? ":scope > .fields:not(.errors) dt code" : ".fields dt code";
    const own = group ? ":scope > p, :scope > .fields:not(.errors)" : ".words, p, dt, dd, td";
    return { id: e.id, title, route, parts: [title.toLowerCase(), route.toLowerCase(), text(names, e), text(own, e)] };
  });
  const search = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.hidden = words.length === 0;
    if (found.hidden) return;
    entries ??= index();
    const rank = (entry, word) => {
      const i = entry.parts.findIndex((part) => part.includes(word));
      return i < 0 ? Infinity : i;
    };
    const hits = entries.map((entry) => [words.reduce((sum, word) => sum + rank(entry, word), 0), entry])
      .filter(([sum]) => sum < Infinity).sort(([a], [b]) => a - b).slice(0, 12);
    found.replaceChildren(...hits.map(([, entry]) => {
      const a = document.createElement("a");
      a.href = "#" + entry.id;
      a.append(entry.title);
      const route = document.createElement("span");
      route.textContent = entry.route;
      a.append(route);
      return a;
    }));
    if (hits.length === 0) {
      const nothing = document.createElement("p");
      nothing.textContent = "Nothing on this page has these words.";
      found.append(nothing);
    }
  };
  const close = () => {
    find.value = "";
    search();
  };
  form.hidden = false;
  find.addEventListener("input", search);
  found.addEventListener("click", close);
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    found.querySelector("a")?.click();
  });
  form.addEventListener("focusout", (e) => {
    if (!form.contains(e.relatedTarget)) found.hidden = true;
  });
  find.addEventListener("focus", search);
  document.addEventListener("keydown", (e) => {
    if (e.key === "/" && !e.target.closest("input, textarea, select")) {
      e.preventDefault();
      find.focus();
    } else if (e.key === "Escape" && form.contains(e.target)) {
      close();
      find.focus();
    } else if ((e.key === "ArrowDown" || e.key === "ArrowUp") && form.contains(e.target)) {
      const stops = [find, ...all("a", found)];
      const next = stops[stops.indexOf(document.activeElement) + (e.key === "ArrowDown" ? 1 : -1)];
      e.preventDefault();
      next?.focus();
    }
  });
})();
