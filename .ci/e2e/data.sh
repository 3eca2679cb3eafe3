#!/usr/bin/env bash
# Plans the move of a machine's data and runs the plan's scripts on a tree of
# hostile names, with owners that have other numbers on the target; then rolls
# back, and does it again with a source that is reached by ssh alone. Needs root. Prints a line for each check and ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh
# shellcheck source=.ci/e2e/sshd.sh
. .ci/e2e/sshd.sh

work=$(mktemp -d)
sshd=""
trap '[ -z "$sshd" ] || kill "$sshd"; rm -rf --one-file-system "$work"' EXIT
export SOURCE_ROOT=$work/source TARGET_ROOT=$work/target

# system ROOT VERSION: what makes a folder a machine.
system() {
	mkdir -p "$1/etc" "$1/var/lib/dpkg" "$1/srv" "$1/home"
	printf 'ID=%s\nVERSION_ID=%s\n' "$2" "$3" >"$1/etc/os-release"
	printf 'Package: base-files\nStatus: install ok installed\nVersion: 1\nArchitecture: amd64\n' >"$1/var/lib/dpkg/status"
	printf '0123456789abcdef0123456789abcdef\n' >"$1/etc/machine-id"
}

# source: an enterprise Linux by its accounts; on the target the same people
# have other numbers, and the web server another name.
source_machine() {
	system "$SOURCE_ROOT" centos 7
	mkdir -p "$SOURCE_ROOT/var/lib/rpm"
	printf 'root:x:0:0::/root:/bin/sh\napache:x:48:48::/:/bin/false\nanna:x:1000:1000::/home/anna:/bin/sh\n' >"$SOURCE_ROOT/etc/passwd"
	printf 'root:x:0:\napache:x:48:\nanna:x:1000:\n' >"$SOURCE_ROOT/etc/group"
	local s=$SOURCE_ROOT/srv/shop
	mkdir -p "$s" "$SOURCE_ROOT/home/anna" "$SOURCE_ROOT/srv/it's [a] \\place*" "$SOURCE_ROOT/var/mail"
	echo plain >"$s/plain"
	mkdir -p "$s/with space" "$s/-r" "$s/"$'new\nline' "$s/"$'\xff\xfe' "$s/"$'esc\033[1m' "$s/deep/er/still" "$s/\$(touch pwned)" "$s/**"
	local name
	# shellcheck disable=SC1003,SC2016 # these are the names meant
	for name in ' ' '-rf' '--delete' "'" '"' '\' '*' '[a]' $'tab\t' $'end\n' $'\xc3\x28' '`id`' ';' '~' '#' $'-\n-'; do
		printf '%s' "$name" >"$s/$name"
		printf '%s' "$name" >"$s/with space/$name.x"
	done
	ln "$s/plain" "$s/deep/hard"
	ln -s /etc/shadow "$s/absolute"
	ln -s $'new\nline/none' "$s/broken"
	truncate -s 50M "$s/sparse"
	echo end >>"$s/sparse"
	setfattr -n user.note -v 'a b' "$s/plain"
	setfacl -m u:48:rx,g:1000:r "$s/plain"
	setfacl -d -m u:1000:rwx "$s/deep"
	mkfifo "$s/pipe"
	printf x >"$s/setuid"
	echo inner >"$SOURCE_ROOT/srv/it's [a] \\place*/file"
	echo hello >"$SOURCE_ROOT/home/anna/notes"
	echo mail >"$SOURCE_ROOT/var/mail/anna"
	mkdir -p "$s/upload?[x]*" "$s/upload?ax" && echo nested >"$s/upload?[x]*/f" && echo outer >"$s/upload?ax/f"
	printf '/srv/shop/upload?[x]* *(rw)\n' >"$SOURCE_ROOT/etc/exports"
	for name in '-rf' "it's [a]*.sql" $'\xff loose' $'new\nline'; do printf '%s' "$name" | tee "$SOURCE_ROOT/srv/$name" >"$SOURCE_ROOT/home/$name"; done
	ln -s shop/plain "$SOURCE_ROOT/srv/link"
	chown -h 48:48 "$SOURCE_ROOT"/srv/{link,-rf}
	chown 0:4243 "$SOURCE_ROOT/srv" && chmod 2755 "$SOURCE_ROOT/srv" # a number that is another's on the target
	mkdir -p "$SOURCE_ROOT/srv/"$'\xff place' && echo odd >"$SOURCE_ROOT/srv/"$'\xff place/file'
	chown -R 48:48 "$s"
	chown -R 1000:1000 "$SOURCE_ROOT/home/anna" "$s/deep" "$SOURCE_ROOT/var/mail/anna"
	chown 0:1000 "$s/setuid"
	chown 4242:4243 "$s/-rf"
	chmod 6755 "$s/setuid"
	chmod 1777 "$s/with space"
	touch -d '2001-02-03 04:05:06.789' "$s/plain"
}

target_machine() {
	system "$TARGET_ROOT" debian 13
	printf 'root:x:0:0::/root:/bin/sh\nwww-data:x:33:33::/:/bin/false\nother:x:1000:1000::/:/bin/sh\nanna:x:1501:1502::/home/anna:/bin/sh\n' >"$TARGET_ROOT/etc/passwd"
	printf 'root:x:0:\nwww-data:x:33:\nother:x:1000:\nanna:x:1502:\n' >"$TARGET_ROOT/etc/group"
	mkdir -p "$TARGET_ROOT/srv/shop" "$TARGET_ROOT/home/admin" && echo own | tee "$TARGET_ROOT/srv/own" "$TARGET_ROOT/home/admin/own" >"$TARGET_ROOT/srv/-rf"
	echo old >"$TARGET_ROOT/srv/shop/of the target" && chown 33 "$TARGET_ROOT/srv/shop/of the target"
}

# picture ROOT: all that matters of a tree, byte by byte.
picture() {
	(cd "$1" && find srv home var/mail -printf '%y %m %U %G %s %n %p %l\0' 2>/dev/null | LC_ALL=C sort -z | sha256sum
	find srv home var/mail -type f -print0 2>/dev/null | LC_ALL=C sort -z | xargs -0 -r sha256sum -z | sha256sum
	getfacl -R -n -p srv home 2>/dev/null | sha256sum)
}

# beside ROOT: the files that the source has beside its folders, and what they say.
beside() { (cd "$1" && find home srv -maxdepth 1 ! -type d ! -name own -print0 | sort -z | xargs -0 sha256sum -z -- | sha256sum); }

plans() {
	exits "without confirm nothing is done" 2 svc data plan --root "$SOURCE_ROOT" --target debian-13 --out "$work/out"
	exits "while the source runs it is inhibited" 6 svc data plan --root "$SOURCE_ROOT" --target debian-13 --out "$work/running" --confirm
	said "by mail that still arrives" 'data.source-running'
	exits "a quiet source is planned" 0 svc data plan --root "$SOURCE_ROOT" --target debian-13 --out "$work/out" --source-offline --confirm
	exits "its attestation verifies offline" 0 svc attest verify "$work/out/attestation.dsse.json"
	exits "a repeat is done" 0 svc data plan --root "$SOURCE_ROOT" --target debian-13 --out "$work/again" --source-offline --confirm
	exits "and gives the same bytes" 0 diff -r "$work/out" "$work/again"
	exits "its scripts pass shellcheck" 0 sh -c "cd '$work/out' && shellcheck -x ./*.sh"
	exits "and those of the places" 0 sh -c "shellcheck -x '$work/out'/places/*.sh"
	same "a plan runs nothing" "$(picture "$TARGET_ROOT")" "$old"
}

step() { exits "$1" "$2" bash "$work/out/$3"; }

moves() {
	step "nothing is copied before the check" 1 20-first-copy.sh
	sed -i '/^anna/d' "$TARGET_ROOT/etc/group"
	step "an account that is missing stops it" 1 10-check.sh
	said "and is named" 'no anna in /etc/group'
	echo 'anna:x:1502:' >>"$TARGET_ROOT/etc/group"
	cp -a "$work/out" "$TARGET_ROOT/srv/shop/scripts"
	exits "scripts that would be copied over are refused" 1 bash "$TARGET_ROOT/srv/shop/scripts/10-check.sh"
	said "with what to do" "Move it elsewhere"
	rm -rf "$TARGET_ROOT/srv/shop/scripts"
	step "the check passes" 0 10-check.sh
	step "a first copy is made" 0 20-first-copy.sh
	rm "$SOURCE_ROOT/srv/shop/;" && echo later >"$SOURCE_ROOT/srv/shop/later" && chown 48:48 "$SOURCE_ROOT/srv/shop/later"
	step "no last copy without counts" 1 40-copy.sh
	step "the source is counted" 0 30-before.sh
	step "a copy that is not made yet is found" 1 50-after.sh
	step "the last copy is made" 0 40-copy.sh
	step "the target is what the source is" 0 50-after.sh
	local first
	first=$(picture "$TARGET_ROOT")
	step "a second copy is made" 0 40-copy.sh
	same "and changes nothing" "$(picture "$TARGET_ROOT")" "$first"
}

holds() {
	local t=$TARGET_ROOT/srv/shop
	same "the web server's files have its new number" "$(stat -c %u:%g "$t/with space" "$t/later" | sort -u)" 33:33
	same "anna's have hers" "$(stat -c %u:%g "$TARGET_ROOT/home/anna/notes" "$t/deep" | sort -u)" 1501:1502
	same "numbers without a name stay" "$(stat -c %u:%g "$t/-rf")" 4242:4243
	same "setuid stays" "$(stat -c '%a %u:%g' "$t/setuid")" "6755 0:1502"
	same "hard links stay links" "$(stat -c %i "$t/plain")" "$(stat -c %i "$t/deep/hard")"
	same "times stay" "$(stat -c %y "$t/plain")" "$(stat -c %y "$SOURCE_ROOT/srv/shop/plain")"
	same "what is sparse stays so" "$(($(stat -c %b "$t/sparse") < 2048))" 1
	same "attributes stay" "$(getfattr --absolute-names --only-values -n user.note "$t/plain")" 'a b'
	same "rights by ACL have the new numbers" "$(getfacl -npc -- "$t/plain" | grep -E ':[0-9]+:' | tr '\n' ' ')" 'user:33:r-x group:1502:r-- '
	same "links lead where they led" "$(readlink "$t/absolute")" /etc/shadow
	same "what a nested place is like is copied too" "$(cat "$t/upload?[x]*/f" "$t/upload?ax/f")" "$(printf 'nested\nouter')"
	same "every name is there" "$(cd "$t" && find . -print0 | sort -z | sha256sum)" "$(cd "$SOURCE_ROOT/srv/shop" && find . -print0 | sort -z | sha256sum)"
	same "a place is there whose name is no text" "$(cat "$TARGET_ROOT/srv/"$'\xff place/file')" odd
	same "files beside the folders are there" "$(beside "$TARGET_ROOT")" "$(beside "$SOURCE_ROOT")"
	same "with their owners" "$(stat -c %u:%g "$TARGET_ROOT"/srv/{link,-rf})" "$(printf '33:33\n33:33')"
	same "and their folder is as the target made it" "$(stat -c '%a %u:%g' "$TARGET_ROOT/srv")" "755 0:0"
	same "and the target's own" "$(cat "$TARGET_ROOT/srv/own" "$TARGET_ROOT/home/admin/own")" $'own\nown'
	same "no name was run" "$(find "$work" -name pwned)" ""
	echo changed >>"$t/plain"
	step "a change on the target is found" 1 50-after.sh
	step "and repaired" 0 40-copy.sh
	chown 7 "$t/later"
	step "an owner that is wrong is found" 1 50-after.sh
}

back() {
	local source
	source=$(picture "$SOURCE_ROOT")
	step "it rolls back" 0 90-roll-back.sh
	same "to what the target was" "$(picture "$TARGET_ROOT")" "$old"
	step "twice" 0 90-roll-back.sh
	same "and is still that" "$(picture "$TARGET_ROOT")" "$old"
	same "the source was never touched" "$(picture "$SOURCE_ROOT")" "$source"
}

# over_ssh makes the same move by the same scripts, but that the source is reached
# by ssh alone.
over_ssh() {
	local at=$SOURCE_ROOT
	serve_ssh
	export SOURCE_SSH=nobody@source
	step "over ssh, a source that refuses stops it" 1 10-check.sh
	SOURCE_SSH=source SOURCE_ROOT=$work/none
	step "and one that has not what is planned" 1 10-check.sh
	SOURCE_ROOT=$at
	local name
	for name in 10-check 20-first-copy 30-before 40-copy 50-after; do step "over ssh, $name" 0 $name.sh; done
	same "every name is there" "$(cd "$TARGET_ROOT/srv/shop" && find . -print0 | sort -z | sha256sum)" "$(cd "$SOURCE_ROOT/srv/shop" && find . -print0 | sort -z | sha256sum)"
	same "with the target's owners" "$(stat -c %u:%g "$TARGET_ROOT/home/anna/notes" "$TARGET_ROOT/srv/shop/-rf")" "$(printf '1501:1502\n4242:4243')"
	same "rights by ACL have the new numbers" "$(getfacl -npc -- "$TARGET_ROOT/srv/shop/plain" | grep -E ':[0-9]+:' | tr '\n' ' ')" 'user:33:r-x group:1502:r-- '
	rm "$TARGET_ROOT/srv/shop/deep/hard"
	step "a file that is lost is found" 1 50-after.sh
	step "it rolls back" 0 90-roll-back.sh
	same "to what the target was" "$(picture "$TARGET_ROOT")" "$old"
}

needs rsync:rsync setfacl:acl setfattr:attr shellcheck:shellcheck ssh:openssh-client sshd:openssh-server
CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
source_machine
target_machine
old=$(picture "$TARGET_ROOT")
plans
moves
holds
back
over_ssh
finish
