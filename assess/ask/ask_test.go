package ask

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess/host"
)

// TestTable has each row of the table name what a machine can be asked by.
func TestTable(t *testing.T) {
	is := is.New(t)
	is.Equal(len(checks()), strings.Count(checksTSV, "\n")-strings.Count(checksTSV, "\n#")-1) // the first line is a comment
	for _, c := range checks() {
		about := strings.HasPrefix(c.prints, "about ")
		if c.prints != "all" && c.prints != "errors" && !about {
			t.Errorf("%s: what it prints is %q", c.name, c.prints)
		}
		for _, file := range append(slices.Clone(c.program), c.file) {
			if _, err := path.Match(file, ""); file != "" && (!path.IsAbs(file) || path.Clean(file) != file || err != nil) {
				t.Errorf("%s: %q is no path", c.name, file)
			}
		}
		if strings.Contains(c.file, "*") != strings.Contains(strings.Join(append(append(slices.Clone(c.arguments), c.units...), c.program...), " "), "{1}") {
			t.Errorf("%s: a star has no use, or a use no star", c.name)
		}
	}
}

// machine is a root with some empty files.
func machine(t *testing.T, files ...string) host.Host {
	is := is.New(t)
	dir := t.TempDir()
	for _, f := range files {
		is.NoErr(os.MkdirAll(filepath.Dir(filepath.Join(dir, f)), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(dir, f), nil, 0o755))
	}
	h, err := host.OpenRoot(dir)
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(h.Close()) })
	return h
}

// commands are what a machine would be asked by.
func commands(h host.Host, wanted ...string) (all []string) {
	for _, c := range checks() {
		for _, q := range c.questions(h.FS(), func(unit string) bool { return slices.Contains(wanted, unit) }) {
			all = append(all, strings.Join(append([]string{q.program}, q.arguments...), " "))
		}
	}
	return all
}

func TestWhatIsAsked(t *testing.T) {
	is := is.New(t)
	h := machine(t, "usr/sbin/nginx", "usr/sbin/squid", "usr/sbin/visudo", "usr/sbin/php-fpm8.4", "usr/sbin/php-fpm7.4", "usr/bin/named-checkconf", "usr/sbin/named-checkconf",
		"usr/sbin/runuser", "etc/postgresql/17/main/postgresql.conf", "usr/bin/systemd-analyze", "etc/systemd/system/shop@.service", "etc/systemd/system/shop.service")
	is.Equal(commands(h, "nginx.service", "php8.4-fpm.service", "named.service", "postgresql@17-main.service", "haproxy.service", "shop.service"), []string{
		"/usr/sbin/nginx -t -q",
		"/usr/sbin/php-fpm8.4 -t",
		"/usr/bin/named-checkconf -z",
		"/usr/sbin/runuser -u postgres -- /usr/lib/postgresql/17/bin/postgres -C data_directory -D /etc/postgresql/17/main",
		"/usr/sbin/visudo -c",
		"/usr/bin/systemd-analyze verify --man=no shop.service",
	})
}

// TestHostileNames has a machine's names be no option and no word of a shell.
func TestHostileNames(t *testing.T) {
	is := is.New(t)
	files := []string{"usr/bin/systemd-analyze"}
	for _, name := range []string{"--root=x", "a b", "$(id)", "`id`", "x\n", "'", ".hidden"} {
		files = append(files, "etc/systemd/system/"+name+".service", "etc/postgresql/17/"+name+"/postgresql.conf", "usr/sbin/php-fpm"+name)
	}
	h := machine(t, append(files, "usr/sbin/runuser")...)
	for _, c := range checks() {
		for _, q := range c.questions(h.FS(), func(string) bool { return true }) {
			is.Equal(q.program, "") // none is asked
		}
	}
}

// TestWhatAnAnswerComesTo asks this very host's shell.
func TestWhatAnAnswerComesTo(t *testing.T) {
	is := is.New(t)
	h, err := host.OpenRoot("/")
	is.NoErr(err)
	defer h.Close()
	ask := func(row check, script string) Answer {
		row.name, row.file, row.units, row.program, row.arguments = "shell", "", []string{""}, []string{"/bin/sh"}, []string{"-c", script}
		questions := row.questions(h.FS(), nil)
		is.Equal(len(questions), 1)
		return questions[0].ask(t.Context(), h)
	}
	a := ask(check{prints: "all"}, "echo good; echo unknown word; exit 2")
	is.Equal([]any{a.Status, a.Text, a.OK(), a.File}, []any{2, "unknown word", false, "/bin/sh"})
	is.True(ask(check{prints: "all"}, "echo error").OK())
	is.Equal(ask(check{prints: "errors"}, "echo password; echo line 3 >&2; exit 1").Text, "line 3")
	is.True(ask(check{prints: "about own.service"}, "echo other.service is broken; exit 1").OK())
	is.Equal(ask(check{prints: "about own.service"}, "echo own.service is broken; exit 1").Status, 1)
}

func TestWhatIsKeptOfAnAnswer(t *testing.T) {
	is := is.New(t)
	lines := readable([]byte("zone x loaded\n\x1b[31mzone y: not found\x00\xff\x07\n\n" + strings.Repeat("ä", 1000) + "\nbye\n"))
	is.Equal(lines[1], "[31mzone y: not found")
	is.Equal(len([]rune(lines[2])), maxLine)
	is.Equal(telling(lines), []string{"[31mzone y: not found"})
	is.Equal(telling(slices.Repeat([]string{"well"}, 9)), slices.Repeat([]string{"well"}, maxLines))
}
