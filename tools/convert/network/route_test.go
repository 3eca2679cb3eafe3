package network

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestRoutesOfNetTools are those of ip (route(8)); what has more is refused.
func TestRoutesOfNetTools(t *testing.T) {
	is := is.New(t)
	for was, now := range map[string]string{
		"route add -net 10.20.0.0 netmask 255.255.0.0 gw 10.1.0.1 metric 5": "ip route add 10.20.0.0/16 via 10.1.0.1 metric 5",
		"route add -net 10.20.0.0/16 gw 10.1.0.1 eth0":                      "ip route add 10.20.0.0/16 via 10.1.0.1 dev eth0",
		"route del -host 10.9.0.4 dev eth0":                                 "ip route del 10.9.0.4 dev eth0",
		"route add default gw 10.1.0.1":                                     "ip route add default via 10.1.0.1",
		"route add -net 10.20.0.0 netmask 255.0.255.0 gw 10.1.0.1":          "",
		"route add -net 10.20.0.0/16 reject mss 1400":                       "",
	} {
		is.Equal(strings.Join(ofRoute(strings.Fields(was)), " "), now)
	}
}
