package fleet

// look is the style of both pages.
const look = `:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #d9dee5; --paper: #fff; --card: #f6f8fa; --ready: #2f7d4f; --work: #b07c1f; --blocked: #b3261e; --unreadable: #5b6675; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #9aa5b4; --line: #333c48; --paper: #12161c; --card: #1a2029; --ready: #6fcf97; --work: #f0c060; --blocked: #ff8a80; --unreadable: #9aa5b4; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto; max-width: 76rem; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .25rem; } h2 { margin: 2.5rem 0 .75rem; font-size: 1.3rem; }
p { margin: .4rem 0; } .soft { color: var(--soft); } a { color: inherit; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; margin: 1.5rem 0; }
.facts div { background: var(--card); border: 1px solid var(--line); border-left: .35rem solid var(--line); border-radius: .5rem; padding: .75rem 1rem; } .facts b { display: block; font-size: 1.6rem; }
.facts .ready { border-left-color: var(--ready); } .facts .work { border-left-color: var(--work); } .facts .blocked { border-left-color: var(--blocked); } .facts .unreadable { border-left-color: var(--unreadable); }
.stack { display: flex; height: 1.6rem; border-radius: .4rem; overflow: hidden; gap: 2px; } .stack span { min-width: 2px; } .stack .ready { background: var(--ready); } .stack .work { background: var(--work); } .stack .blocked { background: var(--blocked); } .stack .unreadable { background: var(--unreadable); }
.bars { display: grid; grid-template-columns: max-content 1fr max-content; gap: .25rem .75rem; align-items: center; } .bars i { display: block; height: .8rem; border-radius: .2rem; background: var(--soft); min-width: 2px; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .92rem; } th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
td.k { white-space: nowrap; } td.long { min-width: 12rem; } details summary { cursor: pointer; color: var(--soft); }
th { color: var(--soft); font-weight: 600; white-space: nowrap; } th button { all: unset; cursor: pointer; } th button:focus-visible { outline: 2px solid; } th.n, td.n { text-align: right; white-space: nowrap; }
.v { font-weight: 600; white-space: nowrap; } .v.ready { color: var(--ready); } .v.work { color: var(--work); } .v.blocked { color: var(--blocked); } .v.unreadable { color: var(--unreadable); }
.tools { display: flex; gap: .75rem; flex-wrap: wrap; margin: .5rem 0; } input, select { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: .4rem; padding: .3rem .6rem; }
@media screen and (max-width: 40rem) {
  table { font-size: .78rem; } #machines { font-size: .92rem; } th, th.n, .v { white-space: normal; } th, td { padding-right: .35rem; } td.long { min-width: 6rem; }
  #machines td { border: 0; padding: 0; white-space: normal; overflow-wrap: anywhere; } #machines td.n { display: none; } #machines td.long { grid-column: 1 / -1; order: 1; }
  #machines tbody tr:not([hidden]) { display: grid; grid-template-columns: minmax(0, 1fr) max-content max-content; gap: 0 .8rem; padding: .35rem 0; border-bottom: 1px solid var(--line); }
  #machines thead tr { display: flex; flex-wrap: wrap; gap: 0 .8rem; } #machines th { border: 0; padding: .1rem 0; } #machines:has(th button) thead tr::before { content: "Sort by"; color: var(--soft); padding: .1rem 0; }
}
@media print { body { max-width: none; padding: 0; } .tools { display: none; } .wide { overflow: visible; } table { font-size: .78rem; } #machines { font-size: .7rem; } th { white-space: normal; } th, td { padding-right: .5rem; } td { white-space: nowrap; } td.long { min-width: 8rem; white-space: normal; overflow-wrap: anywhere; } #machines td:first-child { min-width: 6rem; white-space: normal; overflow-wrap: anywhere; } details::details-content { content-visibility: visible; height: auto; } thead { display: table-header-group; } tr { break-inside: avoid; } }`

// script filters and sorts the table of machines; without it, all is there.
const script = `(() => {
  const body = document.querySelector("#machines tbody"), rows = [...body.rows], find = document.getElementById("find"), verdict = document.getElementById("verdict"), release = document.getElementById("release"), shown = document.getElementById("shown");
  const text = new Map(rows.map(r => [r, r.textContent.toLowerCase()]));
  const show = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    for (const r of rows) {
      const yes = (!verdict.value || r.dataset.verdict === verdict.value) && (!release?.value || r.cells[1].textContent === release.value) && words.every(w => text.get(r).includes(w));
      r.hidden = !yes;
      n += yes;
    }
    shown.textContent = n + " of " + rows.length;
  };
  find.addEventListener("input", show);
  verdict.addEventListener("change", show);
  release?.addEventListener("change", show);
  document.querySelectorAll("#machines th").forEach((th, i) => {
    const button = document.createElement("button");
    button.textContent = th.textContent;
    th.replaceChildren(button);
    let up = 1;
    button.addEventListener("click", () => {
      const value = r => r.cells[i].dataset.n ?? r.cells[i].textContent;
      rows.sort((a, b) => up * value(a).localeCompare(value(b), undefined, {numeric: true}));
      up = -up;
      body.append(...rows);
    });
  });
  show();
})();`
