package redact

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "",
		"httpd fails on web01":          "httpd fails on [host]",
		"on prod-db-03, and db02-a too": "on [host], and [host] too",
		"ip-10-0-0-1 and ip-10-0-0-1.ec2.internal": "[host] and [host]",
		"www.example.com (example.com).":           "[host] ([domain]).",
		"WWW.EXAMPLE.CO.UK, example.co.uk":         "[host], [domain]",
		"db.corp.local":                            "[host]",
		"bücher.de":                                "[domain]",
		"hostname: mercury":                        "hostname: [host]",
		"hostname is mercury now":                  "hostname is [host] now",
		"hostname=mercury":                         "hostname=[host]",
		"the server billing-a is down":             "the server [host] is down",
		"the server is down":                       "the server is down",
		"10.0.0.1 10.0.0.1:80 10.0.0.0/8":          "[ip] [ip] [ip]",
		"fe80::1%eth0, [2001:db8::1]:443":          "[ip], [[ip]]:443",
		"::1 is not :: here":                       "::1 is not :: here",
		"00:1a:2b:3c:4d:5e":                        "[id]",
		"joe@example.com, root@web01:~#":           "[email], root@[host]:~#",
		"mailto:joe.doe+x@mail.example.org.":       "mailto:[email].",
		"root@db:/srv/x":                           "[host]:[path]",
		"https://example.com/a?b=c#d.":             "[url].",
		"(http://[::1]:80/x)":                      "([url])",
		"see example.com/a or 10.0.0.1/x":          "see [url] or [url]",
		"registry.example.com:5000/app":            "[url]",
		"in /etc/nginx/nginx.conf:12":              "in [path]",
		"path=/srv, (~/x) $HOME/y ./a ../b":        "path=[path], ([path]) [path] [path] [path]",
		`"/home/Joe Doe/x" here`:                   `"[path]" here`,
		"-I/usr/include and/or linux/amd64":        "[path] and/or linux/amd64",
		`C:\Program Files\App\x.ini and \\nas1\s`:  "[path] and [path]",
		`CORP\joe and \n`:                          `[domain] and \n`,
		"root:x:0:0:root:/root:/bin/bash":          "root:x:0:0:root:[path]:[path]",
		"file:///etc/passwd":                       "[url]",
		"web01.prod and db2.eu.prod":               "[host] and [host]",
		"already [host] and [path]":                "already [host] and [path]",
		// What must stay: without these a report is worth nothing.
		"httpd-2.4.6-97.el7.centos.x86_64":       "httpd-2.4.6-97.el7.centos.x86_64",
		"nginx 1.22.1-9+deb12u1 to 1:2.0~rc1":    "nginx 1.22.1-9+deb12u1 to 1:2.0~rc1",
		"httpd.service nginx.conf my.cnf run.sh": "httpd.service nginx.conf my.cnf run.sh",
		"libssl1.1 libssl.so.3 docker.io":        "libssl1.1 libssl.so.3 docker.io",
		"multi-user.target getty@tty1.service":   "multi-user.target getty@tty1.service",
		"centos-7 to debian-12, el9 and TCP/IP":  "centos-7 to debian-12, el9 and TCP/IP",
		"python3.11 php7.4-fpm postgresql-15":    "python3.11 php7.4-fpm postgresql-15",
		"net.ipv4.ip_forward vm.swappiness":      "net.ipv4.ip_forward vm.swappiness",
		"2026-08-07 12:30:00 1.2.3 3.10":         "2026-08-07 12:30:00 1.2.3 3.10",
		"perl-Foo.pm e.g. i.e. left-pad@1.2.3":   "perl-Foo.pm e.g. i.e. left-pad@1.2.3",
		"08/07/2026 :: / // . .. -":              "08/07/2026 :: / // . .. -",
		"a \x00 b \xff c":                        "a \x00 b \xff c",
	} {
		t.Run(in, func(t *testing.T) {
			is := is.New(t)
			got, counts := Text(in)
			is.Equal(got, want)
			again, same := Text(got)
			is.Equal(again, want)
			is.Equal(same, counts)
		})
	}
}

func TestKnownHosts(t *testing.T) {
	is := is.New(t)
	got, counts := Text("mercury, MERCURY: on mercury:80 but mercurys", "mercury", "")
	is.Equal(got, "[host], [host]: on [host]:80 but mercurys")
	is.Equal(counts, map[string]int{"host": 3})
}

// TestCorpus reads 310 lines as people and logs write them: half name
// something, half hold what looks like it and must stay.
func TestCorpus(t *testing.T) {
	is := is.New(t)
	b, err := os.ReadFile("testdata/corpus.txt")
	is.NoErr(err)
	hosts := []string{"mercury", "mercury.corp.example.com"}
	read := 0
	for line := range strings.Lines(string(b)) {
		in, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue
		}
		read++
		got, counts := Text(in, hosts...)
		if got != want {
			t.Errorf("%q became %q, not %q", in, got, want)
		}
		if again, same := Text(got, hosts...); again != got || !maps.Equal(same, counts) {
			t.Errorf("%q became %q, then %q", in, got, again)
		}
	}
	is.True(read >= 300)
}

func TestABracketIsNoComparison(t *testing.T) {
	is := is.New(t)
	got, _ := Text("from <10.1.2.3>, ssh < 1.2.3.4 (< 1.2.3.4)")
	is.Equal(got, "from <[ip]>, ssh < 1.2.3.4 (< 1.2.3.4)")
}

func TestOrdinaryHostnamesStay(t *testing.T) {
	is := is.New(t)
	got, _ := Text("debian 12 on localhost", "debian", "localhost")
	is.Equal(got, "debian 12 on localhost")
}

func TestCounts(t *testing.T) {
	is := is.New(t)
	_, counts := Text("web01 and web02 at 10.0.0.1 in /etc/hosts; [host] before")
	is.Equal(counts, map[string]int{"host": 3, "ip": 1, "path": 1})
}

// pieces draws text that is dense in what the scanner looks for.
func pieces() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			" ", "\n", "version", ">= ", "(= ", "1.2.3.4", "/v1/usage", "/answer", "arn:", "vm-1a", "%A%\\", "рф", ".", ":", "/", "//", "://", `\`, `\\`, "@", "-", "[", "]", `"`, "'", "=", "~", "%", "\xff",
			"http", "C:", "web01", "db", "example", "com", "local", "10.0.0.1", "fe80::1", "::", "host", "hostname", "is",
			"[host]", "[path]", "/etc/passwd", "joe@", "server", "a-b", "é", "1", "co.uk", "(", ")",
		}), 0, 24).Draw(t, "pieces"), "")
	})
}

func TestAgainChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkStable(t, pieces().Draw(t, "text")) })
}

// failer is what *testing.T and *rapid.T share.
type failer interface{ Fatalf(string, ...any) }

// maxGrowth bounds how much longer a text gets: the shortest names have two
// characters, and "[path]" has six.
const maxGrowth = 3

func checkStable(t failer, s string) {
	once, counts := Text(s)
	twice, same := Text(once)
	if once != twice || !maps.Equal(counts, same) {
		t.Fatalf("%q became %q, then %q", s, once, twice)
	}
	if len(once) > maxGrowth*len(s) {
		t.Fatalf("%d bytes became %d", len(s), len(once))
	}
}

func TestNamesAreFoundInAnySentence(t *testing.T) {
	secrets := []string{"web01", "db-prod-02", "www.example.com", "example.org", "10.1.2.3", "2001:db8::7", "joe@example.net", "https://x.example.io/y?z", "/var/lib/x", `C:\Users\joe\x`}
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.SampledFrom(secrets).Draw(t, "secret")
		before := rapid.StringMatching(`([a-z]{1,8} ){0,4}["'(<=,;]?`).Draw(t, "before")
		after := rapid.StringMatching(`[)>,;.]?( [a-z]{1,8}){0,4}`).Draw(t, "after")
		if got, _ := Text(before + secret + after); strings.Contains(got, secret) {
			t.Fatalf("%q stayed in %q", secret, got)
		}
	})
}

// FuzzText checks that any text is handled, in time that grows with its length
// alone, and that doing it again changes nothing.
func FuzzText(f *testing.F) {
	f.Add("see https://web01.example.com/x, root@db:/srv and C:\\a b\\c")
	f.Add("[host]/etc 1.2.3.4:5 hostname: x")
	f.Add("version 1.2.3.4 (>= 1.2.3.4) u:p@h.example/x git@h.de:a/b arn:a пример.рф GET /v1/questions/{id}/answer %A%\\b")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) < 1<<12 {
			checkStable(t, s)
		}
	})
}

// BenchmarkText shows that time grows with the text and no faster: the ns/op of
// the longer text of each pair is some 16 times that of the shorter.
func BenchmarkText(b *testing.B) {
	for _, piece := range []string{"a:", "/", "a.", "x/y:", `\a `, `"/`, "[", "http://", "a@", "web1-", "é ", "web01:/00", "0@A0/0:", "kestrel and web01, ", "der die das ibex "} {
		for _, size := range []int{16 << 10, 256 << 10} {
			b.Run(fmt.Sprintf("%q/%d", piece, size), func(b *testing.B) {
				text := strings.Repeat(piece, size/len(piece))
				for b.Loop() {
					Text(text)
				}
			})
		}
	}
}

// A word of endings alone is looked up in time that does not grow with its length.
func TestEndingsEnd(t *testing.T) {
	for _, ending := range []string{"s", "es", "ed", "ing", "d"} {
		checkStable(t, "the server is up and "+strings.Repeat(ending, 2000)+" is its name")
	}
}

// TestPackageNamesStay measures real names: what a report is about must not be
// stripped from it.
func TestPackageNamesStay(t *testing.T) {
	is := is.New(t)
	lists, err := filepath.Glob("../../../../shared/data/names/*.txt")
	is.NoErr(err)
	if len(lists) == 0 {
		t.Skip("no package lists here")
	}
	names, stripped := 0, []string{}
	for _, list := range lists {
		f, err := os.Open(list)
		is.NoErr(err)
		for lines := bufio.NewScanner(f); lines.Scan(); names++ {
			if got, _ := Text(lines.Text()); got != lines.Text() {
				stripped = append(stripped, lines.Text())
			}
		}
		is.NoErr(f.Close())
	}
	if len(stripped)*1000 > names {
		t.Errorf("%d of %d package names are stripped, such as %q", len(stripped), names, stripped[:min(20, len(stripped))])
	}
}

// TestLinesAlike: where one line of a list names a machine, the others do.
func TestLinesAlike(t *testing.T) {
	is := is.New(t)
	got, _ := Text("kernel of web01 is 4.18\nkernel of kitchen is 5.14")
	is.Equal(got, "kernel of [host] is 4.18\nkernel of [host] is 5.14")
	got, _ = Text("tasks:\n  - name: x\nweb01:\n")
	is.Equal(got, "tasks:\n  - name: x\n[host]:\n") // a word of the trade stays
}
