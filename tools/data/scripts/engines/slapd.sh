# The target's slapd must be configured for the same suffix, where its configuration does not
# come with the dump. It is stopped while its database is loaded. There may be several: DATABASE is the suffix of this one.
# What the file holds above and beside the suffix, such as the top that the package made for a
# name of before, slapd does not serve.
# shellcheck disable=SC2046 # conf_options gives words
dump() { slapcat $(conf_options) ${DATABASE:+-b "$DATABASE" -s "$DATABASE"} -o ldif-wrap=no; }

# conf_options: those that lead to what slapd itself reads, where /etc/default/slapd says so:
# the programs take /etc/ldap/slapd.d, which a package makes, before a slapd.conf. Programs
# that are built otherwise do not look into Red Hat's folder.
conf_options() {
	local at
	at=$(sed -n "s|^SLAPD_CONF=[\"']\{0,1\}\(/[A-Za-z0-9/._-]*\).*|\1|p" /etc/default/slapd 2>/dev/null | tail -n 1)
	[ -n "$at" ] || [ -e /etc/ldap/slapd.d ] || [ -e /etc/ldap/slapd.conf ] || at=/etc/openldap/slapd.d
	if [ -d "$at" ]; then printf -- '-F %s' "$at"; elif [ -f "$at" ]; then printf -- '-f %s' "$at"; fi
}

# empty: it has nothing but what an installation puts there: its top, made of the name
# of a domain, and who administers it.
empty() {
	{ dump 2>/dev/null || true; } | awk '
		/^dn:/ { dn = tolower(substr($0, 5)); if (!n++) top = dn; else if (dn != "cn=admin," top) found = 1 }
		n == 1 && tolower($0) == "objectclass: dcobject" { made = 1 }
		END { exit found || n && !made }
	'
}

# folder: where slapd keeps this database. A slapd.conf has no database of its own.
folder() {
	local settings
	settings=$(conf_options)
	case $settings in -f*)
		awk -v suffix="$DATABASE" '
			function tell() { if (place != "" && (suffix == "" || tolower(suffix) == has)) { print place; told = 1; exit }; place = has = "" }
			{ key = tolower($1); value = $0; sub(/^[ \t]*[^ \t]+[ \t]+/, "", value); gsub(/"/, "", value) }
			key == "database" { tell() }
			key == "directory" { place = value }
			key == "suffix" { has = tolower(value) }
			END { if (!told) tell() }
		' "${settings#-f }"
		return
		;;
	esac
	# shellcheck disable=SC2046 # conf_options gives words
	slapcat $(conf_options) -n 0 -o ldif-wrap=no | awk -v suffix="$DATABASE" '
		/^$/ { if (place != "" && (suffix == "" || tolower(suffix) == has)) { print place; exit }; place = has = "" }
		/^olcDbDirectory: / { place = substr($0, 17) }
		/^olcSuffix: / { has = tolower(substr($0, 12)) }
	'
}

# account_of_slapd: as which it runs.
account_of_slapd() {
	local account
	for account in openldap ldap; do ! id -u "$account" >/dev/null 2>&1 || break; done
	printf '%s' "$account"
}

runs="" # slapd, but for our work
# pause, resume: stop it, and start it again where it ran.
pause() {
	command -v systemctl >/dev/null && systemctl is-active --quiet slapd 2>/dev/null || return 0
	runs=yes
	systemctl stop slapd
}
resume() { [ -z "$runs" ] || systemctl start slapd; }

load() {
	local account at
	account=$(account_of_slapd)
	at=$(folder)
	pause
	# The installation's own entries are in the way of the source's.
	[ -z "$at" ] || [ ! -e "$at/data.mdb" ] || mv -- "$at/data.mdb" "$at/data.mdb.before"
	# shellcheck disable=SC2046 # conf_options gives words
	runuser -u "$account" -- slapadd $(conf_options) -q ${DATABASE:+-b "$DATABASE"} || return
	resume
}

# count: how many entries there are, and the digest of all that they say.
count() {
	local said
	said=$(dump | grep -v '^contextCSN:' | sort) || return
	grep -c '^dn:' <<<"$said"
	sha256sum <<<"$said"
}
