package redact

import (
	_ "embed"
	"strings"
	"sync"
)

// wordsTXT are words of the trade, in the form without an ending: those of a
// dozen of the manual pages of Debian's sections 1, 5, 7 and 8 or of 25 comments
// in Go's library, and those of our own documentation. After "the server", one of them is a word and no name.
//
//go:embed words.txt
var wordsTXT string

var words = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.Lines(wordsTXT) {
		all[strings.TrimSpace(word)] = true
	}
	return all
})

// endings of words, and what stands for them in the form that is listed.
var endings = []struct{ ending, stem string }{{"s", ""}, {"es", ""}, {"ed", ""}, {"ed", "e"}, {"ing", ""}, {"ing", "e"}, {"ly", ""}, {"d", ""}, {"ies", "y"}, {"n't", ""}, {"less", ""}, {"able", ""}, {"ness", ""}}

// isWord reports whether w is a word of the trade, or two joined by a hyphen, as
// in "read-only".
func isWord(w string) bool {
	w = strings.ToLower(w)
	if a, b, ok := strings.Cut(w, "-"); ok {
		return len(a) > 2 && len(b) > 1 && isListed(a) && isListed(b)
	}
	return isListed(w)
}

// isListed finds w in the list, with or without its ending; w is in lower case.
func isListed(w string) bool {
	listed := func(w string) bool { return words()[w] || isOrdinary(w) }
	if len(w) < 2 || listed(w) {
		return true
	}
	for _, e := range endings {
		if stem, ok := strings.CutSuffix(w, e.ending); ok && len(stem) > 2 && (listed(stem+e.stem) || listed(stem[:len(stem)-1]) && stem[len(stem)-1] == stem[len(stem)-2]) {
			return true
		}
	}
	return false
}

// everyMachine are what any machine calls itself.
var everyMachine = set("localhost localdomain localhost.localdomain ip6-localhost ip6-loopback ip6-allnodes ip6-allrouters ip6-localnet ip6-mcastprefix broadcasthost kernel systemd none null version name temporary unknown address")

// levels of messages stand in logs where others have a machine.
var levels = set("emerg emergency alert crit critical fatal severe err error warn warning notice info debug trace log note hint detail statement connect sendmsg sendto recvmsg socket usage")

// ordinary are names that are words of every report: of distributions, engines
// and what every machine has.
var ordinary = set("localhost localdomain localhost.localdomain localhost4 localhost6 noprefixroute mngtmpaddr nodad tentative linux gnu debian ubuntu centos rocky alma almalinux fedora rhel redhat opensuse sles suse amazon alpine arch oracle " +
	"ip6-localhost ip6-loopback ip6-allnodes ip6-allrouters ip6-localnet ip6-mcastprefix broadcasthost " +
	"internal-sftp workgroup systemd kernel docker podman kubernetes kubectl ansible vmware kvm qemu xen lxc svc mcp api cpu ram pod ntp chrony dns dhcp ldap smtp imap http https tls ssl json yaml xml " +
	"is was are were be the a an its it this that and or not no none what where when why how with for from in on at by to as if then than so can does did do has have had all any some each every only also again still" +
	" version eine einen einem einer dem den der das des die diese diesem diesen dieser jede jedem jeden allen beiden anderen neue neuen neuem alte alten altem hier dort null" +
	" one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy eighty ninety hundred thousand dozen" +
	" mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec monday tuesday wednesday thursday friday saturday sunday" +
	" grub lilo syslinux isolinux grub2 sftp ftp lftp telnet nslookup sqlite gdisk fdisk parted rdac alua selinux apparmor sql lmtp ldaps imaps pop3s smtps ftps nfsv4 gssapi iscsi daemonset daemonsets statefulset replicaset configmap kube-system kube-public coredns yesterday today tomorrow midnight noon none nil unknown unset empty true false yes here there who which")

// accounts are those that distributions and their packages make.
var accounts = set("root toor daemon bin sys sync games man lp mail news uucp proxy www-data backup list irc gnats nobody nogroup adm tty disk wheel sudo users staff operator ftp halt shutdown postmaster hostmaster webmaster abuse unauthenticated " +
	"systemd-network systemd-resolve systemd-timesync systemd-coredump messagebus dbus polkitd sshd _apt apache httpd nginx wwwrun http mysql mariadb postgres redis mongodb memcache memcached " +
	"named bind unbound dovecot dovenull postfix postdrop exim debian-exim cyrus ntp chrony _chrony openldap ldap nslcd sssd rpc rpcuser statd tss avahi cups colord rtkit pulse gdm lightdm " +
	"tomcat jetty jenkins grafana prometheus zabbix nagios munin icinga rabbitmq elasticsearch logstash kibana haproxy squid varnish clamav amavis debian-spamd spamd opendkim bacula libvirt-qemu qemu kvm " +
	"git gitlab-runner docker vagrant ansible cron syslog uuidd landscape pollinate admin administrator system user users me you anonymous guest login ubuntu debian centos fedora ec2-user cloud-user opc public current_user session_user current_role postgres all keepalived_script samehost samenet wwwrun " +
	"fail2ban slurm munge ceph frr pcp glance nova keystone neutron cinder heat hacluster haclient dnsmasq saslauth mailnull smmsp mailman abrt geoclue setroubleshoot gluster usbmuxd insights whoopsie lxd tcpdump puppet foreman pulp freerad radiusd postgrey opendmarc rspamd ossec wazuh influxdb telegraf alertmanager consul vault nomad etcd zookeeper kafka cassandra couchdb solr opensearch filebeat minio gitea redmine mattermost prosody ejabberd asterisk freeswitch turnserver config mosquitto nsd pdns debian-tor privoxy openvpn odoo")

func set(names string) map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		all[name] = true
	}
	return all
}

// software is what reports speak of most, with a version of four numbers behind it too.
var software = set("nginx httpd apache apache2 mysql mysqld mariadb postgresql postgres redis mongodb mongod dovecot postfix exim bind named samba nfs ssh sshd php python perl java node nodejs ruby " +
	"db2 squid haproxy varnish clamav unbound openldap tomcat wildfly jenkins gitlab grafana prometheus elasticsearch kibana logstash rabbitmq chromium firefox libreoffice roundcube wordpress nextcloud openssl openssh curl git")

func isOrdinary(name string) bool {
	name = strings.ToLower(name)
	return name == "" || ordinary[name] || software[name]
}

// isAccount finds the accounts of distributions, of packages and of PostgreSQL, which keeps
// names that begin with pg_ for its own.
func isAccount(name string) bool {
	return accounts[strings.ToLower(name)] || isOrdinary(name) || strings.HasPrefix(name, "pg_")
}
