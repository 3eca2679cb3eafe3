package rehearse

import (
	"net/netip"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/tools/sandbox"
)

func TestInterfaces(t *testing.T) {
	is := is.New(t)
	prefixes := func(all ...string) (p []netip.Prefix) {
		for _, text := range all {
			p = append(p, netip.MustParsePrefix(text))
		}
		return p
	}
	a := &assess.Assessment{Networks: []assess.Network{
		{Name: "ens3", Method: "dhcp"},
		{Name: "br0", Kind: "bridge", Addresses: []string{"192.0.2.1/24", "2001:db8::1/64", "nonsense", "127.0.0.2/8"}},
		{Name: "br0", Kind: "bridge", Addresses: []string{"192.0.2.2/24"}},
		{Name: "wg0", Kind: "wireguard", Addresses: []string{"10.9.0.1/24"}},
		{Name: "lo", Addresses: []string{"192.0.2.9/32"}},
	}}
	a.System.Hostname = "web1.example.org"
	hosts := "127.0.1.1 web1\n198.51.100.7 web1.example.org web1 # of ours\n192.0.2.1 web1-office web1\n203.0.113.1 other\n"

	is.Equal(interfaces(a, hosts), []sandbox.Interface{
		{Name: "ens3", Addresses: prefixes("198.51.100.7/24")},
		{Name: "br0", Bridge: true, Addresses: prefixes("192.0.2.1/24", "2001:db8::1/64")},
		{Name: "lo", Addresses: prefixes("192.0.2.9/32")},
	})

	a.Networks = nil // the hoster's own
	is.Equal(interfaces(a, hosts), []sandbox.Interface{{Name: "eth0", Addresses: prefixes("198.51.100.7/24", "192.0.2.1/24")}})
	is.Equal(len(interfaces(a, "")), 0)
}
