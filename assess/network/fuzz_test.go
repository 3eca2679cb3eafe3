package network

import "testing"

// parsers are all that read text of the machine here; none may fail on any input.
var parsers = []func(string){
	func(s string) { parseInterfaces("f", s) },
	func(s string) {
		nftRules(s)
		savedRules(s)
		ufwRules(s)
		suseRules(s)
		plainRules(s)
		includes(s)
	},
	func(s string) { _, _ = zoneEntries(s) },
	func(s string) { parseIfcfg("a", s); parseSUSE("a", s); parseRoutes(s, "") },
	func(s string) { parseWicked(s) },
	func(s string) { parseConnection(s); parseNetworkd(s) },
	func(s string) { _, _ = parseNetplan("f", s) },
}

func FuzzParsers(f *testing.F) {
	for _, seed := range []string{
		"iface a inet static\n address 1",
		"tcp dport 22 accept",
		"<zone><rule family=\"ipv4\"><accept/></rule></zone>",
		"DEVICE=a\nIPADDR1=1\nNETMASK1=255.0.0.0\nADDRESS0=1",
		"<interface><name>a</name><static><address><local>1</local></address></static></interface>",
		"[ipv4]\naddress1=1,2\nroute1=3,4\n[Route]\nGateway=1",
		"network: {ethernets: {a: {addresses: [b, {c: {}}], dhcp4: yes}}}",
		"include \"x\"\n ip { 1, 2 } accept",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, s string) {
		for _, parse := range parsers {
			parse(s)
		}
	})
}
