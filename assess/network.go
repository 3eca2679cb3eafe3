package assess

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// The managers of networks.
const (
	managerIfupdown       = "ifupdown"
	managerIfcfg          = "ifcfg"
	managerWicked         = "wicked"
	managerNetworkd       = "systemd-networkd"
	managerNetplan        = "netplan"
	managerNetworkManager = "NetworkManager"
	managerDhcpcd         = "dhcpcd"
)

// The ways in which an interface gets its addresses.
const (
	methodStatic = "static"
	methodDHCP   = "dhcp"
	methodNone   = "none" // it is a part of another
)

// The kinds of interfaces that are built of others.
const (
	kindBond   = "bond"
	kindBridge = "bridge"
	kindVLAN   = "vlan"
)

// readNetworks reads the configuration of every network manager.
func (m *machine) readNetworks() {
	m.ifupdown()
	m.ifcfg()
	m.wicked()
	m.networkd()
	m.netplan()
	m.networkManager()
	m.dhcpcd()
	m.resolver()
	m.joinMembers()
	for i := range m.a.Networks {
		n := &m.a.Networks[i]
		n.Addresses, n.Routes, n.Members, n.DNS, n.Search = list(n.Addresses), list(n.Routes), list(n.Members), list(n.DNS), list(n.Search)
	}
	slices.SortStableFunc(m.a.Networks, func(a, b Network) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Manager, b.Manager)) })
}

// joinMembers tells bonds and bridges of the members that name them.
func (m *machine) joinMembers() {
	members := map[string][]string{}
	for _, n := range m.a.Networks {
		members[n.Master] = append(members[n.Master], n.Name)
	}
	for i := range m.a.Networks {
		if n := &m.a.Networks[i]; n.Members == nil && n.Name != "" {
			n.Members = members[n.Name]
		}
	}
}

// eachFile reads the files of a folder that end in ext.
func (m *machine) eachFile(what, dir, ext string, read func(file string)) {
	names, err := m.files(dir)
	m.outcome(what, dir, err)
	for _, name := range names {
		if strings.HasSuffix(name, ext) && !strings.HasPrefix(name, ".") && !leftover(name) {
			read(path.Join(dir, name))
		}
	}
}

// eachOf reads the files of several folders that end in ext: of two of one
// name, that of the first folder counts.
func (m *machine) eachOf(what string, dirs []string, ext string, read func(file string)) {
	seen := map[string]bool{}
	for i, dir := range dirs {
		names, err := m.files(dir)
		if i == 0 || !errors.Is(err, fs.ErrNotExist) {
			m.outcome(what, dir, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, ext) && !seen[name] {
				seen[name] = true
				read(path.Join(dir, name))
			}
		}
	}
}

// maxNetworks bounds the interfaces until there is time to weigh them.
const maxNetworks = 10_000

// addNetwork adds an interface that is not the machine's own loop.
func (m *machine) addNetwork(n Network) {
	if n.Name != "lo" && n.Method != "loopback" && len(m.a.Networks) <= maxNetworks {
		m.a.Networks = append(m.a.Networks, n)
	}
}

// route is a static route as `ip route` shows it.
func route(to, via, device string) string {
	if to == "0.0.0.0/0" || to == "::/0" {
		to = "default"
	}
	for _, part := range []struct{ word, value string }{{"via", via}, {"dev", device}} {
		if part.value != "" && part.value != "-" {
			to += " " + part.word + " " + part.value
		}
	}
	return to
}

// fieldsOf splits a list whatever stands between its members.
func fieldsOf(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t,;", r) })
}

// section is a part of a file in the form of INI.
type section struct {
	name   string // in lower case
	line   int
	values map[string][]string // by keys in lower case; a key may come more than once
}

// get is the first value of the first of the keys that has one.
func (s section) get(keys ...string) string {
	for _, key := range keys {
		if v := first(s.values[key]); v != "" {
			return v
		}
	}
	return ""
}

// iniSections reads "key=value" lines below [section] headings.
func iniSections(text string) (sections []section) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			sections = append(sections, section{strings.ToLower(strings.Trim(line, "[]")), n, map[string][]string{}})
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		if sections == nil {
			sections = []section{{"", 1, map[string][]string{}}}
		}
		values := sections[len(sections)-1].values
		key = strings.ToLower(strings.TrimSpace(key))
		values[key] = append(values[key], strings.TrimSpace(value))
	}
	return sections
}

// iniValues are the values of all sections, as section.key.
func iniValues(text string) map[string][]string {
	values := map[string][]string{}
	for _, s := range iniSections(text) {
		for key, v := range s.values {
			values[s.name+"."+key] = append(values[s.name+"."+key], v...)
		}
	}
	return values
}

// first is the first value of a key, or "".
func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// dhcpcd reads the interfaces that dhcpcd gives fixed addresses.
func (m *machine) dhcpcd() {
	text, _ := m.text("network.dhcpcd", "etc/dhcpcd.conf")
	for s := range parseSettings("/etc/dhcpcd.conf", text, "") {
		last := len(m.a.Networks) - 1
		switch key, value, _ := strings.Cut(s.Value, "="); {
		case s.Key == "interface":
			m.addNetwork(Network{Name: s.Value, Manager: managerDhcpcd, Method: methodDHCP, Auto: true, Evidence: s.Evidence})
		case s.Key != "static" || last < 0 || m.a.Networks[last].Manager != managerDhcpcd:
		default:
			m.a.Networks[last].setStatic(key, fieldsOf(value))
		}
	}
}

// setStatic takes a "static key=value" line of dhcpcd.
func (n *Network) setStatic(key string, values []string) {
	switch key {
	case "ip_address", "ip6_address":
		n.Method, n.Addresses = methodStatic, append(n.Addresses, values...)
	case "routers":
		n.Gateway = first(values)
	case "domain_name_servers":
		n.DNS = append(n.DNS, values...)
	case "domain_search":
		n.Search = append(n.Search, values...)
	}
}

// resolver notes the name servers of the machine as a whole.
func (m *machine) resolver() {
	if text, ok := m.text("network.resolv.conf", "etc/resolv.conf"); ok {
		for s := range parseSettings("/etc/resolv.conf", text, "") {
			m.fact("dns", s.Key, s.Value, s.Evidence)
		}
	}
	m.eachAssigned("dns", "etc/sysconfig/network/config", "NETCONFIG_DNS_STATIC_SERVERS", "NETCONFIG_DNS_STATIC_SEARCHLIST")
	files := []string{"etc/systemd/resolved.conf"}
	names, _ := m.files("etc/systemd/resolved.conf.d") // beside the file that is noted
	for _, name := range names {
		files = append(files, path.Join("etc/systemd/resolved.conf.d", name))
	}
	for _, file := range files {
		text, _ := m.text("network.resolved", file)
		for s := range parseSettings("/"+file, text, "=") {
			if s.Value != "" && !strings.HasPrefix(s.Key, "[") {
				m.fact("dns", s.Key, s.Value, s.Evidence)
			}
		}
	}
}
