package network

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/assess"
)

func TestNetworksInTheirDialects(t *testing.T) {
	is := is.New(t)
	n := parseIfcfg("eth0", "DEVICE=eth0\nBOOTPROTO=static\nIPADDR=10.0.0.2\nNETMASK=255.255.254.0\nIPADDR10=10.0.9.2\nPREFIX10=24\nONBOOT=no\n")
	is.Equal(n.Addresses, []string{"10.0.0.2/23", "10.0.9.2/24"})
	is.True(!n.Auto)
	is.Equal(parseSUSE("eth0", "BOOTPROTO=dhcp4\nSTARTMODE=off\n").Method, assess.MethodDHCP)
	is.Equal(withMask("10.0.0.2", "255.0.255.0"), "10.0.0.2/255.0.255.0") // no length says what a mask with gaps does
	is.Equal(parseRoutes("ADDRESS0=10.0.0.0\nNETMASK0=255.0.0.0\nGATEWAY0=1.1.1.1\nADDRESS1=0.0.0.0\nNETMASK1=0.0.0.0\nGATEWAY1=2.2.2.2\n", ""), []string{"10.0.0.0/8 via 1.1.1.1", "default via 2.2.2.2"})
	w := parseWicked(`<interface><name>eth0</name><ipv4:static><address><local>10.0.0.2/24</local></address></ipv4:static></interface><interface><name>eth1</name><ipv4:dhcp><enabled>true</enabled></ipv4:dhcp></interface>`)
	is.Equal(len(w), 2)
	is.Equal(w[0].Addresses, []string{"10.0.0.2/24"})
	is.Equal(w[1].Method, assess.MethodDHCP)
	c := parseConnection("[connection]\nid=x\ntype=bond\ninterface-name=bond0\nautoconnect=false\n[ipv4]\nmethod=manual\naddress1=1.2.3.4/24,1.2.3.1\nroute1=5.0.0.0/8,1.2.3.9\nroute1_options=table=5\n[ipv6]\nmethod=auto\naddress1=fe80::2/64\n")
	is.Equal(c.Addresses, []string{"1.2.3.4/24", "fe80::2/64"})
	is.Equal(c.Routes, []string{"5.0.0.0/8 via 1.2.3.9"})
	is.Equal(c.Method, "manual")
	is.True(!c.Auto)
	d := parseNetworkd("[Match]\nName=en*\n[Network]\nDHCP=ipv4\n[Address]\nAddress=1.1.1.1/32\n[Route]\nGateway=1.1.1.2\n[Route]\nDestination=2.0.0.0/8\nGateway=1.1.1.3\n")
	is.Equal(d.Gateway, "1.1.1.2")
	is.Equal(d.Routes, []string{"2.0.0.0/8 via 1.1.1.3"})
}

func TestFirewallRules(t *testing.T) {
	is := is.New(t)
	is.Equal(nftRules("table inet f { chain in { type filter hook input priority 0; policy drop; tcp dport { 22, 80 } accept; ct state invalid drop; } }\n# tcp accept\nmap m { type ipv4_addr : verdict; }\n"), []string{"tcp dport { 22, 80 } accept", "ct state invalid drop"})
	entries, err := zoneEntries(`<zone><short>x</short><service name="ssh"/><rule><accept/></rule></zone>`)
	is.NoErr(err)
	is.Equal(entries, []string{`service name="ssh"`, "rule accept"})
	_, err = zoneEntries("<zone><service")
	is.True(err != nil)
	is.Equal(len(ufwRules("-A ufw-user-input -p tcp --dport 22 -j ACCEPT\n-A ufw-user-limit -j LOG\n")), 1)
}

func TestParseInterfaces(t *testing.T) {
	is := is.New(t)
	n, _ := parseInterfaces("f", "auto lo\niface lo inet loopback\niface eth0 inet static\n address 10.0.0.2/24\n gateway 10.0.0.1\n dns-nameservers 1.1.1.1 9.9.9.9\n")
	is.Equal(len(n), 2)
	n = n[1:]
	is.Equal(n[0].DNS, []string{"1.1.1.1", "9.9.9.9"})
}

// TestAddressesByCommand are those of the stanza's own interface that are put there as it comes up.
func TestAddressesByCommand(t *testing.T) {
	is := is.New(t)
	n, _ := parseInterfaces("f", "iface lo inet loopback\n up ip addr add 192.0.2.9/32 dev lo || true\n down ip addr del 192.0.2.9/32 dev lo\niface eth0 inet static\n address 10.0.0.2/24\n"+
		" post-up /sbin/ip -6 a add 2001:db8::1/64 dev $IFACE\n up ip address replace 10.0.0.3/24 dev eth0\n up ip addr add 10.0.0.4/24 dev eth1\n up ip link add dev x\n up ip a\n down ip addr add 10.0.0.5/24 dev eth0\n")
	is.Equal(n[0].Addresses, []string{"192.0.2.9/32"})
	is.Equal(n[1].Addresses, []string{"10.0.0.2/24", "2001:db8::1/64", "10.0.0.3/24"})
	m := &assess.Machine{Reading: assess.Reading{A: &assess.Assessment{}}}
	addNetwork(m, n[0])
	addNetwork(m, assess.Network{Name: "lo", Addresses: []string{"127.0.0.1/8", "::1/128"}})
	is.Equal(len(m.A.Networks), 1)
}

// TestZonesOfAnySize: what a zone's file repeats does not multiply the work that
// it is.
func TestZonesOfAnySize(t *testing.T) {
	for _, piece := range []string{"<a>", "<a/>", `<a b="c"/>`} {
		begun := time.Now()
		_, _ = zoneEntries("<zone><rule>" + strings.Repeat(piece, (assess.MaxFile-100)/len(piece)))
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("%s took %v", piece, took)
		}
	}
}
