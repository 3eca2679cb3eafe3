# shellcheck shell=bash disable=SC2154 # work, target and out are the script's own
# A migrated root held against its source, and watched: sourced after role.sh.

# announced: every check that is neither a match nor planned nor left to a person
# is one of what nobody could know.
announced() {
	python3 - "$work/parity/parity.json" <<-'PY'
		import json, sys
		said = ("Nobody counted", "did not say what databases", "Nothing on the source says")
		checks = json.load(open(sys.argv[1]))["checks"]
		loose = [c for c in checks if c["result"] not in ("match", "planned", "manual") and not any(s in c["why"] for s in said)]
		bare = [c for c in checks if not c["evidence"]]
		for c in loose + bare: print(c)
		sys.exit(1 if loose or bare or len(checks) < 100 else 0)
	PY
}

# verifies: the migrated root does what its source did, and that is signed.
verifies() {
	rm -f "$target/usr/sbin/policy-rc.d" # these roots' own: a target has none
	exits "the migrated machine does what its source did" 0 svc verify --root "$target" --source "$out" --out "$work/parity"
	check "what could not be compared was announced by the plan, all with evidence" announced
	check "its parity attestation verifies offline" svc attest verify "$work/parity/attestation.dsse.json"
	additions
}

# extends FILE LINE: adds a line to a file of the copy, whose other copy stays.
extends() {
	cp -p "$work/added$1" "$work/added$1.new"
	printf '%s\n' "$2" >>"$work/added$1.new"
	mv "$work/added$1.new" "$work/added$1"
}

# brings FILE LINE: makes a file of the copy.
brings() {
	mkdir -p "$(dirname "$work/added$1")"
	rm -f "$work/added$1"
	printf '%s\n' "$2" >"$work/added$1"
}

# adds KIND: somebody adds to the copy what is of one kind; prints the differences that
# it is.
adds() {
	case $1 in
	archives) brings /etc/apt/sources.list.d/evil.list 'deb [trusted=yes] http://evil.example/debian x main' && echo "archives http://evil.example/debian x main" ;;
	keys)
		brings /root/.ssh/authorized_keys 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl eve'
		echo "authorized_keys root SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"
		;;
	configuration) brings /etc/ld.so.preload /opt/evil.so && echo "configuration /etc/ld.so.preload" ;;
	jobs) brings /etc/cron.d/evil '* * * * * root /opt/evil' && echo "jobs root: /opt/evil" ;;
	modules) brings /etc/modules-load.d/evil.conf evil && echo "modules evil" ;;
	packages) extends /var/lib/dpkg/status "$(printf 'Package: evil\nStatus: install ok installed\nVersion: 1\nArchitecture: all\n')" && echo "packages evil" ;;
	pam) extends /etc/pam.d/common-auth 'auth sufficient pam_evil.so' && echo "pam pam_evil.so" ;;
	su) brings /usr/bin/su '#!/bin/sh' && chmod 4755 "$work/added/usr/bin/su" && echo "programs /usr/bin/su" ;;
	setuid) brings /usr/lib/evil/helper '#!/bin/sh' && chmod 4755 "$work/added/usr/lib/evil/helper" && echo "programs /usr/lib/evil/helper" ;;
	programs) brings /usr/local/bin/evil '#!/bin/sh' && chmod 755 "$work/added/usr/local/bin/evil" && echo "programs /usr/local/bin/evil" ;;
	services) brings /etc/systemd/system/evil.service '[Service]' && echo "services evil.service" ;;
	sudoers) brings /etc/sudoers.d/evil 'mallory ALL=(ALL) NOPASSWD: ALL' && echo "sudoers mallory" ;;
	users) extends /etc/passwd 'toor:x:0:0::/root:/bin/bash' && echo "users toor" ;;
	esac
}

# additions: what somebody adds to a copy of the target, of all kinds and of some that
# are drawn, is named by its own dimension, and nothing else is.
additions() {
	local kinds=(archives keys configuration jobs modules packages pam su setuid programs services sudoers users) drawn
	mapfile -t drawn < <(shuf -n "$((1 + RANDOM % 6))" -e "${kinds[@]}")
	for set in "${kinds[*]}" "${drawn[*]}"; do
		cp -alx "$target" "$work/added"
		for kind in $set; do adds "$kind"; done | sort >"$work/expected"
		exits "what was added is found: $set" 6 svc verify --quiet --root "$work/added" --source "$out" --json
		python3 -c 'import json,sys; print(*sorted(c["dimension"]+" "+c["subject"] for c in json.load(sys.stdin)["checks"] if c["result"]=="differs"), sep="\n")' <"$work/stdout" >"$work/named"
		check "and named by its dimension, nothing else" diff <(LC_ALL=C sort "$work/expected") <(LC_ALL=C sort "$work/named")
		exits "drift from the migration's folder finds it too" 6 svc drift --root "$work/added" --source "$out"
		rm -rf --one-file-system "$work/added"
	done
}

# drifts PACKAGE UNIT FILE: one package, one unit, one file, one user and one
# port are changed, and exactly these are named. The line that is added to the
# file is a comment.
drifts() {
	local package=$1 unit=$2 file=$3
	exits "nothing drifts" 0 svc drift --root "$target" --source "$work/parity"
	printf '#!/bin/sh\nexit 101\n' >"$target/usr/sbin/policy-rc.d" # no script of a package starts or stops anything
	chmod 755 "$target/usr/sbin/policy-rc.d"
	chroot "$target" dpkg --purge --force-depends "$package" >/dev/null 2>&1
	rm "$target/usr/sbin/policy-rc.d"
	systemctl --root="$target" disable "$unit" 2>/dev/null
	echo '# changed' >>"$target$file"
	chroot "$target" useradd -m eve
	sed -i '1i Port 2222' "$target/etc/ssh/sshd_config"
	exits "drift is found" 6 svc drift --root "$target" --source "$work/parity" --json
	same "and is what was changed" "$(python3 -c 'import json,sys; print(*sorted(c["dimension"]+" "+c["subject"] for c in json.load(sys.stdin)["checks"]), sep="; ")' <"$work/stdout")" \
		"configuration $file; packages $package; ports ssh; services $unit; users eve"
}
