run() {
	[ "${1:-}" = dump ] || ! declare -F at_target >/dev/null || at_target
	case ${1:-} in
	dump)
		on_source count >"$DUMP.part"
		mv -- "$DUMP.part" "$DUMP.before" # of one that failed nothing may be held against the target
		! declare -F accounts >/dev/null || on_source accounts >"$DUMP.accounts"
		! declare -F settings >/dev/null || on_source settings >"$DUMP.settings"
		on_source dump >"$DUMP.part"
		mv -- "$DUMP.part" "$DUMP"
		sha256sum <"$DUMP" >"$DUMP.sha256"
		;;
	load)
		[ "$(sha256sum <"$DUMP")" = "$(cat -- "$DUMP.sha256" || echo none)" ] || die "$DUMP is not what was dumped. Nothing was loaded."
		[ ! -s "$DUMP.settings" ] || ! declare -F configure >/dev/null || configure <"$DUMP.settings" || die "The target's engine does not take the source's configuration, as said above, and has its own. Nothing was loaded."
		! declare -F rouse >/dev/null || rouse >&2
		empty || die "The target's engine holds databases already, or does not answer. Nothing was loaded."
		load <"$DUMP" || die "Not all of it was loaded: drop the target's databases before you try again."
		[ ! -s "$DUMP.settings" ] || ! declare -F settle >/dev/null || settle <"$DUMP.settings" || die "All is loaded, but not all of the server's settings, as said above."
		;;
	accounts)
		declare -F accounts >/dev/null || die "The accounts of this engine come with its dump: there is nothing to do."
		make_accounts
		;;
	check)
		count | diff -- "$DUMP.before" - || die "The target has not what the source had (< the source, > the target)."
		echo "The target has what the source had."
		;;
	*)
		echo "Usage: $0 dump | load | accounts | check" >&2
		exit 2
		;;
	esac
}

visibly run "$@"
