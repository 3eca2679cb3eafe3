# RIGHTS are the privileges of MySQL's that MariaDB has by another name. What else has an
# underscore in its name, and what is of roles, is MySQL's alone.
declare -A RIGHTS=(
	[BINLOG_ADMIN]="BINLOG ADMIN"
	[CONNECTION_ADMIN]="CONNECTION ADMIN"
	[REPLICATION_APPLIER]="BINLOG REPLAY"
	[REPLICATION_SLAVE_ADMIN]="REPLICATION SLAVE ADMIN"
	[SET_ANY_DEFINER]="SET USER"
	[SET_USER_ID]="SET USER"
	[SHOW_ROUTINE]="SHOW CREATE ROUTINE"
)

# METHODS are the ways to log in of MySQL's that MariaDB has too.
declare -A METHODS=([mysql_native_password]=mysql_native_password [auth_socket]=unix_socket)

# make_accounts: each statement is tried, whatever became of the one before.
make_accounts() {
	local made=$DUMP.accounts without=() several=()
	if into_mariadb; then
		made=$DUMP.accounts.mariadb
		as_mariadb <"$DUMP.accounts" >"$made"
	fi
	query --force <"$made" >/dev/null 2>"$made.errors" || die "The accounts were not made: $(tail -n 1 "$made.errors")"
	if [ ${#without[@]} != 0 ]; then
		echo "MariaDB can't read the passwords of these accounts. Nobody logs in by them until each is given its password, as programs have it, in the client mariadb:"
		printf "  ALTER USER %s IDENTIFIED BY 'PASSWORD';\n" "${without[@]}"
	fi
	if [ ${#several[@]} != 0 ]; then
		echo "An account has one default role in MariaDB, and these had several:"
		printf '  %s\n' "${several[@]}"
	fi
	! grep '^ERROR' "$made.errors" >&2 || die "What is said above was not made, of $made; the other accounts are there."
	echo "The accounts of the source are made, with their rights and, but for those named above, their passwords."
}

# as_mariadb: statements as MariaDB takes them; its own are left as they are. Accounts whose
# password it can't read are put into without, those with default roles that are left into several.
as_mariadb() {
	local line last=() q='`'
	local name="$q([^$q]|$q$q)*$q"
	local -A roles=()
	while IFS= read -r line; do
		case $line in
		"CREATE USER "*" IDENTIFIED WITH '"*) account_as_mariadb ;;
		"GRANT "*) grant_as_mariadb ;;
		*) printf '%s\n' "$line" ;;
		esac
	done
	[ ${#last[@]} = 0 ] || printf '%s\n' "${last[@]}"
}

# account_as_mariadb: line, which makes one. A role is an account of MySQL's that can't log in,
# and has no host in MariaDB, where an account has one default role.
account_as_mariadb() {
	local who method digest more
	if ! [[ $line =~ ^'CREATE USER '(.+)" IDENTIFIED WITH '"([a-z0-9_]+)"'"(.*)' REQUIRE '((NONE|SSL|X509|SUBJECT|ISSUER|CIPHER).*)';'$ ]]; then
		printf '%s\n' "$line"
		return
	fi
	who=${BASH_REMATCH[1]} method=${BASH_REMATCH[2]} digest=${BASH_REMATCH[3]} more=${BASH_REMATCH[4]%% PASSWORD HISTORY *}
	if [[ $digest =~ ' DEFAULT ROLE '($name)@$name(,.*)?$ ]]; then
		digest=${digest%"${BASH_REMATCH[0]}"}
		last+=("SET DEFAULT ROLE ${BASH_REMATCH[1]} FOR $who;")
		[ -z "${BASH_REMATCH[4]}" ] || several+=("$who has ${BASH_REMATCH[1]}, and not ${BASH_REMATCH[4]#,}")
	fi
	if [[ -z $digest && $more == "NONE PASSWORD EXPIRE ACCOUNT LOCK" ]]; then
		roles[$who]=${who%"@$q"*}
		printf 'CREATE ROLE %s;\n' "${roles[$who]}"
		return
	fi
	digest=${digest# AS }
	if [ "$method" = mysql_no_login ]; then # it is there for what it defines
		digest="'invalid'"
	elif [[ -n $digest && ! -v METHODS[$method] ]]; then
		digest="'invalid'" # which is no digest
		without+=("$who")
	fi
	printf 'CREATE USER %s IDENTIFIED VIA %s%s REQUIRE %s;\n' "$who" "${METHODS[$method]:-mysql_native_password}" "${digest:+ USING $digest}" "$more"
}

# grant_as_mariadb: line, which grants rights or roles.
grant_as_mariadb() {
	if [[ $line =~ ^(.*' TO ')($name@$name)((' WITH '[A-Z ]+)?';')$ && -v roles[${BASH_REMATCH[2]}] ]]; then
		line=${BASH_REMATCH[1]}${roles[${BASH_REMATCH[2]}]}${BASH_REMATCH[5]}
	fi
	if [[ $line =~ ^'GRANT '([A-Z_, ]+)(' ON *.* TO '.*)$ ]]; then
		rights_as_mariadb "${BASH_REMATCH[@]:1:2}"
	elif [[ $line =~ ^'GRANT '($name@$name(,$name@$name)*)' TO ' ]]; then
		roles_as_mariadb "${BASH_REMATCH[1]}" "${line#"GRANT ${BASH_REMATCH[1]}"}"
	else
		printf '%s\n' "$line"
	fi
}

# rights_as_mariadb RIGHTS TO: the grant option of one that MySQL has apart would be that of all.
rights_as_mariadb() {
	local right rights granted='' to=$2
	IFS=, read -ra rights <<<"$1"
	for right in "${rights[@]# }"; do
		case $right in
		*_*)
			to=${to/% WITH GRANT OPTION;/;}
			right=${RIGHTS[$right]:-}
			;;
		"CREATE ROLE" | "DROP ROLE") right= ;;
		esac
		granted+=${right:+, $right}
	done
	[ -z "$granted" ] || printf 'GRANT %s%s\n' "${granted#, }" "$to"
}

# roles_as_mariadb ROLES TO: MariaDB grants them one by one.
roles_as_mariadb() {
	local rest=$1
	while [[ $rest =~ ^($name)@$name,?(.*)$ ]]; do
		printf 'GRANT %s%s\n' "${BASH_REMATCH[1]}" "$2"
		rest=${BASH_REMATCH[4]}
	done
}
