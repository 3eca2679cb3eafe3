// Package firewall converts packet filters, and what bans addresses by them:
// iptables, nftables, firewalld, ufw and fail2ban.
package firewall

import (
	"encoding/xml"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/tools/convert"
)

// Iptables carries rules as iptables-save writes them over to where
// netfilter-persistent loads them. They wait, as rules name interfaces.
func Iptables(in convert.Input) (r convert.Result) {
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		xtRules(p, func(string) bool { return false })
		r.Close(p, convert.Waiting+rulePlaces.Between(in).Move(f.Path))
	}
	r.Packages = []string{rulePackage(in.Target)}
	return r
}

// rulePlaces are where the rules stand that are loaded at boot.
var rulePlaces = convert.Places{{"/etc/sysconfig/iptables", "/etc/iptables/rules.v4"}, {"/etc/sysconfig/ip6tables", "/etc/iptables/rules.v6"}}

// rulePackage is what loads rules at boot.
func rulePackage(target release.Release) string {
	switch major, _, _ := strings.Cut(target.Version, "."); {
	case convert.DebianFamily(target):
		return "iptables-persistent"
	case target.Family == release.EL && major == "8":
		return "iptables-services"
	}
	return "iptables-nft-services"
}

// xtRules goes through the tables of a file; made tells chains that are there
// without it.
func xtRules(p *convert.Page, made func(chain string) bool) {
	table, own := "", xtChains(p)
	known := func(chain string) bool { return own[chain] || made(chain) }
	for i, line := range p.Active() {
		switch {
		case line[0] == '*' && table == "":
			if table = line[1:]; !slices.Contains(strings.Fields("filter nat mangle raw security"), table) {
				p.Refuse(i, "iptables has no such table.")
			}
		case table == "":
			p.Refuse(i, "It stands in no table.")
		case line == "COMMIT":
			table = ""
		case line[0] == ':':
		default:
			xtRule(p, i, known)
		}
	}
	if table != "" {
		p.Refuse(len(p.Lines)-1, "A table has no COMMIT at its end.")
	}
}

// xtChains are the chains that a file makes.
func xtChains(p *convert.Page) map[string]bool {
	chains := map[string]bool{}
	for _, line := range p.Lines {
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
func xtRule(p *convert.Page, i int, known func(chain string) bool) {
	words, ok := xtWords(strings.TrimSpace(p.Lines[i]))
	if ok && strings.HasPrefix(words[0], "[") {
		words = words[1:] // counters
	}
	if !ok || len(words) < 2 || !slices.Contains([]string{"-A", "-I", "-N", "-P", "-F"}, words[0]) {
		p.Refuse(i, "It is no rule.")
		return
	}
	negated := false
	for n := range len(words) - 1 {
		switch flag, value := words[n], words[n+1]; {
		case (flag == "-m" || flag == "--match") && !convert.Lists("iptables-matches", value):
			p.Refuse(i, "Debian's iptables has no match "+value+".")
			return
		case xtJumps[flag] && !convert.Lists("iptables-targets", value) && !known(value):
			p.Refuse(i, "Debian's iptables has no target "+value+".")
			return
		case value == "!" && strings.HasPrefix(flag, "-") && flag != "!":
			negated = true
		}
	}
	if negated {
		p.Replace(i, xtNegation.ReplaceAllString(strings.TrimSpace(p.Lines[i]), "${1}! ${2}"), "iptables takes a negation before the option alone.")
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

// Nftables carries a ruleset over to Debian's place of it. What EL's unit does
// around the file, Debian's file does itself: it begins with an empty ruleset.
func Nftables(in convert.Input) (r convert.Result) {
	there := sliced.SetOf(in.Files, func(f convert.File) string { return f.Path })
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		for i := range p.Lines {
			if include, ok := strings.CutPrefix(strings.TrimSpace(p.Lines[i]), "include "); ok {
				nftInclude(p, i, strings.Trim(strings.TrimRight(strings.TrimSpace(include), "; "), `"'`), there)
			}
		}
		to := f.Path
		switch {
		case f.Path == "/etc/sysconfig/nftables.conf" && convert.DebianFamily(in.Target):
			nftHead(p)
			to = "/etc/nftables.conf"
		case f.Path == "/etc/nftables.conf":
			to = "/etc/sysconfig/nftables.conf"
		}
		r.Close(p, convert.Waiting+to)
	}
	return r
}

// nftInclude takes the files that come along.
func nftInclude(p *convert.Page, i int, pattern string, there map[string]bool) {
	if !path.IsAbs(pattern) {
		pattern = path.Join("/etc/nftables", pattern)
		p.Replace(i, `include "`+pattern+`"`, "Debian's file stands in another folder.")
	}
	for file := range there {
		if ok, _ := path.Match(pattern, file); ok {
			return
		}
	}
	p.Refuse(i, "The file that it includes does not come along.")
}

// nftHead puts Debian's first lines before the others.
func nftHead(p *convert.Page) {
	if slices.ContainsFunc(p.Lines, func(line string) bool { return strings.TrimSpace(line) == "flush ruleset" }) {
		return
	}
	first := "flush ruleset"
	if !strings.HasPrefix(p.Lines[0], "#!") {
		first = "#!/usr/sbin/nft -f\n\n" + first
	}
	p.Changes = append(p.Changes, convert.Change{Line: 0, Was: "", Now: first, Why: "Debian's unit loads the file over what is there."})
	p.Lines = append(strings.Split(first+"\n", "\n"), p.Lines...)
}

// Firewalld carries zones and what they name over to a later firewalld: the same
// files, where it takes all that is in them.
func Firewalld(in convert.Input) (r convert.Result) {
	own := map[string]bool{}
	for _, f := range in.Files {
		if path.Dir(f.Path) == "/etc/firewalld/services" {
			own[convert.Fold(strings.TrimSuffix(path.Base(f.Path), ".xml"))] = true
		}
	}
	for _, f := range in.Files {
		switch {
		case path.Base(f.Path) == "firewalld.conf":
			r.Close(firewalldConf(f), f.Path)
		case path.Base(f.Path) == "direct.xml":
			p := convert.Open(f, "<!--")
			firewalldDirect(p)
			r.Close(p, f.Path)
		default:
			p := convert.Open(f, "<!--")
			firewalldXML(p, func(service string) bool {
				return own[convert.Fold(service)] || convert.Known()["firewalld-service"][convert.Fold(service)]
			})
			r.Close(p, f.Path)
		}
	}
	return r
}

func firewalldConf(f convert.File) *convert.Page {
	s := convert.Settings{Program: "firewalld", Comment: "#", Equals: true, Own: func(p *convert.Page, i int, name, value string) bool {
		switch {
		case convert.WordsOf("firewalld-gone")[name].Why != "":
			p.Drop(i, convert.WordsOf("firewalld-gone")[name].Why)
		case !convert.Lists("firewalld.conf", name):
			p.Refuse(i, "firewalld has no such setting.")
		case name == "FirewallBackend" && value == "iptables":
			p.Replace(i, "FirewallBackend=nftables", "Debian's firewalld works with nftables.")
		}
		return true
	}}
	return s.Convert(f)
}

// firewalldDirect refuses rules that go around the zones: beside nftables, what
// they accept may still be dropped.
func firewalldDirect(p *convert.Page) {
	for i, line := range p.Lines {
		if strings.Contains(line, "<rule") || strings.Contains(line, "<passthrough") {
			p.Refuse(i, "It is a rule of iptables, and Debian's firewalld works with nftables: say it as a rich rule or a policy.")
		}
	}
}

// firewalldXML looks at every element of a file.
func firewalldXML(p *convert.Page, isService func(string) bool) {
	d := xml.NewDecoder(strings.NewReader(p.Text()))
	for {
		token, err := d.RawToken()
		line, _ := d.InputPos()
		line = min(line, len(p.Lines)) - 1
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			p.Refuse(line, "It is no XML.")
			return
		}
		if e, ok := token.(xml.StartElement); ok {
			if why := firewalldElement(e, isService); why != "" {
				p.Refuse(line, why)
			}
		}
	}
}

// firewalldElement says why firewalld would not take an element, or nothing.
func firewalldElement(e xml.StartElement, isService func(string) bool) string {
	takes, known := convert.WordsOf("firewalld-elements")[e.Name.Local]
	if !known {
		return "firewalld has no element " + e.Name.Local + "."
	}
	for _, a := range e.Attr {
		switch {
		case !slices.Contains(strings.Fields(takes.Now), a.Name.Local):
			return "firewalld has no attribute " + a.Name.Local + " here."
		case (e.Name.Local == "service" && a.Name.Local == "name" || e.Name.Local == "include") && !isService(a.Value):
			return "Debian's firewalld knows no service " + a.Value + "."
		}
	}
	return ""
}
