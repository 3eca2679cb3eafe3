WAY=/run/svc-move-$TUNNEL_PORT.ssh # ssh's control socket: short, and gone with a reboot
WAIT=${WAIT:-600}

# way: the target's engine reaches the source's on TUNNEL_PORT of the loopback.
way() {
	! ssh -S "$WAY" -O check -- "$SOURCE_SSH" 2>/dev/null || return 0
	local port
	port=$(on_source port)
	ssh -f -N -M -S "$WAY" -E "$WAY.log" -o BatchMode=yes -o ExitOnForwardFailure=yes -o ServerAliveInterval=15 \
		-L "127.0.0.1:$TUNNEL_PORT:127.0.0.1:$port" -- "$SOURCE_SSH" </dev/null >/dev/null 2>&1 ||
		die "There is no way from port $TUNNEL_PORT to port $port of the source: $(tail -n 1 "$WAY.log")"
}

no_way() { ssh -S "$WAY" -O exit -- "$SOURCE_SSH" 2>/dev/null || true; }

# check: what the source and the target say against it, a line each.
check() {
	local source refused
	source=$(on_source facts) || die "The source's engine does not answer. Nothing was done."
	refused=$(on_source refusals && refusals_here "$source") || die "An engine does not answer, or not to root. Nothing was done."
	[ -z "$refused" ] || die "$refused"$'\n'"It can't be replicated as it is. Nothing was done."
}

# quiet: nobody can write to the source without being connected to it.
quiet() {
	local others
	others=$(on_source others) || die "The source's engine does not answer. The target was not switched."
	[ -z "$others" ] || die "$others"$'\n'"These are connected to the source, or write to it: end them first. The target was not switched, and follows."
}

# until_reached POSITION: waits until the target has all up to there.
until_reached() {
	local end=$((SECONDS + WAIT))
	until reached "$1"; do
		[ "$SECONDS" -lt "$end" ] || die "After $WAIT seconds the target has not all of the source: see status; WAIT=SECONDS waits longer. It was not switched, and follows."
		sleep 1
	done
}

switch_over() {
	local position
	way
	quiet
	position=$(on_source position)
	say "waiting for the target to have all up to $position"
	until_reached "$position"
	carry
	say "counting both sides"
	on_source count >"$STATE.before"
	count | diff -- "$STATE.before" - || die "The target has not what the source has (< the source, > the target). It was not switched, and follows."
	quiet
	finish
	no_way
	say "The target has what the source had, and is on its own. The applications may go to it."
}

run() {
	case ${1:-} in
	check)
		check
		say "It can be replicated."
		;;
	start)
		check
		empty || die "The target's engine holds data already, or does not answer. Nothing was done."
		! declare -F accounts >/dev/null || on_source accounts >"$STATE.accounts"
		start
		say "The target follows the source. Next: status, and switch once nothing is connected to the source any more."
		;;
	status)
		way
		status
		;;
	switch) switch_over ;;
	undo)
		leave
		no_way
		say "Nothing is left of it on the source. The target's engine keeps what it was given: drop that before you start again."
		;;
	*)
		echo "Usage: $0 check | start | status | switch | undo" >&2
		exit 2
		;;
	esac
}

visibly run "$@"
