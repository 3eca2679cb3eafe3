package conf

import (
	"slices"
	"testing"

	"github.com/matryer/is"
)

func TestPostgreSQL(t *testing.T) {
	is := is.New(t)
	got := slices.Collect(PostgreSQL("# Port = 1\nPort = 5433 # ours\n\n data_directory='/srv/it''s # here'\nmax_connections 100\ninclude_dir 'conf.d'\nsearch_path = '\\'a'\n= 3\nbare\nopen = 'x"))
	is.Equal(got, []Line{
		{N: 2, Key: "port", Value: "5433", Set: true},
		{N: 4, Key: "data_directory", Value: "/srv/it's # here", Set: true},
		{N: 5, Key: "max_connections", Value: "100"},
		{N: 6, Key: "include_dir", Value: "conf.d"},
		{N: 7, Key: "search_path", Value: "'a", Set: true},
		{N: 9, Key: "bare"},
		{N: 10, Key: "open", Value: "x", Set: true},
	})
}

func TestHBA(t *testing.T) {
	is := is.New(t)
	for line, method := range map[string]string{
		"local all all peer map=a":                      "peer",
		"host all all 10.0.0.0/8 md5 # all":             "md5",
		"hostssl \"all x\" all 10.0.0.0 255.0.0.0 cert": "cert",
		"host all all 10.0.0.0 255.0.0.0":               "",
		"host all all":                                  "",
		"include other.conf":                            "",
		"# local all all peer":                          "",
	} {
		words, at := HBA(line)
		is.Equal(at >= 0, method != "")
		if at >= 0 {
			is.Equal(words[at], method)
		}
	}
}

func TestMySQL(t *testing.T) {
	is := is.New(t)
	got := slices.Collect(MySQL("!includedir /etc/my.cnf.d\n[mysqld]\n; none\ndatadir = \"/srv/my\" # ours\nlog_bin\n"))
	is.Equal(got, []Line{
		{N: 1, Key: "!includedir", Value: "/etc/my.cnf.d", Set: true},
		{N: 2, Section: "mysqld", Heading: true},
		{N: 4, Section: "mysqld", Key: "datadir", Value: `"/srv/my"`, Set: true},
		{N: 5, Section: "mysqld", Key: "log_bin"},
	})
}

func TestRedis(t *testing.T) {
	is := is.New(t)
	var got [][]string
	for words, err := range Redis("# dir /a\ndir \"/srv/\\x41\"\n save ''  \nrename-command a \"\n") {
		is.Equal(err != nil, words == nil)
		got = append(got, words)
	}
	is.Equal(got, [][]string{{"dir", "/srv/A"}, {"save", ""}, nil})
}

func TestApache(t *testing.T) {
	is := is.New(t)
	got := slices.Collect(Apache("# <VirtualHost a>\n<VirtualHost *:80 >\n  ServerAlias a \\\n   b\n</virtualhost>\nSSLEngine\nInclude x \\"))
	is.Equal(got, []Line{
		{N: 2, Heading: true, Key: "virtualhost", Value: "*:80", Set: true},
		{N: 3, Key: "serveralias", Value: "a b", Set: true},
		{N: 5, Heading: true, Key: "/virtualhost"},
		{N: 6, Key: "sslengine"},
		{N: 7, Key: "include", Value: "x", Set: true},
	})
}

// FuzzForms: no text of a machine stops a reader, and none has more lines than it has.
func FuzzForms(f *testing.F) {
	for _, seed := range []string{"a = 'b''c' # d", "host all all 1.2.3.4 255.0.0.0 md5", "!include x\n[mysqld]\na=b", `dir "/\x41" 'b'`, "<A b>\nc \\\n d\n</A>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func(string) func(func(Line) bool){
			func(s string) func(func(Line) bool) { return PostgreSQL(s) },
			func(s string) func(func(Line) bool) { return MySQL(s) },
			func(s string) func(func(Line) bool) { return Apache(s) },
		} {
			last := 0
			for l := range read(text) {
				if l.N <= last {
					t.Fatalf("line %d comes after %d", l.N, last)
				}
				last = l.N
			}
		}
		for range Redis(text) {
		}
		if words, at := HBA(text); at >= len(words) {
			t.Fatal(at)
		}
	})
}
