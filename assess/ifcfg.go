package assess

import (
	"cmp"
	"encoding/xml"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Folders of ifcfg files: those of EL and Fedora, and those of SUSE, whose
// wicked has dialects of its own for most variables.
const (
	ifcfgEL   = "etc/sysconfig/network-scripts"
	ifcfgSUSE = "etc/sysconfig/network"
)

// ifcfg reads the interfaces of EL's network scripts, which NetworkManager
// reads too, and the routes and rules beside them.
func (m *machine) ifcfg() {
	common := parseAssignments(m.peek("etc/sysconfig/network"))
	m.eachFile("network.ifcfg", ifcfgEL, "", func(file string) {
		name, ok := strings.CutPrefix(path.Base(file), "ifcfg-")
		if !ok {
			return
		}
		text, ok := m.text("network.ifcfg-"+name, file)
		n := parseIfcfg(name, text)
		n.Evidence = Evidence{"/" + file, 0}
		if !ok {
			n.Method = "" // not known
		}
		for _, kind := range []struct{ prefix, word string }{{"route-", ""}, {"route6-", ""}, {"rule-", "rule "}, {"rule6-", "rule "}} {
			n.Routes = append(n.Routes, m.routes(path.Join(ifcfgEL, kind.prefix+name), kind.word)...)
		}
		m.addNetwork(n)
	})
	if gateway := common["GATEWAY"]; gateway != "" {
		m.fact("network", "GATEWAY", gateway, Evidence{"/etc/sysconfig/network", 0})
	}
	for s := range parseSettings("/etc/sysconfig/static-routes", m.peek("etc/sysconfig/static-routes"), "") {
		m.fact("network", "route", s.Key+" "+s.Value, s.Evidence)
	}
}

// parseIfcfg reads an ifcfg file of EL.
func parseIfcfg(name, text string) Network {
	v := parseAssignments(text)
	n := Network{
		Name: cmp.Or(v["DEVICE"], name), Manager: managerIfcfg, Method: methodOf(v["BOOTPROTO"]), Auto: v["ONBOOT"] == "" || yes(v["ONBOOT"]),
		Gateway: cmp.Or(v["GATEWAY"], v["GATEWAY0"], v["IPV6_DEFAULTGW"]), Search: fieldsOf(v["DOMAIN"]), Kind: strings.ToLower(cmp.Or(v["TYPE"], v["DEVICETYPE"])),
	}
	for _, i := range numbered(v, "IPADDR") {
		n.Addresses = append(n.Addresses, withLength(v["IPADDR"+i], cmp.Or(v["PREFIX"+i], v["NETMASK"+i])))
	}
	n.Addresses = append(n.Addresses, fieldsOf(v["IPV6ADDR"]+" "+v["IPV6ADDR_SECONDARIES"])...)
	for _, i := range numbered(v, "DNS") {
		n.DNS = append(n.DNS, v["DNS"+i])
	}
	n.composed(v)
	return n
}

// composed says what the interface is made of, or a part of.
func (n *Network) composed(v map[string]string) {
	parent, _, _ := strings.Cut(n.Name, ".")
	switch {
	case yes(v["VLAN"]):
		n.Kind, n.Members = kindVLAN, []string{cmp.Or(v["PHYSDEV"], parent)}
	case yes(v["BONDING_MASTER"]) || v["BONDING_OPTS"] != "" || strings.EqualFold(v["TYPE"], kindBond):
		n.Kind = kindBond
	}
	if n.Master = cmp.Or(v["MASTER"], v["BRIDGE"], v["TEAM_MASTER"]); n.Master != "" {
		n.Method = methodNone
	}
}

// methodOf is the method that a BOOTPROTO stands for.
func methodOf(proto string) string {
	switch p := strings.ToLower(proto); {
	case strings.HasPrefix(p, "dhcp"), p == "bootp":
		return methodDHCP
	case p == "", p == "none", p == "static":
		return methodStatic
	default:
		return p
	}
}

func yes(s string) bool {
	return strings.EqualFold(s, "yes") || strings.EqualFold(s, "true") || s == "1"
}

// numbered are the ends of the variables that begin with a name and go on with
// a number, or not at all: "", "0", "_1".
func numbered(v map[string]string, name string) (ends []string) {
	for key := range v {
		end, ok := strings.CutPrefix(key, name)
		number := strings.TrimPrefix(end, "_")
		if ok && v[key] != "" && digits(number) == len(number) {
			ends = append(ends, end)
		}
	}
	slices.SortFunc(ends, compareNatural)
	return ends
}

// withLength gives an address the length of its network, which may be written
// as a number of bits or as a mask.
func withLength(address, length string) string {
	if strings.Contains(address, "/") || length == "" {
		return address
	}
	if _, err := strconv.Atoi(length); err == nil {
		return address + "/" + length
	}
	return withMask(address, length)
}

func withMask(address, mask string) string {
	ones, bits := net.IPMask(net.ParseIP(mask).To4()).Size()
	if bits == 0 { // none, or one with gaps
		return address + "/" + mask
	}
	return address + "/" + strconv.Itoa(ones)
}

// routes reads a file of routes or rules that belongs to an interface: lines as
// `ip` takes them, or numbered variables.
func (m *machine) routes(file, word string) (routes []string) {
	if !m.exists(file) {
		return nil
	}
	text, _ := m.text("network."+path.Base(file), file)
	return parseRoutes(text, word)
}

func parseRoutes(text, word string) (routes []string) {
	v := parseAssignments(text)
	for _, i := range numbered(v, "ADDRESS") {
		routes = append(routes, route(withLength(v["ADDRESS"+i], v["NETMASK"+i]), v["GATEWAY"+i], ""))
	}
	if len(routes) > 0 {
		return routes
	}
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 0 && f[0][0] != '#' {
			routes = append(routes, word+strings.Join(f, " "))
		}
	}
	return routes
}

// wicked reads SUSE's interfaces, in ifcfg files and in wicked's own XML.
func (m *machine) wicked() {
	if info, err := m.fs.Stat(ifcfgSUSE); err == nil && !info.IsDir() {
		return // EL has a file of that name
	}
	general := m.suseRoutes(path.Join(ifcfgSUSE, "routes"))
	m.eachFile("network.wicked", ifcfgSUSE, "", func(file string) {
		name, ok := strings.CutPrefix(path.Base(file), "ifcfg-")
		if !ok || strings.HasSuffix(name, ".template") {
			return
		}
		text, ok := m.text("network.wicked.ifcfg-"+name, file)
		n := parseSUSE(name, text)
		n.Evidence = Evidence{"/" + file, 0}
		if !ok {
			n.Method = ""
		}
		n.Routes = m.suseRoutes(path.Join(ifcfgSUSE, "ifroute-"+name))
		m.addNetwork(n)
	})
	for _, r := range general {
		m.fact("network", "route", r, Evidence{"/" + path.Join(ifcfgSUSE, "routes"), 0})
	}
	m.eachFile("network.wicked.xml", "etc/wicked/ifconfig", ".xml", func(file string) {
		text, _ := m.text("network.wicked."+path.Base(file), file)
		for _, n := range parseWicked(text) {
			n.Evidence = Evidence{"/" + file, 0}
			m.addNetwork(n)
		}
	})
}

// parseSUSE reads an ifcfg file of SUSE.
func parseSUSE(name, text string) Network {
	v := parseAssignments(text)
	n := Network{Name: name, Manager: managerWicked, Method: methodOf(v["BOOTPROTO"]), Auto: v["STARTMODE"] != "manual" && v["STARTMODE"] != "off" && v["STARTMODE"] != "onboot-off"}
	for _, i := range numbered(v, "IPADDR") {
		n.Addresses = append(n.Addresses, withLength(v["IPADDR"+i], cmp.Or(v["PREFIXLEN"+i], v["NETMASK"+i])))
	}
	parent, _, _ := strings.Cut(name, ".")
	switch {
	case yes(v["BONDING_MASTER"]):
		n.Kind = kindBond
		for _, i := range numbered(v, "BONDING_SLAVE") {
			n.Members = append(n.Members, v["BONDING_SLAVE"+i])
		}
	case yes(v["BRIDGE"]):
		n.Kind, n.Members = kindBridge, fieldsOf(v["BRIDGE_PORTS"])
	case v["ETHERDEVICE"] != "" || v["VLAN_ID"] != "":
		n.Kind, n.Members = kindVLAN, []string{cmp.Or(v["ETHERDEVICE"], parent)}
	}
	return n
}

// suseRoutes reads lines "to gateway netmask interface", in which - stands for
// nothing.
func (m *machine) suseRoutes(file string) (routes []string) {
	if !m.exists(file) {
		return nil
	}
	text, _ := m.text("network."+path.Base(file), file)
	for line := range strings.Lines(text) {
		f := append(strings.Fields(line), "-", "-", "-")
		if len(f) == 3 || f[0][0] == '#' {
			continue
		}
		to := f[0]
		if f[2] != "-" {
			to = withLength(to, f[2])
		}
		routes = append(routes, route(to, f[1], f[3]))
	}
	return routes
}

// wickedInterface is what of wicked's XML matters here.
type wickedInterface struct {
	Name string `xml:"name"`
	IPv4 struct {
		Enabled string   `xml:"enabled"`
		Local   []string `xml:"address>local"`
	} `xml:"static"`
	DHCP []struct {
		Enabled string `xml:"enabled"`
	} `xml:"dhcp"`
}

// parseWicked reads the interfaces of an XML file; what is no XML has none.
func parseWicked(text string) (networks []Network) {
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if err != nil {
			return networks
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "interface" {
			continue
		}
		var i wickedInterface
		if d.DecodeElement(&i, &start) != nil || i.Name == "" {
			return networks
		}
		n := Network{Name: strings.TrimSpace(i.Name), Manager: managerWicked, Method: methodStatic, Auto: true, Addresses: i.IPv4.Local}
		if len(i.DHCP) > 0 {
			n.Method = methodDHCP
		}
		networks = append(networks, n)
	}
}
