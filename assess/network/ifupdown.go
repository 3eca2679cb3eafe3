package network

import (
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/conf"
)

// ifupdown reads /etc/network/interfaces and what it includes.
func ifupdown(m *assess.Machine) {
	read := map[string]bool{}
	interfaces(m, "/etc/network/interfaces", read, 0)
}

// interfaces reads a file of ifupdown, and those that it sources.
func interfaces(m *assess.Machine, file string, read map[string]bool, depth int) {
	if read[file] || depth > assess.MaxIncludes {
		return
	}
	read[file] = true
	text, _ := m.Text("network."+path.Base(file), file[1:])
	networks, sources := parseInterfaces(file, text)
	for _, n := range networks {
		addNetwork(m, n)
	}
	for _, pattern := range sources {
		for _, included := range m.Glob(assess.LeadsTo(file, pattern)) {
			interfaces(m, included, read, depth+1)
		}
	}
}

// parseInterfaces reads the stanzas of a file, and the patterns of files that
// it sources.
func parseInterfaces(file, text string) (networks []assess.Network, sources []string) {
	current := -1
	var auto []string
	for n, f := range conf.Words(text) {
		if len(f) < 2 {
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
			networks = append(networks, assess.Network{Name: f[1], Manager: managerIfupdown, Method: f[len(f)-1], Evidence: assess.Evidence{Path: file, Line: n}})
			current = len(networks) - 1
		default:
			if current >= 0 {
				setOption(&networks[current], f[0], f[1:])
			}
		}
	}
	for i := range networks {
		finishInterface(&networks[i], auto)
	}
	return networks, sources
}

// setOption takes an option of an iface stanza.
func setOption(n *assess.Network, key string, values []string) {
	switch strings.ReplaceAll(key, "_", "-") {
	case "address":
		n.Addresses = append(n.Addresses, values[0])
	case "netmask":
		netmask(n, values[0])
	case "gateway":
		n.Gateway = values[0]
	case "dns-nameservers", "dns-nameserver":
		n.DNS = append(n.DNS, values...)
	case "dns-search", "dns-domain":
		n.Search = append(n.Search, values...)
	case "bridge-ports":
		n.Kind, n.Members = assess.KindBridge, values
	case "bond-slaves", "bond-members", "slaves":
		n.Kind, n.Members = assess.KindBond, values
	case "vlan-raw-device":
		n.Kind, n.Members = assess.KindVLAN, values
	case "up", "post-up", "pre-up":
		setCommand(n, values)
		setAddress(n, values)
	case "down":
		setCommand(n, values)
	}
}

// setAddress takes the address that a stanza's command gives its interface by ip.
func setAddress(n *assess.Network, words []string) {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.HasPrefix(w, "-") })
	if len(words) < 4 || path.Base(words[0]) != "ip" || !strings.HasPrefix("address", words[1]) || words[2] != "add" && words[2] != "replace" {
		return
	}
	if at := slices.Index(words, "dev"); at > 0 && at+1 < len(words) && slices.Contains([]string{n.Name, "$IFACE", "${IFACE}", `"$IFACE"`}, words[at+1]) {
		n.Addresses = append(n.Addresses, words[3])
	}
}

// setCommand takes what of a stanza's commands sets a route or a rule.
func setCommand(n *assess.Network, words []string) {
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
func netmask(n *assess.Network, mask string) {
	last := len(n.Addresses) - 1
	if last >= 0 && !strings.Contains(n.Addresses[last], "/") {
		n.Addresses[last] = withMask(n.Addresses[last], mask)
	}
}

// finishInterface says of an interface what its name says.
func finishInterface(n *assess.Network, auto []string) {
	n.Auto = slices.Contains(auto, n.Name)
	if parent, id, ok := strings.Cut(n.Name, "."); ok && n.Kind == "" && assess.Digits(id) == len(id) && id != "" {
		n.Kind, n.Members = assess.KindVLAN, []string{parent}
	}
	if slices.Equal(n.Members, []string{"none"}) {
		n.Members = nil
	}
}
