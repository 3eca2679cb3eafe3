package registry

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"svc/assess"
	"svc/backend/benchcpu"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/tools/convert"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// input reads a case: its first line has the releases, further ones the
// packages that the target gets, or with a minus before them those that the
// source has, or after an at a link and where it leads; its files are those of the source.
func input(t testing.TB, a *txtar.Archive) convert.Input {
	is := is.New(t)
	in := convert.Input{Installed: map[string]string{}, Brought: map[string]string{}, Links: map[string]string{}}
	for i, line := range strings.Split(strings.TrimSpace(string(a.Comment)), "\n") {
		f := strings.Fields(line)
		is.Equal(len(f), 2)
		if i == 0 {
			in.Source, in.Target = lookup(t, f[0]), lookup(t, f[1])
			continue
		}
		if link, ok := strings.CutPrefix(f[0], "@"); ok {
			in.Links[link] = f[1]
			in.Files = append(in.Files, convert.File{Path: link})
			continue
		}
		if had, ok := strings.CutPrefix(f[0], "-"); ok {
			in.Installed[had] = f[1]
			continue
		}
		in.Brought[f[0]] = f[1]
	}
	for _, f := range a.Files {
		in.Files = append(in.Files, convert.File{Path: "/" + f.Name, Text: string(f.Data)})
	}
	in.Pages = sliced.Filter(in.Files, func(f convert.File) bool { return slices.Contains(assess.PageSettings, filepath.Base(f.Path)) })
	return in
}

func lookup(t testing.TB, slug string) release.Release {
	r, ok := release.Lookup(slug)
	if !ok {
		t.Fatal("no release", slug)
	}
	return r
}

// byConverter runs every converter that takes files of the input.
func byConverter(in convert.Input) map[string]convert.Result {
	files := map[string][]convert.File{}
	for _, f := range in.Files {
		if name := Takes(in, f.Path); name != "" {
			files[name] = append(files[name], f)
		}
	}
	results := map[string]convert.Result{}
	for name, all := range files {
		of := in
		of.Files = all
		results[name] = Run(name, of)
	}
	return results
}

// printed is a result as its golden file has it.
func printed(name string, r convert.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "== %s\n", name)
	for _, path := range slices.Sorted(maps.Keys(r.Refusals)) {
		for _, c := range r.Refusals[path] {
			fmt.Fprintf(&b, "refused %s:%d: %s (%s)\n", path, c.Line, c.Text, c.Why)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(r.Changes)) {
		for _, c := range r.Changes[path] {
			fmt.Fprintf(&b, "changed %s:%d: %s => %s (%s)\n", path, c.Line, c.Was, strings.ReplaceAll(c.Now, "\n", "; "), c.Why)
		}
	}
	for _, l := range r.Links {
		fmt.Fprintf(&b, "link %s -> %s for %s\n", l.Path, l.Target, l.From)
	}
	for _, l := range r.Removed {
		fmt.Fprintf(&b, "removed %s for %s\n", l.Path, l.From)
	}
	for _, p := range r.Packages {
		fmt.Fprintf(&b, "package %s\n", p)
	}
	for _, f := range r.Files {
		fmt.Fprintf(&b, "-- %s --\n%s", f.Path, f.Text)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.txtar")
	is.New(t).NoErr(err)
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, file := range cases {
		t.Run(filepath.Base(file), func(t *testing.T) {
			is := is.New(t)
			a, err := txtar.ParseFile(file)
			is.NoErr(err)
			results := byConverter(input(t, a))
			got := ""
			for _, name := range slices.Sorted(maps.Keys(results)) {
				got += printed(name, results[name])
			}
			golden := strings.TrimSuffix(file, ".txtar") + ".golden"
			if *update {
				is.NoErr(os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			is.NoErr(err)
			is.Equal(got, string(want))
		})
	}
}

// TestNothingIsLost: whatever comes in, every line is there in its order, or
// there is a change that says what became of it, or the file is refused.
func TestNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := registry[rapid.IntRange(0, len(registry)-1).Draw(t, "converter")]
		text := rapid.SampledFrom(scraps).Draw(t, "first") + "\n" + strings.Join(rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(scraps), rapid.String())).Draw(t, "lines"), "\n")
		kept(t, c, rapid.SampledFrom(pairs).Draw(t, "pair"), rapid.IntRange(0, len(c.takes)-1).Draw(t, "file"), text)
	})
}

// scraps are lines of configuration of all kinds.
var scraps = strings.Split(`# comment
Order allow,deny
Allow from 10.0.0.0/8
<Directory /var/www>
</Directory>
LoadModule php5_module modules/libphp5.so
key = value
[section]
listen = /run/php-fpm/www.sock
zone "example.org" IN { type master; file "master/example.org"; };
options {
};
user nginx;
broken {{{ "
security = share
valid users = @wheel, anna
[domain/example.org]
logpath = /var/log/secure
backend = gamin
vrrp_instance V {
restrict 10.0.0.0 mask 255.0.0.0 nomodify
server -4 time.example.org iburst autokey
pickup fifo n - - 60 1 pickup
  -o smtpd_tls_security_level=encrypt
hosts: files nisplus [NOTFOUND=return] dns
local all all ident map=a
host all all 10.0.0.0 255.0.0.0 md5 clientcert=1
*/5 * * * * apache /usr/bin/true
* soft nofile 65536
/srv 10.0.0.0/8(rw,frob)
RPCNFSDARGS="-N 3"
$ModLoad imuxsock
*filter
-A INPUT -s ! 10.0.0.0/8 -m state -j ACCEPT
COMMIT
include "/etc/nftables/a.nft"
<zone><service name="ssh"/></zone>
MinimalMark=100
*.* ~
value \`, "\n")

type failer interface{ Fatalf(string, ...any) }

// pairs are moves of every direction.
var pairs = [][2]string{{"centos-7", "debian-13"}, {"centos-7", "rocky-9"}, {"debian-11", "almalinux-9"}, {"debian-12", "fedora-42"}, {"centos-7", "sles-15"}, {"debian-11", "sles-15"}}

// kept checks one text through one converter, as the nth kind of its files.
func kept(t failer, c converter, pair [2]string, n int, text string) {
	source, _ := release.Lookup(pair[0])
	target, _ := release.Lookup(pair[1])
	name := strings.ReplaceAll(c.takes[n], "*", "x")
	in := convert.Input{Source: source, Target: target, Files: []convert.File{{Path: name, Text: text}}, Brought: map[string]string{"php8.4-fpm": "8.4", "php-fpm": "8.0"}}
	r := Run(c.name, in)
	if len(r.Refusals[name]) > 0 {
		if len(r.Files) > 0 {
			t.Fatalf("%s: a refused file is written", c.name)
		}
		return
	}
	changed := map[string]bool{}
	for _, change := range r.Changes[name] {
		changed[change.Was] = true
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		line = strings.TrimSpace(line)
		there := slices.ContainsFunc(r.Files, func(f convert.File) bool { return strings.Contains(f.Text, line) })
		if line != "" && !there && !changed[line] {
			t.Fatalf("%s: %q is lost", c.name, line)
		}
	}
}

func FuzzConvert(f *testing.F) {
	for i, c := range registry {
		for n := range c.takes {
			for _, line := range scraps {
				f.Add(byte(i), byte(n), byte(n), line)
			}
		}
	}
	f.Fuzz(func(t *testing.T, i, n, m byte, text string) {
		c := registry[int(i)%len(registry)]
		kept(t, c, pairs[int(m)%len(pairs)], int(n)%len(c.takes), text)
	})
}

func TestWhatIsNotText(t *testing.T) {
	is := is.New(t)
	in := convert.Input{Source: lookup(t, "centos-7"), Target: lookup(t, "debian-13"), Files: []convert.File{
		{Path: "/etc/httpd/conf.d/latin.conf", Text: "# \xe4\n"},
		{Path: "/etc/httpd/conf.d/large.conf", Text: strings.Repeat("#", maxText+1)},
	}}
	r := Run("httpd", in)
	is.Equal(len(r.Refusals), 2)
	is.Equal(len(r.Files), 0)
	is.Equal(len(Run("nothing", in).Files), 0)
}

// TestWhatNginxStillTakes: a directive is refused from the release on whose nginx has it no more.
func TestWhatNginxStillTakes(t *testing.T) {
	is := is.New(t)
	refused := func(target string) int {
		return len(Run("nginx", convert.Input{Source: lookup(t, "debian-11"), Target: lookup(t, target), Files: []convert.File{{Path: "/etc/nginx/conf.d/a.conf", Text: "server {\n  ssl on;\n}\n"}}}).Refusals)
	}
	is.Equal(refused("alpine-3.18"), 0)
	is.Equal(refused("alpine-3.22"), 1)
	is.Equal(refused("almalinux-9"), 0)
	is.Equal(refused("almalinux-10"), 1)
}

// TestHostileTexts: what a file repeats does not multiply the work that it is.
func TestHostileTexts(t *testing.T) {
	lines := func(line string) string { return strings.Repeat(line+"\n", (maxText-100)/(len(line)+1)) }
	for _, c := range []struct{ converter, path, text string }{
		{"cron", "/etc/cron.d/x", lines(strings.Repeat("-", maxLine-100) + " * * * * root true")},
		{"fail2ban", "/etc/fail2ban/jail.local", lines(" /var/log/x")},
		{"fail2ban", "/etc/fail2ban/jail.local", lines("[ssh]")},
		{"iptables", "/etc/sysconfig/iptables", "*filter\n" + lines(":a - [0:0]\n-A INPUT -j b")},
		{"iptables", "/etc/sysconfig/iptables", "*filter\n" + lines("-A INPUT"+strings.Repeat(" -s !", maxLine/6))},
		{"dovecot", "/etc/dovecot/dovecot.conf", lines("passdb {")},
		{"postfix", "/etc/postfix/main.cf", lines("frobnicate = $")},
		{"postgresql", "/etc/postgresql/13/main/pg_hba.conf", lines("local all all cert" + strings.Repeat(" clientcert=1", maxLine/14))},
		{"nsswitch", "/etc/nsswitch.conf", strings.Repeat("[]", maxText/2)},
		{"samba", "/etc/samba/smb.conf", "valid users =" + strings.Repeat(" @wheel", maxText/7-3)},
		{"httpd", "/etc/httpd/conf.d/x.conf", "Alias" + strings.Repeat(" /etc/httpd", maxText/11-3)},
	} {
		in := convert.Input{Source: lookup(t, "centos-7"), Target: lookup(t, "debian-13"), Files: []convert.File{{Path: c.path, Text: c.text}}, Brought: map[string]string{"postgresql-17": ""}}
		begun := benchcpu.Used(t)
		Run(c.converter, in)
		if took := benchcpu.Used(t) - begun; took > 20*time.Second {
			t.Errorf("%s: %.20q took %v", c.converter, c.text, took)
		}
	}
}
