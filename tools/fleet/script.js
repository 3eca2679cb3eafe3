(() => {
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
})();
