// Package network reads how a machine's interfaces and firewalls are set up, by
// whatever manages them.
package network

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/sliced"
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

// ReadNetworks reads the configuration of every network manager.
func ReadNetworks(m *assess.Machine) {
	ifupdown(m)
	ifcfg(m)
	wicked(m)
	networkd(m)
	netplan(m)
	networkManager(m)
	dhcpcd(m)
	resolver(m)
	joinMembers(m)
	for i := range m.A.Networks {
		n := &m.A.Networks[i]
		n.Addresses, n.Routes, n.Members, n.DNS, n.Search = assess.List(n.Addresses), assess.List(n.Routes), assess.List(n.Members), assess.List(n.DNS), assess.List(n.Search)
	}
	slices.SortStableFunc(m.A.Networks, func(a, b assess.Network) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Manager, b.Manager))
	})
}

// joinMembers tells bonds and bridges of the members that name them.
func joinMembers(m *assess.Machine) {
	members := map[string][]string{}
	for _, n := range m.A.Networks {
		members[n.Master] = append(members[n.Master], n.Name)
	}
	for i := range m.A.Networks {
		if n := &m.A.Networks[i]; n.Members == nil && n.Name != "" {
			n.Members = members[n.Name]
		}
	}
}

// maxNetworks bounds the interfaces until there is time to weigh them.
const maxNetworks = 10_000

// addNetwork adds an interface; the machine's own loop where it has addresses of others.
func addNetwork(m *assess.Machine, n assess.Network) {
	loop := n.Name == "lo" || n.Method == "loopback"
	if loop {
		n.Addresses = slices.DeleteFunc(n.Addresses, func(a string) bool { return strings.HasPrefix(a, "127.") || a == "::1" || strings.HasPrefix(a, "::1/") })
	}
	if (!loop || len(n.Addresses) > 0) && len(m.A.Networks) <= maxNetworks {
		m.A.Networks = append(m.A.Networks, n)
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

// dhcpcd reads the interfaces that dhcpcd gives fixed addresses.
func dhcpcd(m *assess.Machine) {
	text, _ := m.Text("network.dhcpcd", "etc/dhcpcd.conf")
	for s := range assess.ParseSettings("/etc/dhcpcd.conf", text, "") {
		last := len(m.A.Networks) - 1
		switch key, value, _ := strings.Cut(s.Value, "="); {
		case s.Key == "interface":
			addNetwork(m, assess.Network{Name: s.Value, Manager: managerDhcpcd, Method: assess.MethodDHCP, Auto: true, Evidence: s.Evidence})
		case s.Key != "static" || last < 0 || m.A.Networks[last].Manager != managerDhcpcd:
		default:
			setStatic(&m.A.Networks[last], key, assess.FieldsOf(value))
		}
	}
}

// setStatic takes a "static key=value" line of dhcpcd.
func setStatic(n *assess.Network, key string, values []string) {
	switch key {
	case "ip_address", "ip6_address":
		n.Method, n.Addresses = assess.MethodStatic, append(n.Addresses, values...)
	case "routers":
		n.Gateway = assess.First(values)
	case "domain_name_servers":
		n.DNS = append(n.DNS, values...)
	case "domain_search":
		n.Search = append(n.Search, values...)
	}
}

// resolver notes the name servers of the machine as a whole.
func resolver(m *assess.Machine) {
	if text, ok := m.Text("network.resolv.conf", "etc/resolv.conf"); ok {
		for s := range assess.ParseSettings("/etc/resolv.conf", text, "") {
			m.Fact("dns", s.Key, s.Value, s.Evidence)
		}
	}
	m.EachAssigned("dns", "etc/sysconfig/network/config", "NETCONFIG_DNS_STATIC_SERVERS", "NETCONFIG_DNS_STATIC_SEARCHLIST")
	names, _ := m.Files("etc/systemd/resolved.conf.d") // beside the file that is noted
	more := sliced.Map(names, func(name string) string { return path.Join("etc/systemd/resolved.conf.d", name) })
	for _, file := range append([]string{"etc/systemd/resolved.conf"}, more...) {
		text, _ := m.Text("network.resolved", file)
		for s := range assess.ParseSettings("/"+file, text, "=") {
			if s.Value != "" && !strings.HasPrefix(s.Key, "[") {
				m.Fact("dns", s.Key, s.Value, s.Evidence)
			}
		}
	}
}
