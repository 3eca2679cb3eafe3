# shellcheck shell=bash disable=SC2154 # work, target and out are the script's own
# A migrated root held against its source, and watched: sourced after role.sh.

# announced: every check that is neither a match nor planned is one that the
# plan left to a person, or that no migration carries.
announced() {
	python3 - "$work/parity/parity.json" <<-'PY'
		import json, sys
		said = ("The plan left", "The plan leaves", "A migration does not carry it", "Nobody counted", "did not say what databases", "Nothing on the source says")
		checks = json.load(open(sys.argv[1]))["checks"]
		loose = [c for c in checks if c["result"] not in ("match", "planned") and not any(s in c["why"] for s in said)]
		bare = [c for c in checks if not c["evidence"]]
		for c in loose + bare: print(c)
		sys.exit(1 if loose or bare or len(checks) < 100 else 0)
	PY
}

# verifies: the migrated root does what its source did, and that is signed.
verifies() {
	exits "the migrated machine does what its source did" 0 svc verify --root "$target" --source "$out" --out "$work/parity"
	check "what could not be compared was announced by the plan, all with evidence" announced
	check "its parity attestation verifies offline" svc attest verify "$work/parity/attestation.dsse.json"
}

# drifts PACKAGE UNIT FILE: one package, one unit, one file, one user and one
# port are changed, and exactly these are named. The line that is added to the
# file is a comment.
drifts() {
	local package=$1 unit=$2 file=$3
	exits "nothing drifts" 0 svc drift --root "$target" --source "$work/parity"
	chroot "$target" dpkg --purge --force-depends "$package" >/dev/null 2>&1
	systemctl --root="$target" disable "$unit" 2>/dev/null
	echo '# changed' >>"$target$file"
	chroot "$target" useradd -m eve
	sed -i '1i Port 2222' "$target/etc/ssh/sshd_config"
	exits "drift is found" 6 svc drift --root "$target" --source "$work/parity" --json
	same "and is what was changed" "$(python3 -c 'import json,sys; print(*sorted(c["dimension"]+" "+c["subject"] for c in json.load(sys.stdin)["checks"]), sep="; ")' <"$work/last.log")" \
		"configuration $file; packages $package; ports ssh; services $unit; users eve"
}
