package rpm

import (
	"strings"

	"svc/backend/api"
	"svc/backend/api/lazyregexp"
)

// ecosystem is how modules of a language are named in rpm and in Debian.
type ecosystem struct {
	name  string
	rpm   *lazyregexp.Regexp // what it captures last is the module
	deb   func(module string) []string
	plain string // what the usual names begin with, where others have a version or nothing there
}

var ecosystems = []ecosystem{
	{name: "perl", rpm: lazyregexp.New(`^perl-(.+)$`), deb: func(m string) []string {
		return []string{"lib" + dashed(m) + "-perl", "lib" + strings.TrimPrefix(dashed(m), "lib") + "-perl"}
	}},
	{name: "python", rpm: lazyregexp.New(`^(?:python|python[23]|python[23]\.?[0-9]{1,2}|platform-python)-(.+)$`), deb: pythonNames, plain: "python3-"},
	{name: "ruby", rpm: lazyregexp.New(`^(?:ruby[0-9.]*-)?rubygem-(.+)$`), deb: func(m string) []string {
		m = strings.ToLower(m)
		return []string{"ruby-" + dashed(m), "ruby-" + strings.TrimPrefix(dashed(m), "ruby-"), dashed(m)}
	}},
	{name: "php", rpm: lazyregexp.New(`^php[0-9.]*-(?:pecl-|pear-|php-)?(.+?)[0-9]?$`), deb: func(m string) []string {
		m = strings.TrimPrefix(dashed(m), "pecl-")
		return []string{"php-" + m, "php-" + strings.ReplaceAll(m, "-", "")}
	}, plain: "php-"},
	{name: "node", rpm: lazyregexp.New(`^nodejs-(.+)$`), deb: func(m string) []string { return []string{"node-" + dashed(m)} }},
	{name: "haskell", rpm: lazyregexp.New(`^ghc-(.+)-devel$`), deb: func(m string) []string { return []string{"libghc-" + strings.ToLower(m) + "-dev"} }},
	{name: "go", rpm: lazyregexp.New(`^golang-(.+)-devel$`), deb: func(m string) []string { return []string{"golang-" + dashed(m) + "-dev"} }},
	{name: "go", rpm: lazyregexp.New(`^golang-(.+)$`), deb: func(m string) []string { return []string{"golang-" + dashed(m)} }},
	{name: "lua", rpm: lazyregexp.New(`^lua-(.+)$`), deb: func(m string) []string { return []string{"lua-" + dashed(m)} }},
	{name: "ocaml", rpm: lazyregexp.New(`^ocaml-(.+)-devel$`), deb: func(m string) []string { return []string{"lib" + dashed(m) + "-ocaml-dev"} }},
	{name: "r", rpm: lazyregexp.New(`^R-(.+?)(?:-devel)?$`), deb: func(m string) []string {
		m = strings.ToLower(m)
		return []string{"r-cran-" + m, "r-bioc-" + m}
	}},
	{name: "introspection", rpm: lazyregexp.New(`^typelib-(.+)$`), deb: func(m string) []string {
		m = strings.ReplaceAll(strings.ToLower(m), "_", ".")
		return []string{"gir1.2-" + strings.TrimPrefix(m, "1.0-"), "gir" + m}
	}},
	{name: "apache", rpm: lazyregexp.New(`^(?:apache2-|mod_)((?:mod_)?.+)$`), deb: func(m string) []string {
		m = dashed(strings.TrimPrefix(m, "mod_"))
		return []string{"libapache2-mod-" + m, "libapache2-mod-" + strings.ReplaceAll(m, "-", "")}
	}},
	{name: "openstack", rpm: lazyregexp.New(`^openstack-(.+)$`), deb: func(m string) []string { return []string{dashed(m)} }},
	{name: "gstreamer", rpm: lazyregexp.New(`^gstreamer-?1-(.+)$`), deb: func(m string) []string { return []string{"gstreamer1.0-" + dashed(m)} }},
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
		if plain := e.plain + m[1]; e.plain != "" && q.name != plain {
			g, ok := of(plain, q.lex, q.depth)
			return g.renamed(), ok
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
