#!/usr/bin/env bash
# Opens reports in a browser: at the widths of a desk and of a phone, and as print has
# them, nothing may be wider than the page, each tile must agree with what it leads to,
# and print must show what is folded. Pictures go to $SVC_SCREENSHOTS, if that is set.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh
needs chromium:chromium jq:jq

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/svc" ./cmd/svc
export XDG_DATA_HOME=$work/data XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config

browser() { timeout 120 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --allow-file-access-from-files "$@" 2>/dev/null; }

# The report allows no script, so what measures it stands in a copy.
cat >"$work/measure.js" <<'JS'
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
JS

measure() { # report width media
	sed -e '/Content-Security-Policy/d' -e "s/@media print/@media $3/" "$1" >"$work/page.html"
	{ echo '<script>'; cat "$work/measure.js"; echo '</script>'; } >>"$work/page.html"
	browser --window-size="$2,1200" --dump-dom "file://$work/page.html" | grep -o '{"page".*}' | head -1
}

for move in debian-11-web:debian-13 centos-7-web:rocky-9 centos-7-web:debian-13; do
	host=${move%%:*} target=${move##*:} out=$work/${move/:/-to-}
	"$work/svc" migrate --root "fixtures/hosts/$host" --target "$target" --out "$out" --confirm >/dev/null || [ $? = 6 ]
	for width in 1280 390; do
		for media in print screen; do # screen: as if it were printed
			got=$(measure "$out/report.html" "$width" "$media")
			jq -e '.page <= .window + 1 and .wide == []' <<<"$got" >/dev/null || { echo "$move at $width: wider than the page: $got"; exit 1; }
			jq -e 'all(.tiles[]; .there)' <<<"$got" >/dev/null || { echo "$move: a tile leads nowhere: $got"; exit 1; }
			jq -e '. as $all | all(.tiles[] | select(.text | test("high findings|medium findings|high finding$|medium finding$")); .count == $all.cards[.kind])' <<<"$got" >/dev/null || { echo "$move: tiles and findings disagree: $got"; exit 1; }
			[ $media = print ] || jq -e '.hidden == 0' <<<"$got" >/dev/null || { echo "$move: print hides what is folded: $got"; exit 1; }
		done
		if [ -n "${SVC_SCREENSHOTS:-}" ]; then
			mkdir -p "$SVC_SCREENSHOTS"
			browser --window-size="$width,2400" --screenshot="$SVC_SCREENSHOTS/$host-$target-$width.png" "file://$out/report.html" >/dev/null
		fi
	done
	browser --no-pdf-header-footer --print-to-pdf="$work/report.pdf" "file://$out/report.html" >/dev/null
	[ "$(stat -c %s "$work/report.pdf")" -gt 20000 ] || { echo "$move: the print is empty"; exit 1; }
	echo "$move: the report fits, agrees with itself, and prints whole"
done
