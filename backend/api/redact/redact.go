// Package redact strips from text what names a machine, a network or a person:
// hostnames, domains, IP addresses, e-mail addresses, URLs and paths. The
// client does it before anything is sent, and the server again before anything
// is stored.
package redact

import (
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"svc/backend/api/lazyregexp"
)

// The kinds of what is stripped.
const (
	host   = "host"
	domain = "domain"
	ip     = "ip"
	email  = "email"
	url    = "url"
	path   = "path"
)

// token splits text, in this order, into placeholders that an earlier pass
// left, URLs, quoted paths, Windows paths (these hold spaces) and words. What
// lies between, the separators, always stays.
var token = lazyregexp.New(`\[(?:host|domain|ip|email|url|path)\]` +
	`|(?i:[a-z][a-z0-9+.-]*://(?:\[[0-9a-f:.]+\])?[^\s"'<>` + "`" + `\[\]]*)` +
	`|"[/~][^"\n\[\]]*"|'[/~][^'\n\[\]]*'` +
	`|(?:\b[A-Za-z]:|\\)\\(?:[^\\\s"'<>|\[\]]+(?: [^\\\s"'<>|\[\]]+)*\\)*[^\\\s"'<>|\[\]]*` +
	`|[^\s"'` + "`" + `()\[\]{}<>,;|=!?*]+`)

// Text gives s with every such name replaced by its kind in brackets, and how
// often each kind stands in the result. Doing it again changes nothing. A
// hostname that looks like any other word is found only where hosts names it.
func Text(s string, hosts ...string) (string, map[string]int) {
	counts := map[string]int{}
	scan := scanner{counts: counts, hosts: slices.DeleteFunc(slices.Clone(hosts), isOrdinary)}
	return scan.text(s), counts
}

// ordinary are hostnames that are words of every report.
var ordinary = []string{"", "localhost", "linux", "debian", "ubuntu", "centos", "rocky", "almalinux", "fedora", "rhel", "redhat", "opensuse", "sles", "suse", "amazon", "alpine", "arch"}

func isOrdinary(name string) bool { return slices.Contains(ordinary, strings.ToLower(name)) }

func (s *scanner) text(t string) string {
	var out strings.Builder
	last := 0
	for _, at := range token.FindAllStringIndex(t, -1) {
		between := t[last:at[0]]
		s.versioned = s.versioned || comparison.MatchString(between)
		out.WriteString(between)
		out.WriteString(s.token(t[at[0]:at[1]]))
		last = at[1]
	}
	out.WriteString(t[last:])
	return out.String()
}

// scanner reads the tokens of a text in order.
type scanner struct {
	counts map[string]int
	hosts  []string
	// named and labelled say that the words before announce a host: any word
	// after "hostname:", and a word that looks like a name after "server".
	named, labelled bool
	// versioned says that what stands before announces a version: the word
	// itself, or a comparison.
	versioned bool
	// again says that the text is looked at only to see whether it would change.
	again bool
}

func (s *scanner) put(kind string) string {
	s.counts[kind]++
	return "[" + kind + "]"
}

func (s *scanner) token(t string) string {
	named, labelled, versioned := s.named, s.labelled, s.versioned
	s.named, s.labelled, s.versioned = false, false, announcesVersion(t)
	switch {
	case versioned && fourParts.MatchString(t):
		return t
	case t[0] == '[':
		return s.put(t[1 : len(t)-1])
	case strings.Contains(t, "://"):
		return s.address(t)
	case t[0] == '"' || t[0] == '\'':
		return t[:1] + s.put(path) + t[:1]
	case windowsPath.MatchString(t):
		return s.put(path)
	case announcesName(t):
		s.named = true
		return t
	case named && strings.EqualFold(t, "is"):
		s.named = true
		return t
	}
	s.labelled = slices.Contains(announcing, strings.ToLower(t))
	return s.word(t, named, labelled)
}

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
	return t == "version" || t == "versions" || t == "release"
}

// announcing are the words after which a word that looks like a host is one.
var announcing = []string{"host", "server", "machine", "node", "vm", "instance", "box"}

func announcesName(t string) bool {
	t = strings.ToLower(t)
	return t == "hostname" || t == "hostname:" || t == "host:" || t == "fqdn" || t == "fqdn:"
}

// address replaces a URL and keeps the sentence's punctuation after it.
func (s *scanner) address(t string) string {
	core := strings.TrimRight(t, ".,;:!?)}*|")
	return s.put(url) + t[len(core):]
}

// word replaces a word, or the parts of it that colons and slashes divide.
func (s *scanner) word(t string, named, labelled bool) string {
	core := strings.Trim(t, ".:")
	i := strings.Index(t, core)
	if strings.HasPrefix(t, "..") || strings.HasPrefix(t, "./") || strings.HasPrefix(t, "::") {
		core, i = strings.TrimRight(t, "."), 0
	}
	before, after := t[:i], t[i+len(core):]
	if kind := s.whole(core); kind != "" {
		return before + s.put(kind) + after
	}
	if named && isLabel(core) || labelled && looksNamed(core) {
		return before + s.put(host) + after
	}
	return before + s.mixed(core) + after
}

// mixed replaces the parts of a word that colons and slashes divide. Where
// what stays beside a placeholder would be taken for a name the next time, all
// of the word goes.
func (s *scanner) mixed(core string) string {
	inner := scanner{counts: map[string]int{}, hosts: s.hosts}
	replaced := inner.parts(core)
	if replaced == core || s.again {
		return replaced
	}
	check := scanner{counts: map[string]int{}, hosts: s.hosts, again: true}
	if check.text(replaced) != replaced {
		return s.put(path)
	}
	for kind, n := range inner.counts {
		s.counts[kind] += n
	}
	return replaced
}

func (s *scanner) parts(core string) string {
	for _, separator := range []string{":", "/"} {
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
		return s.put(kind)
	}
	return s.parts(part)
}

// whole is the kind of a word that is one name, or "".
func (s *scanner) whole(w string) string {
	if w != "" && slices.ContainsFunc(s.hosts, func(name string) bool { return strings.EqualFold(name, w) }) {
		return host
	}
	return kindOf(w)
}

// kindOf is the kind of a word, by its form alone.
func kindOf(w string) string {
	switch {
	case w == "":
		return ""
	case isAddress(w):
		return ip
	case mac.MatchString(w):
		return host
	case route.MatchString(w):
		return ""
	case strings.HasPrefix(w, "arn:"), login.MatchString(w) && !strings.HasPrefix(w, "mailto:"):
		return url
	case strings.ContainsAny(w, `/\`):
		return pathOrURL(w)
	case strings.ContainsRune(w, '@'):
		return mailbox(w)
	case strings.ContainsRune(w, ':'):
		return ""
	case strings.ContainsRune(w, '.'):
		return dotted(w)
	case isHost(w):
		return host
	}
	return ""
}

var (
	mac = lazyregexp.New(`^(?i:[0-9a-f]{2}(?::[0-9a-f]{2}){5}|[0-9a-f]{2}(?:-[0-9a-f]{2}){5}|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2})$`)
	// route: what the service itself answers is no path of a machine.
	route = lazyregexp.New(`^/v1(?:/(?:health|version|openapi\.json|resolve|translate|config-paths|releases|upgrade-edges|usage|authorize|enroll|cve-scan|account|vms|` +
		`statement|capacity|entitlements|terms|findings|questions|answer|attest|sign|keys|:?id|[0-9]+|\.{3}|…))*/?$|^/(?:answer|resolve)$`)
	// login: user:password@host, and git@host:path.
	login = lazyregexp.New(`^(?:[^/@:\s]+:[^/@\s]*@[^/@\s]+(?:/.*)?|[^/@:\s]+@[^/@:\s]+\.[^/@:\s]+:[^/@:\s]+/.*)$`)
)

// isAddress takes addresses, with a port or a prefix length too.
func isAddress(w string) bool {
	if _, err := netip.ParseAddr(w); err == nil {
		return w != "::"
	}
	if _, err := netip.ParsePrefix(w); err == nil {
		return true
	}
	_, err := netip.ParseAddrPort(w)
	return err == nil
}

var (
	// startsPath: /etc, ~/x, ~joe/x, $HOME/x, ./x, ../x, and -I/usr/include.
	startsPath = lazyregexp.New(`^(?:/[^/]|~[^/]*/|\$\w+/|%\w+%\\|\.\.?/|-[A-Za-z]/)`)
	// netBIOS: CORP\joe, an account of a Windows domain.
	netBIOS = lazyregexp.New(`^[A-Z0-9-]{2,15}\\[\w.-]+$`)
	digits  = lazyregexp.New(`^[0-9/]+$`)
)

// pathOrURL judges a word with a slash: one slash alone is usually "and/or".
func pathOrURL(w string) string {
	first, _, _ := strings.Cut(w, "/")
	server, _, _ := strings.Cut(first, ":")
	switch {
	case netBIOS.MatchString(w):
		return domain
	case startsPath.MatchString(w):
		return path
	case first != w && (dotted(server) != "" || isAddress(server)):
		return url
	case digits.MatchString(w), strings.Contains(first, ":"), strings.Contains(first, "@"):
		return ""
	case strings.Count(w, "/")+strings.Count(w, `\`) > 1 && w != "//":
		return path
	}
	return ""
}

var localPart = lazyregexp.New(`^[\p{L}\p{N}._%+-]+$`)

// mailbox judges user@somewhere; name@1.2.3 and unit@instance.service are none.
func mailbox(w string) string {
	i := strings.LastIndexByte(w, '@')
	user, at := w[:i], w[i+1:]
	switch {
	case !localPart.MatchString(user):
		return ""
	case dotted(at) != "" || isAddress(at):
		return email
	case isLabel(at) && !startsDigit.MatchString(at) && !strings.HasPrefix(at, "tty"):
		return host
	}
	return ""
}

var startsDigit = lazyregexp.New(`^v?[0-9]`)

// dotted judges a word with dots: a registered domain, a host in one, or
// neither, as versions, units, files and packages are.
func dotted(w string) string {
	w = strings.ToLower(strings.TrimPrefix(w, "."))
	labels := strings.Split(w, ".")
	last := labels[len(labels)-1]
	switch {
	case len(labels) < 2 || !slices.ContainsFunc(labels, hasLetter) || !isEveryLabel(labels):
		return ""
	case slices.Contains(internal, last), last == "svc" && len(labels) > 2:
		return host
	case len(labels) == 2 && slices.Contains(fileEndings, last), slices.Contains(packages, w):
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
	fileEndings = []string{"ac", "am", "cc", "cf", "cgi", "java", "la", "md", "mk", "ml", "mo", "new", "pl", "pm", "ps", "pub", "py", "rs", "sh", "so", "target", "zip"}
	// packages have names that would be domains.
	packages = []string{"docker.io", "containerd.io", "asp.net", "node.js", "socket.io"}
)

var label = lazyregexp.New(`^[\p{L}\p{N}_](?:[\p{L}\p{N}_-]*[\p{L}\p{N}_])?$`)

func isLabel(s string) bool { return len(s) <= 63 && label.MatchString(s) }

func isEveryLabel(labels []string) bool {
	return !slices.ContainsFunc(labels, func(s string) bool { return !isLabel(s) })
}

func hasLetter(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r >= 'a' && r <= 'z' || r > 127 })
}

// looksNamed: after "server", web-a and mail3 are names; 2019, v2 and down are not.
func looksNamed(w string) bool {
	return isLabel(w) && !startsDigit.MatchString(w) && strings.ContainsAny(w, "0123456789-")
}

// hostWords are what people number their machines by.
var hostWords = lazyregexp.New(`^(?i:web|www|db|app|srv|svr|server|host|node|vm|mail|smtp|mx|ns|dns|proxy|lb|cache|worker|master|slave|primary|replica|standby|bastion|jump|esx|esxi|nas|san|gw|fw|vpn|ip|kube|mq|sql|etcd|build|pve|hv|backup|storage|dc|prod|prd|stage|stg|staging|dev|uat|qa)[0-9]+$`)

var wordThenNumber = lazyregexp.New(`^(?i)(.*-)?([a-z]+)-([0-9]+)$`)

// isHost takes web01, prod-db-03 and ip-10-0-0-1: a word for a machine and its
// number, at the end or as one of several parts.
func isHost(w string) bool {
	if !isLabel(w) {
		return false
	}
	if m := wordThenNumber.FindStringSubmatch(w); m != nil && hostWords.MatchString(m[2]+m[3]) {
		return true
	}
	return cloudName.MatchString(w) || slices.ContainsFunc(strings.Split(w, "-"), hostWords.MatchString)
}

// cloudName is how clouds and installers name machines and what belongs to
// them: ip-10-0-0-1, i-0abc…, gke-pool-…, aks-…-vmss000001, DESKTOP-1A2B3C4,
// ubuntu-s-1vcpu-1gb-fra1-01, instance-20260807-123045.
var cloudName = lazyregexp.New(`^(?i:(?:ip|ec2|host|vps|li)(?:-[0-9]{1,3}){4}` +
	`|(?:i|vol|eni|vpc|subnet|sg|ami|snap|igw|nat|rtb|eipalloc)-[0-9a-f]{8,17}` +
	`|(?:vm|instance|node|host|server|srv|worker)-[0-9a-f]*[0-9][0-9a-f]*` +
	`|(?:gke|eks|aks)-[a-z0-9-]+-[a-z0-9]{4,}|[a-z0-9-]+-vmss[0-9a-z]{6}` +
	`|(?:desktop|laptop|win|ec2amaz)-[0-9a-z]{6,12}` +
	`|[a-z]+[a-z0-9-]*-[0-9]+[cg]b?(?:pu)?-[a-z0-9-]+|[a-z]+-[0-9]+gb-[a-z0-9-]+|[a-z]+-s-[0-9]+vcpu-[a-z0-9-]+` +
	`|instance-[0-9]{8}-[0-9]{4,6})$`)
