package rpm

import (
	"cmp"
	"strings"

	"svc/backend/api"
	"svc/backend/index/record"
)

// ecosystem is how modules of a language are named in rpm and in Debian.
type ecosystem struct {
	name  string
	rpm   func(name string) (module string) // empty where an rpm is none of it
	deb   func(module string) []string
	plain string // what the usual names begin with, where others have a version or nothing there
}

var ecosystems = []ecosystem{
	{name: "perl", rpm: after("perl-"), deb: func(m string) []string {
		return []string{"lib" + dashed(m) + "-perl", "lib" + strings.TrimPrefix(dashed(m), "lib") + "-perl"}
	}},
	{name: "python", rpm: pythonModule, deb: pythonNames, plain: "python3-"},
	{name: "ruby", rpm: rubyModule, deb: func(m string) []string {
		m = strings.ToLower(m)
		return []string{"ruby-" + dashed(m), "ruby-" + strings.TrimPrefix(dashed(m), "ruby-"), dashed(m)}
	}},
	{name: "php", rpm: phpModule, deb: func(m string) []string {
		m = strings.TrimPrefix(dashed(m), "pecl-")
		return []string{"php-" + m, "php-" + strings.ReplaceAll(m, "-", "")}
	}, plain: "php-"},
	{name: "node", rpm: after("nodejs-"), deb: func(m string) []string { return []string{"node-" + dashed(m)} }},
	{name: "haskell", rpm: between("ghc-", "-devel"), deb: func(m string) []string { return []string{"libghc-" + strings.ToLower(m) + "-dev"} }},
	{name: "go", rpm: between("golang-", "-devel"), deb: func(m string) []string { return []string{"golang-" + dashed(m) + "-dev"} }},
	{name: "go", rpm: after("golang-"), deb: func(m string) []string { return []string{"golang-" + dashed(m)} }},
	{name: "lua", rpm: after("lua-"), deb: func(m string) []string { return []string{"lua-" + dashed(m)} }},
	{name: "ocaml", rpm: between("ocaml-", "-devel"), deb: func(m string) []string { return []string{ocamlName(m) + "-dev"} }},
	{name: "ocaml", rpm: after("ocaml-"), deb: func(m string) []string { return []string{ocamlName(m)} }},
	{name: "r", rpm: rModule, deb: func(m string) []string {
		m = strings.ToLower(m)
		return []string{"r-cran-" + m, "r-bioc-" + m}
	}},
	{name: "introspection", rpm: after("typelib-"), deb: func(m string) []string {
		m = strings.ReplaceAll(strings.ToLower(m), "_", ".")
		return []string{"gir1.2-" + strings.TrimPrefix(m, "1.0-"), "gir" + m}
	}},
	{name: "apache", rpm: after("apache2-", "mod_"), deb: func(m string) []string {
		m = dashed(strings.TrimPrefix(m, "mod_"))
		return []string{"libapache2-mod-" + m, "libapache2-mod-" + strings.ReplaceAll(m, "-", "")}
	}},
	{name: "openstack", rpm: after("openstack-"), deb: func(m string) []string { return []string{dashed(m)} }},
	{name: "gstreamer", rpm: after("gstreamer1-", "gstreamer-1-"), deb: func(m string) []string { return []string{"gstreamer1.0-" + dashed(m)} }},
}

// ocamlName is what Debian calls a library of OCaml.
func ocamlName(module string) string {
	return "lib" + strings.TrimPrefix(dashed(module), "lib") + "-ocaml"
}

// after gives what follows one of some beginnings.
func after(beginnings ...string) func(string) string {
	return func(name string) string {
		for _, begin := range beginnings {
			if rest, ok := strings.CutPrefix(name, begin); ok {
				return rest
			}
		}
		return ""
	}
}

// between gives what stands between a beginning and an end.
func between(begin, end string) func(string) string {
	return func(name string) string {
		rest, begins := strings.CutPrefix(name, begin)
		rest, ends := strings.CutSuffix(rest, end)
		if !begins || !ends {
			return ""
		}
		return rest
	}
}

const digits = "0123456789"

// pythonModule knows python-, python3-, python3.11-, python311- and platform-python-.
func pythonModule(name string) string {
	if module := after("platform-python-")(name); module != "" {
		return module
	}
	version, module, _ := strings.Cut(after("python")(name), "-")
	if version == "" || version == "2" || version == "3" {
		return module
	}
	minor := strings.TrimPrefix(version[1:], ".")
	if strings.IndexByte("23", version[0]) < 0 || len(minor) < 1 || len(minor) > 2 || strings.Trim(minor, digits) != "" {
		return ""
	}
	return module
}

// OfVersion reports whether a name is of a module for one version of Python, beside
// those of the version that a release has by default: python3.12-pyyaml.
func OfVersion(name string) bool {
	version, _, _ := strings.Cut(after("python")(name), "-")
	return len(version) > 1 && pythonModule(name) != ""
}

// PythonIn is what a line calls an rpm of one version of Python that another line calls otherwise:
// EL has a dot in the version, python3.11-devel, SUSE has none. ok is false for what has one name.
func PythonIn(line, name string) (other string, ok bool) {
	version, ok := strings.CutPrefix(name, "python3")
	version, dot := strings.CutPrefix(version, ".")
	if !ok || version == "" || !isDigit(version[0]) || dot == (line == "el") {
		return "", false
	}
	if line == "el" {
		return "python3." + version, true
	}
	return "python3" + version, true
}

// ForOtherPython reports whether a name is of a module for Python 2, or for a version beside the
// one that a release has by default, and another is of one for Python 3.
func ForOtherPython(ofPython3, name string) bool {
	return strings.HasPrefix(ofPython3, "python3-") && !strings.HasPrefix(name, "python3-") &&
		(strings.HasPrefix(name, "python-") || strings.HasPrefix(name, "python2-") || OfVersion(name))
}

// rubyModule knows rubygem- and ruby2.5-rubygem-.
func rubyModule(name string) string {
	version := strings.TrimLeft(after("ruby")(name), digits+".")
	if rest, ok := strings.CutPrefix(version, "-"); ok {
		name = rest
	}
	return after("rubygem-")(name)
}

// phpModule knows php-, php8-, php-pecl-, php-pear- and php-php-; a digit at the
// end is the version of the module.
func phpModule(name string) string {
	rest, ok := strings.CutPrefix(strings.TrimLeft(after("php")(name), digits+"."), "-")
	if !ok {
		return ""
	}
	module := cmp.Or(after("pecl-", "pear-", "php-")(rest), rest)
	if end := len(module) - 1; end > 0 && isDigit(module[end]) {
		return module[:end]
	}
	return module
}

func rModule(name string) string {
	module := after("R-")(name)
	return cmp.Or(strings.TrimSuffix(module, "-devel"), module)
}

func dashed(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }

// pythonNames are the names of Debian's package of a module for Python 3.
func pythonNames(m string) []string {
	m = dashed(m)
	m, _, _ = strings.Cut(strings.TrimPrefix(m, "python-"), "+") // requests+socks: what an extra of it needs
	if strings.HasSuffix(m, "-doc") {
		return []string{"python-" + m, "python3-" + m}
	}
	bare := strings.TrimPrefix(strings.TrimPrefix(m, "python"), "-")
	return record.AppendNew(nil,
		"python3-"+m, "python3-"+strings.ReplaceAll(m, "-", "."), "python3-"+strings.ReplaceAll(m, ".", "-"),
		"python3-"+strings.TrimPrefix(m, "py"), "python3-"+bare, "python3-"+strings.ReplaceAll(m, "-", ""),
		"python3-"+strings.TrimSuffix(m, "-python"), "python3-"+strings.TrimSuffix(m, "-wheel"),
	)
}

// module finds the modules of languages.
func (q query) module() (Guess, bool) {
	for _, e := range ecosystems {
		module := e.rpm(q.name)
		if module == "" {
			continue
		}
		names := e.deb(module)
		if name, ok := q.first(names...); ok {
			return q.ofModule(name)
		}
		for _, virtual := range names {
			if name, ok := q.debian.Provided(virtual); ok {
				return found(api.RelationIncluded, core, e.name+" provided", name)
			}
		}
		if plain := e.plain + module; e.plain != "" && q.name != plain {
			g, ok := q.ofPart(plain, q.depth)
			return renamed(g), ok
		}
		if e.name == "perl" || e.name == "python" || e.name == "ruby" || e.name == "php" {
			return q.absentModule()
		}
	}
	return Guess{}, false
}

func (q query) ofModule(name string) (Guess, bool) {
	if name == q.name {
		return found(api.RelationSame, sameName, SameName, name)
	}
	return found(api.RelationRenamed, language, "language", name)
}

// absentModule answers for a module that Debian has not; documentation and
// development files of modules belong to what has them.
func (q query) absentModule() (Guess, bool) {
	if g, ok := q.role(); ok {
		return g, true
	}
	return found(api.RelationRemoved, absent, Absent)
}
