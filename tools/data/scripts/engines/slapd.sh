# The target's slapd must be configured for the same suffix, and be stopped while
# its database is loaded. There may be several: DATABASE is the suffix of this one.
dump() { slapcat ${DATABASE:+-b "$DATABASE"} -o ldif-wrap=no; }

empty() { [ "$(dump 2>/dev/null | grep -c '^dn:')" = 0 ]; }

load() {
	local account
	for account in openldap ldap; do ! id -u "$account" >/dev/null 2>&1 || break; done
	runuser -u "$account" -- slapadd -q ${DATABASE:+-b "$DATABASE"}
}

# count: how many entries there are, and the digest of all that they say.
count() {
	local said
	said=$(dump | grep -v '^contextCSN:' | sort) || return
	grep -c '^dn:' <<<"$said"
	sha256sum <<<"$said"
}
