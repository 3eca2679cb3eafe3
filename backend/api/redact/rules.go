package redact

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"svc/backend/lazyregexp"
)

// rule finds names by where they stand. The groups of its pattern are called
// after the kinds of what they hold; hosts and users hold several, with spaces,
// commas or "and" between.
type rule struct {
	// needs are pieces of text, in lower case, one of which is in every line that the rule finds something in.
	needs []string
	// weak says that another word may stand there too: words of the trade stay.
	weak bool
	// sure says that nothing else stands there: a name is one that is a word or a program's too.
	sure bool
	// prose says that so may names of packages, architectures and file systems.
	prose bool
	// faint says that any word may: only what no dictionary has is a name, and what people name machines after.
	faint bool
	// command says that the pattern begins with a command, which is none after "the".
	command bool
	at      *lazyregexp.Regexp
}

// The pieces of patterns. A name has two characters or more, since what stands
// in its place must not make a text much longer.
const (
	name   = `[\pL\pN_](?:[\pL\pN_.-]*[\pL\pN_$])+`
	aHost  = `["'‘“]?(?P<host>` + name + `)`
	aUser  = `["'‘“<]?(?P<user>` + name + `)`
	inPath = `(?P<known>` + name + `)` // a user whose path goes as a whole
	anID   = `["']?(?P<id>[\pL\pN][\pL\pN_:.-]{3,})`
	list   = name + `(?:(?:, ?|,? and |,? or |,? und |,? oder | sowie |["'], ?["']|:[0-9]+,)` + name + `)*`
	// madeUp has letters, and digits among or after them; a version or a date has not.
	madeUp = `[A-Za-z!#$%&*+@^~_-]*[A-Za-z]{2}[\w!#$%&*+/=?@^~-]*[0-9][\w!#$%&*+/=?@^~-]*[\w!#$%&*+/=?@^~]{2}|[A-Z0-9]{5}(?:-[A-Z0-9]{5}){2,}`
	ip4    = `[0-9]{1,3}(?:\.[0-9]{1,3}){3}`
	stamp  = `(?:\pL{3,4}\.? [ 0-9][0-9] [0-9:]{8}(?:\.[0-9]+)?|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{8}(?:[.,][0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)`
	flags  = `(?: +-[\w-]+(?:[ =](?:[0-9]+|/\S+))?)*`
	// commands that take a host, and those that take a user.
	toHosts = `(?:ping6?|ssh|telnet|nc|ncat|nslookup|dig|mosh|traceroute6?|tracepath|mtr|getent +hosts|virsh +[a-z]+|qm migrate +[0-9]+|machinectl +[a-z]+|vagrant +[a-z]+|virt-(?:viewer|clone|manager)|gcloud +compute +ssh|` +
		`(?:kubectl|oc) +(?:exec|rsh|logs|attach|cp)|lxc +launch +\S+|lxc +[a-z]+|lxc-[a-z]+(?::| +-n)|startvm|hostnamectl +(?:set-)?hostname|` +
		`(?:server|node|host|vm|instance|domain|droplet)s? +(?:show|start|stop|reboot|delete|describe|cordon|drain|console)|(?:describe|cordon|drain) +(?:node|pod|vm|instance)s?|sftp|ssh-copy-id|ssh-keyscan|smbclient +-L)`
	// groups are flags of commands for users, with what follows them.
	groups  = `(?: +-[a-zA-Z]*[Ggdscu](?: +|=)\S+)*`
	toUsers = `(?:useradd|userdel|usermod|adduser|deluser|chage|passwd|crontab +-[a-z]* *-?u|sudo +-u|su +-|loginctl +[a-z-]+|gpasswd|chsh|finger)`
)

// forms are names by their own form, wherever they stand; that of URLs is the first.
var forms = []rule{
	{needs: []string{"://"}, at: lazyregexp.New(`(?P<url>(?i:(?:[a-z][a-z0-9+.-]*:)*[a-z][a-z0-9+.-]*://)(?:\[[0-9a-fA-F:.]+\])?[^\s"'<>` + "`" + `\[\]]*)`)},
	{needs: []string{"arn:"}, at: lazyregexp.New(`\b(?P<url>arn:[\w:/.*@+=,-]+)`)},
	{needs: []string{"-"}, at: lazyregexp.New(`\b(?P<id>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\b`)},
	{needs: []string{""}, at: lazyregexp.New(`(?:^|[^\w:]|[^0-9]:)(?P<id>[0-9a-fA-F]{32,128})(?:[^\w-]|$)`)},
	{needs: []string{":", "-", "."}, at: lazyregexp.New(`\b(?P<id>(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}(?:(?::[0-9a-fA-F]{2}){2}|(?::[0-9a-fA-F]{2}){10})?|(?:[0-9a-fA-F]{2}-){5}[0-9a-fA-F]{2}|(?:[0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4})\b`)},
	{needs: []string{"sha256:"}, at: lazyregexp.New(`SHA256:(?P<id>[A-Za-z0-9+/]{43}=?)`)},
	{needs: []string{"aaaa"}, at: lazyregexp.New(`(?:ssh-\w+|ecdsa-[\w-]+|sk-[\w@.-]+) (?P<id>AAAA[A-Za-z0-9+/]{20,}=*)`)},
	{needs: []string{"0x"}, at: lazyregexp.New(`\b(?P<id>0x[0-9a-fA-F]{16})\b`)},
	{needs: []string{"s-1-"}, at: lazyregexp.New(`\b(?P<id>S-1-[0-9]+(?:-[0-9]+){3,})\b`)},
	{needs: []string{"iqn.", "nqn."}, at: lazyregexp.New(`\b(?P<id>[in]qn\.[0-9]{4}-[0-9]{2}\.[\w.:-]+)`)},
	{needs: []string{"key"}, at: lazyregexp.New(`--[\w-]*key(?:-?id)?[ =](?P<id>[0-9A-F]{8,40})\b`)},
	{needs: []string{"-"}, at: lazyregexp.New(`\b(?P<id>(?:i|vol|eni|vpc|subnet|sg|ami|snap|igw|nat|rtb|eipalloc|acl|vpce|tgw|lt)-[0-9A-Za-z]{8,17})\b`)},
	{needs: []string{"partuuid"}, at: lazyregexp.New(`(?i:partuuid)=["']?(?P<id>[0-9a-fA-F]{8}-[0-9a-fA-F]{2})\b`)},
}

// allRules are in the order in which a line is read by them.
var allRules = sync.OnceValue(func() []rule { return slices.Concat(forms, lineRules(), rules) })

var rules = []rule{
	// Identifiers by what announces them.
	{needs: []string{"serial", "tag"}, at: lazyregexp.New(`(?i)(?:serial(?:[ _-]?(?:number|no\.?|short))?|service tag|asset tag)["']?(?: *[:=] *| is | )` + `["']?(?P<id>[\w-]*(?:[A-Za-z][\w-]*[0-9]|[0-9][\w-]*[A-Za-z])[\w-]*(?:(?: [0-9a-f]{2})+-[0-9a-f]{2}(?: [0-9a-f]{2})+)?)`)},
	{needs: []string{"id"}, at: lazyregexp.New(`(?i)\b(?:dev|device|chassis|board|trace|span|session|request|req|machine|instance|boot|system|container|image|account|subscription|tenant|project|org)[ _-]?id["']?(?: *[:=] *|  *)["']?(?P<id>[\w-]*[0-9][\w-]{5,})`)},
	{needs: []string{"session"}, at: lazyregexp.New(`session=<(?P<id>[^>\s]{6,})>`)},
	{needs: []string{"><"}, at: lazyregexp.New(`\)<[0-9]+><(?P<id>[A-Za-z0-9+/]{10,})>`)},
	{needs: []string{"container", "docker", "podman", "crictl"}, at: lazyregexp.New(`\b(?:container|(?:docker|podman|crictl) [a-z]+)(?: -[\w-]+)* ["']?(?P<id>[0-9a-f]*[0-9][0-9a-f]{11,63})\b`)},
	{needs: []string{"peer", "publickey"}, at: lazyregexp.New(`(?i)\b(?:peer|publickey)[ =:]+(?P<id>[A-Za-z0-9+/]{43}=)`)},
	{needs: []string{"s/n", "wwn"}, at: lazyregexp.New(`\b(?:S/N|WWN)[: ] ?(?P<id>[\w-]{8,})`)},
	{needs: []string{" leader", " ready", " down ", "active", "id="}, at: lazyregexp.New(`(?:^|=)(?P<id>[0-9a-z]{25})(?:[\s,]|$)`)},
	{needs: []string{"volume group", "label"}, weak: true, at: lazyregexp.New(`(?:[Vv]olume group|LABEL=) ?["']` + aHost)},

	// Lines of logs and terminals.
	{needs: []string{":"}, sure: true, at: lazyregexp.New(`(?:^|[^\S\n])(?:<[0-9]+>)?(?:1 )?` + stamp + ` ` + aHost + ` [\w/.()@\\-]+(?:\[[0-9]+\])?(?:: | - )`)},
	{needs: []string{":"}, weak: true, at: lazyregexp.New(`^(?:<[0-9]+>)?[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} ` + aHost + ` `)},
	{needs: []string{"kernel:"}, sure: true, at: lazyregexp.New(`-- ` + aHost + ` kernel:`)},
	{needs: []string{"linux ", "sunos ", "bsd ", "darwin ", "aix ", "hp-ux "}, sure: true, at: lazyregexp.New(`\b(?:Linux ` + aHost + ` [0-9]+\.[0-9]+\.[0-9]+[-_+]|(?:SunOS|FreeBSD|OpenBSD|NetBSD|Darwin|AIX|HP-UX) ` + aHost + ` [B0-9])`)},
	{needs: []string{"@"}, sure: true, at: lazyregexp.New(`(?:^|[\s\[("'])` + aUser + `@` + aHost + `[:\]]?(?: ?[~/]\S*| [^\s\]]+\])? ?[$#%]`)},
	{needs: []string{"'@'"}, at: lazyregexp.New(`'(?P<user>[^'\s\[]{2,})'@'(?:(?P<host>[^'\s\[]*[a-z][^'\s\[]*)|(?P<ip>[0-9.%/:]{2,}))'`)},
	{needs: []string{"'@"}, at: lazyregexp.New(`'(?P<user>` + name + `)@` + aHost)},
	{needs: []string{"login"}, at: lazyregexp.New(`^` + aHost + ` login: ?` + `(?P<user>` + name + `)?`)},
	{needs: []string{" tty"}, weak: true, at: lazyregexp.New(`^\S.* [0-9.]+ ` + aHost + ` tty[0-9]+$`)},
	{needs: []string{".", ":"}, weak: true, at: lazyregexp.New(`^[ \t]*(?:` + ip4 + `|[0-9a-fA-F]*:[0-9a-fA-F]*:[0-9a-fA-F:.]*)[ \t]+(?P<hosts>` + name + `(?:[ \t]+` + name + `)*)[ \t]*(?:#[ \t]*(?P<host>` + name + `)?.*)?$`)},
	{needs: []string{"127.", "::1"}, sure: true, at: lazyregexp.New(`^[ \t]*(?:127(?:\.[0-9]+){3}|::1)(?:[ \t]+(?:localhost[\w.-]*|\[host\]))*(?P<hosts>(?:[ \t]+` + name + `)+)(?:[ \t]+\[host\])*[ \t]*(?:#.*)?$`)},
	{needs: []string{"[ip]"}, sure: true, at: lazyregexp.New(`^[ \t]*\[ip\](?:[ \t]+\[(?:host|domain)\])+(?P<hosts>(?:[ \t]+` + name + `)+)(?:[ \t]+\[(?:host|domain)\])*[ \t]*(?:#.*)?$`)},

	// Names beside addresses: mail[10.0.0.1], "db" (10.0.0.1), broker/10.0.0.1:9092, 10.0.0.1:8009 (app).
	{needs: []string{"[ip]", "[id]"}, weak: true, at: lazyregexp.New(aHost + `["')]? ?[(/\[]+\[ip\]`)},
	{needs: []string{"[ip]", "[id]"}, weak: true, at: lazyregexp.New(`\[(?:ip|id)\](?::[0-9]+|\.[0-9]+)? \(` + aHost + `\)`)},
	{needs: []string{"[ip]"}, at: lazyregexp.New(`\b(?:auth|passwd-file|ldap|pam|sql|shadow|static|dict)\(` + aUser + `,\[ip\]`)},
	{needs: []string{"]"}, at: lazyregexp.New(`(?:^|[\s"'<(\[=:/])` + aUser + `@\[(?:host|domain|ip)\]`)},
	{needs: []string{"received: from"}, at: lazyregexp.New(`(?i)\breceived: from ` + aHost)},
	{needs: []string{" h=", "helo", "ehlo"}, at: lazyregexp.New(`(?:\bH=\(?|(?i:\b[eh][eh]lo[ =]<?))` + aHost)},
	{needs: []string{" a="}, at: lazyregexp.New(`\bA=\w+:` + aUser)},

	{needs: []string{"["}, sure: true, at: lazyregexp.New(`(?:^|[ \t])(?:ok|changed|fatal|failed|skipping|unreachable|included|rescued|ignored): \[` + aHost + `(?: -> (?P<host>` + name + `))?\]`)},
	{needs: []string{"problem", "recovery", "acknowledge"}, at: lazyregexp.New(`\b(?:PROBLEM|RECOVERY|ACKNOWLEDGEMENT|DOWNTIME\w*)\b[^/\n]{0,40}? ` + aHost + `/[A-Z]`)},
	{needs: []string{"hostname changed", "hostname was changed"}, sure: true, at: lazyregexp.New(`\bhostname (?:was )?changed from ` + aHost + `["']? to ` + aHost)},
	{needs: []string{"<<>> dig"}, sure: true, at: lazyregexp.New(`<<>> DiG \S+ <<>>(?: [@+-]\S+)* ` + aHost)},
	{needs: []string{"user ["}, sure: true, at: lazyregexp.New(`(?i)\buser \[` + aHost + `\]\\\[` + aUser + `\]`)},
	{needs: []string{"workstation ["}, sure: true, at: lazyregexp.New(`(?i)\bworkstation \[` + aHost + `\]`)},
	{needs: []string{"machine "}, sure: true, at: lazyregexp.New(`\bmachine ` + aHost + ` login `)},
	{needs: []string{"㉿"}, sure: true, at: lazyregexp.New(aUser + `㉿` + aHost)},
	{needs: []string{"|"}, sure: true, at: lazyregexp.New(`^` + aHost + ` \| (?:SUCCESS|CHANGED|FAILED|UNREACHABLE)`)},
	{needs: []string{"ok="}, sure: true, at: lazyregexp.New(`^(?:PLAY RECAP:? *)?` + aHost + ` *: ok=[0-9]`)},
	{needs: []string{"alert: "}, at: lazyregexp.New(`(?i)\b(?:service|host) (?:alert|notification|flapping alert): ` + aHost + `[;/]`)},
	{needs: []string{" [", " error", " warn", " info"}, weak: true, at: lazyregexp.New(`\b(?:ERROR|WARN|INFO|DEBUG|FATAL) +\[` + aHost + `\]`)},
	{needs: []string{" in ", "\tin\t", "\tin "}, at: lazyregexp.New(`^(?:@|(?P<host>` + name + `))?[ \t]+(?:[0-9]+[ \t]+)?IN[ \t]+(?:A|AAAA|CNAME|NS|PTR|MX(?:[ \t]+[0-9]+)?)(?:[ \t]+(?P<host>` + name + `))?`)},

	// Hosts by a key, a word, a command or an error before them.
	{needs: []string{"pretty"}, at: lazyregexp.New(`(?i)\bpretty[ _]hostname["']? ?[=:] ?["']?(?P<hosts>\pL[\pL\pN._-]+(?: [\pL\pN._-]+)*)`)},
	{needs: []string{"host", "fqdn", "node", "server", "name", "peer", "master"}, at: lazyregexp.New(`(?i)\b(?:(?:[a-z]+[ _.-]?)?hostname|(?:ansible|master|db|pg|my|mysql|redis|mail|smtp|ldap|remote|source|target|slave|primary)[_.-]?host|r?host|fqdn|node(?:[_.]?name)?|name[_-]label|computer ?name|(?:vm|server|machine|instance)[ _-]?name|application_name|asset|servername)["']?(?: ?= ?|:(?: +|["'])|: *["'])` + aHost)},
	{needs: []string{"host", "server", "node", "master", "machine", "vm", "relay", "peer"}, weak: true, at: lazyregexp.New(`(?i)(?:^|[^\pL\pN._-])[a-z0-9_.-]*(?:host|server|node|master|machine|vm|relay|peer)(?:[_.-]?name)?["']?(?: ?= ?|: ?["'])` + aHost + `(?:["',;\s]|$)`)},
	{needs: []string{"host"}, weak: true, at: lazyregexp.New(`(?i)\bhost[ -]?names?(?: is| was| are| to)? ` + aHost + `(?:, now it is ` + aHost + `)?`)},
	{needs: []string{"host", "server", "machine", "node", "vm", "box", "guest", "instance", "hypervisor", "peer", "pod", "replica", "serveur", "minion", "realm", "workgroup", "master", "twin", "member", "broker", "relay", "appliance", "laptop", "workstation", "firewall", "router", "cluster", "standby", "primary", "source", "tsig", "namespace", "deployment", "servidor", "máquina", "equipo", "macchina", "maskin", "palvelin", "serwer", "szerver"}, weak: true, prose: true, at: lazyregexp.New(`(?i)(?:^|[^\pL\pN_-])(?:hosts?|\pL{0,12}servers?|serveur|machines?|nodes?|vms?|vmid [0-9]+|vm-id [0-9]+|box(?:es)?|guests?|instances?|hypervisors?|minions?|peer|pods?|deployment|namespace|workgroup|realm|twin|master|member|broker|relay|appliance|laptop|workstation|firewall|router|cluster|replica|standby|primary|source|tsig|machine name|servidora?|máquina|equipo|macchina|maskine?n|servern|serveren|palvelin|serwer\pL{0,3}|szerver):?(?: (?:called|named|is called|is named|name|name is|heißt|heisst|hiess|hieß|s'appelle|se llama|si chiama|se chama|heet|heter|hedder|nazywa się))?(?: \(|[ /]["'«„]?)(?P<hosts>` + list + `)`)},
	{needs: []string{" is ", " are "}, weak: true, prose: true, faint: true, at: lazyregexp.New(`(?i)\b(?:hosts?|\pL{0,12}servers?|machines?|nodes?|vms?|box(?:es)?|guests?|instances?|peer|pods?|master|replica|standby|primary) (?:is|are) (?P<hosts>` + list + `)`)},
	{needs: []string{"name"}, weak: true, at: lazyregexp.New(`(?i)\b(?:name (?:of (?:the|this|our|my) (?:host|server|machine|vm|box|node)|is)) ["'«„]?(?:is )?` + aHost)},
	{needs: []string{"machine", "host", "server", "box", "vm"}, weak: true, at: lazyregexp.New(`(?i)\b(?:machine|host|server|box|vm)'s name is ["']?` + aHost)},
	{needs: []string{"ssh", "sftp", "smbclient", "server", "node", "host", "vm", "instance", "domain", "droplet", "pod", "ping", "telnet", "nc", "lookup", "dig", "mosh", "trace", "mtr", "getent", "virsh", "qm", "ctl", "vagrant", "virt", "exec", "rsh", "logs", "docker", "podman", "lxc", "startvm", "kubectl"}, weak: true, command: true, at: lazyregexp.New(`\b` + toHosts + `(?: +-J (?:` + aUser + `@)?` + aHost + `)?` + flags + ` +(?:` + aUser + `@)?` + aHost)},
	{needs: []string{"docker", "podman", "crictl"}, at: lazyregexp.New(`\b(?:docker|podman|crictl) +(?:exec|logs|start|stop|restart|rm|inspect|attach|kill)(?: +-[\w-]+)* +` + aHost)},
	{needs: []string{" exited with code"}, at: lazyregexp.New(aHost + ` exited with code`)},
	{needs: []string{"]@"}, at: lazyregexp.New(`\[(?:user|host|secret)\]@` + aHost)},
	{needs: []string{"."}, at: lazyregexp.New(`\b(?P<ip>` + ip4 + `)[A-Z][a-z]`)}, // as mount.cifs says it, with no space
	{needs: []string{"ip "}, at: lazyregexp.New(`\bIP (?P<ip>` + ip4 + `)\.[0-9]+ > (?P<ip>` + ip4 + `)\.[0-9]+`)},
	{needs: []string{"ping"}, at: lazyregexp.New(`(?:^|[ \t$#])ping: ` + aHost + `:`)},
	{needs: []string{"ssh", "scp", "sftp"}, at: lazyregexp.New(`\b(?:ssh|scp|sftp|mosh|rsync)(?: .*)? ` + aUser + `@` + aHost)},
	{needs: []string{"--ssh", "-host", " -h", "--name", " -n"}, weak: true, at: lazyregexp.New(`(?:^| )(?:--ssh|--host(?:name)?|--node|--vm|--name|--target-host)[ =](?:` + aUser + `@)?` + aHost)},
	{needs: []string{"mysql", "psql", "pg_", "maria", "redis", "mongo"}, at: lazyregexp.New(`\b(?:mysql\w*|mariadb\w*|psql|pg_\w+|redis-cli|mongo\w*)\b[^\n|]*? -h(?:ost[ =]| )?(?:\[\w+\]|` + aHost + `)`)},
	{needs: []string{" -n ", "namespace", " -g "}, at: lazyregexp.New(`\b(?:kubectl|oc|helm|az)\b[^\n]*? (?:-n|--namespace|-g|--resource-group)[ =]` + aHost)},
	{needs: []string{"conn", "closed ", "reset by", "server on", "server at", "failed for"}, weak: true, at: lazyregexp.New(`(?i)(?:\bconn(?:ect(?:ion|ed|ing|or)?)? (?:to|from|by)(?: server (?:on|at)| host| master| backend)?|connection by|closed (?:from|by)|reset by|server (?:on|at)|failed for) ["']*` + aHost)},
	{needs: []string{"resolve", "unknownhost", "enotfound", "gaierror", "target host name"}, sure: true, at: lazyregexp.New(`(?:[Rr]esolve (?:hostname |host(?: address)?:? |\[host\] |["'])|UnknownHostException:? |ENOTFOUND |gaierror for |target host name )["'‘]*` + aHost)},
	{needs: []string{"last login: ", "last failed login: "}, sure: true, at: lazyregexp.New(`\bLast (?:failed )?login: .* from ` + aHost)},
	{needs: []string{"<"}, sure: true, at: lazyregexp.New(`^<(?P<host>` + name + `)> (?:EXEC|PUT|FETCH|SSH:|ESTABLISH|\()`)},
	{needs: []string{" on "}, at: lazyregexp.New(`\bon (?P<id>[0-9a-f]*[0-9][0-9a-f]*[a-f][0-9a-f]*)(?:[\s:,.]|$)`)},
	{needs: []string{"ct name: ", "vm name: "}, sure: true, at: lazyregexp.New(`\b(?:CT|VM) Name: ` + aHost)},
	{needs: []string{"ct ", "vm "}, weak: true, at: lazyregexp.New(`\b(?:CT|VM) [0-9]{3,} \(` + aHost + `\)`)},
	{needs: []string{"authenticating to"}, sure: true, at: lazyregexp.New(`\bAuthenticating to ` + aHost + `:[0-9]+ as ` + aUser)},
	{needs: []string{"ssh-", "ecdsa-", "sk-"}, sure: true, at: lazyregexp.New(`^` + aHost + `(?:,\S+)* (?:ssh-\w+|ecdsa-[\w-]+|sk-\S+) (?:AAAA|\[id\]|\[secret\])`)},
	{needs: []string{"connected to "}, sure: true, at: lazyregexp.New(`^(?:sftp> )?Connected to ` + aHost + `$|\bConnected to (?P<host>` + name + `)\.\s*$`)},
	{needs: []string{"delegate_to", "inventory_hostname"}, sure: true, at: lazyregexp.New(`\b(?:delegate_to|inventory_hostname)["']?: ?` + aHost)},
	{needs: []string{"minion did not return"}, sure: true, at: lazyregexp.New(`\bMinion did not return: ` + aHost)},
	{needs: []string{"getaddrinfo", "failure resolving"}, sure: true, at: lazyregexp.New(`(?:\bgetaddrinfo(?: for|:)|\bfailure resolving) ` + aHost + `(?:["'’]|:? failed)`)},
	{needs: []string{"query"}, sure: true, at: lazyregexp.New(`\(` + aHost + `\): (?:view \S+: )?query[^:]*:? (?P<host>` + name + `)? ?`)},
	{needs: []string{"result for"}, sure: true, at: lazyregexp.New(`\bunattended-upgrades result for ` + aHost)},
	{needs: []string{" as "}, weak: true, prose: true, at: lazyregexp.New(`\b[Ll]og(?:ged|s|ging)? ?in(?:to)?(?: to| on)? ` + aHost + ` as (?:user )?` + aUser)},
	{needs: []string{"lookup "}, sure: true, at: lazyregexp.New(`\blookup ` + aHost + `(?: on \[|: no such host)`)},
	{needs: []string{"server "}, sure: true, at: lazyregexp.New(`\bServer [\w.-]+/` + aHost + ` is (?:UP|DOWN|going)`)},
	{needs: []string{"lookup ", "server on"}, weak: true, prose: true, at: lazyregexp.New(`\b(?:lookup|server on) ["'‘]*` + aHost + `(?:["'’:]| on | failed| timed)`)},
	{needs: []string{": could not res", ": no route", ": connection", "not known", ": temporary", "unreachable", ": host is down", "unknown host", "be resolved", "no such host"}, weak: true, at: lazyregexp.New(`(?:^|[\s"'(=@])` + aHost + `["']?(?:: (?:could not resolve|No route to host|Connection (?:refused|timed out|reset)|Name or service not known|Temporary failure in name|Network is unreachable|Host is down|[Uu]nknown host|no such host)| (?:could not|cannot|can't) be resolved)`)},
	{needs: []string{"dig "}, at: lazyregexp.New(`\bdig\b.* @` + aHost)},
	{needs: []string{"dc="}, at: lazyregexp.New(`(?i)\bdc=(?P<domain>[\pL\pN-]{2,})`)},
	{needs: []string{"limit"}, at: lazyregexp.New(`ansible.* (?:-l|--limit)[ =]["']?(?P<hosts>` + list + `)`)},
	{needs: []string{"helm"}, at: lazyregexp.New(`\bhelm +(?:upgrade|install|uninstall|rollback|status)(?: +--?[a-z-]+)* +` + aHost)},
	{needs: []string{"scp ", "rsync ", "borg"}, at: lazyregexp.New(`\b(?:scp|rsync|borg)\b.*\[host\]:(?P<path>[^\s\[/][^\s\[]+)`)},
	{needs: []string{"jobid", "job="}, at: lazyregexp.New(`(?:\bJob=` + aHost + `\.[0-9]{4}-|` + aHost + ` JobId [0-9]+:)`)},
	{needs: []string{"host="}, at: lazyregexp.New(`\bhost=["']` + aHost)},
	{needs: []string{":/"}, weak: true, at: lazyregexp.New(`(?:^|[\s"'=])` + aHost + `:/[\pL\pN]`)},
	{needs: []string{"//"}, at: lazyregexp.New(`(?:^|[\s"'=])//` + aHost + `/`)},
	{needs: []string{"rsync"}, at: lazyregexp.New(`rsync .*?` + aHost + `::`)},
	{needs: []string{":"}, weak: true, at: lazyregexp.New(`(?:^|[\s"'=,(/@\[])(?P<host>[A-Za-z][\w-]*[A-Za-z0-9]):[0-9]{3,5}(?:[^\w:]|:[^\w:]|:?$)`)},
	{needs: []string{"]:"}, weak: true, at: lazyregexp.New(`\[(?P<host>` + name + `)\]:[0-9]{2,5}\b`)},
	{needs: []string{"→", "->", "=>"}, weak: true, prose: true, at: lazyregexp.New(`\[host\] ?(?:→|->|=>) ?` + aHost)},
	{needs: []string{"→", "->", "=>"}, weak: true, prose: true, at: lazyregexp.New(aHost + ` ?(?:→|->|=>) ?\[host\]`)},
	{needs: []string{"[host]: "}, weak: true, prose: true, at: lazyregexp.New(`\[host\]: [^:\[\]\n]{2,60}[,;] ` + aHost + `: `)},
	{needs: []string{"compare", "diff", "vergleich"}, weak: true, prose: true, at: lazyregexp.New(`(?i)\b(?:compar\w+|diff\w*|vergleich\w*)(?: of| von)? \[host\] (?:with|to|and|against|mit|und) ` + aHost)},
	{needs: []string{"gcomm", "seed_hosts", "hosts"}, at: lazyregexp.New(`(?:seed_hosts|initial_master_nodes)[^\n\[]*\["?(?P<hosts>` + list + `)`)},
	{needs: []string{" on ", " from ", " of ", " for ", " into "}, weak: true, prose: true, faint: true, at: lazyregexp.New(`\b(?:(?:[Ss]een|[Rr]an|run|happens|fails|failed|boom|log|up|[Dd]rift|finding:|reboot|copied|migrated|lost|running|moved|logged|vmdk|disk|image|snapshot|boot|migration|assessment|report|role|plan|backup|copy|clone|restore|console|which|same)s?(?: \w+)?(?: on| from| of| to| for| as))(?: both)? (?P<hosts>` + list + `)`)},
	{needs: []string{"assess", "migrat", "reboot", "enroll", "scan", "boot"}, weak: true, prose: true, at: lazyregexp.New(`\b(?:[Aa]ssess|[Mm]igrate|[Rr]eboot|[Ee]nroll|[Ss]can|[Bb]oot)(?:n?ed|d|n?ing)? (?P<hosts>` + list + `)`)},
	{needs: []string{"migrating"}, weak: true, prose: true, at: lazyregexp.New(`\b[Mm]igrating ` + aHost)},
	{needs: []string{" is ", " was ", " went ", " has ", " did not", " powered", "unreachable", " does", " hangs", " crash", " reboot"}, weak: true, prose: true, faint: true, at: lazyregexp.New(aHost + ` ?(?:(?:is|was|went|became|is now|is still|has been|has|was) (?:down|DOWN|unreachable|offline|up|UP|lost|dead|restarted|rebooted|shut down|disconnected|evicted|powered off)|does(?: not|n't) boot|did not return|powered off|unreachable|UNREACHABLE|hangs|crashe[sd]|rebooted)\b`)},
	{needs: []string{"host_vars/"}, at: lazyregexp.New(`\bhost_vars/(?P<host>` + name + `?)(?:\.ya?ml|/|\b)`)},
	{needs: []string{"--machine", " -m "}, at: lazyregexp.New(`\b(?:systemctl|journalctl|loginctl|hostnamectl|systemd-run)\b[^\n|]*? (?:--machine[= ]|-M ?)(?:` + aUser + `@)?` + aHost)},
	{needs: []string{"zabbix_"}, at: lazyregexp.New(`\bzabbix_(?:sender|get)\b[^\n|]*? -s ` + aHost)},
	{needs: []string{"hostname to"}, sure: true, at: lazyregexp.New(`\bhostname to <` + aHost + `>`)},
	{needs: []string{"critical", "warning", "unknown"}, weak: true, prose: true, at: lazyregexp.New(`^(?:CRITICAL|WARNING|UNKNOWN)(?: -|:) ` + aHost + `[/;]`)},
	{needs: []string{"host_alias"}, at: lazyregexp.New(`\bHost_Alias\s+\w+\s*=\s*(?P<hosts>` + list + `)`)},
	{needs: []string{"hosts:"}, weak: true, at: lazyregexp.New(`^[ -]*hosts: (?P<hosts>` + list + `)$`)},
	{needs: []string{"permanently added", "authenticity of host", "offending"}, sure: true, at: lazyregexp.New(`(?:Permanently added|authenticity of host|key for(?: host)?) '(?:\[)?` + aHost)},
	{needs: []string{"'s password"}, sure: true, at: lazyregexp.New(aUser + `@` + aHost + `'s password`)},
	{needs: []string{"query["}, at: lazyregexp.New(`query\[[A-Z]+\] ` + aHost)},
	{needs: []string{"ansible_"}, sure: true, at: lazyregexp.New(`^` + aHost + ` +ansible_\w+=`)},
	{needs: []string{"realm", "workgroup", "netbios", "domain"}, weak: true, at: lazyregexp.New(`(?i)\b(?:default_realm|realm|workgroup|netbios name|domain)["']?(?: ?= ?|: )` + aHost)},
	{needs: []string{"netbios name "}, at: lazyregexp.New(`(?i)\bnetbios name ` + aHost)},
	{needs: []string{"on "}, weak: true, prose: true, faint: true, at: lazyregexp.New(`\b[Oo]n (?P<hosts>` + list + `)`)},
	{needs: []string{" on ", " for ", " from "}, weak: true, at: lazyregexp.New(`\b(?:on|for|from) (?P<host>[A-Za-z][\w-]*[a-z_-][0-9]{2,3})\b(?:[^.:\w-]|[.:]?$)`)},
	{needs: []string{"assessing", "reboot", "welcome"}, weak: true, at: lazyregexp.New(`\b(?:[Aa]ssessing|[Rr]ebooting|[Ww]elcome to) ` + aHost)},

	{needs: []string{".ova", ".ovf", ".vm", ".qcow2", ".vhd", ".vdi"}, at: lazyregexp.New(`(?:^|[\s"'/])(?P<host>` + name + `)\.(?:ova|ovf|vmdk|vmx|qcow2|vhdx?|vdi)\b`)},
	{needs: []string{"minion"}, at: lazyregexp.New(`(?:^|\s)` + aHost + `:? Minion did not`)},
	{needs: []string{"dhcp"}, at: lazyregexp.New(`DHCP[A-Z]+\(\S+\) \S+ \S+ ` + aHost)},
	{needs: []string{"servername", "serveralias", "server_name"}, at: lazyregexp.New(`^[ \t]*(?:Server(?:Name|Alias)|server_name)(?:[ \t]+\[(?:host|domain)\])*[ \t]+(?P<hosts>` + name + `(?:[ \t]+` + name + `)*)`)},
	{needs: []string{"host", "proxyjump"}, at: lazyregexp.New(`^[ \t]*(?:Host(?:Name)?|HostKeyAlias|ProxyJump)[ \t]+` + aHost + `$`)},
	{needs: []string{"user "}, at: lazyregexp.New(`^[ \t]+User[ \t]+` + aUser + `$`)},
	{needs: []string{"upstream", "server name"}, at: lazyregexp.New(`\b(?:upstream|server name) "` + aHost + `"`)},
	{needs: []string{"# ", "> "}, at: lazyregexp.New(`^` + aHost + `(?:\(config[\w-]*\))?# [a-z]`)},
	{needs: []string{"> "}, weak: true, at: lazyregexp.New(`^` + aHost + `(?:\(config[\w-]*\))?> [a-z]`)},
	{needs: []string{"subject:"}, weak: true, at: lazyregexp.New(`^Subject: .* (?:on|for|from|at|of)(?: host)? ` + aHost + `(?: \*+)?$`)},
	{needs: []string{"subject:"}, weak: true, at: lazyregexp.New(`^Subject: (?:\[|\S+ on )` + aHost)},
	{needs: []string{": "}, weak: true, prose: true, at: lazyregexp.New(`\b(?:infected|[Pp]roblem|PROBLEM|CRIT(?:ICAL)?|WARN(?:ING)?|DOWN|UP|RECOVERY|[Hh]ostname|[Mm]ember|[Pp]eer)(?::| -) ` + aHost + `(?:$| )`)},
	{needs: []string{"$"}, at: lazyregexp.New(`(?:^|[\s"'])(?:(?P<host>[A-Z][A-Z0-9-]{1,14})\\)?(?P<host>[A-Z][A-Z0-9-]{1,14})\$(?:[\s"',.;)]|$)`)},
	{needs: []string{"domain", "joined", "logged on", "machine"}, weak: true, at: lazyregexp.New(`(?:\bdomain(?: controller for)?|\b[Jj]oined|\blogged on to|\b(?:enroll|join) machine|\b[Cc]omputer) ["']?` + aHost)},
	{needs: []string{"container_name", "nodename", "ring", "name:"}, weak: true, at: lazyregexp.New(`(?:container_name|nodeName|nodelist: name|^\s*-? ?name): *` + aHost + `(?:$| ring)`)},
	{needs: []string{" \"", " '"}, at: lazyregexp.New(`(?i)\b\w*(?:host|server|machine|node|vm|box|pod|guest|computer|rechner|knoten|gerät|maschine|domain|domäne|workgroup|realm) ["'](?P<host>` + name + `)["']`)},

	// Machines of clusters, and of pairs that a sentence names together.
	{needs: []string{"between ", "entre "}, weak: true, prose: true, faint: true, at: lazyregexp.New(`\b(?:between|entre) (?P<host>` + name + `)(?: \([\w ]+\))? (?:and|et) ` + aHost)},
	{needs: []string{" to ", " nach ", " auf ", " vers "}, weak: true, prose: true, faint: true, at: lazyregexp.New(`\b(?:from|von|de|over|across) (?:(?P<host>` + name + `) (?:over )?)?(?:to|onto|nach|auf|vers|à) ` + aHost)},
	{needs: []string{"reach ", "joindre ", "erreicht "}, weak: true, prose: true, at: lazyregexp.New(`(?:(?P<host>` + name + `) (?:can't|cannot|can not|no longer can|n'arrive plus à|ne peut plus) )?(?:reach|ping|joindre) ` + aHost)},
	{needs: []string{"auf ", "von ", "nach ", "bei ", "maschine ", "rechner ", "kiste ", "büchse ", "blech ", "gerät ", "instanz ", "container ", "gast ", "knoten ", "mailserver ", "switch ", "router ", "drucker ", "notebook ", "laptop "}, weak: true, prose: true, faint: true, at: lazyregexp.New(`\b(?:[Aa]uf|[Vv]on|[Nn]ach|[Bb]ei|[Mm]aschine|[Rr]echner|Kiste|Büchse|Blech|Gerät|Instanz|Container|Gast|Knoten|Mailserver|Switch|Router|Drucker|Notebook|Laptop) (?P<host>\p{Ll}[\pL\pN-]{3,})\b`)},
	{needs: []string{" is the ", " was the "}, weak: true, prose: true, at: lazyregexp.New(`(?:^|, )(?P<host>` + name + `) (?:is|was) the (?:old|new|primary|standby|first|second|other|backup)(?: one\b| host| box| server|,)(?:, (?P<host>` + name + `) the (?:old|new|other) one)?(?:, (?P<host>` + name + `) only)?`)},
	{needs: []string{"(primary", "(standby", "(master", "(replica", "(slave", "(active", "(local", "(leader"}, weak: true, at: lazyregexp.New(aHost + ` ?\((?:primary|standby|master|replica|slave|active|passive|local|leader)\)`)},
	{needs: []string{"quorum ", "standbys: "}, at: lazyregexp.New(`\b(?:quorum|standbys:) (?P<hosts>` + name + `(?:, ?` + name + `)*)`)},
	{needs: []string{"online: [", "offline: [", "standby: [", "masters: [", "slaves: [", "started: [", "stopped: ["}, at: lazyregexp.New(`(?i)\b(?:online|offline|standby|masters|slaves|started|stopped|promoted|unpromoted): \[(?P<hosts>(?: ` + name + `)+) \]`)},
	{needs: []string{"started ", "stopped ", "promoted "}, at: lazyregexp.New(`\([a-z:]+:[\w:-]+\):?\s+(?:Started|Stopped|Promoted|Unpromoted|Master|Slave|FAILED) ` + aHost)},
	{needs: []string{" role:"}, at: lazyregexp.New(`^\s+` + aHost + ` role:(?:Primary|Secondary|Unknown)`)},
	{needs: []string{"host key for", "export list for", "showmount"}, at: lazyregexp.New(`(?:[Hh]ost key for|Export list for|\bshowmount(?: -\w+)+) \[?` + aHost)},
	{needs: []string{"tcp", "udp"}, at: lazyregexp.New(`^(?:tcp|udp)6?(?: +\S+){0,3} +[0-9]+ +[0-9]+ +` + aHost + `:[\w-]+ +(?:` + aHost + `:[\w-]+)?`)},
	{needs: []string{":~ #", ":/ #", ":~ >", "➜", "❯"}, at: lazyregexp.New(`^(?:[➜❯] +)?` + aHost + `(?::[~/]\S*)? (?:[#>❯] |~ |ssh )`)},
	{needs: []string{"pts/", "tty"}, at: lazyregexp.New(`^\S+ +(?:pts/|tty)[0-9]+ +` + aHost + ` +(?:[A-Z][a-z]{2} |[0-9]{2,4})`)},
	{needs: []string{"pts/", "tty"}, at: lazyregexp.New(`\b(?:pts/|tty)[0-9]+ .*[0-9]:[0-9]{2} \(` + aHost + `\)$`)},
	{needs: []string{"matched service"}, weak: true, at: lazyregexp.New(`matched Service ` + aHost)},
	{needs: []string{"node_name", "node-name", "server_name", "instance_name"}, at: lazyregexp.New(`(?:node|server|instance)[_-]name["']? ?[=:] ?` + aHost)},
	{needs: []string{"\"name\""}, at: lazyregexp.New(`"Name" *[=:] *"(?P<host>` + name + `)"`)},
	{needs: []string{"("}, at: lazyregexp.New(`\[(?:ip|host|domain|path)\]\([a-z_,=0-9]*\) +` + aHost + `\((?:ro|rw)`)},

	// A word that looks made up, after one that announces a secret in a sentence.
	{needs: []string{"pass", "pw", "secret", "token", "key", "seed", "psk", "community", "cred"}, at: lazyregexp.New(`(?i)\b(?:password|passwd|passphrase|passcode|bind_?pw|root_?pw|pw|secret|token|api key|license key|key|seed|psk|community|credentials?)(?: is| was|:| =)? ["']?(?P<secret>` + madeUp + `)`)},
	{needs: []string{"passwort", "kennwort", "mot de passe", "used to be"}, at: lazyregexp.New(`(?i)\b(?:passwort|kennwort|mot de passe|passphrase|password)\b[^\n.:]{0,60}? (?:lautet|ist|est|used to be|was|is)(?: jetzt| nun| now)?:? ["'«„]?(?P<secret>` + madeUp + `|[\pL\pN]+[!#$%&*_-][\pL\pN!#$%&*_-]+)`)},
	{needs: []string{"pass", "pw", "secret", "token", "key", "cred", "login", "logged", "auth", "kennwort", "zugang", "pin"}, at: lazyregexp.New(`(?i)\b(?:\w*passw\w+|passphrase|passcode|kennwort|mot de passe|contraseña|pw|secret|tokens?|keys?|credentials?|log(?:ged)? ?in|zugangsdaten|auth|key is|pin)\b(?:[ :=,"'(/]+\[?[\pL_-]+\b\]?){0,7}?[ :=,"'(/„«` + "`" + `]+(?P<mixed>[^\s"'(),;„“«»` + "`" + `\[\]]*[0-9!#$%&+^~][^\s"'(),;„“«»` + "`" + `\[\]]*)`)},
	// One that a key of a setting announces, with numbers and algorithms between.
	{needs: []string{"key", "pass", "secret", "community", "auth", "md5", "encrypt"}, at: lazyregexp.New(`(?i)\b[\w-]*(?:key|key-string|passw\w*|secret|community|auth|authentication|authenticator|encryption|md5)(?: +(?:[0-9]{1,5}|md5|sha[\w-]*|hmac[\w-]*|aes[\w-]*|[\w-]+-key|key|text|clear(?:text)?|plain(?:text)?|encrypted|ascii|hex|simple|cipher|passw\w*|secret))+ +["']?(?P<odd>[^\s"'\[]{4,})`)},
	{needs: []string{"[user]", "[host]"}, at: lazyregexp.New(`\[(?:user|host)\][^\n]*?[\s(]'(?P<mixed>[^'\s\[]{8,})'`)},
	{needs: []string{" -p", " -w", " -a", " -k", " -s"}, at: lazyregexp.New(`(?i)\s-[pwak] ?["']?(?P<mixed>[^\s"'\[|;]{6,})`)},
	{needs: []string{"password was", "password is", "lautet", "kennwort ist", "passwort ist"}, at: lazyregexp.New(`(?i:\b(?:password|passwort|kennwort) (?:was|is|ist|lautet)) ["'«„]?(?P<secret>[\pL\pN]+[!#$%&*][\pL\pN!#$%&*_-]+|\p{Lu}\pL{3,}[0-9]{1,4}[!?]?)`)},
	{needs: []string{"eap", "psk", "xauth", "chap"}, at: lazyregexp.New(`\b(?:EAP|PSK|XAUTH|CHAP) +"(?P<secret>[^"\[]{3,})"`)},
	{needs: []string{" pin"}, at: lazyregexp.New(`(?i)\bpin(?:[- ]?code)?(?: is| was| ist| lautet|:| =)? (?P<secret>[0-9]{4,8})\b`)},
	{needs: []string{" login"}, at: lazyregexp.New(`\b(?:docker|podman|buildah|skopeo|registry) login\b[^\n|]*? (?:-p|--password)[ =]["']?(?P<secret>[^\s"'\[]{4,})`)},
	{needs: []string{"net use"}, at: lazyregexp.New(`(?i)\bnet use [^\n]*/user:\S+ (?P<secret>[^\s/\[*]{4,})`)},
	{needs: []string{"passphrase"}, at: lazyregexp.New(`(?i)\bpassphrase (?:is|was|lautet|ist):? (?P<secret>[a-z]{3,}(?:[ -][a-z]{3,}){3,5})$`)},
	{needs: []string{""}, at: lazyregexp.New(`(?:^|[\s"'=:(,` + "`" + `])(?P<random>[A-Za-z0-9_-]{20,})`)},
	{needs: []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, at: lazyregexp.New(`(?:^|[\s"'=:(,` + "`" + `])(?P<disguised>[A-Za-z0-9][\w!#$%&*+.~^-]{7,31}(?::\s|:$)?)`)},
	{needs: []string{"add_user", "change_password", "htpasswd "}, at: lazyregexp.New(`\b(?:add_user|change_password|htpasswd(?: -\w+)+(?: \S*[/.]\S*|\[path\])?) +(?:\[user\]|` + aUser + `) +["']?(?P<secret>[^\s"'\[-][^\s"'\[]{2,})`)},
	{needs: []string{" : "}, at: lazyregexp.New(`^(?:` + aUser + `|%any)? *: (?:PSK|EAP|XAUTH|NTLM|RSA|ECDSA) +"(?P<secret>[^"\[]{3,})"`)},
	{needs: []string{"stats auth "}, at: lazyregexp.New(`\bstats auth ` + aUser + `:`)},
	{needs: []string{"]:"}, at: lazyregexp.New(`^\[?\[(?:host|domain|ip)\]\]?(?::[0-9]+)?[ \t]+(?:\[(?:email|user)\]|` + aUser + `):(?P<secret>[^\s\[]{3,})$`)},
	{needs: []string{" is ", " lautet ", " ist "}, at: lazyregexp.New(`(?i)\b(?:password|passwort|passphrase|kennwort)\b[^\n]{0,80}? (?:is|lautet|ist) (?P<secret>` + madeUp + `|(?:\p{Lu}[\pL]+-)+[0-9]+)(?: and [^\n]{0,60}? is (?P<secret>` + madeUp + `))?`)},
	{needs: []string{"with password "}, at: lazyregexp.New(`\bas ` + aUser + ` with password (?P<secret>\S{4,}?)[,.;]?(?:\s|$)`)},
	{needs: []string{"] fail ", "] ok "}, at: lazyregexp.New(`\[(?P<user>` + name + `)\] (?:FAIL|OK) [A-Z]+:`)},
	{needs: []string{"role ", "user "}, at: lazyregexp.New(`(?i)\b(?:create|alter|drop) (?:role|user)(?: if (?:not )?exists)? ["']?(?P<user>` + name + `)`)},
	{needs: []string{"db_user", "db_host"}, at: lazyregexp.New(`['"]DB_(?:USER['"], ?['"](?P<user>` + name + `)|HOST['"], ?['"](?P<host>` + name + `))`)},
	{needs: []string{"ansible_user"}, at: lazyregexp.New(`\bansible_(?:ssh_)?user: ["']?(?P<user>` + name + `)`)},
	{needs: []string{"createuser ", "rouser ", "rwuser "}, at: lazyregexp.New(`^(?:createUser|rouser|rwuser) +` + aUser)},
	{needs: []string{" ip "}, at: lazyregexp.New(`\bIP6? (?P<ip>[0-9a-f.:]{7,})\.[0-9]+ > (?P<host>` + name + `)\.[\w-]+:`)},
	{needs: []string{"client "}, at: lazyregexp.New(`^client ` + aHost + ` \{`)},
	{needs: []string{"] ["}, at: lazyregexp.New(`^\[[^\]]+\]\[[A-Z]+ *\]\[[\w.]+ *\] \[` + aHost + `\]`)},
	{needs: []string{"kubelet, "}, at: lazyregexp.New(`\bkubelet, ` + aHost)},
	{needs: []string{"\"server\"", "\"hostname\"", "\"host\"", "\"node\""}, at: lazyregexp.New(`"(?:server|host|hostname|node)": ?"(?P<host>` + name + `)"`)},
	{needs: []string{"\"name\"", "\"id\""}, at: lazyregexp.New(`(?i)"(?:servers?|hosts?|nodes?|vms?|machines?|instances?)": ?[\[{]+ *"(?:name|id)": ?"(?P<host>` + name + `)"`)},
	{needs: []string{"added by ", "changed by "}, at: lazyregexp.New(`\b(?:[Aa]dded|[Cc]hanged|[Ii]nstalled|[Ss]et up) by (?P<user>\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)*)`)},
	{needs: []string{"peer-id", "member-id"}, at: lazyregexp.New(`(?:peer|member)-id["']?[:=] ?["']?(?P<id>[0-9a-f]{8,})`)},
	{needs: []string{"wwn device id"}, at: lazyregexp.New(`WWN Device Id: (?P<id>[0-9a-f]+(?: [0-9a-f]+)+)`)},
	{needs: []string{"user["}, at: lazyregexp.New(`\b(?:user|realm)\[(?P<host>[A-Z][A-Z0-9-]+)\$\]`)},
	{needs: []string{"% "}, weak: true, at: lazyregexp.New(`^` + aHost + `% [a-z./]`)},
	{needs: []string{"auth_pass ", "community"}, at: lazyregexp.New(`(?:\bauth_pass|\br[ow]community6?|^\s*community|\bsnmp[\w -]*? community) +["']?(?P<secret>[^\s"'{}\[]{3,})`)},
	{needs: []string{":"}, at: lazyregexp.New(`^(?:\[(?:host|domain|ip)\]|localhost|\*):(?:[0-9]+|\*):[^:\s]+:` + aUser + `:(?P<secret>\S{3,})$`)},

	// Users.
	{needs: []string{"_user: name="}, at: lazyregexp.New(`\b[a-z]+_user: name=` + aUser)},
	{needs: []string{"_user="}, at: lazyregexp.New(`(?i)\b[a-z]+_user=[^:\s]+:(?P<secret>[^\s"':\[]{4,})`)},
	{needs: []string{"_user="}, at: lazyregexp.New(`(?i)\b[a-z]+_user ?= ?['"]` + aUser)},
	{needs: []string{"user_alias"}, at: lazyregexp.New(`\bUser_Alias\s+\w+\s*=\s*(?P<users>` + list + `)`)},
	{needs: []string{"runuser"}, at: lazyregexp.New(`\brunuser (?:-l|-u|--user[= ]|-) ?` + aUser)},
	{needs: []string{"password for", "passwort für", "home of"}, weak: true, at: lazyregexp.New(`\b(?:[Pp]assword for|[Pp]asswort für|[Hh]ome of)(?: user)? ` + aUser)},
	{needs: []string{"smbclient", "rpcclient", "ipmitool"}, at: lazyregexp.New(`\b(?:smbclient|rpcclient|ipmitool)\b[^\n|]*? -U ?` + aUser)},
	{needs: []string{";uid=", "; uid="}, at: lazyregexp.New(`(?i); ?uid=` + aUser)},
	{needs: []string{"users ="}, at: lazyregexp.New(`(?i)\b(?:valid|admin|invalid|read|write|force) (?:users?|list) ?= ?(?P<users>` + list + `)`)},
	{needs: []string{"=(all"}, at: lazyregexp.New(`^%?` + aUser + ` +` + aHost + ` ?= ?\(ALL`)},
	{needs: []string{" <[email]>"}, at: lazyregexp.New(`(?P<user>\p{Lu}[\pL'-]+(?: \p{Lu}[\pL'.-]+)+) <\[email\]>`)},
	{needs: []string{"assigned to ", "assignee", "on call"}, at: lazyregexp.New(`(?i:assigned to|assignee:?|on[ -]call:?) (?P<user>\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)*)`)},
	{needs: []string{"colleague ", "kollege ", "collègue ", "utilisateur "}, weak: true, at: lazyregexp.New(`\b(?:[Cc]olleague|[Kk]olleg(?:e|in)|collègue|utilisat(?:eur|rice)) ` + aUser)},
	{needs: []string{"walsender "}, at: lazyregexp.New(`\bwalsender ` + aUser + ` \[ip\]`)},
	{needs: []string{"for user ["}, at: lazyregexp.New(`[Uu]ser \[(?P<user>` + name + `)\](?: -> \[(?P<user>` + name + `)\])?`)},
	{needs: []string{" for '"}, at: lazyregexp.New(`\bFOR '(?P<user>` + name + `)'`)},
	{needs: []string{"]\\"}, at: lazyregexp.New(`\[(?:host|domain|user)\]\\(?P<user>` + name + `)`)},
	{needs: []string{"(uid=", "(cn=", "(samaccountname="}, at: lazyregexp.New(`(?i)\((?:uid|cn|samaccountname)=(?P<user>[^)*\s\[]{2,})\)`)},
	{needs: []string{"cn: ", "displayname: ", "gecos: ", "givenname: ", "sn: "}, at: lazyregexp.New(`(?i)^(?:cn|displayname|gecos|givenname|sn): (?P<user>[\pL][\pL' .-]+[\pL])$`)},
	{needs: []string{"host", "local"}, weak: true, at: lazyregexp.New(`^(?:host(?:no)?(?:ssl|gssenc)?|local) +\S+ +` + aUser + ` +\S`)},
	{needs: []string{"colleague ", "kollege ", "kollegin ", "frau ", "herr ", "mr. ", "mrs. ", "ms. ", "call ", "ask "}, at: lazyregexp.New(`\b(?:[Cc]olleague|[Kk]olleg(?:e|in|en)|Frau|Herrn?|Mrs?\.|Ms\.|call|[Aa]sk) (?P<user>\p{Lu}\p{Ll}+(?:[ -]\p{Lu}\p{Ll}+)*|\p{Ll}+\.\p{Ll}+)`)},
	{needs: []string{" says", " asks", " reports", "decommissioned"}, at: lazyregexp.New(`(?P<user>\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+)(?: from [\w ]+?)? (?:says|asks|reports|decommissioned|told|set up|installed)\b`)},
	{needs: []string{", owner "}, weak: true, at: lazyregexp.New(`, owner ` + aUser)},
	{needs: []string{"benutzer "}, weak: true, at: lazyregexp.New(`[Bb]enutzer (?:ist |heißt )?` + aUser)},
	{needs: []string{"root: ", "postmaster: "}, at: lazyregexp.New(`^(?:root|postmaster|abuse|webmaster|hostmaster|support|info): +\\?(?P<users>` + list + `)`)},
	{needs: []string{"owned by", "running as", "run by", "created by", "member"}, weak: true, at: lazyregexp.New(`\b(?:owned by|running as|run by|created by)(?: user| group)? ` + aUser)},
	{needs: []string{"name="}, at: lazyregexp.New(`new (?:user|group): name=` + aUser)},
	{needs: []string{") cmd", ") pam", ") reload", ") list", ") edit", ") begin"}, at: lazyregexp.New(`\(` + aUser + `\) (?:CMD|PAM|RELOAD|LIST|BEGIN EDIT|END EDIT|REPLACE)`)},
	{needs: []string{"imap(", "pop3(", "lmtp(", "lda(", "sieve("}, at: lazyregexp.New(`\b(?:imap|pop3|lmtp|lda|sieve|managesieve)\(` + aUser + `\)`)},
	{needs: []string{"--user", " -l ", "--owner", "--group"}, weak: true, at: lazyregexp.New(`(?:\bssh\b[^\n]* -l|--user(?:name)?|--owner)[ =]` + aUser)},
	{needs: []string{"uid "}, at: lazyregexp.New(`(?i)\b[ug]id [0-9]+ ?\(` + aUser + `\)`)},
	{needs: []string{"/"}, at: lazyregexp.New(`(?:^|\s)` + aUser + `/` + ip4 + `:[0-9]`)},
	{needs: []string{"'@'"}, at: lazyregexp.New(`\[user\]'@'(?P<ip>[0-9.%]{2,})'`)},
	{needs: []string{"user", "role"}, at: lazyregexp.New(`(?i)\b(?:\w*user ["'` + "`" + `]|role ["` + "`" + `])(?P<user>` + name + `)["'` + "`" + `]`)},
	{needs: []string{"login "}, at: lazyregexp.New(`\bmachine \S+ login ` + aUser)},
	{needs: []string{"account"}, weak: true, at: lazyregexp.New(`\b[Aa]ccounts? ["']?(?P<user>` + name + `)`)},
	{needs: []string{"chpasswd"}, at: lazyregexp.New(aUser + `:(?P<secret>[^"'\s\[]{3,})["']? *\| *chpasswd`)},
	{needs: []string{"]:"}, at: lazyregexp.New(`\]:[0-9]+ +` + aUser + `:(?P<secret>[^\s\[]{3,})`)},
	{needs: []string{"user", "login", "logname", "acct", "owner"}, at: lazyregexp.New(`(?i)\b(?:(?:[a-z]+_|r|db)?user(?:name)?|login|logname|acct|owner|connection for user)["']?(?:=|: ?["'<])` + aUser)},
	{needs: []string{"user", "login", "logged"}, weak: true, at: lazyregexp.New(`\b(?:[Uu]sers?|[Uu]ser[Nn]ame|[Ll]ogin as|[Ll]ogin|[Ll]ogged in as|USER(?:NAME)?[:=])(?::|=)? ` + `["'<]?(?P<users>` + list + `)`)},
	{needs: []string{"(uid="}, at: lazyregexp.New(aUser + `\(uid=[0-9]+\)`)},
	{needs: []string{"id="}, at: lazyregexp.New(`[ug]id=[0-9]+\(` + aUser + `\)`)},
	{needs: []string{"groups="}, at: lazyregexp.New(`groups=[0-9]+\(` + aUser + `\)(?:,[0-9]+\(` + aUser + `\))?(?:,[0-9]+\(` + aUser + `\))?`)},
	{needs: []string{"su:", "sudo:", "su["}, at: lazyregexp.New(`\b(?:su|sudo)(?:\[[0-9]+\])?: +(?:FAILED SU )?(?:\([^)]*\) )?` + aUser + `(?: :|: Auth| on )`)},
	{needs: []string{"accepted ", "failed ", "invalid user"}, at: lazyregexp.New(`\b(?:(?:Accepted|Failed) \S+ for(?: invalid user)?|[Ii]nvalid user) ` + aUser + ` from`)},
	{needs: []string{"failed for"}, at: lazyregexp.New(`'su \w+' failed for ` + aUser)},
	{needs: []string{":$"}, at: lazyregexp.New(`(?:^|\s)` + aUser + `:(?P<secret>\$[0-9a-z]+\$[^\s:]+)`)},
	{needs: []string{":x:", ":*:", ":!:"}, at: lazyregexp.New(`^` + aUser + `:[x*!]?:[0-9]{4,}:[0-9]+:(?:(?P<user>[\pL][^:,\n\[]+))?[^:\n]*:`)},
	{needs: []string{":[secret]"}, at: lazyregexp.New(`(?:^|[\s"'])` + aUser + `:\[secret\]`)},
	{needs: []string{"/home/"}, at: lazyregexp.New(`/home/` + inPath)},
	{needs: []string{"~"}, at: lazyregexp.New(`(?:^|\s)~` + inPath + `/`)},
	{needs: []string{"\\users\\"}, at: lazyregexp.New(`(?i)\b[a-z]:\\users\\` + inPath)},
	{needs: []string{" -u"}, at: lazyregexp.New(`\b(?:mysql\w*|mariadb\w*|psql|pg_\w+|curl|crontab|sudo|mongo\w*)\b[^\n|]*? -[uU] ?` + aUser)},
	{needs: []string{" -u "}, weak: true, at: lazyregexp.New(`(?i:^| )[a-z][\w-]+(?: [^\n|]*)? -[uU] ` + aUser)},
	{needs: []string{"user", "chage", "passwd", "su -", "finger", "gpasswd", "chsh"}, weak: true, at: lazyregexp.New(`\b` + toUsers + groups + flags + ` +` + aUser)},
	{needs: []string{"passwd: ", "credentials f"}, weak: true, at: lazyregexp.New(`(?:\bpasswd: .* (?:for|changed by)|\bcredentials (?:for|from)(?: user)?) ` + aUser)},
	{needs: []string{"pam: "}, at: lazyregexp.New(`\bPAM: [a-z ]+ for ["']` + aUser)},
	{needs: []string{"invalid user: ", "no such user"}, at: lazyregexp.New(`(?:invalid user: ` + aUser + `(?::` + aUser + `)?|` + aUser + `["'’”]?: no such user)`)},
	{needs: []string{"chown", "chgrp"}, at: lazyregexp.New(`\bch(?:own|grp)` + flags + ` +` + aUser + `:` + aUser)},
	{needs: []string{"chown", "chgrp"}, weak: true, at: lazyregexp.New(`\bch(?:own|grp)` + flags + ` +` + aUser)},
	{needs: []string{"allow", "deny", "_users"}, at: lazyregexp.New(`(?i)\b(?:(?:allow|deny)(?:users|groups)|simple_(?:allow|deny)_(?:users|groups))[ =]+(?:\[user\]\S* )*(?P<users>` + name + `(?:[, ]+` + name + `)*)`)},
	{needs: []string{"all"}, at: lazyregexp.New(`(?:^|[\s:])%?` + aUser + ` +ALL ?=`)},
	{needs: []string{"dc=", "ou="}, at: lazyregexp.New(`(?i)\b(?:uid|cn)=(?P<user>[^,=\s\[]{2,}),(?:ou|cn|dc)=`)},
	{needs: []string{"rw", "r-"}, at: lazyregexp.New(`(?:^|\s)[dlbcps-][rwxsStT-]{9}[.+@]? +[0-9]+ ` + aUser + ` +` + aUser + ` +[0-9]`)},
	{needs: []string{"pts/", "tty"}, at: lazyregexp.New(`(?:^|\bw: |last: )` + aUser + ` +(?:pts/|tty)[0-9]`)},
	{needs: []string{"tty"}, at: lazyregexp.New(`\b[0-9]+ [0-9]+ ` + aUser + ` seat[0-9]`)},
	{needs: []string{"] \""}, at: lazyregexp.New(`^\S+ \S+ ` + aUser + ` \[[0-9]{2}/`)},
	{needs: []string{"user["}, at: lazyregexp.New(`\b(?:User|Group)\[` + aUser + `\]`)},
	{needs: []string{"customer", "company", "firma", "tenant", "colleague", "kunde", "ticket", "o ="}, at: lazyregexp.New(`(?:\b(?:[Cc]ustomers?|[Cc]ompany|[Ff]irma|[Tt]enant|[Cc]olleague|[Kk]unden?|[Tt]icket (?:from|of|by))|\bO =) ["']?(?P<user>\p{Lu}[\pL.&-]*(?: \p{Lu}[\pL.&-]+)*)`)},
	{needs: []string{"reported", "ticket", "signed-off"}, at: lazyregexp.New(`\b(?:Reported-by|Signed-off-by|Author|From): (?P<user>[\pL][\pL .'-]+[\pL]) <`)},
	{needs: []string{"."}, at: lazyregexp.New(`^` + aUser + ` +[0-9]+ +[0-9]+\.[0-9] +[0-9]+\.[0-9] +\S`)},
	{needs: []string{"hier_", "direct/"}, at: lazyregexp.New(`\[url\] ` + aUser + ` (?:HIER_)?[A-Z_]+/`)},
	{needs: []string{":role/", ":user/"}, at: lazyregexp.New(`:(?:role|user)/` + aUser)},
}

// inPlaces replaces what stands where names stand in a line, and remembers the
// names for the rest of the text.
func inPlaces(line string, known map[string]string) string {
	lower := strings.ToLower(line)
	for _, r := range allRules() {
		if slices.ContainsFunc(r.needs, func(n string) bool { return strings.Contains(lower, n) }) {
			line = r.apply(line, known)
		}
	}
	return line
}

func (r rule) apply(s string, known map[string]string) string {
	var out strings.Builder
	last := 0
	kinds := r.at.SubexpNames()
	tongue := sync.OnceValue(func() tongue { return tongueOf(wordsOf(s)) })
	for _, at := range r.at.FindAllStringSubmatchIndex(s, -1) {
		if r.command && determiners[lastWord(s[:at[0]])] {
			continue
		}
		for i := 1; i < len(kinds); i++ {
			start, end := at[2*i], at[2*i+1]
			if start < last || start < 0 || inPlaceholder(s, start, end) || r.weak && (isForeign(s[start:end], tongue) || isKin(s, s[start:end])) || r.prose && versionBehind.MatchString(s[end:]) || contracted.MatchString(s[end:]) || isKey(s, start, end) {
				continue
			}
			out.WriteString(s[last:start])
			if one, ok := strings.CutSuffix(kinds[i], "s"); ok {
				out.WriteString(r.replaceEach(one, s[start:end], known, tongue))
			} else {
				out.WriteString(r.replace(kinds[i], s[start:end], known))
			}
			last = end
		}
	}
	out.WriteString(s[last:])
	return out.String()
}

// isForeign says that a word of a German line is an adjective or a pronoun of it; or what
// "die VM" does there, as "startet" is.
func isForeign(w string, in func() tongue) bool {
	return german[w] || in().german && (germanWords()[w] && !isGiven(w) || acted.MatchString(w) && !isGiven(w) && !compound.MatchString(w))
}

// isKin says that a word of a message is of the program that says it: slurmdbd in one of slurmctld.
func isKin(line, w string) bool {
	same := 0
	for same < len(line) && same < len(w) && line[same] == w[same] && line[same] >= 'a' && line[same] <= 'z' {
		same++
	}
	return same > 4 && speaks.MatchString(line) && plainLower.MatchString(w)
}

// speaks: a program at the start of a line.
var speaks = lazyregexp.New(`^[a-z][\w/-]*(?:\[[0-9]+\])?: `)

// versionBehind: Magento 2.3 is software, and "Tue 24 Nov" a date.
var versionBehind = lazyregexp.New(`^ \(?v?[0-9]+(?:[.:+-][0-9]|[ ,.]|$)`)

// isKey says that a word is the next key of a line of settings, of which the one before is
// empty: logname= uid=0.
func isKey(s string, start, end int) bool {
	return end < len(s) && s[end] == '=' && start > 1 && s[start-1] == ' ' && (s[start-2] == '=' || keyName.MatchString(s[start:end]))
}

// keyName: ruser, rhost.
var keyName = lazyregexp.New(`^[a-z_]{0,8}(?:user|host|name|uid|addr|port)$`)

// contracted: couldn't is one word.
var contracted = lazyregexp.New(`^'t\b`)

var acted = lazyregexp.New(`^\p{Ll}{3,}t$`)

// inPlaceholder says that s[start:end] is the word of a placeholder.
func inPlaceholder(s string, start, end int) bool {
	return start > 0 && end < len(s) && s[start-1] == '[' && s[end] == ']' && placeholder.MatchString(s[start-1:end+1])
}

// replaceEach gives what stands in place of a list of names.
func (r rule) replaceEach(kind, list string, known map[string]string, in func() tongue) string {
	return oneOf.ReplaceAllStringFunc(list, func(w string) string {
		if w[0] == '[' || r.weak && isForeign(w, in) {
			return w
		}
		return r.replace(kind, w, known)
	})
}

// replace gives what stands in place of a group of a pattern.
func (r rule) replace(kind, text string, known map[string]string) string {
	switch kind {
	case url:
		core := strings.TrimRight(text, ".,;:!?)}*|")
		return put(url) + text[len(core):]
	case host:
		if r.isHost(text) {
			learn(known, text, host)
			return put(host)
		}
		return text
	case "mixed", "random":
		if kind == "mixed" && !isMixed(text) || kind == "random" && !isRandom(text) {
			return text
		}
		return put(hidden)
	case "disguised":
		if kindOf(text) != "" || strings.ContainsRune(text, ':') || !isDisguised(text) {
			return text
		}
		return put(hidden)
	case "odd":
		if lower := strings.ToLower(strings.Trim(text, ".,;:()")); isKnown(lower) || kindOf(text) != "" || strings.Trim(lower, "0123456789.:/-") == "" || settled.MatchString(lower) {
			return text
		}
		return put(hidden)
	case "known":
		learn(known, text, user)
		return text
	case user:
		if isAccount(text) || (r.weak || r.faint) && (isWord(text) || sentenceWord.MatchString(text) && isKnown(strings.ToLower(text))) || r.faint && isMadeOfWords(text) || !hasLetters(text) || strings.ContainsRune(text, '.') && isAddress(text) {
			return text
		}
		learn(known, text, user)
		return put(user)
	}
	if kind == id && strings.Trim(text, "0f:-.F") == "" { // of no device and of all
		return text
	}
	return put(kind)
}

// isMixed says that a word is made up as passwords are: capitals, small letters
// and digits, or these and a sign that no name has; and no version or name.
func isMixed(w string) bool {
	w = strings.TrimRight(w, ".:?")
	if len(w) < 6 {
		return false
	}
	small, capital, digit, sign := strings.ContainsFunc(w, unicode.IsLower), strings.ContainsFunc(w, unicode.IsUpper), strings.ContainsFunc(w, unicode.IsDigit), strings.ContainsAny(w, "!#$%&*+^~")
	return (small && capital && digit || (small || capital) && digit && sign || small && digit && turns(w) > 4) &&
		kindOf(w) == "" && !versioned.MatchString(w) && !strings.Contains(w, "/") && !releaseLike.MatchString(w) && !packageLike.MatchString(w)
}

// settled: words of settings that stand where a secret does, in two parts or with a number.
var settled = lazyregexp.New(`^(?:hmac|md5|sha|aes|3?des|rsa|dsa|ecdsa|ed25519|[a-z]+-(?:chain|string|mode|key|type|server|list|order|method))|[()$<>{}%=]|^-`)

// versioned: 1.2, and foo-1.2.
var versioned = lazyregexp.New(`(?:^|-)v?[0-9]+[.:][0-9]`)

// isRandom says that a long word is nobody's: capitals, small letters and digits
// take turns, as only in tokens.
func isRandom(w string) bool {
	for _, part := range letters.FindAllString(w, -1) {
		if isKnown(strings.ToLower(part)) {
			return false
		}
	}
	return strings.ContainsFunc(w, unicode.IsLower) && strings.ContainsFunc(w, unicode.IsUpper) && strings.ContainsFunc(w, unicode.IsDigit) && turns(w)*4 >= len(w)
}

// isDisguised says that a word is a password wherever it stands: one that digits and signs
// disguise, as in pl3ase-Change, or one whose letters and digits take turns.
func isDisguised(w string) bool {
	w = strings.TrimRight(w, ".")
	if !strings.ContainsFunc(w, unicode.IsLower) || !strings.ContainsFunc(w, unicode.IsUpper) {
		return false
	}
	return strings.ContainsAny(w, "!#$%&*+.~^_-") && digitWithin.MatchString(w) && !versioned.MatchString(w) && !packageLike.MatchString(w) ||
		!strings.ContainsAny(w, ".+_-") && len(w) < 20 && turns(w)*2 >= len(w) && isRandom(w)
}

// digitWithin: a digit among the letters of a word that it is read as one of.
var digitWithin = lazyregexp.New(`(?:^|[^A-Za-z0-9])[A-Za-z]?[a-z]*[A-Za-z][0134578][a-z]{2,}`)

// letters of a word as long as only words are.
var letters = lazyregexp.New(`[A-Za-z][a-z]{3,}`)

// turns counts where letters and digits follow each other in a word, or a
// capital a small letter.
func turns(w string) (n int) {
	class := func(c byte) int {
		switch {
		case c >= '0' && c <= '9':
			return 1
		case c >= 'A' && c <= 'Z':
			return 2
		}
		return 3
	}
	for i := 1; i < len(w); i++ {
		if class(w[i]) != class(w[i-1]) {
			n++
		}
	}
	return n
}

// oneOf is a name of a list, or what an earlier reading has left of one.
var oneOf = lazyregexp.New(`\[\w+\]|` + name)

// isHost judges a name that stands where a host may. What has dots or a form of
// its own is judged by its form, and release-like words are none.
func (r rule) isHost(w string) bool {
	if levels[strings.ToLower(w)] {
		return false
	}
	if r.sure {
		return hasLetters(w) && !isAddress(w) && !everyMachine[strings.ToLower(w)]
	}
	if isGrammar(strings.ToLower(w)) {
		return false
	}
	if sentenceWord.MatchString(w) && !isGiven(strings.ToLower(w)) && isKnown(strings.ToLower(w)) {
		return false
	}
	if isOrdinary(w) || !hasLetters(w) || isAddress(w) || releaseLike.MatchString(w) || advisory.MatchString(w) || r.prose && (packageLike.MatchString(w) || len(w) < 6 && acronym.MatchString(w)) || deviceLike.MatchString(w) {
		return false
	}
	if !r.weak && !r.faint {
		return true
	}
	if r.faint && !isStrange(w) {
		return false
	}
	if camelCase.MatchString(w) || typeNumber.MatchString(w) && isKnown(strings.ToLower(strings.TrimRight(w, "0123456789"))) {
		return false
	}
	word := isWord(w) && (r.prose || !strings.Contains(w, "-"))
	return !word && kindOf(w) == "" && !startsDigit.MatchString(w) && !isAccount(w) && (isLabel(w) && !strings.Contains(w, "_") || fqdn.MatchString(w) && !javaClass.MatchString(w))
}

// isGrammar says that a word in small letters is one of the trade that tells what is done, or
// of what kind a thing is: "host closed", "node configuration", "peer certificate".
func isGrammar(w string) bool {
	return grammar[w] || ofSetting.MatchString(w) || (doneOrBeing.MatchString(w) && isListed(w))
}

var (
	grammar = set("ip remote local origin found time host name names user root certificate key state states data value status type list info id ids not available mode side card cards board count pool group groups set address addresses port ports process processes room rack software version config settings label labels service services load space entry entries record records table class role roles rule rules alias part level members path error errors message messages response request requests timeout event events health job jobs task tasks image images memory disk disks network interface controller hardware firmware kernel system reboot restart failure failures update updates upgrade check checks")
	// ofSetting: root-login, key-mode.
	ofSetting   = lazyregexp.New(`^[a-z]{3,}-(?:login|key|keys|mode|version|auth|policy|timeout|type|name|id|list|file|limit|size)$`)
	doneOrBeing = lazyregexp.New(`(?:ed|ing|[st]ion|ment|able|ible|ity|ness|ful|ly|ous)s?$`)
)

// camelCase: AllowZoneDrifting, a setting or a class.
var camelCase = lazyregexp.New(`^[A-Za-z]*[a-z][A-Z][a-z]\w*$|^[A-Z]{2,}[a-z]{3,}[A-Z]\w*$`)

// typeNumber: Type1, a word with a capital and a number.
var typeNumber = lazyregexp.New(`^\p{Lu}\p{Ll}+[0-9]+$`)

// javaClass: org.postgresql.util.PSQLException.
var javaClass = lazyregexp.New(`^[a-z]\w*(?:\.\w+)*\.[A-Z]\w*[a-z]\w*$`)

// fqdn: a name of three parts or more, also where no such domain is registered.
var fqdn = lazyregexp.New(`^[\w-]+(?:\.[\w-]+)+\.[A-Za-z]+$`)

var (
	// sentenceWord: a word with a capital, as after a colon.
	sentenceWord = lazyregexp.New(`^\p{Lu}\p{Ll}+$`)
	acronym      = lazyregexp.New(`^[\p{Lu}_.]+[0-9]?[\p{Lu}_.]?$`) // FS01 is none
)

// releaseLike are the slugs of releases, such as debian-12.
var releaseLike = lazyregexp.New(`^(?i:debian|ubuntu|centos|rocky|almalinux|fedora|rhel|ol|sles|opensuse|opensuse-leap|amzn|el|x86|i|php|python|java|node|postgresql|nodejs|libc)-?[0-9][0-9.]*$`)

var (
	// advisory: RHSA-2024 and SUSE-SU-2024, before its colon.
	advisory = lazyregexp.New(`^[A-Z]+(?:-[A-Z]+)*-(?:19|20)[0-9]{2}$`)
	// packageLike are names with what only those of packages begin or end with, and architectures.
	packageLike = lazyregexp.New(`^(?:lib|python|perl|php|ruby|golang|node-|r-|fonts-|linux-|kernel|systemd-|texlive|gir1).+|.+(?:-dev|-devel|-common|-utils|-tools|-doc|-server|-client|-libs?|-data|-bin|-perl|-python|-base|-core|-plugins?|-agent|-daemon|ctl|fs)$|^(?:aarch64|noarch|riscv64|mips|ppc64le|bookworm|bullseye|buster|trixie|stretch|jammy|focal|noble|bionic|xenial)$`)
)

// deviceLike are names of devices, formats and programs that have numbers.
var deviceLike = lazyregexp.New(`^(?i:eth|en|awdl|wl|utun|en[ops]|ens|wlan|bond|br|virbr|docker|veth|wg|tun|tap|sd[a-z]|vd[a-z]|hd[a-z]|xvd[a-z]|md|vg|drbd|mpath|event|input|virtio|usb|pci|irq|queue|slot|port|lun|phy|wwan|ppp|lo|team|vnet|macvtap|bridge|vlan|vmbr|fwbr|cni|lxcbr|lxdbr|dm-[0-9]+-?|nvme|loop|sr|tty[a-z]*|vty|pts|ata|scsi|sas|mmc|mmcblk|xhci|ehci|ohci|ahci|igb|ixgbe|i40e|mlx|bnx|tg|qla|lpfc|mpt|hpsa|rtc|tpm|eno|enx|sit|tunl|vti|dummy|ifb|vxlan|zram|nbd|rbd|hidraw|hwmon|gpiochip|gigabitethernet|cpu|utf-?|iso-?|sha|md|ed|rsa|aes|ipv|ext|base|tls|http|arm|armv|amd|s390|ppc|log|lib[a-z]+-?|mod|php|python|ruby|openjdk-?|jdk|tomcat|apache|sles|leap|rhel|debian-?|ubuntu-?|php-?|gcc-?|kb|cp|windows|win|(?:ba|z|da|a)?sh-)[0-9][0-9a-z.]*$|^mpath[a-z]{1,3}$`)

func hasLetters(w string) bool { return strings.ContainsFunc(w, unicode.IsLetter) }

// learn remembers a name, unless it may as well be another word.
func learn(known map[string]string, name, kind string) {
	if len(name) > 2 && !isWord(name) && !isAccount(name) {
		known[strings.ToLower(name)] = kind
		if like := shape(name); kind == host && like != "" {
			known[like] = kind
		}
	}
}

// shape is what the names of a row of machines share: web#-# of web01-a and
// web2-b; "" where a name is of no row.
func shape(name string) string {
	if !rowed.MatchString(name) {
		return ""
	}
	return rowed.ReplaceAllString(strings.ToLower(name), "$1#")
}

// rowed: a number, or one letter at the end.
var rowed = lazyregexp.New(`()[0-9]+|(-)[A-Za-z]$`)
