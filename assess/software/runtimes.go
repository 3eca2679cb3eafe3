package software

import (
	"cmp"
	_ "embed"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/backend/pkgversion"
	"svc/backend/sliced"
	"svc/backend/tsv"
)

// runtimeRows are the programs of runtimes, by the paths at which the families have them.
//
//go:embed runtimes.tsv
var runtimeRows string

// ReadRuntimes lists the runtimes of languages.
func ReadRuntimes(m *assess.Machine) {
	for row := range tsv.Rows(runtimeRows, 4) {
		language, pattern, version, packages := row[0], row[1], row[2], strings.Fields(tsv.Said(row[3]))
		if version == "-" {
			byPackage(m, language, pattern, packages[0])
			continue
		}
		versions := lazyregexp.New(version)
		for _, file := range m.Glob(pattern) {
			if v := versions.FindStringSubmatch(file); v != nil {
				addRuntime(m, assess.Runtime{Language: language, Version: v[1], Path: file, Package: m.PackageOf(packages, v[1]), Evidence: assess.Evidence{Path: file, Line: 0}})
			}
		}
	}
	bareRuntimes(m)
	java(m)
	goToolchains(m)
	php(m)
	slices.SortFunc(m.A.Runtimes, func(a, b assess.Runtime) int {
		return cmp.Or(cmp.Compare(a.Language, b.Language), assess.CompareNatural(a.Version, b.Version), cmp.Compare(a.Path, b.Path))
	})
}

// byPackage adds a runtime whose path has no version, but whose package has.
func byPackage(m *assess.Machine, language, program, pkg string) {
	if p := m.Installed(pkg); p != nil && !hasRuntime(m, language, program) {
		addRuntime(m, assess.Runtime{Language: language, Version: pkgversion.Upstream(p.Version), Path: program, Package: p.Name, Evidence: assess.Evidence{Path: program, Line: 0}})
	}
}

// bareRuntimes are programs that no package of the table brought.
func bareRuntimes(m *assess.Machine) {
	for _, r := range []struct{ language, program string }{
		{"node", "usr/bin/node"}, {"node", "usr/local/bin/node"}, {"ruby", "usr/local/bin/ruby"}, {"perl", "usr/bin/perl"},
	} {
		if m.Exists(r.program) && !hasRuntime(m, r.language, "/"+r.program) {
			addRuntime(m, assess.Runtime{Language: r.language, Path: "/" + r.program, Package: m.Owner(r.program), Evidence: assess.Evidence{Path: "/" + r.program, Line: 0}})
		}
	}
}

// addRuntime adds a runtime, once for each version of a folder.
func addRuntime(m *assess.Machine, r assess.Runtime) {
	if slices.ContainsFunc(m.A.Runtimes, func(o assess.Runtime) bool {
		return o.Language == r.Language && o.Version == r.Version && path.Dir(o.Path) == path.Dir(r.Path)
	}) {
		return
	}
	r.Uses, r.Modules = assess.List(r.Uses), assess.List(r.Modules)
	m.A.Runtimes = append(m.A.Runtimes, r)
}

// hasRuntime reports whether a language's runtime is known, by its program or
// as the system's own.
func hasRuntime(m *assess.Machine, language, program string) bool {
	return slices.ContainsFunc(m.A.Runtimes, func(r assess.Runtime) bool {
		return r.Language == language && (r.Path == program || path.Dir(r.Path) == path.Dir(program))
	})
}

// javaRelease are the files in which a Java says what it is.
var javaRelease = []string{"/usr/lib/jvm/*/release", "/usr/lib/jvm/*/jre/release", "/usr/lib64/jvm/*/release", "/usr/java/*/release", "/opt/*/release", "/opt/java/*/release", "/usr/local/*/release", "/home/*/.sdkman/candidates/java/*/release"}

// java lists every Java by its own word.
func java(m *assess.Machine) {
	for _, file := range m.Glob(javaRelease...) {
		v := assess.ParseAssignments(m.Peek(file[1:]))
		if info, err := m.FS.Lstat(path.Dir(file)[1:]); v["JAVA_VERSION"] == "" || err != nil || !info.IsDir() {
			continue // something else, or another name of one
		}
		m.A.Runtimes = append(m.A.Runtimes, assess.Runtime{
			Language: "java", Version: v["JAVA_VERSION"], Path: path.Dir(file), Package: m.Owner(file[1:]), Uses: []string{}, Modules: []string{}, Evidence: assess.Evidence{Path: file, Line: 0},
		})
	}
}

// goToolchains lists Go as people unpack it.
func goToolchains(m *assess.Machine) {
	for _, file := range m.Glob("/usr/local/go/VERSION") {
		if v, ok := strings.CutPrefix(assess.FirstLine(m.Peek(file[1:])), "go"); ok {
			addRuntime(m, assess.Runtime{Language: "go", Version: v, Path: path.Dir(file), Evidence: assess.Evidence{Path: file, Line: 1}})
		}
	}
}

// phpLayout is where a family keeps PHP's settings.
type phpLayout struct {
	pattern string             // of php.ini, or of the folder of a way to run PHP
	version *lazyregexp.Regexp // of the path; nil where the path has none
	modules string             // folder of modules' settings, beside the pattern's match
}

// phpLayouts are Debian's, Alpine's, SUSE's, software collections' and EL's.
var phpLayouts = []phpLayout{
	{"/etc/php/*/*/php.ini", lazyregexp.New(`/php/([0-9.]+)/`), "conf.d"},
	{"/etc/php5/*/php.ini", lazyregexp.New(`/php(5)/`), "conf.d"},
	{"/etc/php[0-9]*/php.ini", lazyregexp.New(`/php([0-9.]+)/`), "conf.d"},
	{"/etc/php[0-9]/*/php.ini", lazyregexp.New(`/php([0-9])/`), "../conf.d"},
	{"/etc/opt/rh/*php*/php.ini", lazyregexp.New(`php([0-9]+)/`), "php.d"},
	{"/etc/opt/remi/php*/php.ini", lazyregexp.New(`php([0-9]+)/`), "php.d"},
	{"/etc/php.ini", nil, "php.d"},
	{"/usr/local/lib/php.ini", nil, ""},
}

// php lists each version of PHP with the ways it is run and its modules.
func php(m *assess.Machine) {
	found := map[string]*assess.Runtime{}
	for _, l := range phpLayouts {
		for _, ini := range m.Glob(l.pattern) {
			phpVersion(m, l, ini, found)
		}
	}
	for _, key := range assess.SortedKeys(found) {
		r := found[key]
		slices.Sort(r.Uses)
		slices.Sort(r.Modules)
		r.Uses, r.Modules = assess.List(slices.Compact(r.Uses)), assess.List(slices.Compact(r.Modules))
		m.A.Runtimes = append(m.A.Runtimes, *r)
	}
}

// phpVersion adds what one php.ini stands for.
func phpVersion(m *assess.Machine, l phpLayout, ini string, found map[string]*assess.Runtime) {
	version := ""
	if l.version != nil {
		version = l.version.FindStringSubmatch(ini)[1]
	}
	if len(version) == 2 && !strings.Contains(version, ".") {
		version = version[:1] + "." + version[1:] // php72
	}
	p := m.PackageOf([]string{"php%-common", "php%", "php-common", "php", "php5", "php5-common"}, version)
	if installed := m.Installed(p); installed != nil && len(version) < 2 {
		version = pkgversion.Upstream(installed.Version)
	}
	key := version + " " + path.Dir(path.Dir(ini))
	r := found[key]
	if r == nil {
		r = &assess.Runtime{Language: "php", Version: version, Package: p, Path: path.Dir(ini), Evidence: assess.Evidence{Path: ini, Line: 0}}
		found[key] = r
	}
	r.Uses = append(r.Uses, phpUses(m, ini)...)
	if l.modules != "" {
		r.Modules = append(r.Modules, phpModules(m, path.Join(path.Dir(ini), l.modules))...)
	}
}

// phpUses are the ways in which PHP is run, by the folder of a php.ini, and on
// EL by what stands beside it.
func phpUses(m *assess.Machine, ini string) []string {
	if use := path.Base(path.Dir(ini)); slices.Contains([]string{"apache2", "cgi", "cli", "fpm", "embed", "phpdbg", "fastcgi"}, use) {
		return []string{use}
	}
	type use struct{ name, file string }
	return sliced.FilterMap([]use{
		{"fpm", path.Join(path.Dir(ini), "php-fpm.conf")},
		{"fpm", path.Join(path.Dir(ini), "php-fpm.d")},
		{"cli", "/usr/bin/php"},
		{"apache2", "/usr/lib64/httpd/modules/libphp5.so"},
		{"apache2", "/usr/lib64/httpd/modules/libphp7.so"},
		{"apache2", "/usr/lib64/httpd/modules/libphp.so"},
	}, func(u use) (string, bool) { return u.name, m.Exists(u.file[1:]) })
}

// phpModules are the modules that a folder's settings load: 20-curl.ini.
func phpModules(m *assess.Machine, dir string) []string {
	names, err := m.Files(dir[1:])
	m.Unreadable("runtimes.php", dir[1:], err)
	return sliced.FilterMap(names, func(name string) (string, bool) {
		module, ok := strings.CutSuffix(name, ".ini")
		return strings.TrimLeft(module[assess.Digits(module):], "-_"), ok
	})
}
