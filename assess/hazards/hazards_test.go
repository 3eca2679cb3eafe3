package hazards

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/backend/benchcpu"
	"svc/backend/release"
	"svc/backend/sliced"
)

// TestEveryRowShowsAndIsQuiet runs the examples of all rows, and sees that what a row
// asks for can be asked.
func TestEveryRowShowsAndIsQuiet(t *testing.T) {
	is := is.New(t)
	table := Curated()
	is.True(len(table) >= 500)
	for _, r := range table {
		if err := (Table{r}).Check(); err != nil {
			t.Error(err)
		}
		if strings.ContainsAny(r.Title+r.Text+r.Do, "\x00\x1b") || len(r.Title) > 100 || strings.HasSuffix(r.Title, ".") || !strings.HasSuffix(r.Text, ".") {
			t.Errorf("%s: a title is up to 100 letters without a full stop, a text ends in one", r.Key)
		}
	}
}

// TestRowsSayWhereTheyHold finds rows that hold on no way between known releases.
func TestRowsSayWhereTheyHold(t *testing.T) {
	for _, r := range Curated() {
		if r.Towards.always || r.Towards.anywhere {
			continue
		}
		holds := false
		for _, from := range release.All() {
			m := r.Shows.machine()
			m.Packages = nil
			m.Release = from
			for _, to := range release.All() {
				holds = holds || !to.Older(from) && r.Towards.crossed(m, &to)
			}
		}
		if !holds {
			t.Errorf("%s holds on no way between releases", r.Key)
		}
	}
}

func TestConditions(t *testing.T) {
	m := func(text string) *Machine {
		e, err := parseExample(text)
		is.New(t).NoErr(err)
		return e.machine()
	}
	for _, c := range []struct {
		when, machine string
		want          bool
	}{
		{"package(a) and package(b)", "a 1 ;; b 2", true},
		{"package(a) and not package(b)", "a 1 ;; b 2", false},
		{"(package(a) or package(b)) and package(c)", "b 1 ;; c 2", true},
		{`package(a, "<8.7")`, "a 1:8.5p1-3.el8", true},
		{`package(a, "<8.7")`, "a 8.10-1", false},
		{`line(/etc/x, "^Port 22$")`, "/etc/x: # Port 22\\nPort 22", true},
		{`line(/etc/x, "Port")`, "/etc/x: # Port 22\\n; Port\\n// Port", false},
		{`set("/etc/*.cnf", "default_plugin", "na.*")`, "/etc/my.cnf: default-plugin = native", true},
		{`set(/etc/x, "vfs objects", ".*ceph.*")`, "/etc/x: [share]\\n vfs  objects = acl ceph", true},
		{`set(/etc/x, "dnssec_enable", "yes")`, "/etc/x: dnssec-enable yes;", true},
		{`set(/etc/x, "gateway4")`, "/etc/x: gateway4: 10.0.0.1", true},
		{`sshd(port, "23")`, "/etc/ssh/sshd_config: Include sshd_config.d/*.conf\\nPort 22 ;; /etc/ssh/sshd_config.d/a.conf: Port 23", true},
		{`sshd(port)`, "/etc/ssh/sshd_config: Match User a\\nPort 22", false},
		{`mount(xfs, "(no)?barrier")`, "/etc/fstab: /dev/sda1 / xfs defaults,nobarrier 0 0", true},
		{`mount(xfs)`, "/etc/fstab: /dev/sda1 / ext4 defaults 0 0", false},
		{`mounts(twice)`, "/etc/fstab: /dev/a /srv xfs defaults 0 0\\n/dev/b /srv/ xfs defaults 0 0", true},
		{`mounts(twice)`, "/etc/fstab: /dev/a none swap sw 0 0\\n/dev/b none swap sw 0 0", false},
		{`mounts(disorder)`, "/etc/fstab: /dev/a /var/log xfs defaults 0 0\\n/dev/b / xfs defaults 0 0", true},
		{`mounts(disorder)`, "/etc/fstab: /dev/a /var xfs defaults 0 0\\n/dev/b /var2 xfs defaults 0 0", false},
		{`kernel("fips=1")`, `/etc/default/grub: GRUB_CMDLINE_LINUX="quiet fips=1"`, true},
		{`kernel("fips=1")`, `/etc/default/grub: GRUB_CMDLINE_LINUX="quiet fips=10"`, false},
		{`unit("sshd.*")`, "unit: sshd.service", true},
		{`link(/etc/localtime, "/US/")`, "/etc/localtime -> /usr/share/zoneinfo/US/Eastern", true},
		{`from(el<9|debian<11)`, "release: debian-10", true},
		{`from(el<9)`, "release: el-9", false},
		{`cpu(x86-64-v2)`, "/proc/cpuinfo: flags : fpu sse2", true},
		{`cpu(x86-64-v2)`, "-", false},
		{`fact(selinux, SELINUX, enforcing)`, "fact: selinux SELINUX enforcing", true},
	} {
		is := is.New(t)
		condition, err := ParseCondition(c.when)
		is.NoErr(err)
		if _, ok := condition.met(m(c.machine)); ok != c.want {
			t.Errorf("%s of %s: %v", c.when, c.machine, ok)
		}
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	row := func(i int, cell string) string {
		c := strings.Split("hazard.x\tel>=9\tpath(/x)\tlow\t-\tt\ttext.\tdo\to\t/x: a\t-", "\t")
		c[i] = cell
		return strings.Join(c, "\t")
	}
	for _, c := range []struct{ row, says string }{
		{"a\tb", "2 cells"},
		{row(0, "X"), "no key"},
		{row(1, "el>9"), "nothing like"},
		{row(1, "nonesuch>=9"), "neither a family"},
		{row(1, "openssh"), "needs a version"},
		{row(2, "path(/x) path(/y)"), "letter 10"},
		{row(2, "path(x)"), "whole path"},
		{row(2, "path(/x"), "not closed"},
		{row(2, "wish(/x)"), "begins no question"},
		{row(2, `line(/x, "(")`), "missing closing"},
		{row(2, strings.Repeat("not ", 30)+"path(/x)"), "levels deep"},
		{row(3, "worst"), "severity"},
		{row(4, "boredom"), "stops"},
		{row(5, ""), "each say something"},
		{row(9, "what"), "example"},
		{row(9, "/y: a"), "does not meet"},
		{row(10, "/x: a"), "is quiet meets"},
	} {
		t.Run(c.says, func(t *testing.T) {
			is := is.New(t)
			table, err := Read(fstest.MapFS{"a.tsv": {Data: []byte("# comment\n" + c.row + "\n")}})
			if err == nil {
				err = table.Check()
			}
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), c.says))
		})
	}
	is := is.New(t)
	_, err := Read(fstest.MapFS{})
	is.True(err != nil)
	own, err := Parse("own.tsv", row(0, Curated()[0].Key))
	is.NoErr(err)
	_, err = Curated().With(own)
	is.True(err != nil) // a key of the program's own
}

// TestHoldsWhereItIsCrossed: a row holds from a release that has not what the target has.
func TestHoldsWhereItIsCrossed(t *testing.T) {
	for _, c := range []struct {
		towards, from, to, packages string
		want                        bool
	}{
		{"el>=9", "centos-8", "almalinux-9", "", true},
		{"el>=9", "rocky-9", "almalinux-10", "", false},
		{"el>=9", "debian-12", "rocky-9", "", true},
		{"openssh>=8.8", "debian-11", "debian-12", "openssh-server 1:8.4p1-5", true},
		{"openssh>=8.8", "debian-11", "debian-12", "openssh-server 1:9.2p1-5~bpo11", false}, // a newer one is there
		{"openssh>=8.8", "debian-11", "debian-12", "bash 5", false},                         // none is there
		{"rpm", "debian-12", "rocky-9", "", true},
		{"rpm", "rocky-8", "rocky-9", "", false},
		{"*", "debian-12", "debian-13", "", true},
		{"linux>=5.19", "sles-15", "debian-13", "", false},
	} {
		is := is.New(t)
		e, err := parseExample(cmpOr(c.packages, "-"))
		is.NoErr(err)
		m := e.machine()
		var ok bool
		m.Release, ok = release.Lookup(c.from)
		is.True(ok)
		to, ok := release.Lookup(c.to)
		is.True(ok)
		towards, err := parseTowards(c.towards)
		is.NoErr(err)
		if got := towards.crossed(m, &to); got != c.want {
			t.Errorf("%s from %s to %s: %v", c.towards, c.from, c.to, got)
		}
	}
}

func cmpOr(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// TestNot is that a condition or its negation is met, and never both.
func TestNot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"package(a)", "path(/a)", `line(/a, "b")`, "package(a) and path(/a)", `path(/a) or not set(/a, "b")`}).Draw(t, "condition")
		machine := rapid.SampledFrom([]string{"-", "a 1", "/a: b", "a 1 ;; /a: c"}).Draw(t, "machine")
		e, err1 := parseExample(machine)
		c, err2 := ParseCondition(text)
		n, err3 := ParseCondition("not (" + text + ")")
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
		_, met := c.met(e.machine())
		_, not := n.met(e.machine())
		if met == not {
			t.Fatalf("%s of %s: %v and %v", text, machine, met, not)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, r := range Curated()[:20] {
		f.Add(r.When.String())
	}
	f.Add("not (path(/a) or line(\"/b /c\", \"x\")) and package(d, \"<8\")")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCondition(text)
		if err == nil {
			c.met(&Machine{Files: memory{"/etc/a": {text: "a = b\n"}}, Packages: map[string][]string{"a": {"1"}}})
		}
		_, _ = Parse("a.tsv", text)
		_, _ = Parse("a.tsv", fmt.Sprintf("hazard.x\t*\t%s\tlow\t-\tt\tt.\td\to\t-\t-", text))
	})
}

// BenchmarkEvaluate is what all rows cost a plan, of a machine that has each file
// and package that the examples have.
func BenchmarkEvaluate(b *testing.B) {
	all := Example{}
	for _, r := range Curated() {
		all.parts = append(all.parts, r.Shows.parts...)
	}
	from, _ := release.Lookup("centos-7")
	to, _ := release.Lookup("debian-13")
	table := Curated()
	b.ResetTimer()
	defer benchcpu.Start(b)()
	for b.Loop() {
		m := all.machine()
		m.Release = from
		table.Evaluate(m, &to)
	}
	b.ReportMetric(float64(len(table)), "rows")
}

func TestStatementsOfABlockInOneLine(t *testing.T) {
	is := is.New(t)
	has := func(line, name, value string) bool { return slices.Contains(statements(line), [2]string{name, value}) }
	is.True(has(`zone "x" { type primary; auto-dnssec maintain; };`, "auto_dnssec", "maintain"))
	is.True(has("auto-dnssec maintain;", "auto_dnssec", "maintain"))
	is.True(!has("# auto-dnssec maintain;", "auto_dnssec", "maintain"))
	is.True(!has("dsn = a;b=c", "b", "c")) // no block
}

// placed are the hazards of an example towards Debian 13 that stand in lines of it.
func placed(t *testing.T, example string) []string {
	t.Helper()
	e, err := parseExample(example)
	is.New(t).NoErr(err)
	target, _ := release.Lookup("debian-13")
	return sliced.FilterMap(Curated().Evaluate(e.machine(), &target), func(h Hit) (string, bool) { return h.Key, len(h.Places) > 0 })
}

// TestOneLineIsOneTrouble: a setting that a row of its own tells of is not told again.
func TestOneLineIsOneTrouble(t *testing.T) {
	is := is.New(t)
	is.Equal(placed(t, `bind9 9.18 ;; release: debian-12 ;; /etc/bind/named.conf.local: auto-dnssec maintain;\nalt-transfer-source 10.0.0.1;`), []string{"hazard.bind.auto-dnssec", "hazard.named.alt-transfer-source"})
}

// TestALineMayHaveSeveralThatWent: what a package brings back hides nothing else of its line.
func TestALineMayHaveSeveralThatWent(t *testing.T) {
	is := is.New(t)
	is.Equal(placed(t, `python3 3.11.2 ;; release: debian-12 ;; /usr/local/bin/a.py: import sys, spwd, crypt\n`), []string{"hazard.code.python-3-13-crypt.packaged", "hazard.code.python-3-13-spwd"})
}

// TestWhatAPackageShippedStaysBehind: a program of the target does not read lines of the
// source's packages, where it has files of its own.
func TestWhatAPackageShippedStaysBehind(t *testing.T) {
	is := is.New(t)
	table, err := Parse("t", strings.Join([]string{
		"hazard.x.stops\tdovecot>=2.4\tline(\"/etc/dovecot/*.conf /etc/passwd\", \"old\")\thigh\tservice\tt\ttext.\tdo\to\t/etc/dovecot/a.conf: old\t-",
		"hazard.x.behaves\tdovecot>=2.4\tline(\"/etc/dovecot/*.conf\", \"old\")\tmedium\t-\tt\ttext.\tdo\to\t/etc/dovecot/a.conf: old\t-",
		"hazard.x.family\tdebian>=13\tline(\"/etc/dovecot/*.conf\", \"old\")\thigh\tservice\tt\ttext.\tdo\to\t/etc/dovecot/a.conf: old\t-",
	}, "\n"))
	is.NoErr(err)
	target, _ := release.Lookup("debian-13")
	machine := func(shipped map[string]string) *Machine {
		m := &Machine{Packages: map[string][]string{"dovecot-core": {"1:2.3.19-1"}}, Shipped: shipped, Files: memory{"/etc/dovecot/a.conf": {text: "old\n"}, "/etc/dovecot/b.conf": {text: "new\n"}}}
		m.Release, _ = release.Lookup("debian-12")
		return m
	}
	keys := func(m *Machine) (all []string) {
		for _, h := range table.Evaluate(m, &target) {
			all = append(all, strings.TrimPrefix(h.Key, "hazard.x."))
		}
		return all
	}
	all := []string{"behaves", "family", "stops"}
	is.Equal(keys(machine(nil)), all) // a person's file
	is.Equal(keys(machine(map[string]string{"/etc/dovecot/b.conf": "dovecot-core"})), all)
	ours := machine(map[string]string{"/etc/dovecot/a.conf": "dovecot-core"})
	is.Equal(keys(ours), []string{"behaves", "family"}) // a family says nothing of the program
	both := machine(map[string]string{"/etc/dovecot/a.conf": "dovecot-core"})
	both.Files.(memory)["/etc/dovecot/c.conf"] = entry{text: "old\n"}
	is.Equal(table.Evaluate(both, &target)[2].Places, []Place{{"/etc/dovecot/c.conf", 1}}) // that of a person alone
	wrote, err := ParseCondition(`wrote("/etc/dovecot/*.conf", "old")`)
	is.NoErr(err)
	found, ok := wrote.met(both)
	is.True(ok)
	is.Equal(found.Places, []Place{{"/etc/dovecot/c.conf", 1}})
	ours.Brought = map[string]string{"dovecot-core": "1:2.4.1"}
	is.Equal(keys(ours), []string{"behaves"})
	passwd := machine(ours.Shipped)
	passwd.Files.(memory)["/etc/passwd"] = entry{text: "old:x:1000:1000::/:/bin/sh\n"}
	is.Equal(keys(passwd), all) // what no package ships is read
	is.Equal(len(table.Evaluate(ours, nil)), 0)
}

// TestAuthoritiesThatNobodyTrusts are no trouble of a machine that only serves them.
func TestAuthoritiesThatNobodyTrusts(t *testing.T) {
	is := is.New(t)
	i := slices.IndexFunc(Curated(), func(r *Row) bool { return r.Key == "hazard.tls.cert-lax" })
	m := Curated()[i].Shows.machine()
	m.Files.(memory)["/etc/nginx/own.crt"] = m.Files.(memory)[m.Certificates[0]]
	m.Certificates = append(m.Certificates, "/etc/nginx/own.crt")
	found, ok := Curated()[i].When.met(m)
	is.True(ok)
	is.True(slices.Contains(found.Names, m.Certificates[0]) && !slices.Contains(found.Names, "/etc/nginx/own.crt"))
}
