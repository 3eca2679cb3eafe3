package redact

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"svc/backend/lazyregexp"
)

// token splits text, in this order, into placeholders that an earlier pass
// left, URLs, quoted paths, Windows paths (these hold spaces) and words. What
// lies between, the separators, always stays.
var token = lazyregexp.New(`\[(?:host|domain|ip|email|url|path|secret|id|user)\]` +
	`|(?i:[a-z][a-z0-9+.-]*://(?:\[[0-9a-f:.]+\])?[^\s"'<>` + "`" + `\[\]]*)` +
	`|"[/~][^"\n\[\]]+"|'[/~][^'\n\[\]]+'` +
	`|(?:\b[A-Za-z]:|\\)\\(?:[^\\\s"'<>|\[\]]+(?: [^\\\s"'<>|\[\]]+)*\\)*[^\\\s"'<>|\[\]]*` +
	`|[^\s"'` + "`" + `()\[\]{}<>,;|=!?*：，。（）]+`)

// scanner reads the tokens of a text in order.
type scanner struct {
	names map[string]string // known names in lower case, and what each is
	// versioned says that what stands before announces a version: the word
	// itself, or a comparison.
	versioned bool
}

func (s *scanner) text(t string) string {
	var out strings.Builder
	last := 0
	for _, at := range token.FindAllStringIndex(t, -1) {
		between := t[last:at[0]]
		s.versioned = s.versioned && !strings.Contains(between, "]") || strings.ContainsAny(between, "<>=~") && comparison.MatchString(between)
		out.WriteString(between)
		last = at[1]
		if word := t[at[0]:last]; strings.HasPrefix(t[last:], "(") && call.MatchString(word) || strings.HasPrefix(t[last:], "=") && isProperty(word) {
			out.WriteString(word)
			continue
		}
		out.WriteString(s.token(t[at[0]:last]))
	}
	out.WriteString(t[last:])
	return out.String()
}

func (s *scanner) token(t string) string {
	versioned := s.versioned
	s.versioned = announcesVersion(t) || software[strings.ToLower(t)]
	switch {
	case len(s.names) == 0 && isPlain(t):
		return t
	case versioned && fourParts.MatchString(t) && !isPrivate(t):
		return t
	case t[0] == '[':
		return t
	case strings.Contains(t, "://"):
		return s.address(t)
	case t[0] == '"' || t[0] == '\'':
		return t[:1] + put(path) + t[:1]
	case strings.Contains(t, `\`) && windowsPath.MatchString(t):
		return put(path)
	}
	return s.word(t)
}

// isPrivate says that no version has this form: 10.0.0.1, 192.168.0.1.
func isPrivate(t string) bool {
	a, err := netip.ParseAddr(strings.TrimRight(t, ".:"))
	return err == nil && a.IsPrivate()
}

// call: a function or its module, such as os.open( or foo.bar(.
var call = lazyregexp.New(`^[\pL_]\w*(?:(?:\.|::|->)[\pL_]\w*)+$`)

// isProperty says that a word before its value is a setting, of which the last part is a
// word of the trade: spring.redis.host, rd.lvm.lv.
func isProperty(w string) bool {
	last := w[strings.LastIndexByte(w, '.')+1:]
	return property.MatchString(w) && (isListed(strings.ToLower(last)) && !topLevel[last] || strings.HasPrefix(w, "rd."))
}

var (
	property = lazyregexp.New(`^[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)+$`)
	topLevel = set("com net org info biz edu gov int mil local internal")
)

var windowsPath = lazyregexp.New(`^(?:[A-Za-z]:|\\)\\`)

var (
	// comparison: as in "(>= 1.2.3.4)". A lone < or > right before a number may as
	// well open a bracket.
	comparison = lazyregexp.New(`(?:[<>=~]=|\(=) ?$|[( ][<>] $`)
	// fourParts: a version of four numbers has the form of an address.
	fourParts = lazyregexp.New(`^[0-9]+(?:\.[0-9]+){3}[.:]?$`)
)

func announcesVersion(t string) bool {
	t = strings.TrimSuffix(strings.ToLower(t), ":")
	return t == "version" || t == "versions" || t == "release" || t == "sender" || t == "receiver" || t == "generator" // the last three: rsync's
}

// address replaces a URL and keeps the sentence's punctuation after it.
func (s *scanner) address(t string) string {
	core := strings.TrimRight(t, ".,;:!?)}*|")
	return put(url) + t[len(core):]
}

// word replaces a word, or the parts of it that colons and slashes divide.
func (s *scanner) word(t string) string {
	core := strings.TrimRight(strings.Trim(t, ".:@#"), `\`) // what stands before an escaped quote
	i := strings.Index(t, core)
	if release.MatchString(t) {
		return t
	}
	if strings.HasPrefix(t, "../") || strings.HasPrefix(t, "./") || strings.HasPrefix(t, "::") {
		core, i = strings.TrimRight(t, "."), 0
	}
	before, after := t[:i], t[i+len(core):]
	if kind := s.whole(core); kind != "" {
		return before + put(kind) + after
	}
	return before + s.parts(core) + after
}

// release: nginx-core-2:1.20.1-20.el9.x86_64, a package with its epoch.
var release = lazyregexp.New(`^[a-z][\w.+-]*-[0-9]+:[0-9]+\.[\w.+~^-]+$`)

// parts replaces the parts of a word that colons and slashes divide.
func (s *scanner) parts(core string) string {
	for _, separator := range []string{":", "/", "#"} {
		if parts := strings.Split(core, separator); len(parts) > 1 {
			for i, part := range parts {
				parts[i] = s.part(part)
			}
			return strings.Join(parts, separator)
		}
	}
	return core
}

func (s *scanner) part(part string) string {
	if kind := s.whole(part); kind != "" {
		return put(kind)
	}
	return s.parts(part)
}

// whole is the kind of a word that is one name, or "".
func (s *scanner) whole(w string) string {
	if len(s.names) > 0 {
		if kind := s.names[strings.ToLower(w)]; kind != "" {
			return kind
		}
		if like := shape(w); like != "" && s.names[like] != "" && !strings.Contains(like, ".") {
			return host
		}
	}
	return kindOf(w)
}

// kindOf is the kind of a word, by its form alone.
func kindOf(w string) string {
	switch {
	case w == "":
		return ""
	case w[0] == '/' && (route.MatchString(w) || device.MatchString(w)):
		return ""
	case strings.ContainsAny(w, ".:") && isAddress(w):
		return ip
	case strings.ContainsRune(w, '@') && login.MatchString(w) && !strings.HasPrefix(w, "mailto:"):
		return url
	case strings.ContainsAny(w, `/\`):
		return pathOrURL(w)
	case strings.ContainsRune(w, '@'):
		return mailbox(w)
	case strings.ContainsRune(w, ':'):
		return ""
	case strings.ContainsRune(w, '.'):
		return cmp.Or(dotted(w), person(w))
	case isHost(w):
		return host
	}
	return ""
}

var (
	// route: what the service itself answers is no path of a machine.
	route = lazyregexp.New(`^/v1(?:/(?:health|version|openapi\.json|resolve|translate|config-paths|releases|upgrade-edges|usage|authorize|enroll|cve-scan|account|vms|` +
		`statement|capacity|entitlements|terms|findings|questions|answer|attest|sign|keys|schemas(?:/[\w.-]+)?|:?id|[0-9]+|\.{3}|…))*/?$|^/(?:answer|resolve|metrics|ready)$`)
	// device: what every machine has.
	device = lazyregexp.New(`^/dev/(?:null|zero|full|u?random|std(?:in|out|err)|tty[0-9]*|console|kvm|fuse|[shv]d[a-z]+[0-9]*|xvd[a-z]+[0-9]*|nvme[0-9]+n[0-9]+(?:p[0-9]+)?|md[0-9]+|dm-[0-9]+|loop[0-9]+|sr[0-9]+)$`)
	// login: user:password@host, and git@host:path.
	login = lazyregexp.New(`^(?:[^/@:\s]+:[^/@\s]*@[^/@\s]+(?:/.*)?|[^/@:\s]+@[^/@:\s]+\.[^/@:\s]+:[^/@:\s]+/.*)$`)
)

// isAddress takes addresses, with a port or a prefix length too.
func isAddress(w string) bool {
	if a, err := netip.ParseAddr(w); err == nil {
		return !everywhere(a)
	}
	if p, err := netip.ParsePrefix(w); err == nil {
		return !everywhere(p.Addr())
	}
	p, err := netip.ParseAddrPort(w)
	return err == nil && !everywhere(p.Addr())
}

// everywhere are the addresses that every machine has, and masks of networks.
func everywhere(a netip.Addr) bool {
	return a.IsLoopback() || a.IsUnspecified() || a.Is4() && a.As4()[0] == 255
}

var (
	// startsPath: /etc, ~/x, ~joe/x, $HOME/x, ./x, ../x, and -I/usr/include.
	startsPath = lazyregexp.New(`^(?:/[^/]|~[^/]*/|\$\w+/|%\w+%\\|\.\.?/|-[A-Za-z]/)`)
	// netBIOS: CORP\joe, an account of a Windows domain.
	netBIOS = lazyregexp.New(`^[A-Z0-9-]{2,15}\\[\w.-]{2,}$`)
	digits  = lazyregexp.New(`^[0-9/]+$`)
)

// notAPath: n/a, 24/Nov/2026, Y/n/q, and a class of Java.
var notAPath = lazyregexp.New(`/n/a$|^[0-9]{1,2}/[A-Z][a-z]{2}/[0-9]{4}|^[A-Za-z](?:/[A-Za-z])+$|^(?:javax?|org|com|jakarta)/[a-z]+/[\w/$]+$`)

// pathOrURL judges a word with a slash: one slash alone is usually "and/or".
func pathOrURL(w string) string {
	first, _, _ := strings.Cut(w, "/")
	server, _, _ := strings.Cut(first, ":")
	switch {
	case netBIOS.MatchString(w):
		return domain
	case startsPath.MatchString(w) && !digits.MatchString(w): // */5 is a step of cron
		return path
	case first != w && (dotted(server) != "" || isAddress(server)):
		return url
	case digits.MatchString(w), notAPath.MatchString(w), strings.Contains(first, ":"), strings.Contains(first, "@"):
		return ""
	case strings.Count(w, "/")+strings.Count(w, `\`) > 1 && w != "//":
		return path
	}
	return ""
}

// locale: de_DE@euro.
var locale = lazyregexp.New(`^[a-z]{2,3}_[A-Z]{2}(?:[.@]|$)`)

var localPart = lazyregexp.New(`^[\p{L}\p{N}._%+-]+$`)

// mailbox judges user@somewhere; name@1.2.3 and unit@instance.service are none.
func mailbox(w string) string {
	i := strings.LastIndexByte(w, '@')
	user, at := w[:i], w[i+1:]
	switch {
	case !localPart.MatchString(user), at == user, strings.EqualFold(at, host), everyMachine[strings.ToLower(at)], locale.MatchString(w):
		return ""
	case dotted(at) != "" || isAddress(at):
		return email
	case isLabel(at) && !startsDigit.MatchString(at) && !strings.HasPrefix(at, "tty"):
		return host
	}
	return ""
}

// dotted judges a word with dots: a registered domain, a host in one, or
// neither, as versions, units, files and packages are.
func dotted(w string) string {
	if member.MatchString(w) || facility.MatchString(w) || everyMachine[strings.ToLower(w)] || library.MatchString(w) {
		return ""
	}
	w = strings.ToLower(strings.TrimPrefix(w, "."))
	labels := strings.Split(w, ".")
	last := labels[len(labels)-1]
	switch {
	case len(labels) < 2 || !slices.ContainsFunc(labels, hasLetter) || !isEveryLabel(labels):
		return ""
	case slices.Contains(packages, w):
		return ""
	case slices.Contains(internal, last), last == "svc" && len(labels) > 2:
		return host
	case len(labels) == 2 && slices.Contains(fileEndings, last):
		return ""
	}
	ascii, err := idna.Punycode.ToASCII(w) // the form of the list
	if err != nil {
		ascii = w
	}
	suffix, icann := publicsuffix.PublicSuffix(ascii)
	switch {
	case isHost(labels[0]) && !slices.ContainsFunc(labels[1:], func(l string) bool { return len(l) < 2 || startsDigit.MatchString(l) }):
		return host
	case !icann && suffix == ascii && len(labels) > 2: // such as every name of a cloud's own
		return host
	case !icann && !strings.Contains(suffix, "."), suffix == ascii:
		return ""
	case strings.Count(w, ".") == strings.Count(suffix, ".")+1:
		return domain
	}
	return host
}

var (
	// internal are the last labels of names inside a network.
	internal = []string{"local", "localdomain", "lan", "internal", "intranet", "corp", "private", "home", "example", "test", "invalid", "onion", "arpa", "intern", "lokal", "loc", "consul", "cluster"}
	// fileEndings are top-level domains too, but name.sh is a script.
	fileEndings = []string{"ac", "am", "cc", "cf", "cgi", "java", "la", "md", "mk", "ml", "mo", "new", "ping", "pl", "pm", "ps", "pub", "py", "rs", "sh", "so", "target", "tf", "zip"}
	// packages have names that would be domains.
	packages = []string{"docker.io", "containerd.io", "asp.net", "node.js", "socket.io", "jail.local", "home.arpa", "rc.local", "fail2ban.local"}
)

// person takes s.miller and vera.miller, as people's accounts are called: a letter or a
// given name, a point, and what is no word.
func person(w string) string {
	m := ofPerson.FindStringSubmatch(w)
	if m == nil || isKnown(m[2]) || len(m[1]) > 1 && (!names()[m[1]] || isKnown(m[1])) {
		return ""
	}
	return user
}

var ofPerson = lazyregexp.New(`^([a-z]|[a-z]{3,})\.([a-z]{4,}(?:-[a-z]{4,})?)[0-9]?$`)

// library: libc-2.31.so, and libssl.so.1.1.
var library = lazyregexp.New(`\.so(?:\.[0-9]+)*$`)

// facility: auth.info, of syslog.
var facility = lazyregexp.New(`^(?:auth|authpriv|cron|daemon|kern|lpr|mail|news|syslog|user|uucp|local[0-7])\.(?:emerg|alert|crit|err|warn|warning|notice|info|debug)$`)

// member: os.Open, a name in a program.
var member = lazyregexp.New(`^[a-z]\w*\.[A-Z][a-z]\w*$`)

var label = lazyregexp.New(`^[\p{L}\p{N}_](?:[\p{L}\p{N}_-]*[\p{L}\p{N}_])?$`)

func isLabel(s string) bool { return len(s) <= 63 && label.MatchString(s) }

func isEveryLabel(labels []string) bool {
	return !slices.ContainsFunc(labels, func(s string) bool { return !isLabel(s) })
}

func hasLetter(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r >= 'a' && r <= 'z' || r > 127 })
}

// hostWords are what people number their machines by.
var hostWords = lazyregexp.New(`^(?i:(?:` + roles + `)[0-9]+` +
	`|(?:prod|prd|stage|staging)[0-9]+|(?:` + stages + `)(?:` + roles + `)[0-9]*|(?:` + roles + `)(?:prod|prd|stage|stg|staging)[0-9]*|(?:` + roles + `)(?:gw|fw|lb|srv|db|vm|host|web|sw)[0-9]+)$`)

// roles of machines, and the stages of a service.
const (
	roles = `web|www|db|app|sql|srv|svr|server|host|node|vm|mail|smtp|mx|ns|dns|proxy|lb|cache|worker|minion|master|slave|primary|replica|standby|bastion|jump|jumphost|esx|esxi|hv|pve|kvm|` +
		`nas|san|gw|gateway|fw|router|switch|vpn|ip|kube|k8s|etcd|mq|kafka|rabbit|build|runner|agent|backup|storage|dc|file|fileserver|print|printer|mgmt|mon|log|loghost|erp|crm|sap|shop|front|frontend|backend|portal|edge|core|lab|ldap|radius|wiki`
	stages = `prod|prd|stage|stg|staging|preprod|uat|qa|dev|old`
)

// roleAndPlace: web-blue, db-a, proxy-int: a machine among its like.
var roleAndPlace = lazyregexp.New(`^(?i:(?:(?:` + roles + `)-)?(?:` + roles + `|cluster|ceph|redis|mongo|consul|jira|gitlab|ldap|nfs|sip|ws|pc|php|tomcat)-(?:[a-f]|blue|green|red|left|right|old|new|alt|neu|int|intern|ext|extern|legacy|hq|eg|og|ug|live|main|standby)|[a-z0-9]+(?:-[a-z0-9]+)*-(?:srv|gw|fw|nas|esx|mx)[0-9]*)$`)

// ofPod: coredns-5d78c9869d-x2k7p, what Kubernetes calls a copy of a service.
var ofPod = lazyregexp.New(`^[a-z][a-z0-9-]*?-[0-9a-f]{8,10}(?:-[0-9a-z]{5})?$`)

var wordThenNumber = lazyregexp.New(`^(?i)(.*-)?([a-z]+)-([0-9]+)$`)

// isHost takes web01, prod-db-03 and ip-10-0-0-1: a word for a machine and its
// number, at the end or as one of several parts.
func isHost(w string) bool {
	if !isLabel(w) || isPlain(w) || isOrdinary(w) || ofProtocol.MatchString(w) {
		return false
	}
	if ofPod.MatchString(w) && !cloudName.MatchString(w) {
		return false
	}
	if roleAndPlace.MatchString(w) {
		return true
	}
	if m := wordThenNumber.FindStringSubmatch(w); m != nil && hostWords.MatchString(m[2]+m[3]) {
		return true
	}
	return strings.ContainsRune(w, '-') && (cloudName.MatchString(w) || staged(w)) || slices.ContainsFunc(strings.Split(w, "-"), hostWords.MatchString)
}

// ofProtocol: gateway4, a setting for a version of IP.
var ofProtocol = lazyregexp.New(`^(?i:gateway|dns|ip)[46]$`)

// staged takes crm-prod and eu-stage-sql: a stage of a service among parts. A
// package has "dev" and "old" in its name.
func staged(w string) bool {
	parts := strings.Split(strings.ToLower(w), "-")
	return len(parts) > 1 && slices.ContainsFunc(parts, func(p string) bool {
		return p == "prod" || p == "prd" || p == "preprod" || p == "staging" || p == "uat" || p == "dmz" || p == "intern" || p == "legacy"
	})
}

// cloudName is how clouds and installers name machines and what belongs to
// them: ip-10-0-0-1, i-0abc…, gke-pool-…, aks-…-vmss000001, DESKTOP-1A2B3C4,
// ubuntu-s-1vcpu-1gb-fra1-01, instance-20260807-123045.
var cloudName = lazyregexp.New(`^(?i:(?:ip|ec2|host|vps|li)(?:-[0-9]{1,3}){4}` +
	`|(?:vm|instance|node|host|server|srv|worker)-[0-9a-f]*[0-9][0-9a-f]*` +
	`|(?:gke|eks|aks)-[a-z0-9-]+-[a-z0-9]{4,}|[a-z0-9-]+-vmss[0-9a-z]{6}` +
	`|(?:desktop|laptop|win|ec2amaz)-[0-9a-z]{6,12}` +
	`|[a-z]+[a-z0-9-]*-[0-9]+[cg]b?(?:pu)?-[a-z0-9-]+|[a-z]+-[0-9]+gb-[a-z0-9-]+|[a-z]+-s-[0-9]+vcpu-[a-z0-9-]+` +
	`|instance-[0-9]{8}-[0-9]{4,6})$`)
