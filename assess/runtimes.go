package assess

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
)

// runtimeFile is where a runtime shows itself: a program whose name or folder
// has its version.
type runtimeFile struct {
	language, pattern string
	version           *lazyregexp.Regexp // of the path; the first group
	packages          []string           // that bring it, best first; % stands for the version
}

// runtimeFiles are the programs of runtimes, by the paths at which the families
// have them.
var runtimeFiles = []runtimeFile{
	{"python", "/usr/bin/python[23]*", lazyregexp.New(`python([0-9]\.[0-9]+)$`), []string{"python%", "python3", "python"}},
	{"python", "/usr/local/bin/python[23]*", lazyregexp.New(`python([0-9]\.[0-9]+)$`), nil},
	{"python", "/opt/python*/bin/python[23]*", lazyregexp.New(`python([0-9]\.[0-9]+)$`), nil},
	{"python", "/opt/rh/*python*/root/usr/bin/python[23]*", lazyregexp.New(`python([0-9]\.[0-9]+)$`), nil},
	{"python", "/root/.pyenv/versions/*/bin/python", lazyregexp.New(`/versions/([^/]+)/`), nil},
	{"python", "/home/*/.pyenv/versions/*/bin/python", lazyregexp.New(`/versions/([^/]+)/`), nil},
	{"ruby", "/usr/bin/ruby[0-9]*", lazyregexp.New(`ruby\.?([0-9]\.[0-9.]+)$`), []string{"ruby%", "ruby"}},
	{"ruby", "/usr/share/ruby/[0-9]*", lazyregexp.New(`/([0-9]+\.[0-9]+)$`), []string{"ruby"}},
	{"ruby", "/usr/lib/ruby/[0-9]*", lazyregexp.New(`/([0-9]+\.[0-9]+)\.0$`), []string{"ruby%", "ruby"}},
	{"ruby", "/usr/local/rvm/rubies/ruby-*", lazyregexp.New(`ruby-([0-9.]+)`), nil},
	{"ruby", "/home/*/.rbenv/versions/*", lazyregexp.New(`/versions/([^/]+)$`), nil},
	{"ruby", "/home/*/.rvm/rubies/ruby-*", lazyregexp.New(`ruby-([0-9.]+)`), nil},
	{"perl", "/usr/bin/perl5.*", lazyregexp.New(`perl(5\.[0-9.]+)$`), []string{"perl-base", "perl"}},
	{"perl", "/usr/local/bin/perl5.*", lazyregexp.New(`perl(5\.[0-9.]+)$`), nil},
	{"perl", "/home/*/perl5/perlbrew/perls/perl-*", lazyregexp.New(`perl-(5\.[0-9.]+)$`), nil},
	{"node", "/home/*/.nvm/versions/node/v*", lazyregexp.New(`/v([0-9.]+)$`), nil},
	{"node", "/root/.nvm/versions/node/v*", lazyregexp.New(`/v([0-9.]+)$`), nil},
	{"node", "/opt/node-v*", lazyregexp.New(`node-v([0-9.]+)`), nil},
	{"dotnet", "/usr/lib/dotnet/shared/Microsoft.NETCore.App/*", lazyregexp.New(`/([^/]+)$`), []string{"dotnet-runtime-%"}},
	{"dotnet", "/usr/lib64/dotnet/shared/Microsoft.NETCore.App/*", lazyregexp.New(`/([^/]+)$`), []string{"dotnet-runtime-%"}},
	{"dotnet", "/usr/share/dotnet/shared/Microsoft.NETCore.App/*", lazyregexp.New(`/([^/]+)$`), []string{"dotnet-runtime-%"}},
	{"dotnet", "/opt/dotnet/shared/Microsoft.NETCore.App/*", lazyregexp.New(`/([^/]+)$`), nil},
}

// runtimePackages are packages whose version is their runtime's, where the
// program's path has none.
var runtimePackages = []struct{ language, pkg, program string }{
	{"node", "nodejs", "usr/bin/node"},
	{"perl", "perl-base", "usr/bin/perl"},
	{"perl", "perl", "usr/bin/perl"},
	{"ruby", "ruby", "usr/bin/ruby"},
	{"go", "golang", "usr/bin/go"},
	{"go", "golang-go", "usr/bin/go"},
	{"erlang", "erlang-base", "usr/bin/erl"},
	{"erlang", "erlang-erts", "usr/bin/erl"},
}

// readRuntimes lists the runtimes of languages.
func (m *machine) readRuntimes() {
	for _, f := range runtimeFiles {
		for _, file := range m.glob(f.pattern) {
			if v := f.version.FindStringSubmatch(file); v != nil {
				m.addRuntime(Runtime{Language: f.language, Version: v[1], Path: file, Package: m.packageOf(f.packages, v[1]), Evidence: Evidence{file, 0}})
			}
		}
	}
	for _, r := range runtimePackages {
		if p := m.installed(r.pkg); p != nil && !m.hasRuntime(r.language, "/"+r.program) {
			m.addRuntime(Runtime{Language: r.language, Version: upstream(p.Version), Path: "/" + r.program, Package: p.Name, Evidence: Evidence{"/" + r.program, 0}})
		}
	}
	m.bareRuntimes()
	m.java()
	m.goToolchains()
	m.php()
	slices.SortFunc(m.a.Runtimes, func(a, b Runtime) int {
		return cmp.Or(cmp.Compare(a.Language, b.Language), compareNatural(a.Version, b.Version), cmp.Compare(a.Path, b.Path))
	})
}

// bareRuntimes are programs that no package of the table brought.
func (m *machine) bareRuntimes() {
	for _, r := range []struct{ language, program string }{
		{"node", "usr/bin/node"}, {"node", "usr/local/bin/node"}, {"ruby", "usr/local/bin/ruby"}, {"perl", "usr/bin/perl"},
	} {
		if m.exists(r.program) && !m.hasRuntime(r.language, "/"+r.program) {
			m.addRuntime(Runtime{Language: r.language, Path: "/" + r.program, Package: m.owner(r.program), Evidence: Evidence{"/" + r.program, 0}})
		}
	}
}

// addRuntime adds a runtime, once for each version of a folder.
func (m *machine) addRuntime(r Runtime) {
	if slices.ContainsFunc(m.a.Runtimes, func(o Runtime) bool {
		return o.Language == r.Language && o.Version == r.Version && path.Dir(o.Path) == path.Dir(r.Path)
	}) {
		return
	}
	r.Uses, r.Modules = list(r.Uses), list(r.Modules)
	m.a.Runtimes = append(m.a.Runtimes, r)
}

// hasRuntime reports whether a language's runtime is known, by its program or
// as the system's own.
func (m *machine) hasRuntime(language, program string) bool {
	return slices.ContainsFunc(m.a.Runtimes, func(r Runtime) bool {
		return r.Language == language && (r.Path == program || path.Dir(r.Path) == path.Dir(program))
	})
}

// packageOf is the first of the packages that is installed.
func (m *machine) packageOf(names []string, version string) string {
	for _, name := range names {
		if p := m.installed(strings.Replace(name, "%", version, 1)); p != nil {
			return p.Name
		}
	}
	return ""
}

// javaRelease are the files in which a Java says what it is.
var javaRelease = []string{"/usr/lib/jvm/*/release", "/usr/lib/jvm/*/jre/release", "/usr/lib64/jvm/*/release", "/usr/java/*/release", "/opt/*/release", "/opt/java/*/release", "/usr/local/*/release", "/home/*/.sdkman/candidates/java/*/release"}

// java lists every Java by its own word.
func (m *machine) java() {
	for _, pattern := range javaRelease {
		for _, file := range m.glob(pattern) {
			v := parseAssignments(m.peek(file[1:]))
			if info, err := m.fs.Lstat(path.Dir(file)[1:]); v["JAVA_VERSION"] == "" || err != nil || !info.IsDir() {
				continue // something else, or another name of one
			}
			m.a.Runtimes = append(m.a.Runtimes, Runtime{
				Language: "java", Version: v["JAVA_VERSION"], Path: path.Dir(file), Package: m.owner(file[1:]), Uses: []string{}, Modules: []string{}, Evidence: Evidence{file, 0},
			})
		}
	}
}

// goToolchains lists Go as people unpack it.
func (m *machine) goToolchains() {
	for _, file := range m.glob("/usr/local/go/VERSION") {
		if v, ok := strings.CutPrefix(firstLine(m.peek(file[1:])), "go"); ok {
			m.addRuntime(Runtime{Language: "go", Version: v, Path: path.Dir(file), Evidence: Evidence{file, 1}})
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
func (m *machine) php() {
	found := map[string]*Runtime{}
	for _, l := range phpLayouts {
		for _, ini := range m.glob(l.pattern) {
			m.phpVersion(l, ini, found)
		}
	}
	for _, key := range sortedKeys(found) {
		r := found[key]
		slices.Sort(r.Uses)
		slices.Sort(r.Modules)
		r.Uses, r.Modules = list(slices.Compact(r.Uses)), list(slices.Compact(r.Modules))
		m.a.Runtimes = append(m.a.Runtimes, *r)
	}
}

// phpVersion adds what one php.ini stands for.
func (m *machine) phpVersion(l phpLayout, ini string, found map[string]*Runtime) {
	version := ""
	if l.version != nil {
		version = l.version.FindStringSubmatch(ini)[1]
	}
	if len(version) == 2 && !strings.Contains(version, ".") {
		version = version[:1] + "." + version[1:] // php72
	}
	p := m.packageOf([]string{"php%-common", "php%", "php-common", "php", "php5", "php5-common"}, version)
	if installed := m.installed(p); installed != nil && len(version) < 2 {
		version = upstream(installed.Version)
	}
	key := version + " " + path.Dir(path.Dir(ini))
	r := found[key]
	if r == nil {
		r = &Runtime{Language: "php", Version: version, Package: p, Path: path.Dir(ini), Evidence: Evidence{ini, 0}}
		found[key] = r
	}
	r.Uses = append(r.Uses, m.phpUses(ini)...)
	if l.modules != "" {
		r.Modules = append(r.Modules, m.phpModules(path.Join(path.Dir(ini), l.modules))...)
	}
}

// phpUses are the ways in which PHP is run, by the folder of a php.ini, and on
// EL by what stands beside it.
func (m *machine) phpUses(ini string) (uses []string) {
	if use := path.Base(path.Dir(ini)); slices.Contains([]string{"apache2", "cgi", "cli", "fpm", "embed", "phpdbg", "fastcgi"}, use) {
		return []string{use}
	}
	for _, s := range []struct{ use, file string }{
		{"fpm", path.Join(path.Dir(ini), "php-fpm.conf")},
		{"fpm", path.Join(path.Dir(ini), "php-fpm.d")},
		{"cli", "/usr/bin/php"},
		{"apache2", "/usr/lib64/httpd/modules/libphp5.so"},
		{"apache2", "/usr/lib64/httpd/modules/libphp7.so"},
		{"apache2", "/usr/lib64/httpd/modules/libphp.so"},
	} {
		if m.exists(s.file[1:]) {
			uses = append(uses, s.use)
		}
	}
	return uses
}

// phpModules are the modules that a folder's settings load: 20-curl.ini.
func (m *machine) phpModules(dir string) (modules []string) {
	names, err := m.files(dir[1:])
	if stateOf(err) == SourceUnreadable {
		m.outcome("runtimes.php", dir[1:], err)
	}
	for _, name := range names {
		if module, ok := strings.CutSuffix(name, ".ini"); ok {
			modules = append(modules, strings.TrimLeft(module[digits(module):], "-_"))
		}
	}
	return modules
}
