package migration

import (
	"path"
	"slices"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/tools/migration/naming"
	"svc/tools/migration/valid"
)

// packageUsers are system users that packages or the base system make by
// themselves; other system users were made by a person.
var packageUsers = lazyregexp.New(`^(_.*|systemd-.*|debian-.*|Debian-.*|root|daemon|bin|sys|sync|games|man|lp|mail|news|uucp|proxy|www-data|backup|list|irc|gnats|nobody|` +
	`messagebus|sshd|mysql|postgres|redis|valkey|mongodb|memcache|rabbitmq|ntp|ntpsec|chrony|uuidd|tcpdump|tss|polkitd|avahi.*|colord|dnsmasq|lxd|landscape|pollinate|fwupd.*|` +
	`usbmux|geoclue|pulse|rtkit|saned|speech-dispatcher|whoopsie|kernoops|hplip|cups-pk-helper|gdm|lightdm|sddm|nm-openvpn|strongswan|dhcpcd|syslog|postfix|dovecot|dovenull|` +
	`vmail|opendkim|opendmarc|clamav|amavis|spamd|debian-spamd|bind|unbound|knot.*|pdns|nsd|named|squid|haproxy|varnish|vcache|nginx|tomcat.*|jenkins|grafana|prometheus|influxdb|telegraf|` +
	`apache|adm|shutdown|halt|operator|dbus|rpcuser|nfsnobody|abrt|libstoragemgmt|saslauth|mailnull|oprofile|nscd|ldap|qemu|radvd|setroubleshoot|pcp|clamupdate|clamscan|cockpit-ws.*|rngd|hacluster|` +
	`elasticsearch|kibana|logstash|zabbix|nagios|icinga|nrpe|munin|snmp|ftp|proftpd|vsftpd|openldap|sssd|freerad|asterisk|ceph|gluster|glance|libvirt-qemu|libvirt-dbus|swtpm|` +
	`dnsmasq|statd|rpc|identd|mosquitto|couchdb|cassandra|git|gitlog|gitdaemon|fetchmail|smmta|smmsp|mailman|certbot|puppet|salt|ansible|docker|containerd|vault|consul|nomad)$`)

// accounts are the users that a person made, and the groups that they need, by
// the names that the target has for the groups of its system.
func accounts(a *assess.Assessment, where naming.Places, bad *valid.Refused) Accounts {
	out := Accounts{Users: []assess.User{}, Groups: []assess.Group{}}
	for _, u := range a.Users {
		packages := packageUsers.MatchString(u.Name) && !u.Own || where.Account(u.Name) != u.Name // what the target calls otherwise, its own package makes
		if (!u.System || !packages || entered(u)) && possible(&u, bad) {
			u.Groups = slices.Clone(u.Groups)
			for i, g := range u.Groups {
				u.Groups[i] = where.Group(g)
			}
			out.Users = append(out.Users, u)
			continue
		}
		if groups := further(a, where, u); len(groups) > 0 {
			out.Members = append(out.Members, Member{where.Account(u.Name), groups})
		}
	}
	for _, g := range a.Groups {
		used := slices.ContainsFunc(out.Users, func(u assess.User) bool { return u.GID == g.GID || slices.Contains(u.Groups, where.Group(g.Name)) }) ||
			slices.ContainsFunc(out.Members, func(m Member) bool { return slices.Contains(m.Groups, g.Name) })
		if !valid.AccountName.MatchString(g.Name) {
			bad.Add("group", g.Name)
			continue
		}
		if !g.System || used && g.GID > assess.LastStatic && where.Group(g.Name) == g.Name {
			out.Groups = append(out.Groups, g)
		}
	}
	return out
}

// further are the groups that people put an account into which a package makes: a
// server reads a key by one, or a log. Between accounts that are the same on every system
// of a family, it is the family's own.
func further(a *assess.Assessment, where naming.Places, u assess.User) (names []string) {
	for _, g := range a.Groups {
		if slices.Contains(u.Groups, g.Name) && (u.UID > assess.LastStatic || g.GID > assess.LastStatic) && u.UID != 0 && valid.AccountName.MatchString(u.Name) && valid.AccountName.MatchString(g.Name) {
			names = append(names, where.Group(g.Name))
		}
	}
	return names
}

// entered reports whether people log in to an account of the system by a key: then they
// need its shell and its home, whoever made it. Root is everywhere.
func entered(u assess.User) bool { return u.UID != 0 && len(u.AuthorizedKeys) > 0 }

// possible reports whether a system would take a user; a comment that it would
// not take is left out.
func possible(u *assess.User, bad *valid.Refused) bool {
	switch {
	case !valid.AccountName.MatchString(u.Name):
		bad.Add("user", u.Name)
		return false
	case u.Home != "" && !path.IsAbs(u.Home) || !valid.Field.MatchString(u.Home):
		bad.Add("home of "+u.Name, u.Home)
		return false
	case u.Shell != "" && !path.IsAbs(u.Shell) || !valid.Field.MatchString(u.Shell):
		bad.Add("shell of "+u.Name, u.Shell)
		return false
	}
	u.Comment = bad.Take("comment of "+u.Name, u.Comment, valid.Field)
	return true
}
