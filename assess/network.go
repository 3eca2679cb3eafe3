package assess

import (
	"path"
	"strings"

	"go.yaml.in/yaml/v4"
)

// readNetworks reads the configuration of every network manager that Debian
// and Ubuntu have.
func (m *machine) readNetworks() {
	m.interfaces("etc/network/interfaces")
	m.eachFile("network.interfaces.d", "etc/network/interfaces.d", "", m.interfaces)
	m.eachFile("network.networkd", "etc/systemd/network", ".network", m.networkd)
	m.eachFile("network.netplan", "etc/netplan", ".yaml", m.netplan)
	m.eachFile("network.networkmanager", "etc/NetworkManager/system-connections", ".nmconnection", m.networkManager)
}

// eachFile reads the files of a folder that end in ext.
func (m *machine) eachFile(what, dir, ext string, read func(file string)) {
	names, err := m.files(dir)
	m.outcome(what, dir, err)
	for _, name := range names {
		if strings.HasSuffix(name, ext) {
			read(path.Join(dir, name))
		}
	}
}

// interfaces reads a file of ifupdown.
func (m *machine) interfaces(file string) {
	text, _ := m.text("network."+path.Base(file), file)
	m.a.Networks = append(m.a.Networks, parseInterfaces("/"+file, text)...)
}

func parseInterfaces(file, text string) (networks []Network) {
	n, current := 0, -1
	for line := range strings.Lines(text) {
		n++
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		if f[0] == "iface" && len(f) >= 4 {
			networks = append(networks, Network{
				Name: f[1], Manager: "ifupdown", Method: f[3], Addresses: []string{}, DNS: []string{}, Evidence: Evidence{file, n},
			})
			current = len(networks) - 1
			continue
		}
		if current >= 0 && len(f) > 1 {
			setOption(&networks[current], f[0], f[1:])
		}
	}
	return withoutLoopback(networks)
}

// setOption takes an option of an iface stanza.
func setOption(n *Network, key string, values []string) {
	switch key {
	case "address":
		n.Addresses = append(n.Addresses, values[0])
	case "gateway":
		n.Gateway = values[0]
	case "dns-nameservers", "dns-nameserver":
		n.DNS = append(n.DNS, values...)
	}
}

func withoutLoopback(all []Network) (rest []Network) {
	for _, n := range all {
		if n.Method != "loopback" {
			rest = append(rest, n)
		}
	}
	return rest
}

// iniValues reads "key=value" lines below [section] headings, as
// section.key in lower case; a key may come more than once.
func iniValues(text string) map[string][]string {
	values, section := map[string][]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.ToLower(strings.Trim(line, "[]"))
			continue
		}
		if key, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, ";") {
			key = section + "." + strings.ToLower(strings.TrimSpace(key))
			values[key] = append(values[key], strings.TrimSpace(value))
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

func (m *machine) networkd(file string) {
	text, _ := m.text("network."+path.Base(file), file)
	v := iniValues(text)
	m.a.Networks = append(m.a.Networks, Network{
		Name: first(v["match.name"]), Manager: "systemd-networkd", Method: dhcpOr(first(v["network.dhcp"])),
		Addresses: list(v["network.address"]), Gateway: first(v["network.gateway"]), DNS: list(v["network.dns"]), Evidence: Evidence{"/" + file, 0},
	})
}

// dhcpOr is the method that a DHCP setting stands for.
func dhcpOr(setting string) string {
	switch strings.ToLower(setting) {
	case "", "no", "false":
		return "static"
	}
	return "dhcp"
}

func (m *machine) networkManager(file string) {
	text, _ := m.text("network."+path.Base(file), file)
	v := iniValues(text)
	n := Network{
		Name: first(v["connection.interface-name"]), Manager: "NetworkManager", Method: first(v["ipv4.method"]),
		Addresses: []string{}, DNS: strings.FieldsFunc(first(v["ipv4.dns"]), func(r rune) bool { return r == ';' || r == ',' }), Evidence: Evidence{"/" + file, 0},
	}
	for _, key := range sortedKeys(v) {
		if strings.HasPrefix(key, "ipv4.address") {
			address, gateway, _ := strings.Cut(first(v[key]), ",")
			n.Addresses, n.Gateway = append(n.Addresses, address), gateway
		}
	}
	m.a.Networks = append(m.a.Networks, n)
}

// netplanFile is what of a netplan file matters here.
type netplanFile struct {
	Network struct {
		Ethernets, Bonds, Bridges, Vlans map[string]netplanDevice
	}
}

type netplanDevice struct {
	DHCP4       bool   `yaml:"dhcp4"`
	Addresses   []any  `yaml:"addresses"`
	Gateway4    string `yaml:"gateway4"`
	Nameservers struct {
		Addresses []string `yaml:"addresses"`
	} `yaml:"nameservers"`
}

func (m *machine) netplan(file string) {
	text, ok := m.text("network."+path.Base(file), file)
	if !ok {
		return
	}
	var f netplanFile
	if err := yaml.Unmarshal([]byte(text), &f); err != nil {
		m.source("network."+path.Base(file), SourceCorrupt, err.Error())
		return
	}
	for _, devices := range []map[string]netplanDevice{f.Network.Ethernets, f.Network.Bonds, f.Network.Bridges, f.Network.Vlans} {
		for _, name := range sortedKeys(devices) {
			m.a.Networks = append(m.a.Networks, devices[name].network(name, "/"+file))
		}
	}
}

func (d netplanDevice) network(name, file string) Network {
	n := Network{Name: name, Manager: "netplan", Method: "static", Addresses: []string{}, Gateway: d.Gateway4, DNS: list(d.Nameservers.Addresses), Evidence: Evidence{file, 0}}
	if d.DHCP4 {
		n.Method = "dhcp"
	}
	for _, a := range d.Addresses {
		if s, ok := a.(string); ok {
			n.Addresses = append(n.Addresses, s)
		}
	}
	return n
}
