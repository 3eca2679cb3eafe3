#!/usr/bin/env bash
# Makes the accounts that own data and that the target lacks, for services: with no
# password, no shell and no home. Those of people are left to the migration's role.
# A second run changes nothing.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=accounts.sh
. "$plan/accounts.sh"
people=() root=()

# lacks FILE NAME: whether the target has no such account.
lacks() { [ -n "$2" ] && ! awk -F: -v name="$2" '$1 == name { found = 1 } END { exit !found }' "$TARGET_ROOT/etc/$1"; }

# service ID NAME: whether it is a service's; a person's is noted.
service() {
	[ "$1" -ge 1000 ] && [ "$1" -lt 60000 ] || return 0
	people+=("$2")
	return 1
}

begin
[ -z "$TARGET_ROOT" ] || root=(--root "$TARGET_ROOT")
for i in "${!GROUP_IDS[@]}"; do
	if lacks group "${GROUP_ACCOUNTS[i]}" && service "${GROUP_IDS[i]}" "${GROUP_ACCOUNTS[i]}"; then
		groupadd "${root[@]}" --system -- "${GROUP_ACCOUNTS[i]}"
		say "made the group $(printf %q "${GROUP_ACCOUNTS[i]}")"
	fi
done
for i in "${!USER_IDS[@]}"; do
	if lacks passwd "${USER_ACCOUNTS[i]}" && service "${USER_IDS[i]}" "${USER_ACCOUNTS[i]}"; then
		group=(--gid "${USER_ACCOUNTS[i]}")
		! lacks group "${USER_ACCOUNTS[i]}" || group=(--user-group)
		useradd "${root[@]}" --system --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin "${group[@]}" -- "${USER_ACCOUNTS[i]}"
		say "made the account $(printf %q "${USER_ACCOUNTS[i]}")"
	fi
done
[ ${#people[@]} = 0 ] || die "These are people's, and the migration's role makes them; apply it: $(printf '%q ' "${people[@]}")"
say "Next: 10-check.sh."
