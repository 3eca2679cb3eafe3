package services

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/tools/convert"
)

// TestZonesKeepTheirKeys where auto-dnssec is gone: a policy fits them, once for all that have alike.
func TestZonesKeepTheirKeys(t *testing.T) {
	is := is.New(t)
	keys := map[string][]convert.File{"/k": {
		{Path: "/k/Ka.example.+013+01.key", Text: "; This is a key-signing key, keyid 1\n; Created: 20200101\na.example. 3600 IN DNSKEY 257 3 13 AAAA\n"},
		{Path: "/k/Ka.example.+013+02.key", Text: "a.example. IN DNSKEY 256 3 13 AAAA\n"},
		{Path: "/k/Kb.example.+013+03.key", Text: "b.example. IN DNSKEY 257 3 13 AAAA\n"},
		{Path: "/k/Kb.example.+013+04.key", Text: "b.example. IN DNSKEY 256 3 13 AAAA\n"},
		{Path: "/k/Krolled.example.+013+05.key", Text: "; Inactive: 20300101\nrolled.example. IN DNSKEY 257 3 13 AAAA\n"},
	}, "/var/named/k": {{Path: "/var/named/k/Kc.example.+008+06.key", Text: "c.example. IN DNSKEY 257 3 8 AwEAAQ" + strings.Repeat("A", 341) + "=\n"}}}
	text := `options { directory "/var/named"; };
zone "a.example" {
  type master;
  key-directory "/k";
  auto-dnssec maintain;
  inline-signing yes;
};
zone "b.example" { type master; key-directory "/k"; auto-dnssec allow; update-policy local; };
zone "c.example" { type master; file "/z/c"; key-directory "k"; auto-dnssec maintain; };
zone "rolled.example" { type master; key-directory "/k"; auto-dnssec maintain; };
// zone "off.example" { auto-dnssec maintain; };
`
	in := convert.Input{Files: []convert.File{{Path: "/etc/bind/named.conf.local", Text: text}}, Folder: func(name, _ string) []convert.File { return keys[name] }}
	r := DNSSECPolicy(in)
	is.Equal(r.Files[0].Text, `options { directory "/var/named"; };
dnssec-policy "kept-ecdsap256sha256" { keys { ksk lifetime unlimited algorithm ecdsap256sha256; zsk lifetime unlimited algorithm ecdsap256sha256; }; max-zone-ttl 31536000; };
zone "a.example" {
  type master;
  key-directory "/k";
  dnssec-policy "kept-ecdsap256sha256";
  inline-signing yes;
};
zone "b.example" { type master; key-directory "/k"; dnssec-policy "kept-ecdsap256sha256"; inline-signing no; update-policy local; };
dnssec-policy "kept-csk-rsasha256-2048" { keys { csk lifetime unlimited algorithm rsasha256 2048; }; max-zone-ttl 31536000; };
zone "c.example" { type master; file "/z/c"; key-directory "k"; dnssec-policy "kept-csk-rsasha256-2048"; };
zone "rolled.example" { type master; key-directory "/k"; auto-dnssec maintain; };
// zone "off.example" { auto-dnssec maintain; };
`)
	main := convert.File{Path: "/etc/bind/named.conf", Text: "view \"in\" {\n  include \"/etc/bind/in.zones\";\n};\n"}
	in.Files = []convert.File{{Path: "/etc/bind/in.zones", Text: "zone \"a.example\" {\n  key-directory \"/k\";\n  auto-dnssec maintain;\n};\n"}, main}
	r = DNSSECPolicy(in)
	is.True(strings.HasPrefix(r.Files[0].Text, "zone \"a.example\" {\n  key-directory \"/k\";\n"))
	is.True(!strings.Contains(r.Files[0].Text, "auto-dnssec"))
	is.True(strings.HasPrefix(r.Files[1].Text, "dnssec-policy \"kept-")) // none stands in a view
	is.True(strings.HasSuffix(r.Files[1].Text, main.Text))
}
