# shellcheck shell=bash
# Which services of the target work in a place, so that they are stopped before it
# is copied and started after it was compared: what runs meanwhile writes over the
# copy when it ends. Sourced by lib.sh. $STATE/stopped has the units, a line each, and
# $STATE/working for which places: a place (or - for all), a unit.

# ours: this script, and all that it was called from.
ours() {
	local p=$$
	while [ "$p" -gt 1 ]; do
		printf '%s\n' "$p"
		p=$(awk '/^PPid:/ { print $2 }' "/proc/$p/status" 2>/dev/null) || return 0
	done
}

# opened PATH…: processes with one of these, or something below it, open. A container
# has files of its own by such names.
opened() {
	local at link name process tests=()
	for at; do
		at=${at//\\/\\\\} at=${at//\*/\\*} at=${at//\?/\\?} at=${at//\[/\\[}
		tests+=(-o -lname "$at" -o -lname "$at/*")
	done
	{ find /proc/[0-9]*/cwd /proc/[0-9]*/fd -maxdepth 1 \( "${tests[@]:1}" \) -printf '%p\n' 2>/dev/null || true; } |
		while read -r link; do
			process=${link#/proc/} process=${process%%/*}
			name=$(readlink "$link") || continue
			case $name in
			*' (deleted)') [ ! "/proc/$process/root" -ef / ] || echo "$process" ;;
			*) [ ! "$link" -ef "$name" ] || echo "$process" ;;
			esac
		done
}

# owned FOLDER: processes of the service's account that owns it. An engine may keep
# all in memory, and open its file when it ends.
owned() {
	local id
	id=$(stat -c %u -- "$1" 2>/dev/null) || return 0
	[ "$id" != 0 ] && [ "$id" -lt 1000 ] || return 0
	{ awk -v id="$id" '/^Uid:/ && $3 == id { split(FILENAME, f, "/"); print f[3] }' /proc/[0-9]*/status 2>/dev/null || true; } |
		while read -r id; do [ ! "/proc/$id/root" -ef / ] || echo "$id"; done # a container's account is another's
}

# unit_of PROCESS: the service of the system that it belongs to.
unit_of() { sed -nE 's|^.*/system\.slice/(.*/)?([^/]+\.service)(/.*)?$|\2|p' "/proc/$1/cgroup" 2>/dev/null | head -n 1; }

# workers: who works in the place on the target, a line each: process, service or
# -, name of the program.
workers() {
	local at p name paths=()
	at=$(realpath -m -- "$TO")
	for name in "${NAMES[@]}"; do paths+=("$at/$name"); done
	[ ${#NAMES[@]} != 0 ] || paths=("$at")
	{
		opened "${paths[@]}"
		[ "$UNSAFE" = 0 ] || owned "$at"
	} | sort -un | while read -r p; do
		! ours | grep -qx -- "$p" || continue
		name=$(cat "/proc/$p/comm" 2>/dev/null) || continue
		printf '%s %s %q\n' "$p" "$(unit_of "$p" | grep . || echo -)" "$name"
	done
}

# still: stops the services that work in the place. What belongs to no service is a
# person's: of a place that is unsafe to copy while it is written, that is refused.
still() {
	local unit units tries left
	units=$(workers | cut -d' ' -f2 | sort -u)
	while read -r unit; do
		[ "${unit:--}" = - ] || stop_unit "$unit"
	done <<<"$units"
	for ((tries = 0; tries < 60; tries++)); do
		left=$(workers)
		[ "$UNSAFE" = 1 ] || left=$(printf '%s\n' "$left" | awk '$2 != "-"')
		[ -n "$left" ] || return 0
		[ "$tries" != 4 ] || end_left "$left"
		sleep 0.5
	done
	refuse "These work in $TARGET_ROOT$SHOWN on the target (process, service, program), and what they write would be lost or would spoil the copy. End them first:
$left
Nothing was copied."
}

# end_left WORKERS: ends what services left behind that were stopped: systemd ends nothing
# of an init script by itself, and some lose sight of a program of theirs.
end_left() {
	local unit units
	units=$(awk '$2 != "-" { print $2 }' <<<"$1" | sort -u)
	while read -r unit; do
		[ -z "$unit" ] || systemctl kill --signal=TERM -- "$unit" 2>/dev/null || true
	done <<<"$units"
}

# still_all: the same for all places. Who works in several is known for each of them.
still_all() {
	each_place working
	hush
	each_place still
}

# working: remembers who works in the place.
working() {
	local unit
	# shellcheck disable=SC2153 # lib.sh sets NAME
	workers | cut -d' ' -f2 | sort -u | while read -r unit; do [ "$unit" = - ] || works "$NAME" "$unit"; done
}

# works PLACE UNIT: remembers it, once.
works() { grep -qxF -- "$1 $2" "$STATE/working" 2>/dev/null || printf '%s %s\n' "$1" "$2" >>"$STATE/working"; }

# refuse WHY: ends before anything is copied. What was stopped is started again, but for
# who works where a copy was begun before.
refuse() {
	printf '%s\n' "$1" >&2
	held=()
	each_place begun
	(again) || true # which ends with another code
	exit 1
}

begun() { [ ! -e "$STATE/$NAME.absent" ] && [ ! -e "$STATE/$NAME.saved" ] || held+=("$NAME"); }

# callers: units that run on the target and call what people wrote whenever it is time.
# What is called may have written into a place, and ended, before anyone looks.
callers() {
	[ -z "$TARGET_ROOT" ] && [ -d /run/systemd/system ] || return 0
	systemctl list-units --plain --no-legend --state=active --type=service,timer,path | awk '{ print $1 }' | while read -r unit; do
		case $unit in
		cron.service | crond.service | cronie.service | anacron.service | fcron.service | atd.service | incron.service | incrond.service | supervisor.service | supervisord.service | circus.service | circusd.service) ;;
		*.timer | *.path) case $(systemctl show --property=FragmentPath --value -- "$unit") in /etc/systemd/system/*) ;; *) continue ;; esac ;;
		*) continue ;;
		esac
		! ours | while read -r p; do unit_of "$p"; done | grep -qxF -- "$unit" || continue # it called this
		printf '%s\n' "$unit"
	done
}

# hush: stops them.
hush() {
	local unit units
	units=$(callers)
	while read -r unit; do
		[ -z "$unit" ] || NAME=- stop_unit "$unit" "calls programs of people's own"
	done <<<"$units"
}

# holds_nothing SERVICE: it is a Redis or Valkey, and has not one key.
holds_nothing() {
	local process client at settings answer words=()
	process=$(systemctl show --property=MainPID --value -- "$1")
	client=$(sed -n 's/-server$/-cli/p' "/proc/$process/comm" 2>/dev/null)
	case $client in redis-cli | valkey-cli) ;; *) return 1 ;; esac
	read -ra words <<<"$(tr '\0' ' ' <"/proc/$process/cmdline")" # it says where it listens: *:6379, unixsocket:PATH
	at=${words[1]:-}
	case $at in
	unixsocket:/*) words=(-s "${at#unixsocket:}") ;;
	*:*) words=(-h "${at%:*}" -p "${at##*:}") ;;
	*) return 1 ;;
	esac
	[ "${words[1]}" != '*' ] || words[1]=127.0.0.1
	settings=$(systemctl show --property=ExecStart --value -- "$1" | grep -oE '/[^ ;]+[.]conf' | head -n 1)
	answer=$(REDISCLI_AUTH=$(sed -nE 's/^requirepass +"?([^"]*)"? *$/\1/p' "$settings" 2>/dev/null | tail -n 1) timeout 10 "$client" "${words[@]}" info keyspace 2>/dev/null) || return 1
	grep -q '^# Keyspace' <<<"$answer" && ! grep -q '^db' <<<"$answer"
}

# stop_unit SERVICE [WHY]: with what would start it again. Some units are waited for
# without end, as those of a server that can't save what it has. One that has nothing is
# ended. STOP_HARD=1 ends all: of a target that is thrown away, nobody wants what they have.
stop_unit() {
	local p SHOWN=${SHOWN:-a place} triggers=()
	[ -z "$TARGET_ROOT" ] || refuse "$1 of this very host works in $TARGET_ROOT$SHOWN: stop it first. Nothing was copied."
	for p in $(ours); do
		[ "$(unit_of "$p")" != "$1" ] || refuse "This session runs in $1, which works in $TARGET_ROOT$SHOWN: run the script in another way, such as from the console. Nothing was copied."
	done
	read -ra triggers <<<"$(systemctl show --property=TriggeredBy --value -- "$1")"
	for p in "${triggers[@]}" "$1"; do
		case $(systemctl is-active -- "$p") in inactive | failed | unknown) continue ;; esac
		works "$NAME" "$p"
		say "stopping $p, which ${2:-works in $SHOWN}; 50-after.sh starts it"
		grep -qxF -- "$p" "$STATE/stopped" 2>/dev/null || printf '%s\n' "$p" >>"$STATE/stopped"
		keep_down "$p"
		timeout "${STOP_SECONDS:-120}" systemctl stop -- "$p" && continue
		[ "${STOP_HARD:-}" = 1 ] || holds_nothing "$p" ||
			refuse "$p does not stop: see journalctl -u $p why. Nothing was copied to $TARGET_ROOT$SHOWN. Where it can't save what it has, and that is nothing that you want beside the source's, end it by: systemctl kill --signal=KILL $p; then repeat this."
		say "$p does not stop, and has nothing that is wanted: it is ended"
		systemctl kill --signal=KILL -- "$p"
	done
}

# keep_down UNIT: what wants it, and is started anew meanwhile, does not bring it back. A
# reboot takes this away, too.
keep_down() {
	install -d "/run/systemd/system/$1.d"
	printf '# Its data are being moved: 50-after.sh and 90-roll-back.sh take this away.\n[Unit]\nConditionPathExists=/run/systemd/system/%s.d/moved\n' "$1" >"/run/systemd/system/$1.d/data-move.conf"
	systemctl daemon-reload
}

# let_up UNIT…: they may start again.
let_up() {
	local unit
	for unit; do
		rm -f -- "/run/systemd/system/$unit.d/data-move.conf"
	done
	systemctl daemon-reload
}

# waits UNIT: whether it works in one of the held places, or calls what people wrote while
# there are such.
waits() {
	local place
	[ ${#held[@]} != 0 ] || return 1
	for place in "${held[@]}" -; do
		! grep -qxF -- "$place $1" "$STATE/working" 2>/dev/null || return 0
	done
	return 1
}

# again: starts what still stopped, the last first, but for what works in one of the held
# places: that stays stopped, and is said. One that does not stop has never ended: to start
# it would wait for that without end. What needs one that is started after it is tried
# once more. Where one does not start, the script ends with 2.
again() {
	local unit units first=() failed=() left=()
	[ -s "$STATE/stopped" ] || return 0
	units=$(tac -- "$STATE/stopped")
	# shellcheck disable=SC2086 # names without spaces
	let_up $units
	: >"$STATE/stopped.part"
	while read -r unit; do
		if waits "$unit"; then
			left=("$unit" "${left[@]}")
			continue
		fi
		[ "$(systemctl is-active -- "$unit")" != deactivating ] || continue
		say "starting $unit"
		printf '%s\n' "$unit" >>"$STATE/stopped.part"
		systemctl start -- "$unit" </dev/null || first+=("$unit")
	done <<<"$units"
	for unit in "${first[@]}"; do
		systemctl start -- "$unit" </dev/null || failed+=("$unit")
	done
	mv -- "$STATE/stopped.part" "$STATE/started"
	if [ ${#left[@]} = 0 ]; then
		rm -f -- "$STATE/stopped" "$STATE/working"
	else
		printf '%s\n' "${left[@]}" >"$STATE/stopped"
		printf 'These stay stopped until their places are whole: %s.\n' "${left[*]}" >&2
	fi
	[ ${#failed[@]} = 0 ] || {
		printf 'These do not start: %s. The data are in place; journalctl -u NAME says why.\n' "${failed[*]}" >&2
		[ ${#held[@]} != 0 ] || exit 2
	}
}
