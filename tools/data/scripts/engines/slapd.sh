# The target's slapd must be configured for the same suffix. It is stopped while its
# database is loaded. There may be several: DATABASE is the suffix of this one.
dump() { slapcat ${DATABASE:+-b "$DATABASE"} -o ldif-wrap=no; }

# empty: it has nothing but what an installation puts there: its top, made of the name
# of a domain, and who administers it.
empty() {
	{ dump 2>/dev/null || true; } | awk '
		/^dn:/ { dn = tolower(substr($0, 5)); if (!n++) top = dn; else if (dn != "cn=admin," top) found = 1 }
		n == 1 && tolower($0) == "objectclass: dcobject" { made = 1 }
		END { exit found || n && !made }
	'
}

# folder: where slapd keeps this database.
folder() {
	slapcat -n 0 -o ldif-wrap=no | awk -v suffix="$DATABASE" '
		/^$/ { if (place != "" && (suffix == "" || tolower(suffix) == has)) { print place; exit }; place = has = "" }
		/^olcDbDirectory: / { place = substr($0, 17) }
		/^olcSuffix: / { has = tolower(substr($0, 12)) }
	'
}

load() {
	local account at runs=
	for account in openldap ldap; do ! id -u "$account" >/dev/null 2>&1 || break; done
	at=$(folder)
	if command -v systemctl >/dev/null && systemctl is-active --quiet slapd 2>/dev/null; then
		runs=yes
		systemctl stop slapd
	fi
	# The installation's own entries are in the way of the source's.
	[ -z "$at" ] || [ ! -e "$at/data.mdb" ] || mv -- "$at/data.mdb" "$at/data.mdb.before"
	runuser -u "$account" -- slapadd -q ${DATABASE:+-b "$DATABASE"} || return
	[ -z "$runs" ] || systemctl start slapd
}

# count: how many entries there are, and the digest of all that they say.
count() {
	local said
	said=$(dump | grep -v '^contextCSN:' | sort) || return
	grep -c '^dn:' <<<"$said"
	sha256sum <<<"$said"
}
