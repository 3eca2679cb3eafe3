package network

import (
	"cmp"
	"encoding/xml"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"

	"svc/assess"
)

// Folders of ifcfg files: those of EL and Fedora, and those of SUSE, whose
// wicked has dialects of its own for most variables.
const (
	ifcfgEL   = "etc/sysconfig/network-scripts"
	ifcfgSUSE = "etc/sysconfig/network"
)

// ifcfg reads the interfaces of EL's network scripts, which NetworkManager
// reads too, and the routes and rules beside them.
func ifcfg(m *assess.Machine) {
	common := assess.ParseAssignments(m.Peek("etc/sysconfig/network"))
	m.EachFile("network.ifcfg", ifcfgEL, "", func(file string) {
		interfaceFile(m, "network.", file, parseIfcfg, func(name string) (all []string) {
			for _, kind := range []struct{ prefix, word string }{{"route-", ""}, {"route6-", ""}, {"rule-", "rule "}, {"rule6-", "rule "}} {
				all = append(all, routes(m, path.Join(ifcfgEL, kind.prefix+name), kind.word)...)
			}
			return all
		})
	})
	if gateway := common["GATEWAY"]; gateway != "" {
		m.Fact("network", "GATEWAY", gateway, assess.Evidence{Path: "/etc/sysconfig/network", Line: 0})
	}
	for s := range assess.ParseSettings("/etc/sysconfig/static-routes", m.Peek("etc/sysconfig/static-routes"), "") {
		m.Fact("network", "route", s.Key+" "+s.Value, s.Evidence)
	}
}

// interfaceFile reads an ifcfg file, and the routes and rules beside it.
func interfaceFile(m *assess.Machine, what, file string, parse func(name, text string) assess.Network, routes func(name string) []string) {
	name, ok := strings.CutPrefix(path.Base(file), "ifcfg-")
	if !ok {
		return
	}
	text, ok := m.Text(what+"ifcfg-"+name, file)
	n := parse(name, text)
	if n.Evidence, n.Routes = (assess.Evidence{Path: "/" + file}), routes(name); !ok {
		n.Method = "" // not known
	}
	addNetwork(m, n)
}

// parseIfcfg reads an ifcfg file of EL.
func parseIfcfg(name, text string) assess.Network {
	v := assess.ParseAssignments(text)
	n := assess.Network{
		Name: cmp.Or(v["DEVICE"], name), Manager: managerIfcfg, Method: methodOf(v["BOOTPROTO"]), Auto: v["ONBOOT"] == "" || yes(v["ONBOOT"]),
		Gateway: cmp.Or(v["GATEWAY"], v["GATEWAY0"], v["IPV6_DEFAULTGW"]), Search: assess.FieldsOf(v["DOMAIN"]), Kind: strings.ToLower(cmp.Or(v["TYPE"], v["DEVICETYPE"])),
	}
	for _, i := range numbered(v, "IPADDR") {
		n.Addresses = append(n.Addresses, withLength(v["IPADDR"+i], cmp.Or(v["PREFIX"+i], v["NETMASK"+i])))
	}
	n.Addresses = append(n.Addresses, assess.FieldsOf(v["IPV6ADDR"]+" "+v["IPV6ADDR_SECONDARIES"])...)
	for _, i := range numbered(v, "DNS") {
		n.DNS = append(n.DNS, v["DNS"+i])
	}
	composed(&n, v)
	return n
}

// composed says what the interface is made of, or a part of.
func composed(n *assess.Network, v map[string]string) {
	parent, _, _ := strings.Cut(n.Name, ".")
	switch {
	case yes(v["VLAN"]):
		n.Kind, n.Members = assess.KindVLAN, []string{cmp.Or(v["PHYSDEV"], parent)}
	case yes(v["BONDING_MASTER"]) || v["BONDING_OPTS"] != "" || strings.EqualFold(v["TYPE"], assess.KindBond):
		n.Kind = assess.KindBond
	}
	if n.Master = cmp.Or(v["MASTER"], v["BRIDGE"], v["TEAM_MASTER"]); n.Master != "" {
		n.Method = assess.MethodNone
	}
}

// methodOf is the method that a BOOTPROTO stands for.
func methodOf(proto string) string {
	switch p := strings.ToLower(proto); {
	case strings.HasPrefix(p, "dhcp"), p == "bootp":
		return assess.MethodDHCP
	case p == "", p == "none", p == "static":
		return assess.MethodStatic
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
		if ok && v[key] != "" && assess.Digits(number) == len(number) {
			ends = append(ends, end)
		}
	}
	slices.SortFunc(ends, assess.CompareNatural)
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
func routes(m *assess.Machine, file, word string) (routes []string) {
	if !m.Exists(file) {
		return nil
	}
	text, _ := m.Text("network."+path.Base(file), file)
	return parseRoutes(text, word)
}

func parseRoutes(text, word string) (routes []string) {
	v := assess.ParseAssignments(text)
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
func wicked(m *assess.Machine) {
	if info, err := m.FS.Stat(ifcfgSUSE); err == nil && !info.IsDir() {
		return // EL has a file of that name
	}
	general := suseRoutes(m, path.Join(ifcfgSUSE, "routes"))
	m.EachFile("network.wicked", ifcfgSUSE, "", func(file string) {
		if !strings.HasSuffix(file, ".template") {
			interfaceFile(m, "network.wicked.", file, parseSUSE, func(name string) []string { return suseRoutes(m, path.Join(ifcfgSUSE, "ifroute-"+name)) })
		}
	})
	for _, r := range general {
		m.Fact("network", "route", r, assess.Evidence{Path: "/" + path.Join(ifcfgSUSE, "routes"), Line: 0})
	}
	m.EachFile("network.wicked.xml", "etc/wicked/ifconfig", ".xml", func(file string) {
		text, _ := m.Text("network.wicked."+path.Base(file), file)
		for _, n := range parseWicked(text) {
			n.Evidence = assess.Evidence{Path: "/" + file, Line: 0}
			addNetwork(m, n)
		}
	})
}

// parseSUSE reads an ifcfg file of SUSE.
func parseSUSE(name, text string) assess.Network {
	v := assess.ParseAssignments(text)
	n := assess.Network{Name: name, Manager: managerWicked, Method: methodOf(v["BOOTPROTO"]), Auto: v["STARTMODE"] != "manual" && v["STARTMODE"] != "off" && v["STARTMODE"] != "onboot-off"}
	for _, i := range numbered(v, "IPADDR") {
		n.Addresses = append(n.Addresses, withLength(v["IPADDR"+i], cmp.Or(v["PREFIXLEN"+i], v["NETMASK"+i])))
	}
	parent, _, _ := strings.Cut(name, ".")
	switch {
	case yes(v["BONDING_MASTER"]):
		n.Kind = assess.KindBond
		for _, i := range numbered(v, "BONDING_SLAVE") {
			n.Members = append(n.Members, v["BONDING_SLAVE"+i])
		}
	case yes(v["BRIDGE"]):
		n.Kind, n.Members = assess.KindBridge, assess.FieldsOf(v["BRIDGE_PORTS"])
	case v["ETHERDEVICE"] != "" || v["VLAN_ID"] != "":
		n.Kind, n.Members = assess.KindVLAN, []string{cmp.Or(v["ETHERDEVICE"], parent)}
	}
	return n
}

// suseRoutes reads lines "to gateway netmask interface", in which - stands for
// nothing.
func suseRoutes(m *assess.Machine, file string) (routes []string) {
	if !m.Exists(file) {
		return nil
	}
	text, _ := m.Text("network."+path.Base(file), file)
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
func parseWicked(text string) (networks []assess.Network) {
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
		n := assess.Network{Name: strings.TrimSpace(i.Name), Manager: managerWicked, Method: assess.MethodStatic, Auto: true, Addresses: i.IPv4.Local}
		if len(i.DHCP) > 0 {
			n.Method = assess.MethodDHCP
		}
		networks = append(networks, n)
	}
}
