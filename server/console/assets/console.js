// What pages do beyond HTML: they follow the sandbox, copy texts, and let the sandbox's clock run. Every page is
// complete without it.
(() => {
  // The stream tells that something has changed. htmx then replaces the live parts of the page, at most once a second.
  const live = document.querySelector("[data-stream]");
  let stream, waits;
  const say = (connected) => {
    live.classList.toggle("off", !connected);
    live.firstElementChild.textContent = connected ? live.dataset.live : live.dataset.lost;
  };
  const changed = () => {
    waits ??= setTimeout(() => {
      waits = undefined;
      htmx.trigger(live, "changed");
    }, 1000);
  };
  const follow = () => {
    stream = new EventSource(live.dataset.stream);
    let before = false; // what changed while the stream was away is not known
    stream.addEventListener("open", () => {
      say(true);
      if (before) changed();
      before = true;
    });
    stream.addEventListener("change", changed);
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
  }

  // A clock that runs goes on from the time at which the page was made.
  const began = new WeakMap();
  setInterval(() => {
    for (const clock of document.querySelectorAll("time[data-runs]")) {
      if (!began.has(clock)) began.set(clock, Date.now());
      const at = new Date(Date.parse(clock.dataset.runs) + Date.now() - began.get(clock));
      clock.firstElementChild.textContent = at.toISOString().slice(11, 19);
    }
  }, 1000);

  document.addEventListener("click", (e) => {
    const copy = e.target.closest("[data-copy]");
    if (!copy || !navigator.clipboard) return;
    navigator.clipboard.writeText(copy.dataset.copy);
    copy.classList.add("ok");
    setTimeout(() => copy.classList.remove("ok"), 1200);
  });

  document.addEventListener("keydown", (e) => {
    if (e.key !== "/" || e.target.closest("input, textarea, select")) return;
    const find = document.getElementById("find");
    if (!find) return;
    e.preventDefault();
    find.focus();
  });
})();
