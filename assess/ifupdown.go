package assess

import (
	"path"
	"slices"
	"strings"
)

// ifupdown reads /etc/network/interfaces and what it includes.
func (m *machine) ifupdown() {
	read := map[string]bool{}
	m.interfaces("/etc/network/interfaces", read, 0)
}

// interfaces reads a file of ifupdown, and those that it sources.
func (m *machine) interfaces(file string, read map[string]bool, depth int) {
	if read[file] || depth > maxIncludes {
		return
	}
	read[file] = true
	text, _ := m.text("network."+path.Base(file), file[1:])
	networks, sources := parseInterfaces(file, text)
	for _, n := range networks {
		m.addNetwork(n)
	}
	for _, pattern := range sources {
		if !path.IsAbs(pattern) {
			pattern = path.Join(path.Dir(file), pattern)
		}
		for _, included := range m.glob(pattern) {
			m.interfaces(included, read, depth+1)
		}
	}
}

// parseInterfaces reads the stanzas of a file, and the patterns of files that
// it sources.
func parseInterfaces(file, text string) (networks []Network, sources []string) {
	n, current := 0, -1
	var auto []string
	for line := range strings.Lines(text) {
		n++
		f := strings.Fields(line)
		if len(f) < 2 || strings.HasPrefix(f[0], "#") {
			continue
		}
		switch f[0] {
		case "auto", "allow-auto", "allow-hotplug":
			auto, current = append(auto, f[1:]...), -1
		case "source":
			sources, current = append(sources, f[1]), -1
		case "source-directory":
			sources, current = append(sources, path.Join(f[1], "*")), -1
		case "mapping":
			current = -1
		case "iface":
			networks = append(networks, Network{Name: f[1], Manager: managerIfupdown, Method: f[len(f)-1], Evidence: Evidence{file, n}})
			current = len(networks) - 1
		default:
			if current >= 0 {
				networks[current].setOption(f[0], f[1:])
			}
		}
	}
	for i := range networks {
		networks[i].finish(auto)
	}
	return networks, sources
}

// setOption takes an option of an iface stanza.
func (n *Network) setOption(key string, values []string) {
	switch strings.ReplaceAll(key, "_", "-") {
	case "address":
		n.Addresses = append(n.Addresses, values[0])
	case "netmask":
		n.netmask(values[0])
	case "gateway":
		n.Gateway = values[0]
	case "dns-nameservers", "dns-nameserver":
		n.DNS = append(n.DNS, values...)
	case "dns-search", "dns-domain":
		n.Search = append(n.Search, values...)
	case "bridge-ports":
		n.Kind, n.Members = kindBridge, values
	case "bond-slaves", "bond-members", "slaves":
		n.Kind, n.Members = kindBond, values
	case "vlan-raw-device":
		n.Kind, n.Members = kindVLAN, values
	case "up", "post-up", "pre-up", "down":
		n.command(values)
	}
}

// command takes what of a stanza's commands sets a route or a rule.
func (n *Network) command(words []string) {
	s := strings.Join(words, " ")
	for _, prefix := range []string{"ip route add ", "ip -4 route add ", "ip -6 route add ", "/sbin/ip route add ", "route add "} {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			rest, _, _ = strings.Cut(rest, " ||")
			n.Routes = append(n.Routes, strings.TrimSpace(rest))
		}
	}
	if rest, ok := strings.CutPrefix(s, "ip rule add "); ok {
		n.Routes = append(n.Routes, "rule "+rest)
	}
}

// netmask completes the last address, where it has no length of its own.
func (n *Network) netmask(mask string) {
	last := len(n.Addresses) - 1
	if last >= 0 && !strings.Contains(n.Addresses[last], "/") {
		n.Addresses[last] = withMask(n.Addresses[last], mask)
	}
}

// finish says of an interface what its name says.
func (n *Network) finish(auto []string) {
	n.Auto = slices.Contains(auto, n.Name)
	if parent, id, ok := strings.Cut(n.Name, "."); ok && n.Kind == "" && digits(id) == len(id) && id != "" {
		n.Kind, n.Members = kindVLAN, []string{parent}
	}
	if slices.Equal(n.Members, []string{"none"}) {
		n.Members = nil
	}
}
