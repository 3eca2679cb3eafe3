# The target keeps cn=config in another folder than the source, so that no role brings it:
# the source's comes with the dump, is written for the target's slapd, and is loaded first.
# CONFIG_FROM and CONFIG_TO are these folders, PLACES what cn=config names, each with where
# the target has that. What a slapd.conf says is a person's to carry.

settings() { [ ! -e "$CONFIG_FROM/cn=config.ldif" ] || slapcat -F "$CONFIG_FROM" -n 0 -o ldif-wrap=no; }

# configure: gives the target's slapd the source's cn=config. Its own stays beside it; where
# slapd does not take the source's, it has its own again.
configure() {
	local written=$STATE.config.ldif digest account before=$CONFIG_TO.before-the-move
	account=$(account_of_slapd)
	written_anew >"$written" || return
	digest=$(sha256sum <"$written")
	[ ! -e "$before.sha256" ] || [ "$digest" != "$(cat -- "$before.sha256")" ] || return 0 # with another database
	tls_files "$account" "$written"
	pause
	rm -rf -- "$CONFIG_TO.part"
	[ ! -e "$CONFIG_TO" ] || mv -T -- "$CONFIG_TO" "$CONFIG_TO.part"
	if ! taken "$account" "$written"; then
		rm -rf -- "$CONFIG_TO"
		[ ! -e "$CONFIG_TO.part" ] || mv -T -- "$CONFIG_TO.part" "$CONFIG_TO"
		resume
		return 1
	fi
	if [ -e "$before" ]; then rm -rf -- "$CONFIG_TO.part"; elif [ -e "$CONFIG_TO.part" ]; then mv -T -- "$CONFIG_TO.part" "$before"; fi
	printf '%s\n' "$digest" >"$before.sha256"
	echo "slapd has the source's cn=config; its own is in $before."
	resume || true # what is missing was said, and its database is loaded all the same
}

# taken ACCOUNT FILE: loads it as slapd's own account, with the folders that its databases
# need. slapd may be confined, and then reads what is piped to it alone.
taken() {
	local folder
	install -d -m 0750 -o "$1" -g "$1" -- "$CONFIG_TO" || return
	while IFS= read -r folder; do
		[ -e "$folder" ] || { (umask 022 && mkdir -p -- "$(dirname -- "$folder")") && install -d -m 0700 -o "$1" -g "$1" -- "$folder"; } || return
	done < <(sed -n 's|^olcDbDirectory: \(/.*\)|\1|p' "$2")
	cat -- "$2" | runuser -u "$1" -- slapadd -F "$CONFIG_TO" -n 0 && runuser -u "$1" -- slapcat -F "$CONFIG_TO" -n 0 >/dev/null
}

# tls_files ACCOUNT FILE: says which of the files for TLS slapd could not read. Debian opens
# the folder of keys to members of ssl-cert.
tls_files() {
	local file
	while IFS= read -r file; do
		! runuser -u "$1" -- test -r "$file" || continue
		[ ! -e "$file" ] || [ "$(stat -c %G -- "$(dirname -- "$file")")" != ssl-cert ] || usermod -aG ssl-cert "$1"
		runuser -u "$1" -- test -r "$file" || printf '%s, which cn=config names, is nothing that %s can read on the target: slapd does not start without.\n' "$file" "$1"
	done < <(sed -n -E 's|^olcTLS(CA)?Certificate(Key)?File: (/.*)|\3|p' "$2")
}

# written_anew: cn=config, which it reads, as the target's slapd takes it: its places; hdb
# and bdb, where it has them no more, as mdb; what it has as modules that was built into the
# source's, and the other way round; the schema of ppolicy, which 2.5 has built in.
# slapd-config(5), slapd-mdb(5); openldap.org: upgrading to 2.5.
written_anew() {
	local modules=/usr/lib/ldap at
	for at in /usr/lib/ldap /usr/lib64/openldap /usr/lib/openldap; do
		[ ! -d "$at" ] || { modules=$at && break; }
	done
	NAMED=$(printf '%s\n' "${PLACES[@]}") MODULES=$modules HAS=$(cd -- "$modules" && ls) STATIC=$(PATH=$PATH:/usr/sbin slapd -VVV 2>&1 || true) awk '
		function moved(line,    p, i, out, before, after) {
			for (p = 1; p <= places; p++) {
				for (out = ""; i = index(line, was[p]); line = substr(line, i + length(was[p]))) {
					before = i > 1 ? substr(line, i - 1, 1) : ""
					after = substr(line, i + length(was[p]), 1)
					out = out substr(line, 1, i - 1) (before ~ /[A-Za-z0-9._\/-]/ || after ~ /[A-Za-z0-9._-]/ ? was[p] : now[p])
				}
				line = out line
			}
			return line
		}
		function value(line) { sub(/^[^:]*: */, "", line); sub(/^[{][0-9-]+[}]/, "", line); return line }
		function module(line) { line = value(line); sub(/^.*\//, "", line); sub(/[.](la|so).*$/, "", line); return line }
		function there(name) { return (name ".la") in file || (name ".so") in file }
		function now_module(name) { return name ~ /^back_[hb]db$/ && gone(substr(name, 6)) ? "back_mdb" : name } # which takes their place
		function gone(type) { return (type == "hdb" || type == "bdb") && !(("back_" type) in static) && !there("back_" type) }
		function kind(dn) { sub(/^dn: olc(Database|Overlay)=([{][0-9-]+[}])?/, "", dn); sub(/,.*$/, "", dn); return tolower(dn) }
		function needs(name) { if (!(name in loaded) && !(name in static) && there(name)) { loaded[name] = 1; more = more "olcModuleLoad: " name "\n" } }
		function lists() { # those of modules come before what needs them
			if (more != "") printf "dn: cn=module{%d},cn=config\nobjectClass: olcModuleList\ncn: module{%d}\nolcModulePath: %s\n%s\n", last, last, ENVIRON["MODULES"], more
			more = ""
		}
		BEGIN {
			places = split(ENVIRON["NAMED"], pairs, "\n")
			for (i = 1; i <= places; i++) { n = index(pairs[i], "="); was[i] = substr(pairs[i], 1, n - 1); now[i] = substr(pairs[i], n + 1) }
			n = split(ENVIRON["HAS"], names, "\n")
			for (i = 1; i <= n; i++) file[names[i]] = 1
			n = split(ENVIRON["STATIC"], names, "\n")
			for (i = 1; i <= n; i++) {
				if (match(names[i], /slapd [0-9]+[.][0-9]+/)) { split(substr(names[i], RSTART + 6, RLENGTH - 6), v, "."); later = v[1] > 2 || v[1] == 2 && v[2] >= 5 }
				if (names[i] ~ /static/) prefix = names[i] ~ /backends/ ? "back_" : ""
				if (names[i] ~ /^ +/) { gsub(/ /, "", names[i]); static[prefix names[i]] = 1 }
			}
		}
		{ line[NR] = $0 }
		tolower($1) == "olcmoduleload:" { loaded[now_module(module($0))] = 1 }
		tolower($1) == "olctlscertificatefile:" && value($0) !~ /^\// { nss = 1 }
		/^dn: cn=module[{][0-9]+[}],cn=config$/ { sub(/^.*[{]/, ""); sub(/[}].*$/, ""); if ($0 + 1 > last) last = $0 + 1 }
		END {
			for (i = 1; i <= NR; i++) {
				if (line[i] ~ /^dn: olcDatabase=/) { type = kind(line[i]); if (type != "frontend") needs("back_" (gone(type) ? "mdb" : type)) }
				if (line[i] ~ /^dn: olcOverlay=/) { type = kind(line[i]); needs(type == "chain" ? "back_ldap" : type) } # slapo-chain(5)
				if (line[i] ~ /^dn: cn=([{][0-9]+[}])?ppolicy,cn=schema,cn=config$/ && later) needs("ppolicy")
			}
			for (i = 1; i <= NR; i++) {
				l = line[i]
				if (l ~ /^dn: /) {
					skip = later && l ~ /^dn: cn=([{][0-9]+[}])?ppolicy,cn=schema,cn=config$/
					anew = l ~ /^dn: olcDatabase=/ && gone(kind(l))
					if (l !~ /^dn: cn=(config|module[{].*)$/) lists()
					if (match(l, /olcDatabase=([{][0-9-]+[}])?[hb]db,/) && gone(substr(l, RSTART + RLENGTH - 4, 3))) l = substr(l, 1, RSTART + RLENGTH - 5) "mdb" substr(l, RSTART + RLENGTH - 1)
				}
				if (skip) continue
				name = tolower(l); sub(/:.*$/, "", name)
				if (name == "olcmoduleload") {
					type = now_module(module(l))
					if (!there(type) && (type in static) || (type in told)) continue
					told[type] = 1
					l = "olcModuleLoad: " (type == module(l) ? value(l) : type)
				}
				if (nss && name ~ /^olctls(certificatefile|certificatekeyfile|cacertificatepath)$/) continue
				if (anew) {
					if (name ~ /^olcdb(config|cachesize|cachefree|checksum|cryptfile|cryptkey|dirtyread|dncachesize|idlcachesize|linearindex|lockdetect|pagesize|shmkey)$/) continue
					if (name == "olcdatabase") { l = tolower(l); sub(/[hb]db$/, "mdb", l); sub(/^olcdatabase/, "olcDatabase", l) }
					if (tolower(l) ~ /objectclass: olc[bh]dbconfig$/) sub(/olc[BHbh]dbConfig$/, "olcMdbConfig", l)
					if (name == "olcdbdirectory") l = l "\nolcDbMaxSize: 10737418240"
				}
				print (l ~ /^olc[A-Za-z]+: / ? moved(l) : l)
			}
			if (nss) print "TLS of the source is by a database of NSS, which the target does not read: its settings were left out. Export it to PEM, and set olcTLSCertificateFile and its key." > "/dev/stderr"
		}
	'
}
