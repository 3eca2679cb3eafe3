package hazards

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/release"
)

// TestRemovals: what people's programs use of what the target's versions have no more is
// named by file and line, wherever the programs stand and by whatever name they import it.
func TestRemovals(t *testing.T) {
	for _, c := range []struct{ file, text, pkg, says, do string }{
		{"/srv/a/b/c/tool", "#!/usr/bin/python3\nimport configparser, telnetlib", "python3", "telnetlib", "$data apt-get install -y python3-zombie-telnetlib"},
		{"/srv/www/cgi/a.py", "x = 1\nimport cgi, html", "python3", "cgi", "$data apt-get install -y python3-legacy-cgi"},
		{"/usr/local/sbin/catch", "#!/usr/bin/python3\nimport smtpd", "python3", "smtpd", "$data apt-get install -y python3-standard-smtpd python3-standard-asynchat"}, // it imports asynchat, on which its package does not depend
		{"/opt/a/setup.py", "if x:\n    from distutils.core import setup", "python3", "distutils", "$data apt-get install -y python3-setuptools"},
		{"/opt/a/b.py", "import configparser as c\np = c.SafeConfigParser()", "python3", "configparser.SafeConfigParser", "Write configparser.ConfigParser()."},
		{"/opt/a/b.py", "x = 0\nfrom configparser import (RawConfigParser, SafeConfigParser)", "python3", "configparser.SafeConfigParser", "Write configparser.ConfigParser()."},
		{"/usr/local/lib/python3.11/dist-packages/m.py", "import numpy as np\nx = np.array(y, dtype=np.float_)", "python3-numpy", "numpy.float_", "Write numpy.float64."},
		{"/home/a/b.py", "import pandas as pd\na = a.append({}, ignore_index=True)", "python3-pandas", "DataFrame.append and Series.append", ""},
		{"/usr/local/bin/r", "#!/usr/bin/env python3\nfrom sqlalchemy import create_engine\ne.execute('select 1')", "python3-sqlalchemy", "Engine.execute()", ""},
		{"/opt/a/urls.py", "x = 0\nfrom django.conf.urls import url", "python3-django", "django.conf.urls.url()", ""},
		{"/var/www/a/lib/b.rb", "x = 1\nputs File.exists?(x)", "ruby", "File.exists? and Dir.exists?", "Write exist?."},
	} {
		t.Run(c.says, func(t *testing.T) {
			is := is.New(t)
			m := Example{[]part{{partFile, c.file, c.text}, {partPackage, c.pkg, "1"}, {"release", "", "debian-11"}}}.machine()
			m.Packages["python3"] = []string{"3.9"}
			hits := Curated().Evaluate(m, &release.Release{Family: "debian", Version: "13"})
			i := slices.IndexFunc(hits, func(h Hit) bool { return strings.HasSuffix(h.Title, ": "+c.says) })
			is.True(i >= 0)
			is.Equal(hits[i].Places, []Place{{c.file, strings.Count(c.text, "\n") + 1}})
			is.True(c.do == "" || hits[i].Do == c.do)
			is.Equal(hits[i].Severity == "medium", strings.HasPrefix(c.do, "$data "))
			is.Equal(slices.IndexFunc(hits[i+1:], func(h Hit) bool { return strings.HasSuffix(h.Title, ": "+c.says) }), -1) // one of them
		})
	}
}

// TestProgramsAmongThoseOfPackages are read as are those in people's places: the folder that
// is a person's whole, and one file of a folder that is a package's.
func TestProgramsAmongThoseOfPackages(t *testing.T) {
	is := is.New(t)
	run, module, backend, page := "/usr/lib/own/bin/run", "/usr/lib/own/module.py", "/usr/lib/cups/backend/own", "/usr/lib/own/bin/page"
	use := "#!/usr/bin/python3\nimport imp\n"
	m := Example{[]part{
		{partFile, run, use},
		{partFile, module, use},
		{partFile, backend, use},
		{partFile, page, "#!/usr/bin/php\n<?php\necho implode($a, '; ');\n"},
		{partFile, "/usr/lib/cups/backend/other", use},
		{"release", "", "debian-11"},
		{partPackage, "python3", "3.9"},
		{partPackage, "php7.4-cli", "7.4"},
	}}.machine()
	m.Strays = []Stray{{run, "/usr/lib/own"}, {page, "/usr/lib/own"}, {backend, ""}}
	places := map[string][]Place{}
	for _, h := range Curated().Evaluate(m, &release.Release{Family: "debian", Version: "13"}) {
		places[h.Key] = h.Places
	}
	is.Equal(places["hazard.code.python-3-12-imp.packaged"], []Place{{backend, 2}, {run, 2}, {module, 2}})
	is.Equal(places["hazard.php.code-eight"], []Place{{page, 3}})
}

// TestOtherLanguagesAreNotPHP, though they stand where people keep programs of PHP.
func TestOtherLanguagesAreNotPHP(t *testing.T) {
	is := is.New(t)
	braces := func(text string) bool {
		m := Example{[]part{{partFile, "/usr/local/sbin/report", text}, {"release", "", "debian-11"}, {partPackage, "php7.4-cli", "7.4"}}}.machine()
		return slices.ContainsFunc(Curated().Evaluate(m, &release.Release{Family: "debian", Version: "13"}), func(h Hit) bool { return h.Key == "hazard.php.braces" })
	}
	is.True(braces("#!/usr/bin/php\n<?php\necho $n{$i};\n"))
	is.True(!braces("#!/usr/bin/perl\nprint $n{$i};\n"))
}

// TestJobsStandAnywhere: a script of the shell is looked at as a job is, wherever people
// keep programs, and as one file among those of a package.
func TestJobsStandAnywhere(t *testing.T) {
	is := is.New(t)
	probe, script := "/usr/lib/nagios/plugins/own", "/srv/a/b/c/tell.sh"
	m := Example{[]part{
		{partFile, probe, "#!/bin/sh\nlast -n 3\n"},
		{partFile, script, "set -e\nlastlog | mail root\n"},
		{partFile, "/srv/a/b/words", "#!/usr/bin/tool\nlastlog\n"},
		{partFile, "/usr/lib/nagios/plugins/other", "#!/bin/sh\nlast -n 3\n"},
		{"release", "", "debian-12"},
	}}.machine()
	m.Strays = []Stray{{probe, ""}}
	hits := Curated().Evaluate(m, &release.Release{Family: "debian", Version: "13"})
	i := slices.IndexFunc(hits, func(h Hit) bool { return h.Key == "hazard.login.last-debian" })
	is.True(i >= 0)
	is.Equal(hits[i].Places, []Place{{script, 2}, {probe, 2}})
}

// TestPreloadedLibraries: one that the plan brings for the target's server is no trouble.
func TestPreloadedLibraries(t *testing.T) {
	const key = "hazard.postgresql.preload"
	for _, c := range []struct {
		loads, brings string
		told          bool
	}{
		{"pg_stat_statements,pg_cron", "postgresql-17-cron", false},
		{"pg_stat_statements,pg_cron", "postgresql-17", true},
		{"pg_cron,timescaledb", "postgresql-17-cron", true},
		{"pgaudit", "postgresql17-pgaudit", false},
	} {
		t.Run(c.loads+" "+c.brings, func(t *testing.T) {
			m := Example{[]part{{partFile, "/etc/postgresql/15/main/postgresql.conf", "shared_preload_libraries = '" + c.loads + "'"}, {"release", "", "debian-12"}}}.machine()
			m.Brought = map[string]string{c.brings: ""}
			hits := Curated().Evaluate(m, &release.Release{Family: "debian", Version: "13"})
			is.New(t).Equal(slices.ContainsFunc(hits, func(h Hit) bool { return h.Key == key }), c.told)
		})
	}
}

// TestRemovalsAreQuiet: what has the same name and is something else is not told, nor what
// packages and other people brought.
func TestRemovalsAreQuiet(t *testing.T) {
	for _, c := range []struct{ file, text string }{
		{"/opt/a/b.py", "import cgitools, mycgi\nimport numpy\nx = numpy.float64(1)\nlines = []\nlines.append(x)"},
		{"/opt/a/b.py", "import np\nx = np.float_(1)"}, // not NumPy
		{"/opt/a/b.py", "# import telnetlib\nx.telnetlib()"},
		{"/opt/a/venv/lib/python3.11/site-packages/a/b.py", "import telnetlib"},
		{"/opt/a/node_modules/gyp/b.py", "import telnetlib"},
		{"/srv/data/notes", "import telnetlib"},
		{"/opt/a/b.pl", "import telnetlib"},
	} {
		m := Example{[]part{{partFile, c.file, c.text}, {"release", "", "debian-12"}, {partPackage, "python3", "3.11"}, {partPackage, "python3-numpy", "1.24"}, {partPackage, "perl", "5.36"}}}.machine()
		for _, h := range Curated().Evaluate(m, &release.Release{Family: "debian", Version: "13"}) {
			if strings.HasPrefix(h.Key, "hazard.code.") {
				t.Errorf("%s: %s", c.file, h.Title)
			}
		}
	}
}

// TestOwnModulesAmongPips: in the folder of the whole machine's modules, those that a person
// copied there are read, and those that pip lists are not.
func TestOwnModulesAmongPips(t *testing.T) {
	is := is.New(t)
	dir := "/usr/local/lib/python3.11/dist-packages/"
	own, theirs, old := dir+"own/a.py", dir+"theirs/a.py", dir+"old/a.py"
	m := Example{[]part{
		{partFile, own, "import telnetlib"},
		{partFile, theirs, "import telnetlib"},
		{partFile, dir + "Other_Name-1.0.dist-info/RECORD", "theirs/a.py,sha256=x,16\nOther_Name-1.0.dist-info/RECORD,,"},
		{partFile, old, "import telnetlib"},
		{partFile, dir + "Old-2.1.egg-info/PKG-INFO", "Name: Old"},
		{"release", "", "debian-12"},
		{partPackage, "python3", "3.11"},
	}}.machine()
	for _, h := range Curated().Evaluate(m, &release.Release{Family: "debian", Version: "13"}) {
		if h.Key == "hazard.code.python-3-13-telnetlib.packaged" {
			is.Equal(h.Places, []Place{{own, 1}})
			return
		}
	}
	t.Error("not told")
}

// TestScriptsThatWereNotRead are told by the first of them: where a folder has more than a
// pattern finds, and where they stand deeper than any looks, but for other people's.
func TestScriptsThatWereNotRead(t *testing.T) {
	for file, says := range map[string]string{
		"/var/www/a/b/c/d/e/f.php":        "/var/www/a/b/c/d/e/f.php",
		"/var/www/a/b/c/d/f.php":          "",
		"/var/www/a/vendor/b/c/d/e/f.php": "",
		"/var/www/a/vendor/b/c/d/f.php":   "",
		"/opt/a/b/c/d.php":                "/opt/a/b/c/d.php",
		"/home/a/www/b/c.php":             "/home/a/www/b/c.php",
		"/opt/a/b.php":                    "",
	} {
		t.Run(file, func(t *testing.T) {
			is := is.New(t)
			m := Example{[]part{{partFile, file, "<?php"}, {"release", "", "debian-11"}, {partPackage, "php7.4-cli", "7.4"}}}.machine()
			found := Match{}
			unreadScripts().When.root.met(m, &found)
			if says == "" {
				is.Equal(len(found.Places), 0)
				return
			}
			is.Equal(found.Places, []Place{{says, 0}})
		})
	}
}

// TestXMLSaysNothingInComments, which may be of several lines.
func TestXMLSaysNothingInComments(t *testing.T) {
	is := is.New(t)
	is.Equal(outsideComments("<a>\n<!-- <b\n c> --> <d/>\n<!-- never closed\n"), "<a>\n\n <d/>\n\n")
	is.Equal(outsideComments("plain\n"), "plain\n")
}
