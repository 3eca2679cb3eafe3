package fleet

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"
)

func mentionedIn(file, text string) []string {
	seen := map[string]bool{}
	Mentioned(file, text, func(name string) { seen[name] = true })
	return slices.Sorted(maps.Keys(seen))
}

// TestCommentsNameNobody holds what is looked for in files as packages ship and people
// change them.
func TestCommentsNameNobody(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		named, not       []string
	}{
		{"postgresql.conf", "/etc/postgresql/15/main/postgresql.conf", "#recovery_target = ''  # the target\nprimary_conninfo = 'host=db1.example.org'\n\t# standby\nport = 5432\t# server\n", []string{"db1.example.org", "db1"}, []string{"target", "standby", "server", "recovery_target"}},
		{"php.ini", "/etc/php/8.2/fpm/php.ini", "; the mail server\nmysqli.default_host = db2:3306\n", []string{"db2"}, []string{"mail", "server"}},
		{"a part of a word", "/etc/app.conf", "db1_data = /srv\nmy_web1=x\n_db2\n", []string{"db1_data", "my_web1"}, []string{"db1", "web1", "db2"}},
		{"named.conf", "/etc/bind/named.conf.local", "// web1 was here\n/* web2\n   web3\n*/ forwarders { 10.0.0.3; };\nmasters { ns1; }; // ns2\n", []string{"10.0.0.3", "ns1"}, []string{"web1", "web2", "web3", "ns2"}},
		{"a path of another machine", "/etc/fstab", "//files1/share /mnt cifs\n", []string{"files1"}, nil},
		{"a value with a mark in it", "/etc/app.conf", "url = http://web1/#top\npass = a#web2\n", []string{"web2"}, nil},
		{"what stands behind a mark that is no word", "/etc/app.js", "const at = 'http://web1/x' // web2\n", []string{"web1"}, nil},
		{"xml", "/etc/tomcat9/server.xml", "<!-- web1 -->\n<!-- web2\nweb3 --><Host name=\"web4.example.org\"/>\n", []string{"web4"}, []string{"web1", "web2", "web3"}},
		{"a comment of another format", "/etc/app.conf", "-- web1\n!web2\n", []string{"web1", "web2"}, nil},
		{"keepalived", "/etc/keepalived/keepalived.conf", "! web1\nreal_server 10.0.0.4 80\n", []string{"10.0.0.4"}, []string{"web1"}},
		{"a comment without an end", "/etc/bind/named.conf", "ns1\n/* web1\nweb2\n", []string{"ns1"}, []string{"web1", "web2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			got := mentionedIn(c.file, c.text)
			for _, name := range c.named {
				is.True(slices.Contains(got, name)) // is named
			}
			for _, name := range c.not {
				is.True(!slices.Contains(got, name)) // is not
			}
		})
	}
}

// TestEachValueIsLookedAt writes values between comments: each is found, and no comment.
func TestEachValueIsLookedAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		var want []string
		for _, line := range rapid.SliceOf(rapid.StringMatching(`[a-z]{3,9}[0-9]`)).Draw(t, "words") {
			mark := rapid.SampledFrom([]string{"", "", "#", "# ", "  ; ", "\t#"}).Draw(t, "mark")
			text.WriteString(mark + line + rapid.SampledFrom([]string{"\n", "\r\n", " # gone\n"}).Draw(t, "end"))
			if mark == "" {
				want = append(want, line)
			}
		}
		slices.Sort(want)
		if got := mentionedIn("/etc/some.conf", text.String()); !slices.Equal(got, slices.Compact(want)) {
			t.Fatalf("%q names %v, not %v", text.String(), got, want)
		}
	})
}
