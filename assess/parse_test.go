package assess

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

func TestParseCronLine(t *testing.T) {
	is := is.New(t)
	for line, want := range map[string]CronJob{
		"17 *\t* * *  root  cd / && run": {Schedule: "17 * * * *", User: "root", Command: "cd / && run"},
		"@daily root /x":                 {Schedule: "@daily", User: "root", Command: "/x"},
	} {
		got, ok := parseCronLine(line, "")
		is.True(ok)
		is.Equal(got, want)
	}
	for _, line := range []string{"", "# x", "MAILTO=root", "* * *", "@reboot", "1 2 3 4 5 root"} {
		_, ok := parseCronLine(line, "")
		is.True(!ok)
	}
}

func TestParseNginx(t *testing.T) {
	is := is.New(t)
	sites := parseNginx("f", "http { upstream u { server 10.0.0.1; }\n server { listen 80; server_name a b; location / { root /no; } root /srv; }\nserver {\n listen 443 ssl;\n server_name \"c\"; # x\n}\n}")
	is.Equal(len(sites), 2)
	is.Equal(sites[0].Name, "a")
	is.Equal(sites[0].Root, "/srv")
	is.True(sites[1].TLS)
}

func TestParseInterfaces(t *testing.T) {
	is := is.New(t)
	n, _ := parseInterfaces("f", "auto lo\niface lo inet loopback\niface eth0 inet static\n address 10.0.0.2/24\n gateway 10.0.0.1\n dns-nameservers 1.1.1.1 9.9.9.9\n")
	is.Equal(len(n), 2)
	n = n[1:]
	is.Equal(n[0].DNS, []string{"1.1.1.1", "9.9.9.9"})
}

// parsers are all that read text of the machine; none may fail on any input.
var parsers = map[string]func(string){
	"assignments": func(s string) { parseAssignments(s) },
	"cron":        func(s string) { parseCronLine(s, "") },
	"interfaces":  func(s string) { parseInterfaces("f", s) },
	"apache":      func(s string) { parseApache("f", s) },
	"nginx":       func(s string) { parseNginx("f", s) },
	"settings": func(s string) {
		for _, sep := range []string{"", "="} {
			for range parseSettings("f", s, sep) {
			}
		}
	},
	"ini":    func(s string) { iniValues(s) },
	"source": func(s string) { parseSourceLine(s) },
	"user":   func(s string) { parseUser(s) },
	"firewall": func(s string) {
		nftRules(s)
		savedRules(s)
		ufwRules(s)
		suseRules(s)
		plainRules(s)
		includes(s)
	},
	"zone":       func(s string) { _, _ = zoneEntries(s) },
	"unit":       func(s string) { parseUnit(s) },
	"preset":     func(s string) { parsePreset(s).enables("a@b.service") },
	"init":       func(s string) { parseInitHeader(s) },
	"upstart":    func(s string) { upstartState(s, ""); upstartLevels(s) },
	"ifcfg":      func(s string) { parseIfcfg("a", s); parseSUSE("a", s); parseRoutes(s, "") },
	"wicked":     func(s string) { parseWicked(s) },
	"connection": func(s string) { parseConnection(s); parseNetworkd(s) },
	"netplan":    func(s string) { _, _ = parseNetplan("f", s) },
	"at":         func(s string) { parseAtName(s) },
	"listed":     func(s string) { eachListed([]byte(s), func(string) {}) },
	"upstream":   func(s string) { upstream(s) },
}

func FuzzParsers(f *testing.F) {
	for _, seed := range []string{
		"ID=debian\nX=\"a\\\"b\"", "*/5 * * * * root x", "iface a inet static\n address 1", "<VirtualHost *:80>\nServerName x\n</VirtualHost>\n</VirtualHost>\nServerName y",
		"server { } } server{ listen 1;", "Port 22\n", "[a]\nb=c", "deb [ a=b c ] x y z", "a:b:1:2:c:d:e", "tcp dport 22 accept", "\n/etc/x\n/lib/systemd/system/y", "1:2-3+x",
		"[a]\nbaseurl=b\n c\nenabled=0\n", "@x https://a/b/c", "CentOS release 6.10 (Final)", "0a-b-1-2-x86_64", "P:a\nV:1\nF:etc\nR:b\nZ:Q1AAAA\n\n", "[packages.\"a.b\"]\nreason = \"User\"\n",
		"<zone><rule family=\"ipv4\"><accept/></rule></zone>", "[Install]\nWantedBy=a\n[Timer]\nOnCalendar=x", "enable a@.service b c\ndisable *", "# chkconfig: - 1 2\n# Default-Start: 2 3",
		"start on (a\n and runlevel [23])\nscript\nend script\nmanual", "DEVICE=a\nIPADDR1=1\nNETMASK1=255.0.0.0\nADDRESS0=1", "<interface><name>a</name><static><address><local>1</local></address></static></interface>",
		"[ipv4]\naddress1=1,2\nroute1=3,4\n[Route]\nGateway=1", "network: {ethernets: {a: {addresses: [b, {c: {}}], dhcp4: yes}}}", "a0000101c3a4e0", "include \"x\"\n ip { 1, 2 } accept",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, parse := range parsers {
			parse(s)
		}
		if compareNatural(s, strings.Clone(s)) != 0 {
			t.Fatalf("%q differs from itself", s)
		}
	})
}

// TestZonesOfAnySize: what a zone's file repeats does not multiply the work that
// it is.
func TestZonesOfAnySize(t *testing.T) {
	for _, piece := range []string{"<a>", "<a/>", `<a b="c"/>`} {
		begun := time.Now()
		_, _ = zoneEntries("<zone><rule>" + strings.Repeat(piece, (maxFile-100)/len(piece)))
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("%s took %v", piece, took)
		}
	}
}
