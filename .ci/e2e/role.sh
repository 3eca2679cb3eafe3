# shellcheck shell=bash
# A role applied to a real root: sourced after checks.sh. A script sets cache, out,
# the migration's folder, and target, the root.

# make_target makes a Debian 13, with what its packages' scripts look for.
make_target() {
	cp -a "$cache/roots/trixie-base" "$target"
	mount -t proc proc "$target/proc"
	mount --bind /dev "$target/dev"
}

# plan CODE runs Python on the plan p.
plan() { python3 -c 'import json,sys; p=json.load(open(sys.argv[1])); exec(sys.argv[2])' "$out/plan.json" "$1"; }

# apply runs the role on the target root; recommended packages would only take
# time here.
apply() {
	(cd "$out" && env -u TMPDIR ANSIBLE_NOCOWS=1 ansible-playbook -i "$target," -c community.general.chroot -e role_install_recommends=false -e ansible_python_interpreter=/usr/bin/python3 site.yml) >"$work/$1.log" 2>&1
}

apply_twice() {
	apply first || true
	check "the role applies" grep -q "unreachable=0 *failed=0" "$work/first.log"
	grep -q "failed=0" "$work/first.log" || tail -n 40 "$work/first.log"
	apply second || true
	check "it changes nothing the second time" grep -qE "changed=0 +unreachable=0 +failed=0" "$work/second.log"
	grep -qE "changed=0 " "$work/second.log" || grep -E "^(changed|fatal|TASK)" "$work/second.log" | grep -B1 -E "^(changed|fatal)" | head -n 40
}

compare_packages() {
	local name missing=""
	for name in $(plan 'print(*p["install"])'); do
		[ "$(chroot "$target" dpkg-query -W -f '${db:Status-Abbrev}' "$name" 2>/dev/null)" = "ii " ] || missing="$missing $name"
	done
	same "all packages of the plan are installed" "$missing" ""
}

# takes NAME COMMAND…: the program on the target takes its configuration.
takes() {
	local name=$1
	shift
	check "$name takes its configuration" chroot "$target" "$@"
}
