package web

import (
	"os"
	"testing"

	"github.com/matryer/is"
)

// parsers are all that read text of the machine here; none may fail on any input.
var parsers = []func(string){
	func(s string) { parseApache("f", s) },
	func(s string) { parseNginx("f", s) },
}

func FuzzParsers(f *testing.F) {
	for _, seed := range []string{
		"<VirtualHost *:80>\nServerName x\n</VirtualHost>\n</VirtualHost>\nServerName y",
		"server { } } server{ listen 1;",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, s string) {
		for _, parse := range parsers {
			parse(s)
		}
	})
}

// A store of OpenJDK 17's keytool: one authority under a name of Debian's package, the same
// under another, and one that a person made.
func TestParseKeystore(t *testing.T) {
	is := is.New(t)
	b, err := os.ReadFile("testdata/cacerts")
	is.NoErr(err)
	all, err := parseKeystore(b)
	is.NoErr(err)
	var aliases []string
	for _, a := range all {
		aliases = append(aliases, a.alias)
	}
	is.Equal(aliases, []string{"firma-ca", "debian:ours.pem", "isrg"})
	some, err := parseKeystore(b[:len(b)-800])
	is.Equal(err, errKeystore)
	is.Equal(len(some), 2) // what is whole of it
}

func FuzzKeystore(f *testing.F) {
	b, err := os.ReadFile("testdata/cacerts")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("\xfe\xed\xfe\xed\x00\x00\x00\x02\xff\xff\xff\xff\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, _ := parseKeystore(b)
		if len(all) > len(b)/18 { // what an entry has at least
			t.Errorf("%d entries in %d bytes", len(all), len(b))
		}
	})
}
