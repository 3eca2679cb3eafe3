package rpm

import (
	"strings"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/lazyregexp"
)

// role finds the package with the same job in the same software.
func (q query) role() (Guess, bool) {
	for _, s := range record.RPMEndings {
		rest, ok := strings.CutSuffix(q.name, s.Suffix)
		if !ok || rest == "" {
			continue
		}
		if g, ok := q.byRole(rest, s.Suffix, s.Role); ok {
			return g, true
		}
		return q.withoutRole(rest, s.Role)
	}
	return Guess{}, false
}

func (q query) byRole(rest, suffix string, role api.Role) (Guess, bool) {
	if role == api.RoleDev {
		return q.dev(rest, suffix)
	}
	if g, ok := q.texDoc(rest); ok && role == api.RoleDoc {
		return g, true
	}
	names := []string{strings.ToLower(rest) + "-" + string(role), dashed(rest + suffix), "lib" + dashed(rest) + "-" + string(role)}
	switch {
	case role == api.RoleClient:
		names = append(names, dashed(rest)+"-utils", dashed(rest)+"utils", dashed(rest)+"-tools", dashed(rest)+"-bin", "lib"+dashed(rest)+"-bin")
	case suffix == "-server":
		names = append(names, dashed(rest)+"d") // talk-server is talkd
	}
	if name, ok := q.first(names...); ok && role != api.RoleLib {
		return found(api.RelationRenamed, development, "role", name)
	}
	software, most := q.software(rest)
	name, ok := q.debian.Canonical(record.WithRole(software, role))
	switch {
	case !ok:
		return Guess{}, false
	case role == api.RoleLib:
		return found(api.RelationIncluded, min(library, most), Library, name)
	}
	return found(api.RelationRenamed, min(sibling, most), "role", name)
}

// ends is the number that a name ends with.
var ends = lazyregexp.New(`^(.*[a-z])([0-9]+)$`)

// numbered are a name and the number that it ends with; nil where it ends with none, as most.
func numbered(name string) []string {
	if !record.IsDigit(name, len(name)-1) {
		return nil
	}
	return ends.FindStringSubmatch(name)
}

// dev finds the development package of what rest names.
func (q query) dev(rest, suffix string) (Guess, bool) {
	x := dashed(rest)
	names := []string{x + "-dev", "lib" + x + "-dev", "lib" + x + ".0-dev", "lib" + x + "-1.0-dev", strings.TrimPrefix(x, "lib") + "-dev"}
	if m := numbered(x); m != nil {
		if n := m[2]; len(n) > 1 { // vte291 is vte-2.91
			version := n[:1] + "." + n[1:]
			names = append(names, "lib"+m[1]+"-"+version+"-dev", m[1]+"-"+version+"-dev", "lib"+m[1]+version+"-dev")
		}
		names = append(names, "lib"+m[1]+"-"+m[2]+"-dev", m[1]+"-"+m[2]+"-dev", "lib"+m[1]+"-"+m[2]+".0-dev", m[1]+"-dev", "lib"+m[1]+"-dev")
	}
	name, ok := q.first(names...)
	confidence := development
	if !ok {
		software, most := q.software(rest)
		name, ok = q.debian.Canonical(software + "--dev")
		ok = ok && HasHeaders(name)
		confidence = min(development-0.02, most)
	}
	if !ok {
		return Guess{}, false
	}
	if suffix != "-devel" {
		return found(api.RelationMerged, min(sibling, confidence), "role", name)
	}
	return found(api.RelationRenamed, confidence, "development", name)
}

// HasHeaders reports whether a package of Debian is called as those of headers are: the
// section of these has programs for developers too.
func HasHeaders(deb string) bool {
	return strings.Contains(deb, "dev") || strings.Contains(deb, "headers")
}

// texDoc finds the documentation of a part of TeX Live: the package that has the
// part has it too, if there is none of its documentation.
func (q query) texDoc(rest string) (Guess, bool) {
	if !strings.HasPrefix(rest, "texlive-") {
		return Guess{}, false
	}
	g, ok := q.ofPart(rest, q.depth)
	if !ok || len(g.Targets) != 1 {
		return Guess{}, false
	}
	if name, ok := q.first(g.Targets[0] + "-doc"); ok {
		g.Targets = []string{name}
	}
	return found(api.RelationMerged, min(g.Confidence, library), "role", g.Targets...)
}

// software is the software that an rpm's name stands for, and how sure that may
// be at most: what only begins like other software need not be that.
func (q query) software(name string) (software string, most float64) {
	g, ok := q.ofPart(name, q.depth)
	if !ok || len(g.Targets) == 0 {
		return Slug(name), 1
	}
	target, _, _ := strings.Cut(g.Targets[0], "|")
	canonical, ok := q.debian.Package(target)
	if !ok {
		return Slug(name), 1
	}
	software, _, _ = strings.Cut(canonical, "--")
	if g.Method == part {
		return software, partly
	}
	return software, 1
}

// withoutRole answers for a part of software that Debian does not part: what
// it belongs to has it, or nothing.
func (q query) withoutRole(rest string, role api.Role) (Guess, bool) {
	switch role {
	case api.RoleDebug:
		return found(api.RelationRemoved, sameName, Absent)
	case api.RoleDoc:
		return found(api.RelationRemoved, absent, Absent)
	}
	g, ok := q.ofPart(rest, q.depth)
	if !ok {
		return Guess{}, false
	}
	switch role {
	case api.RoleDev:
		return found(api.RelationRemoved, min(absent, q.absence(g)), Absent)
	case api.RoleMain, api.RoleClient:
		if len(g.Targets) == 0 {
			return found(api.RelationRemoved, absent, Absent)
		}
		return found(api.RelationMerged, min(g.Confidence, q.holding(g.Targets[0])), part, g.Targets[0])
	}
	if len(g.Targets) == 0 {
		return found(api.RelationRemoved, absent, Absent)
	}
	return found(api.RelationIncluded, min(g.Confidence, sibling), part, g.Targets[0])
}

// absence is how sure it is that Debian has no development package of what a
// guess says: where it has the library, its package may have any name.
func (q query) absence(g Guess) float64 {
	if g.Relation == api.RelationIncluded || g.Method == part {
		return partly
	}
	return absent
}

// holding is how sure it is that a package holds programs which have one of
// their own in rpm: libraries hold none.
func (q query) holding(target string) float64 {
	canonical, _ := q.debian.Package(target)
	if strings.HasSuffix(canonical, "--"+string(api.RoleLib)) {
		return partly
	}
	return mainBinary
}

// Alike reports whether a package of Debian is called like an rpm: it bears a
// word of its name, the role and a build without windows aside.
func Alike(name, deb string) bool {
	deb = Squeeze(deb)
	software, _, _ := strings.Cut(Canonical(name), "--")
	for word := range strings.SplitSeq(software, "-") {
		word = strings.TrimRight(strings.TrimPrefix(word, "lib"), "0123456789.")
		if len(word) > 1 && word != "headless" && strings.Contains(deb, Squeeze(word)) {
			return true
		}
	}
	return false
}

// Name guesses what a package of Debian is called in rpm distributions.
func Name(deb string) string {
	if name, ok := Module(deb); ok {
		return name
	}
	if rest, ok := strings.CutSuffix(deb, "-dev"); ok {
		return rest + "-devel"
	}
	if space, ok := strings.CutPrefix(deb, "gir1.2-"); ok { // as SUSE alone has them
		return "typelib-1_0-" + strings.ReplaceAll(space, ".", "_")
	}
	return deb
}

// Module is what rpm distributions call a module of Perl, Python or Ruby that is
// a package of Debian.
func Module(deb string) (name string, ok bool) {
	if rest, ok := strings.CutPrefix(deb, "lib"); ok && strings.HasSuffix(rest, "-perl") {
		return "perl-" + titled(strings.TrimSuffix(rest, "-perl")), true
	}
	if rest, ok := strings.CutPrefix(deb, "ruby-"); ok {
		return "rubygem-" + rest, true
	}
	return deb, strings.HasPrefix(deb, "python3-")
}

// titled writes the parts of a Perl module with capitals.
func titled(module string) string {
	parts := strings.Split(module, "-")
	for i, p := range parts {
		if p != "" {
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "-")
}
