package rehearse

import (
	"net/netip"
	"slices"
	"strings"

	"svc/assess"
	"svc/tools/sandbox"
)

// Bounds of what a machine may want of interfaces and of addresses of each.
const (
	maxInterfaces = 32
	maxAddresses  = 64
)

// made are the kinds of interfaces that a sandbox makes; what is of another kind, such as a
// tunnel, a service of the machine's makes itself.
var made = []string{"", "ethernet", "bond", "team", "vlan", "bridge"}

// interfaces are those of a machine, with the addresses that its configuration gives them:
// source and target of a rehearsal have them, since services listen there. One that asks for
// its addresses gets those by which the machine's hosts call it; hosts is the text of that.
func interfaces(a *assess.Assessment, hosts string) (all []sandbox.Interface) {
	named := hostAddresses(a.System.Hostname, hosts)
	for _, n := range a.Networks {
		if !slices.Contains(made, n.Kind) || len(all) == maxInterfaces || slices.ContainsFunc(all, func(i sandbox.Interface) bool { return i.Name == n.Name }) {
			continue
		}
		i := sandbox.Interface{Name: n.Name, Bridge: n.Kind == "bridge"}
		for _, text := range n.Addresses[:min(len(n.Addresses), maxAddresses)] {
			if p, ok := prefix(text); ok {
				i.Addresses = append(i.Addresses, p)
				named = slices.DeleteFunc(named, func(p netip.Prefix) bool { return p.Addr() == i.Addresses[len(i.Addresses)-1].Addr() })
			}
		}
		all = append(all, i)
	}
	if len(named) == 0 {
		return all
	}
	at := slices.IndexFunc(all, func(i sandbox.Interface) bool { return !i.Bridge && len(i.Addresses) == 0 })
	if at < 0 {
		all, at = append(all, sandbox.Interface{Name: "eth0"}), len(all)
	}
	all[at].Addresses = named
	return all
}

// prefix is an address with the length of its network, or of one host where nothing says it.
func prefix(text string) (p netip.Prefix, ok bool) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return p, false
		}
		p = netip.PrefixFrom(a, a.BitLen())
	}
	a := p.Addr()
	return p, a.Zone() == "" && !a.IsLoopback() && !a.IsUnspecified() && !a.IsMulticast()
}

// hostAddresses are those by which /etc/hosts calls the machine.
func hostAddresses(host, hosts string) (all []netip.Prefix) {
	short, _, _ := strings.Cut(host, ".")
	for line := range strings.Lines(hosts) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) < 2 || short == "" || len(all) == maxAddresses {
			continue
		}
		own := slices.ContainsFunc(words[1:], func(name string) bool {
			name, _, _ = strings.Cut(name, ".")
			return strings.EqualFold(name, short)
		})
		if p, ok := prefix(words[0]); ok && own {
			all = append(all, netip.PrefixFrom(p.Addr(), min(p.Addr().BitLen(), map[bool]int{true: 24, false: 64}[p.Addr().Is4()])))
		}
	}
	return all
}
