package network

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/sliced"
)

// networkdFolders are where systemd-networkd looks; what packages ship for
// containers says nothing of the machine.
var networkdFolders = []string{"etc/systemd/network", "usr/local/lib/systemd/network"}

// networkd reads systemd-networkd's networks and the devices it makes.
func networkd(m *assess.Machine) {
	kinds := map[string]string{}
	m.EachOf("network.networkd", networkdFolders, ".netdev", func(file string) {
		text, _ := m.Text("network."+path.Base(file), file)
		v := assess.IniValues(text)
		kinds[assess.First(v["netdev.name"])] = strings.ToLower(assess.First(v["netdev.kind"]))
	})
	m.EachOf("network.networkd", networkdFolders, ".network", func(file string) {
		text, _ := m.Text("network."+path.Base(file), file)
		n := parseNetworkd(text)
		n.Kind, n.Evidence = kinds[n.Name], assess.Evidence{Path: "/" + file, Line: 0}
		addNetwork(m, n)
	})
}

func parseNetworkd(text string) assess.Network {
	n := assess.Network{Manager: managerNetworkd, Method: assess.MethodStatic, Auto: true}
	for _, s := range assess.IniSections(text) {
		switch s.Name {
		case "match":
			n.Name = s.Get("name", "macaddress", "path", "type")
		case "network":
			n.Method = dhcpOr(s.Get("dhcp"))
			n.Addresses, n.DNS, n.Gateway = append(n.Addresses, s.Values["address"]...), append(n.DNS, s.Values["dns"]...), s.Get("gateway")
			n.Search = append(n.Search, assess.FieldsOf(s.Get("domains"))...)
			n.Members = append(n.Members, s.Values["vlan"]...)
		case "address":
			n.Addresses = append(n.Addresses, s.Values["address"]...)
		case "route":
			addRoute(&n, s.Get("destination"), s.Get("gateway"))
		case "routingpolicyrule":
			n.Routes = append(n.Routes, strings.TrimSpace(fmt.Sprintf("rule from %s to %s table %s", s.Get("from"), s.Get("to"), s.Get("table"))))
		}
	}
	return n
}

// addRoute adds a route; the default one is the gateway, where there is none.
func addRoute(n *assess.Network, to, via string) {
	switch {
	case (to == "" || to == "default" || to == "0.0.0.0/0") && n.Gateway == "":
		n.Gateway = via
	case to != "" || via != "":
		n.Routes = append(n.Routes, route(cmp.Or(to, "default"), via, ""))
	}
}

// dhcpOr is the method that a DHCP setting stands for.
func dhcpOr(setting string) string {
	switch strings.ToLower(setting) {
	case "", "no", "false":
		return assess.MethodStatic
	}
	return assess.MethodDHCP
}

// networkManager reads NetworkManager's connections. They hold passwords of
// networks, of which nothing is taken; most are closed to others.
func networkManager(m *assess.Machine) {
	m.EachOf("network.networkmanager", []string{"etc/NetworkManager/system-connections", "usr/lib/NetworkManager/system-connections"}, "", func(file string) {
		if name := path.Base(file); strings.HasPrefix(name, ".") || assess.Leftover(name) {
			return
		}
		text, ok := m.Text("network."+path.Base(file), file)
		n := parseConnection(text)
		n.Name = cmp.Or(n.Name, strings.TrimSuffix(path.Base(file), ".nmconnection"))
		if !ok {
			n.Method = ""
		}
		n.Evidence = assess.Evidence{Path: "/" + file, Line: 0}
		addNetwork(m, n)
	})
}

// nmKinds are the names that NetworkManager has for kinds of its own.
var nmKinds = map[string]string{"802-3-ethernet": "ethernet", "802-11-wireless": "wifi"}

func parseConnection(text string) assess.Network {
	n := assess.Network{Manager: managerNetworkManager, Auto: true}
	for _, s := range assess.IniSections(text) {
		switch s.Name {
		case "connection":
			connection(&n, s)
		case "vlan":
			n.Members = assess.FieldsOf(s.Get("parent"))
		case "ipv4", "ipv6":
			ip(&n, s)
		}
	}
	return n
}

func connection(n *assess.Network, s assess.Section) {
	n.Name, n.Kind, n.Auto = s.Get("interface-name", "id"), cmp.Or(nmKinds[s.Get("type")], s.Get("type")), s.Get("autoconnect") != "false"
	if n.Master = s.Get("master", "controller"); n.Master != "" {
		n.Method = assess.MethodNone
	}
}

// ip takes a section of one of the two protocols: "address1=10.0.0.2/24,10.0.0.1",
// "route1=10.1.0.0/16,10.0.0.3,100".
func ip(n *assess.Network, s assess.Section) {
	if method := s.Get("method"); n.Method == "" && method != "ignore" && method != "disabled" {
		n.Method = method
	}
	for _, key := range assess.SortedKeys(s.Values) {
		f := assess.FieldsOf(s.Get(key))
		switch {
		case len(f) == 0 || strings.HasSuffix(key, "_options"):
		case key == "addresses":
			n.Addresses = append(n.Addresses, f...)
		case strings.HasPrefix(key, "address") && assess.Digits(key[len("address"):]) > 0:
			n.Addresses = append(n.Addresses, f[0])
			if len(f) > 1 && n.Gateway == "" {
				n.Gateway = f[1]
			}
		case key == "gateway":
			n.Gateway = f[0]
		case key == "dns":
			n.DNS = append(n.DNS, f...)
		case key == "dns-search":
			n.Search = append(n.Search, f...)
		case strings.HasPrefix(key, "routing-rule"):
			n.Routes = append(n.Routes, "rule "+s.Get(key))
		case strings.HasPrefix(key, "route") && assess.Digits(key[len("route"):]) > 0:
			n.Routes = append(n.Routes, route(f[0], assess.First(f[1:]), ""))
		}
	}
}

// netplanFile is what of a netplan file matters here.
type netplanFile struct {
	Network struct {
		Renderer                                                       string
		Ethernets, Bonds, Bridges, Vlans, Wifis, Tunnels, Vrfs, Modems map[string]netplanDevice
	}
}

type netplanDevice struct {
	DHCP4       any      `yaml:"dhcp4"`
	DHCP6       any      `yaml:"dhcp6"`
	Addresses   []any    `yaml:"addresses"` // texts, or maps of a text to its options
	Gateway4    string   `yaml:"gateway4"`
	Gateway6    string   `yaml:"gateway6"`
	Interfaces  []string `yaml:"interfaces"`
	Link        string   `yaml:"link"`
	Nameservers struct {
		Addresses []string `yaml:"addresses"`
		Search    []string `yaml:"search"`
	} `yaml:"nameservers"`
	Routes []struct {
		To, Via string
	} `yaml:"routes"`
}

// netplan reads the files of netplan's folders.
func netplan(m *assess.Machine) {
	m.EachOf("network.netplan", []string{"etc/netplan", "usr/lib/netplan", "lib/netplan"}, ".yaml", func(file string) {
		text, ok := m.Text("network."+path.Base(file), file)
		if !ok {
			return
		}
		networks, err := parseNetplan("/"+file, text)
		if err != nil {
			m.Source("network."+path.Base(file), assess.SourceCorrupt, fmt.Sprintf("/%s: %v", file, err))
		}
		for _, n := range networks {
			addNetwork(m, n)
		}
	})
}

func parseNetplan(file, text string) (networks []assess.Network, err error) {
	var f netplanFile
	if err := assess.DecodeYAML(text, &f); err != nil {
		return nil, err
	}
	for _, group := range []struct {
		kind    string
		devices map[string]netplanDevice
	}{
		{"ethernet", f.Network.Ethernets},
		{assess.KindBond, f.Network.Bonds},
		{assess.KindBridge, f.Network.Bridges},
		{assess.KindVLAN, f.Network.Vlans},
		{"wifi", f.Network.Wifis},
		{"tunnel", f.Network.Tunnels},
		{"vrf", f.Network.Vrfs},
		{"modem", f.Network.Modems},
	} {
		for _, name := range assess.SortedKeys(group.devices) {
			n := group.devices[name].network(file)
			n.Name, n.Kind = name, group.kind
			networks = append(networks, n)
		}
	}
	return networks, nil
}

func (d netplanDevice) network(file string) assess.Network {
	n := assess.Network{
		Manager: managerNetplan, Method: assess.MethodStatic, Auto: true, Gateway: cmp.Or(d.Gateway4, d.Gateway6), DNS: d.Nameservers.Addresses, Search: d.Nameservers.Search,
		Members: d.Interfaces, Evidence: assess.Evidence{Path: file, Line: 0},
	}
	if d.Link != "" {
		n.Members = []string{d.Link}
	}
	if on(d.DHCP4) || on(d.DHCP6) {
		n.Method = assess.MethodDHCP
	}
	n.Addresses = sliced.FlatMap(d.Addresses, texts)
	for _, r := range d.Routes {
		addRoute(&n, r.To, r.Via)
	}
	return n
}

// on reports whether a switch of netplan is on, which may be written as a text.
func on(v any) bool {
	s, isText := v.(string)
	return v == true || isText && yes(s)
}

// texts are an address that stands by itself, or those that have options.
func texts(v any) (addresses []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case map[string]any:
		addresses = assess.SortedKeys(v)
	}
	return slices.Clip(addresses)
}
