package network

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/backend/sliced"
)

// maxEntries bounds the rules of a firewall that are listed; all are counted.
const maxEntries = 200

// rulesFiles are the files that hold a firewall's rules, and the services that
// load them.
var rulesFiles = []struct {
	kind, file string
	services   []string
	rules      func(text string) []string
}{
	{"nftables", "etc/nftables.conf", []string{"nftables"}, nftRules},
	{"nftables", "etc/sysconfig/nftables.conf", []string{"nftables"}, nftRules},
	{"nftables", "etc/nftables.nft", []string{"nftables"}, nftRules},
	{"iptables", "etc/sysconfig/iptables", []string{"iptables"}, savedRules},
	{"ip6tables", "etc/sysconfig/ip6tables", []string{"ip6tables"}, savedRules},
	{"iptables", "etc/iptables/rules.v4", []string{"netfilter-persistent", "iptables-persistent"}, savedRules},
	{"ip6tables", "etc/iptables/rules.v6", []string{"netfilter-persistent", "iptables-persistent"}, savedRules},
	{"iptables", "etc/iptables/rules-save", []string{"iptables"}, savedRules},
	{"ip6tables", "etc/iptables/rules6-save", []string{"ip6tables"}, savedRules},
	{"SuSEfirewall2", "etc/sysconfig/SuSEfirewall2", []string{"SuSEfirewall2", "SuSEfirewall2_setup"}, suseRules},
	{"shorewall", "etc/shorewall/rules", []string{"shorewall"}, plainRules},
	{"csf", "etc/csf/csf.conf", []string{"csf"}, csfRules},
}

// ReadFirewalls reads the rules of every firewall that is set up.
func ReadFirewalls(m *assess.Machine) {
	for _, f := range rulesFiles {
		if text, ok := m.Text("firewall."+f.kind, f.file); ok {
			addFirewall(m, f.kind, f.file, m.EnabledService(f.services...), withIncludes(m, f.kind, f.file, text, f.rules))
		}
	}
	ufw(m)
	firewalld(m)
}

// addFirewall adds a firewall that has rules or is on.
func addFirewall(m *assess.Machine, kind, file string, enabled bool, rules []string) {
	if enabled || len(rules) > 0 {
		m.A.Firewalls = append(m.A.Firewalls, assess.Firewall{Kind: kind, Enabled: enabled, Rules: len(rules), Entries: assess.List(rules[:min(len(rules), maxEntries)]), Evidence: assess.Evidence{Path: "/" + file, Line: 0}})
	}
}

// withIncludes are the rules of a file, and of those that it includes.
func withIncludes(m *assess.Machine, kind, file, text string, rules func(string) []string) []string {
	all := rules(text)
	if kind != "nftables" {
		return all
	}
	for _, pattern := range includes(text) {
		for _, included := range m.Glob(assess.LeadsTo("/"+file, pattern)) {
			more, _ := m.Text("firewall.nftables."+path.Base(included), included[1:])
			all = append(all, rules(more)...)
		}
	}
	return all
}

// includes are the patterns that an nftables file includes.
func includes(text string) (patterns []string) {
	for line := range strings.Lines(text) {
		if pattern, ok := strings.CutPrefix(strings.TrimSpace(line), "include "); ok {
			patterns = append(patterns, assess.Unquote(strings.TrimRight(strings.TrimSpace(pattern), ";")))
		}
	}
	return patterns
}

// nftWords are what a statement of nftables decides or changes by.
var nftWords = []string{"accept", "drop", "reject", "jump", "goto", "queue", "masquerade", "snat", "dnat", "redirect"}

// nftSet is a set that stands in a rule, in braces as blocks do.
var nftSet = lazyregexp.New(`\{([^{};]*)\}`)

// nftRules are the statements of an nftables file that decide something; what
// a chain does without one is its policy, and no rule.
func nftRules(text string) (rules []string) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		line = nftSet.ReplaceAllString(line, "\x01$1\x02")
		for _, statement := range assess.SplitStatements(line) {
			f := strings.Fields(statement)
			isRule := slices.ContainsFunc(f, func(w string) bool { return slices.Contains(nftWords, w) })
			if isRule && !slices.Contains(f, "policy") && !strings.HasSuffix(statement, "{") {
				rules = append(rules, strings.NewReplacer("\x01", "{", "\x02", "}").Replace(strings.Join(f, " ")))
			}
		}
	}
	return rules
}

// savedRules are the rules that iptables-save writes.
func savedRules(text string) []string {
	return linesWith(text, func(line string) bool { return strings.HasPrefix(line, "-A ") || strings.HasPrefix(line, "-I ") })
}

// plainRules are all lines that say something.
func plainRules(text string) []string {
	return linesWith(text, func(line string) bool {
		return line != "" && line[0] != '#' && line[0] != '?' && !strings.HasPrefix(line, "SECTION")
	})
}

func linesWith(text string, match func(string) bool) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); match(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// suseRules are the settings of SuSEfirewall2 that let something in.
func suseRules(text string) []string {
	return settingsWith(text, "FW_SERVICES_", "FW_CONFIGURATIONS_", "FW_TRUSTED_NETS", "FW_FORWARD", "FW_CUSTOMRULES")
}

// csfRules are the ports that csf opens.
func csfRules(text string) []string { return settingsWith(text, "TCP", "UDP") }

// settingsWith are the assignments that have a value and whose names begin so.
func settingsWith(text string, prefixes ...string) (settings []string) {
	values := assess.ParseAssignments(text)
	for _, name := range assess.SortedKeys(values) {
		begins := slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
		if begins && values[name] != "" {
			settings = append(settings, name+"="+values[name])
		}
	}
	return settings
}

// ufw reads the rules that people gave ufw: it notes each in a comment.
func ufw(m *assess.Machine) {
	var rules []string
	place := ""
	for _, file := range []string{"etc/ufw/user.rules", "etc/ufw/user6.rules", "lib/ufw/user.rules", "var/lib/ufw/user.rules"} {
		if text, ok := m.Text("firewall.ufw", file); ok {
			rules = append(rules, ufwRules(text)...)
			place = cmp.Or(place, file)
		}
	}
	text, ok := m.Text("firewall.ufw", "etc/ufw/ufw.conf")
	if place == "" && !ok {
		return
	}
	on := !ok || strings.EqualFold(assess.ParseAssignments(text)["ENABLED"], "yes")
	addFirewall(m, "ufw", cmp.Or(place, "etc/ufw/ufw.conf"), on && m.EnabledService("ufw"), rules)
}

// ufwRules reads the comments "### tuple ### allow tcp 22 0.0.0.0/0 any …", and
// where there are none the rules themselves.
func ufwRules(text string) (rules []string) {
	for line := range strings.Lines(text) {
		if rule, ok := strings.CutPrefix(strings.TrimSpace(line), "### tuple ### "); ok {
			rules = append(rules, rule)
		}
	}
	if rules == nil {
		return linesWith(text, func(line string) bool {
			return strings.HasPrefix(line, "-A ") && (strings.HasSuffix(line, "-j ACCEPT") || strings.HasSuffix(line, "-j DROP") || strings.HasSuffix(line, "-j REJECT"))
		})
	}
	return rules
}

// firewalld reads the zones that people made or changed, the default zone, and
// rules that go around the zones.
func firewalld(m *assess.Machine) {
	conf, ok := m.Text("firewall.firewalld", "etc/firewalld/firewalld.conf")
	if !ok {
		return
	}
	zones := map[string]string{}
	own, err := m.Files("etc/firewalld/zones")
	if err != nil {
		m.Outcome("firewall.firewalld", "etc/firewalld/zones", err)
	}
	for _, name := range own {
		if zone, ok := strings.CutSuffix(name, ".xml"); ok {
			zones[zone] = path.Join("etc/firewalld/zones", name)
		}
	}
	standard := cmp.Or(assess.ParseAssignments(conf)["DefaultZone"], "public")
	if zones[standard] == "" {
		zones[standard] = path.Join("usr/lib/firewalld/zones", standard+".xml")
	}
	rules := sliced.FlatMap(assess.SortedKeys(zones), func(zone string) []string { return readZone(m, zone, zones[zone]) })
	rules = append(rules, readZone(m, "direct", "etc/firewalld/direct.xml")...)
	m.Fact("firewall", "firewalld default zone", standard, assess.Evidence{Path: "/etc/firewalld/firewalld.conf", Line: 0})
	addFirewall(m, "firewalld", "etc/firewalld/firewalld.conf", m.EnabledService("firewalld"), rules)
}

// zone are the rules of a zone's file, each with the zone's name before it.
func readZone(m *assess.Machine, name, file string) (rules []string) {
	if !m.Exists(file) {
		return nil
	}
	text, ok := m.Text("firewall.firewalld."+name, file)
	if !ok {
		return nil
	}
	entries, err := zoneEntries(text)
	if err != nil {
		m.Source("firewall.firewalld."+name, assess.SourceCorrupt, fmt.Sprintf("/%s: %v", file, err))
	}
	return sliced.Map(entries, func(e string) string { return name + ": " + e })
}

// zoneEntries are the elements below the root of a zone's XML, in the words of
// firewalld's rich language: `rule family="ipv4" source address="10.0.0.0/8" accept`.
func zoneEntries(text string) (entries []string, err error) {
	found, err := zoneWords(text)
	return sliced.Map(found, func(words []string) string { return strings.Join(words, " ") }), err
}

// zoneWords are the same, word by word.
func zoneWords(text string) (found [][]string, err error) {
	d := xml.NewDecoder(strings.NewReader(text))
	depth := 0
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return found, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			words := element(t)
			switch {
			case t.Name.Local == "short" || t.Name.Local == "description":
			case depth == 2:
				found = append(found, []string{words})
			case depth > 2 && len(found) > 0:
				found[len(found)-1] = append(found[len(found)-1], words)
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			if said := strings.Join(strings.Fields(string(t)), " "); depth > 1 && said != "" && len(found) > 0 && strings.HasPrefix(found[len(found)-1][0], "rule ipv=") {
				found[len(found)-1] = append(found[len(found)-1], said) // a direct rule's arguments
			}
		}
	}
}

// element is an element with its attributes, in words.
func element(e xml.StartElement) string {
	words := sliced.Map(e.Attr, func(a xml.Attr) string { return fmt.Sprintf("%s=%q", a.Name.Local, a.Value) })
	return strings.Join(append([]string{e.Name.Local}, words...), " ")
}
