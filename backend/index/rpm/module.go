package rpm

import (
	"strings"

	"svc/backend/api"
	"svc/backend/api/lazyregexp"
)

// ecosystem is how modules of a language are named in rpm and in Debian.
type ecosystem struct {
	name string
	rpm  *lazyregexp.Regexp // what it captures last is the module
	deb  func(module string) []string
}

var ecosystems = []ecosystem{
	{"perl", lazyregexp.New(`^perl-(.+)$`), func(m string) []string {
		return []string{"lib" + dashed(m) + "-perl", "lib" + strings.TrimPrefix(dashed(m), "lib") + "-perl"}
	}},
	{"python", lazyregexp.New(`^(?:python|python[23]|python[23]\.?[0-9]{1,2}|platform-python)-(.+)$`), pythonNames},
	{"ruby", lazyregexp.New(`^(?:ruby[0-9.]*-)?rubygem-(.+)$`), func(m string) []string {
		m = strings.ToLower(m)
		return []string{"ruby-" + dashed(m), "ruby-" + strings.TrimPrefix(dashed(m), "ruby-"), dashed(m)}
	}},
	{"php", lazyregexp.New(`^php[0-9.]*-(?:pecl-|pear-|php-)?(.+?)[0-9]?$`), func(m string) []string {
		m = strings.TrimPrefix(dashed(m), "pecl-")
		return []string{"php-" + m, "php-" + strings.ReplaceAll(m, "-", "")}
	}},
	{"node", lazyregexp.New(`^nodejs-(.+)$`), func(m string) []string { return []string{"node-" + dashed(m)} }},
	{"haskell", lazyregexp.New(`^ghc-(.+)-devel$`), func(m string) []string { return []string{"libghc-" + strings.ToLower(m) + "-dev"} }},
	{"go", lazyregexp.New(`^golang-(.+?)(?:-devel)?$`), func(m string) []string {
		return []string{"golang-" + dashed(m), "golang-" + dashed(m) + "-dev"}
	}},
	{"lua", lazyregexp.New(`^lua-(.+)$`), func(m string) []string { return []string{"lua-" + dashed(m)} }},
	{"ocaml", lazyregexp.New(`^ocaml-(.+)-devel$`), func(m string) []string { return []string{"lib" + dashed(m) + "-ocaml-dev"} }},
	{"r", lazyregexp.New(`^R-(.+?)(?:-devel)?$`), func(m string) []string {
		m = strings.ToLower(m)
		return []string{"r-cran-" + m, "r-bioc-" + m}
	}},
	{"introspection", lazyregexp.New(`^typelib-(.+)$`), func(m string) []string {
		m = strings.ReplaceAll(strings.ToLower(m), "_", ".")
		return []string{"gir1.2-" + strings.TrimPrefix(m, "1.0-"), "gir" + m}
	}},
	{"apache", lazyregexp.New(`^(?:apache2-|mod_)((?:mod_)?.+)$`), func(m string) []string {
		m = dashed(strings.TrimPrefix(m, "mod_"))
		return []string{"libapache2-mod-" + m, "libapache2-mod-" + strings.ReplaceAll(m, "-", "")}
	}},
	{"gstreamer", lazyregexp.New(`^gstreamer-?1-(.+)$`), func(m string) []string { return []string{"gstreamer1.0-" + dashed(m)} }},
}

func dashed(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }

// pythonNames are the names of Debian's package of a module for Python 3.
func pythonNames(m string) []string {
	m = dashed(m)
	m = strings.TrimPrefix(m, "python-")
	bare := strings.TrimPrefix(strings.TrimPrefix(m, "python"), "-")
	return uniqueNames([]string{
		"python3-" + m, "python3-" + strings.ReplaceAll(m, "-", "."), "python3-" + strings.ReplaceAll(m, ".", "-"),
		"python3-" + strings.TrimPrefix(m, "py"), "python3-" + bare, "python3-" + strings.ReplaceAll(m, "-", ""),
		"python3-" + strings.TrimSuffix(m, "-python"), "python3-" + strings.TrimSuffix(m, "-wheel"),
	})
}

// module finds the modules of languages.
func (q query) module() (Guess, bool) {
	for _, e := range ecosystems {
		m := e.rpm.FindStringSubmatch(q.name)
		if m == nil {
			continue
		}
		names := e.deb(m[1])
		if name, ok := q.first(names...); ok {
			return q.ofModule(name)
		}
		for _, virtual := range names {
			if name, ok := q.lex.Provided(virtual); ok {
				return found(api.RelationIncluded, core, e.name+" provided", name)
			}
		}
		if plain := "php-" + m[1]; e.name == "php" && q.name != plain {
			return of(plain, q.lex, q.depth)
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
