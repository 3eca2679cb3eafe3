package convert

import (
	"encoding/xml"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/release"
)

// xtables are the matches and targets of Debian 13's iptables, with those that
// iptables has without a module.
var (
	xtMatches = strings.Fields("addrtype ah bpf cgroup cluster comment connbytes connlabel connlimit connmark conntrack cpu dccp devgroup dscp dst ecn esp eui64 frag hashlimit hbh helper hl icmp icmp6 icmpv6 ipcomp iprange ipv6header " +
		"ipvs length limit mac mark mh multiport nfacct osf owner physdev pkttype policy quota rateest realm recent rpfilter rt sctp set socket srh standard state statistic string tcp tcpmss time tos ttl u32 udp")
	xtTargets = strings.Fields("ACCEPT DROP RETURN QUEUE AUDIT CHECKSUM CLASSIFY CONNMARK CONNSECMARK CT DNAT DNPT DSCP ECN HL HMARK IDLETIMER LED LOG MARK MASQUERADE NETMAP NFLOG NFQUEUE NOTRACK RATEEST REDIRECT REJECT SECMARK SET " +
		"SNAT SNPT SYNPROXY TCPMSS TCPOPTSTRIP TEE TOS TPROXY TRACE TTL")
)

// iptables carries rules as iptables-save writes them over to where
// netfilter-persistent loads them. They wait, as rules name interfaces.
func iptables(in Input) (r Result) {
	for _, f := range in.Files {
		p := open(f, "#")
		xtRules(p, func(string) bool { return false })
		r.close(p, Waiting+rulePlaces.between(in).move(f.Path))
	}
	r.Packages = []string{rulePackage(in.Target)}
	return r
}

// rulePlaces are where the rules stand that are loaded at boot.
var rulePlaces = places{{"/etc/sysconfig/iptables", "/etc/iptables/rules.v4"}, {"/etc/sysconfig/ip6tables", "/etc/iptables/rules.v6"}}

// rulePackage is what loads rules at boot.
func rulePackage(target release.Release) string {
	switch major, _, _ := strings.Cut(target.Version, "."); {
	case debianFamily(target):
		return "iptables-persistent"
	case target.Family == release.EL && major == "8":
		return "iptables-services"
	}
	return "iptables-nft-services"
}

// xtRules goes through the tables of a file; made tells chains that are there
// without it.
func xtRules(p *page, made func(chain string) bool) {
	table, own := "", xtChains(p)
	known := func(chain string) bool { return own[chain] || made(chain) }
	for i, line := range p.active() {
		switch {
		case line[0] == '*' && table == "":
			if table = line[1:]; !slices.Contains(strings.Fields("filter nat mangle raw security"), table) {
				p.refuse(i, "iptables has no such table.")
			}
		case table == "":
			p.refuse(i, "It stands in no table.")
		case line == "COMMIT":
			table = ""
		case line[0] == ':':
		default:
			xtRule(p, i, known)
		}
	}
	if table != "" {
		p.refuse(len(p.lines)-1, "A table has no COMMIT at its end.")
	}
}

// xtChains are the chains that a file makes.
func xtChains(p *page) map[string]bool {
	chains := map[string]bool{}
	for _, line := range p.lines {
		switch f := strings.Fields(line); {
		case len(f) < 2:
		case f[0] == "-N":
			chains[f[1]] = true
		case f[0][0] == ':':
			chains[f[0][1:]] = true
		}
	}
	return chains
}

// xtRule looks at what a rule is made of. The old place of a negation, before
// what is negated, is that of today's in the result.
func xtRule(p *page, i int, known func(chain string) bool) {
	words, ok := xtWords(strings.TrimSpace(p.lines[i]))
	if ok && strings.HasPrefix(words[0], "[") {
		words = words[1:] // counters
	}
	if !ok || len(words) < 2 || !slices.Contains([]string{"-A", "-I", "-N", "-P", "-F"}, words[0]) {
		p.refuse(i, "It is no rule.")
		return
	}
	negated := false
	for n := range len(words) - 1 {
		switch flag, value := words[n], words[n+1]; {
		case (flag == "-m" || flag == "--match") && !slices.Contains(xtMatches, value):
			p.refuse(i, "Debian's iptables has no match "+value+".")
			return
		case xtJumps[flag] && !slices.Contains(xtTargets, value) && !known(value):
			p.refuse(i, "Debian's iptables has no target "+value+".")
			return
		case value == "!" && strings.HasPrefix(flag, "-") && flag != "!":
			negated = true
		}
	}
	if negated {
		p.replace(i, xtNegation.ReplaceAllString(strings.TrimSpace(p.lines[i]), "${1}! ${2}"), "iptables takes a negation before the option alone.")
	}
}

// xtNegation is an option with a negation behind it.
var xtNegation = lazyregexp.New(`(^|\s)(-[\w-]+)\s+!`)

// xtJumps are the options that name a target.
var xtJumps = map[string]bool{"-j": true, "--jump": true, "-g": true, "--goto": true}

// xtWords splits a rule, in which quotes hold words together.
func xtWords(line string) (words []string, ok bool) {
	word, quoted, begun := "", false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && quoted && i+1 < len(line):
			i++
			word += string(line[i])
		case c == '"':
			quoted, begun = !quoted, true
		case (c == ' ' || c == '\t') && !quoted:
			if begun {
				words = append(words, word)
			}
			word, begun = "", false
		default:
			word, begun = word+string(c), true
		}
	}
	if begun {
		words = append(words, word)
	}
	return words, !quoted && len(words) > 0
}

// nftables carries a ruleset over to Debian's place of it. What EL's unit does
// around the file, Debian's file does itself: it begins with an empty ruleset.
func nftables(in Input) (r Result) {
	there := map[string]bool{}
	for _, f := range in.Files {
		there[f.Path] = true
	}
	for _, f := range in.Files {
		p := open(f, "#")
		for i := range p.lines {
			if include, ok := strings.CutPrefix(strings.TrimSpace(p.lines[i]), "include "); ok {
				nftInclude(p, i, strings.Trim(strings.TrimRight(strings.TrimSpace(include), "; "), `"'`), there)
			}
		}
		to := f.Path
		switch {
		case f.Path == "/etc/sysconfig/nftables.conf" && debianFamily(in.Target):
			nftHead(p)
			to = "/etc/nftables.conf"
		case f.Path == "/etc/nftables.conf":
			to = "/etc/sysconfig/nftables.conf"
		}
		r.close(p, Waiting+to)
	}
	return r
}

// nftInclude takes the files that come along.
func nftInclude(p *page, i int, pattern string, there map[string]bool) {
	if !path.IsAbs(pattern) {
		pattern = path.Join("/etc/nftables", pattern)
		p.replace(i, `include "`+pattern+`"`, "Debian's file stands in another folder.")
	}
	for file := range there {
		if ok, _ := path.Match(pattern, file); ok {
			return
		}
	}
	p.refuse(i, "The file that it includes does not come along.")
}

// nftHead puts Debian's first lines before the others.
func nftHead(p *page) {
	if slices.ContainsFunc(p.lines, func(line string) bool { return strings.TrimSpace(line) == "flush ruleset" }) {
		return
	}
	first := "flush ruleset"
	if !strings.HasPrefix(p.lines[0], "#!") {
		first = "#!/usr/sbin/nft -f\n\n" + first
	}
	p.changes = append(p.changes, Change{0, "", first, "Debian's unit loads the file over what is there."})
	p.lines = append(strings.Split(first+"\n", "\n"), p.lines...)
}

// firewalldGone are settings of firewalld.conf that firewalld 2 has no more.
var firewalldGone = map[string]string{
	"AllowZoneDrifting": "firewalld 1.0 keeps a packet in one zone.", "AutomaticHelpers": "The kernel assigns no helpers by itself any more: zones name them.", "MinimalMark": "firewalld 0.9 needs no marks of its own.", "Lockdown": "firewalld 2 leaves it to polkit.",
}

// firewalldKeys are those that it has.
var firewalldKeys = strings.Fields("DefaultZone CleanupOnExit CleanupModulesOnExit IPv6_rpfilter IndividualCalls LogDenied FirewallBackend FlushAllOnReload ReloadPolicy RFC3964_IPv4 NftablesFlowtable NftablesCounters NftablesTableOwner StrictForwardPorts")

// firewalldElements are the elements of zones, policies, services and sets with
// the attributes that each may have.
var firewalldElements = map[string]string{
	"zone": "name target version ingress-priority egress-priority", "policy": "name target version priority", "short": "", "description": "", "service": "name version", "port": "port protocol", "protocol": "value", "source-port": "port protocol",
	"icmp-block": "name", "icmp-type": "name", "icmp-block-inversion": "", "masquerade": "enabled", "forward": "", "forward-port": "port protocol to-port to-addr", "interface": "name", "source": "address mac invert family ipset", "destination": "address invert ipset ipv4 ipv6",
	"rule": "family priority", "log": "prefix level", "nflog": "group prefix queue-size", "audit": "", "accept": "", "reject": "type", "drop": "", "mark": "set", "limit": "value burst", "tcp-mss-clamp": "value", "ingress-zone": "name", "egress-zone": "name",
	"module": "name", "helper": "name", "include": "service", "ipset": "type version", "option": "name value", "entry": "", "icmptype": "version name",
}

// firewalld carries zones and what they name over to a later firewalld: the same
// files, where it takes all that is in them.
func firewalld(in Input) (r Result) {
	own := map[string]bool{}
	for _, f := range in.Files {
		if path.Dir(f.Path) == "/etc/firewalld/services" {
			own[fold(strings.TrimSuffix(path.Base(f.Path), ".xml"))] = true
		}
	}
	for _, f := range in.Files {
		switch {
		case path.Base(f.Path) == "firewalld.conf":
			r.close(firewalldConf(f), f.Path)
		case path.Base(f.Path) == "direct.xml":
			p := open(f, "<!--")
			firewalldDirect(p)
			r.close(p, f.Path)
		default:
			p := open(f, "<!--")
			firewalldXML(p, func(service string) bool { return own[fold(service)] || known()["firewalld-service"][fold(service)] })
			r.close(p, f.Path)
		}
	}
	return r
}

func firewalldConf(f File) *page {
	s := settings{program: "firewalld", comment: "#", equals: true, own: func(p *page, i int, name, value string) bool {
		switch {
		case firewalldGone[name] != "":
			p.drop(i, firewalldGone[name])
		case !slices.Contains(firewalldKeys, name):
			p.refuse(i, "firewalld has no such setting.")
		case name == "FirewallBackend" && value == "iptables":
			p.replace(i, "FirewallBackend=nftables", "Debian's firewalld works with nftables.")
		}
		return true
	}}
	return s.convert(f)
}

// firewalldDirect refuses rules that go around the zones: beside nftables, what
// they accept may still be dropped.
func firewalldDirect(p *page) {
	for i, line := range p.lines {
		if strings.Contains(line, "<rule") || strings.Contains(line, "<passthrough") {
			p.refuse(i, "It is a rule of iptables, and Debian's firewalld works with nftables: say it as a rich rule or a policy.")
		}
	}
}

// firewalldXML looks at every element of a file.
func firewalldXML(p *page, isService func(string) bool) {
	d := xml.NewDecoder(strings.NewReader(p.text()))
	for {
		token, err := d.RawToken()
		line, _ := d.InputPos()
		line = min(line, len(p.lines)) - 1
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			p.refuse(line, "It is no XML.")
			return
		}
		if e, ok := token.(xml.StartElement); ok {
			if why := firewalldElement(e, isService); why != "" {
				p.refuse(line, why)
			}
		}
	}
}

// firewalldElement says why firewalld would not take an element, or nothing.
func firewalldElement(e xml.StartElement, isService func(string) bool) string {
	attributes, known := firewalldElements[e.Name.Local]
	if !known {
		return "firewalld has no element " + e.Name.Local + "."
	}
	for _, a := range e.Attr {
		switch {
		case !slices.Contains(strings.Fields(attributes), a.Name.Local):
			return "firewalld has no attribute " + a.Name.Local + " here."
		case (e.Name.Local == "service" && a.Name.Local == "name" || e.Name.Local == "include") && !isService(a.Value):
			return "Debian's firewalld knows no service " + a.Value + "."
		}
	}
	return ""
}
