// What measures a report: it allows no script, so this stands in a copy.
addEventListener("load", () => {
  const all = [...document.querySelectorAll("body *")];
  const wide = all.filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest("table, pre, details:not([open])"));
  const tiles = [...document.querySelectorAll(".facts a")].map(a => ({ count: Number(a.querySelector("b").textContent), kind: a.className, text: a.textContent, there: !!document.querySelector(a.getAttribute("href")) }));
  const cards = kind => document.querySelectorAll(".finding." + kind + (kind === "stop" ? "" : ":not(.stop)")).length;
  const folded = [...document.querySelectorAll("details")].map(d => d.lastElementChild.getBoundingClientRect().height);
  document.body.innerHTML = "<script type=application/json>" + JSON.stringify({
    page: document.documentElement.scrollWidth, window: innerWidth, wide: wide.slice(0, 3).map(e => e.outerHTML.slice(0, 200)), tiles,
    cards: { stop: cards("stop"), high: cards("high"), medium: cards("medium") },
    hidden: folded.filter(h => h === 0).length,
  }) + "</" + "script>";
});
