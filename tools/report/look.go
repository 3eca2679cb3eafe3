package report

// look is the style of the page of a plan.
const look = `:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #d9dee5; --paper: #fff; --card: #f6f8fa; --stop: #b3261e; --warn: #8a5a00;
  --same: #2f7d4f; --renamed: #3a78c2; --split: #6b5bc4; --merged: #8c6bb1; --replaced: #b07c1f; --included: #7fa8a0; --removed: #a65a4a; --unknown: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #9aa5b4; --line: #333c48; --paper: #12161c; --card: #1a2029; --stop: #ff8a80; --warn: #f0c060; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto; max-width: 62rem; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .25rem; } h2 { margin: 2.5rem 0 .75rem; font-size: 1.3rem; } h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
p { margin: .4rem 0; } .soft { color: var(--soft); } code { font: .88em ui-monospace, monospace; overflow-wrap: anywhere; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; margin: 1.5rem 0; }
.facts a { color: inherit; text-decoration: none; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; } .facts b { display: block; font-size: 1.6rem; }
.facts .stop b, .facts .high b { color: var(--stop); } .facts .medium b { color: var(--warn); } .facts .none b { color: var(--same); }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; font-size: .92rem; } h2 { scroll-margin-top: 1rem; } a { color: var(--renamed); }
.paths { table-layout: fixed; } .paths th:first-child, .paths th:nth-child(2) { width: 30%; } td { overflow-wrap: anywhere; }
.diff { margin: .4rem 0; } .diff p { margin: 0; } del, ins { display: block; text-decoration: none; white-space: pre-wrap; overflow-wrap: anywhere; font: .88em ui-monospace, monospace; padding: 0 .4rem; border-left: .2rem solid; }
del { background: #b3261e1c; border-color: var(--stop); } del::before { content: "- "; } ins { background: #2f7d4f1c; border-color: var(--same); } ins::before { content: "+ "; }
svg { width: 100%; height: 2.5rem; border-radius: .4rem; display: block; }
.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; } .legend span { display: inline-block; width: .8rem; height: .8rem; border-radius: .2rem; margin-right: .4rem; }
.finding { border-left: .3rem solid var(--line); background: var(--card); padding: .6rem 1rem; margin: .6rem 0; border-radius: 0 .4rem .4rem 0; }
.finding h3 { margin: 0; } .stop { border-color: var(--stop); } .high { border-color: var(--stop); } .medium { border-color: var(--warn); }
table { border-collapse: collapse; width: 100%; font-size: .92rem; } th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); } th { color: var(--soft); font-weight: 600; }
pre { margin: 0; font: .88em ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; color: var(--ink); }
details { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem 1rem; margin: .6rem 0; } summary { cursor: pointer; font-weight: 600; }
.same { background: var(--same); fill: var(--same); } .renamed { background: var(--renamed); fill: var(--renamed); } .split { background: var(--split); fill: var(--split); } .merged { background: var(--merged); fill: var(--merged); }
.replaced { background: var(--replaced); fill: var(--replaced); } .included { background: var(--included); fill: var(--included); } .removed { background: var(--removed); fill: var(--removed); } .unknown { background: var(--unknown); fill: var(--unknown); }
@media (max-width: 46rem) { body { padding: 1rem .75rem 3rem; } .paths, .paths tbody, .paths tr, .paths td { display: block; width: auto; } .paths th { display: none; } .paths tr { border-bottom: 1px solid var(--line); padding: .4rem 0; } .paths td { border: 0; padding: .1rem 0; } table:not(.paths) { display: block; overflow-x: auto; } }
@media print { body { max-width: none; padding: 0; font-size: 11px; } nav { display: none; } details::details-content { content-visibility: visible; height: auto; } details { border: 0; padding: 0; } tr, .finding, .diff { break-inside: avoid; } }`

// parityLook is the style of the page of a comparison.
const parityLook = `:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #d9dee5; --paper: #fff; --card: #f6f8fa; --good: #2f7d4f; --plan: #3a78c2; --open: #8a5a00; --stop: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #9aa5b4; --line: #333c48; --paper: #12161c; --card: #1a2029; --good: #6cc08b; --plan: #7fb0ea; --open: #f0c060; --stop: #ff8a80; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto; max-width: 72rem; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .25rem; } h2 { margin: 2.5rem 0 .75rem; font-size: 1.3rem; }
.soft { color: var(--soft); } code { font: .88em ui-monospace, monospace; overflow-wrap: anywhere; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; margin: 1.5rem 0; }
.facts div { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; } .facts b { display: block; font-size: 1.6rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; table-layout: fixed; margin: .5rem 0; } th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 600; } th:first-child { width: 24%; } th:nth-child(2), th:nth-child(3) { width: 22%; } td:first-child { border-left: .25rem solid; padding-left: .6rem; }
tr.match td:first-child { border-left-color: var(--good); } tr.planned td:first-child, tr.accepted td:first-child { border-left-color: var(--plan); } tr.manual td:first-child, tr.not-checkable td:first-child { border-left-color: var(--open); } tr.differs td:first-child { border-left-color: var(--stop); }
td small { display: block; color: var(--soft); }
details { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem 1rem; margin: .5rem 0; }
summary { cursor: pointer; display: grid; grid-template-columns: 11rem 1fr 24rem; gap: 1rem; align-items: center; } summary > b::before { content: "▸ "; color: var(--soft); } details[open] > summary > b::before { content: "▾ "; }
summary span { text-align: right; font-size: .9rem; }
.bar { display: flex; height: .6rem; border-radius: .3rem; overflow: hidden; background: var(--line); } .bar i { display: block; }
i.match { background: var(--good); } i.planned, i.accepted { background: var(--plan); } i.manual, i.not-checkable { background: var(--open); } i.differs { background: var(--stop); }
b.match, span .match { color: var(--good); } b.planned, b.accepted, span .planned, span .accepted { color: var(--plan); } b.manual, span .manual, b.not-checkable, span .not-checkable { color: var(--open); } b.differs, span .differs { color: var(--stop); }
@media (max-width: 46rem) { summary { grid-template-columns: 1fr; gap: .3rem; } summary span { text-align: left; } }
@media print { body { max-width: none; padding: 0; } tr { break-inside: avoid; } }`
