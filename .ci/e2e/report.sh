#!/usr/bin/env bash
# Opens reports and the page of a fleet in a browser: at the widths of a desk and of a
# phone, and as print has them, nothing may be wider than the page, each tile must agree
# with what it leads to, and print must show what is folded. The page of a thousand
# machines must open at once, filter and sort, and be dark where the reader's system is.
# They must look as they did, on a desk, a phone and paper.
# Pictures go to $SVC_SCREENSHOTS, if that is set.
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

# What measures the page of a fleet: it has a script of its own, which is used.
cat >"$work/measure.js" <<'JS'
addEventListener("load", () => {
  const opened = performance.now(), $ = id => document.getElementById(id);
  const rows = [...document.querySelectorAll("#machines tbody tr")], shown = () => rows.filter(r => !r.hidden).length;
  const set = (id, value, event) => { $(id).value = value; $(id).dispatchEvent(new Event(event)); return shown(); };
  const begun = performance.now();
  const filters = { word: set("find", "host0007", "input"), none: set("find", "", "input"), verdict: set("verdict", "blocked", "change"), both: set("release", "debian-11", "change") };
  set("verdict", "", "change"); set("release", "", "change");
  document.querySelectorAll("#machines th button")[7].click();
  document.querySelectorAll("#machines th button")[7].click();
  const result = {
    opened, worked: performance.now() - begun, rows: rows.length, filters, largest: document.querySelector("#machines tbody tr").cells[7].textContent,
    page: document.documentElement.scrollWidth, window: innerWidth, paper: getComputedStyle(document.body).backgroundColor,
    wide: [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".wide")).slice(0, 3).map(e => e.outerHTML.slice(0, 200)),
    hidden: [...document.querySelectorAll("details")].filter(d => d.lastElementChild.getBoundingClientRect().height === 0).length,
  };
  document.body.innerHTML = "<script type=application/json>" + JSON.stringify(result) + "</" + "script>";
});
JS

SVC_PAGES=$work go test -count=1 -run PageOfAThousand ./tools/fleet >/dev/null
paper=718 # the width of A4 between its margins, in pixels
for width in 1280 390 $paper; do
	for media in print screen dark; do
		[ "$media:$width" != screen:390 ] || continue # no paper is as narrow as a phone
		cp "$work/thousand.html" "$work/page.html"
		case $media in
		screen) sed -i 's/@media print/@media screen/' "$work/page.html" ;; # as if it were printed
		dark) sed -i 's/@media (prefers-color-scheme: dark)/@media screen/' "$work/page.html" ;;
		esac
		{ echo '<script>'; cat "$work/measure.js"; echo '</script>'; } >>"$work/page.html"
		got=$(browser --window-size="$width,1200" --dump-dom "file://$work/page.html" | grep -o '{"opened".*}' | head -1)
		jq -e '.page <= .window + 1 and .wide == []' <<<"$got" >/dev/null || { echo "the fleet at $width: wider than the page: $got"; exit 1; }
		jq -e '.rows == 1000 and .filters == {word: 1, none: 1000, verdict: 100, both: 50} and .largest == "15.6 GiB"' <<<"$got" >/dev/null || { echo "the fleet at $width does not filter and sort: $got"; exit 1; }
		jq -e '.opened < 20000' <<<"$got" >/dev/null || { echo "the fleet at $width opens late: $got"; exit 1; }
		[ $media != screen ] || jq -e '.hidden == 0' <<<"$got" >/dev/null || { echo "the fleet at $width: print hides what is folded: $got"; exit 1; }
		[ $media != dark ] || jq -e '.paper == "rgb(18, 22, 28)"' <<<"$got" >/dev/null || { echo "the fleet at $width is not dark: $got"; exit 1; }
	done
	if [ -n "${SVC_SCREENSHOTS:-}" ]; then
		browser --window-size="$width,2400" --screenshot="$SVC_SCREENSHOTS/fleet-$width.png" "file://$work/thousand.html" >/dev/null
	fi
	jq -r '"a fleet of a thousand at '"$width"': opens in \(.opened | floor) ms, filters and sorts in \(.worked | floor) ms"' <<<"$got"
done

# What the pages look like. All letters are of one font, as machines have others.
fc-list | grep -q DejaVuSans.ttf || needs no-such-program:fonts-dejavu-core
SVC_PAGES=$work go test -count=1 -run PageOfAMachine ./tools/report >/dev/null
go build -o "$work/picture" ./.ci/e2e/picture
cp "$work/thousand.html" "$work/rows.html" # of the fleet, its table alone
echo '<style>body > :not(.tools, .wide:last-of-type) { display: none; }</style>' >>"$work/rows.html"
for page in machine thousand rows overview; do
	for look in desk:1280 phone:390 dark:1280 print:$paper; do
		name=$page-${look%%:*} width=${look##*:}
		sed -e '/Content-Security-Policy/d' -e 's/system-ui, sans-serif/"DejaVu Sans"/; s/ui-monospace, monospace/"DejaVu Sans"/g' "$work/$page.html" >"$work/page.html"
		case $look in
		dark:*) sed -i 's/@media (prefers-color-scheme: dark)/@media screen/' "$work/page.html" ;;
		print:*) sed -i 's/@media print/@media screen/' "$work/page.html" ;; # as if it were printed
		esac
		browser --force-device-scale-factor=1 --force-color-profile=srgb --font-render-hinting=none --disable-lcd-text \
			--window-size="$width,1600" --screenshot="$work/$name.png" "file://$work/page.html" >/dev/null
		[ -z "${SVC_SCREENSHOTS:-}" ] || cp "$work/$name.png" "$SVC_SCREENSHOTS/"
		printf '%s: ' "$name"
		"$work/picture" "${SVC_PICTURES:-compare}" ".ci/e2e/pictures/$name.png" "$work/$name.png" ||
			{ echo "$name does not look as it did: SVC_SCREENSHOTS=DIR keeps what it looks like, SVC_PICTURES=keep takes it for right"; exit 1; }
	done
done
