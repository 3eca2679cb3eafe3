package rpm

import (
	"strings"

	"svc/backend/api"
	"svc/backend/lazyregexp"
)

// qtName is a module of Qt 5 or 6, such as qt5-qtsvg-devel.
var qtName = lazyregexp.New(`^qt([56])-(?:qt)?(.+?)(-private)?(-devel|-examples|-doc)?$`)

// qt finds the modules of Qt: the libraries come as dependencies, what QML
// imports and what is for developers has a name of its own.
func (q query) qt() (Guess, bool) {
	if !strings.HasPrefix(q.name, "qt") {
		return Guess{}, false // as most, which costs less to see
	}
	m := qtName.FindStringSubmatch(q.name)
	if m == nil {
		return Guess{}, false
	}
	major, module, private, part := m[1], dashed(m[2]), m[3], strings.Replace(m[4], "-devel", "-dev", 1)
	if part == "" {
		return q.qtLibrary(major, module)
	}
	return q.named(api.RelationRenamed, development, "role",
		"qt"+module+major+private+part, "qt"+major+"-"+module+private+part, "libqt"+major+module+major+part, "libqt"+major+module+part)
}

func (q query) qtLibrary(major, module string) (Guess, bool) {
	canonical, ok := q.debian.Library(Squeeze("libqt" + major + module))
	if !ok {
		return Guess{}, false
	}
	name, ok := q.debian.Canonical(canonical)
	if !ok {
		return Guess{}, false
	}
	if qml, ok := q.first("qml" + strings.TrimPrefix(major, "5") + "-module-qt" + module); ok {
		return found(api.RelationSplit, development, "role", name, qml)
	}
	return found(api.RelationIncluded, library, Library, name)
}

// fonts finds a font: Debian puts the word first and leaves foundries out. One
// face of a family may be in the package of the whole.
func (q query) fonts() (Guess, bool) {
	rest, ok := strings.CutSuffix(strings.TrimSuffix(q.lower, "-common"), "-fonts")
	if !ok {
		return Guess{}, false
	}
	foundry, face, _ := strings.Cut(rest, "-")
	if name, ok := q.first("fonts-"+rest, "fonts-"+face); ok && name != "fonts-" {
		return found(api.RelationRenamed, language, "language", name)
	}
	family, _, _ := strings.Cut(face, "-")
	for _, word := range []string{foundry, family} {
		if g, ok := q.named(api.RelationMerged, sibling, part, "fonts-"+word); ok {
			return g, true
		}
	}
	return Guess{}, false
}

// java finds libraries of Java, which Debian calls lib…-java.
func (q query) java() (Guess, bool) {
	module := dashed(q.name)
	bare := module
	for _, vendor := range []string{"apache-", "jakarta-", "google-", "objectweb-", "geronimo-"} {
		bare = strings.TrimPrefix(bare, vendor)
	}
	return q.named(api.RelationRenamed, sibling, "language", "lib"+module+"-java", "lib"+bare+"-java")
}

// umbrellas are the first words of names that say nothing of whose software it is.
var umbrellas = map[string]bool{
	"gnome": true, "kde": true, "python": true, "python2": true, "python3": true, "perl": true, "java": true, "maven": true,
	"apache": true, "google": true, "system": true, "lib": true, "open": true, "go": true, "rust": true, "ruby": true,
	"nodejs": true, "node": true, "php": true, "lua": true, "ghc": true, "golang": true, "xorg": true, "fonts": true, "red": true,
}

// part takes a name that begins like that of known software for a part of it:
// what it belongs to is worth a person's look.
func (q query) part() (Guess, bool) {
	for name := q.name; ; {
		i := strings.LastIndexByte(name, '-')
		if i < 3 || umbrellas[strings.ToLower(name[:i])] {
			return Guess{}, false
		}
		name = name[:i]
		g, ok := q.ofPart(name, 0)
		if !ok {
			g, ok = query{Rules: q.Rules, name: name, lower: strings.ToLower(name)}.itself()
		}
		switch {
		case ok && len(g.Targets) == 0:
			return found(api.RelationRemoved, min(g.Confidence, partly), Absent)
		case ok:
			return found(api.RelationMerged, min(g.Confidence, partly), part, g.Targets[0])
		}
	}
}

// itself finds a name by the surest rules alone.
func (q query) itself() (Guess, bool) {
	for _, rule := range []func(query) (Guess, bool){query.identical, query.pattern, query.folded, query.source} {
		if g, ok := rule(q); ok {
			return g, true
		}
	}
	return Guess{}, false
}
