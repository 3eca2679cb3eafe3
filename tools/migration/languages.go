package migration

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"svc/assess"
	"svc/assess/hazards"
	"svc/backend/lazyregexp"
	"svc/backend/pkgversion"
	"svc/backend/release"
	"svc/backend/tsv"
	"svc/backend/visible"
)

// runtimes are the packages of what runs programs that people write, by the names
// of all families. A version of them with other first numbers may run such
// programs otherwise, or not at all.
//
//go:embed languages.tsv
var runtimes string

// languages says which languages have another version, since nobody but its
// authors can say what a program makes of that.
func languages(in Input, p *Plan) []assess.Finding {
	g := gather("software.other-versions-of-languages")
	source, _ := release.Lookup(in.Assessment.Release)
	for l := range tsv.Rows(runtimes, 3) {
		name, pattern := l[0], l[1]
		packages := lazyregexp.Whole(pattern)
		numbers, _ := strconv.Atoi(l[2])
		for _, row := range p.Packages {
			if !packages.MatchString(row.Name) || len(row.Targets) == 0 || row.Confidence < Sure {
				continue
			}
			was := pkgversion.FirstNumbers(versionOf(name, Target{row.Name, row.Version}, source), numbers)
			now := pkgversion.FirstNumbers(versionOf(name, row.Targets[0], in.Target), numbers)
			if was == "" || now == "" || was == now {
				continue
			}
			g.Call(fmt.Sprintf("%s %s becomes %s", name, visible.Name(was), visible.Name(now)), assess.Resource{Scheme: "package", Name: row.Name})
			break
		}
	}
	return g.Tell(strings.Join(g.Said, ", ") + ". Sites, scripts, virtual environments and modules that are not of packages move as they are. They are read for what release notes name as gone, where people keep programs; what else these versions do otherwise, only a run shows.")
}

// versionOf is the version of a language that a package brings. A metapackage of Debian's that
// leads to the default has a version of its own: the release says which it is.
func versionOf(language string, pkg Target, of release.Release) string {
	if strings.HasPrefix(pkg.Name, "default-") {
		return hazards.VersionOn(strings.ToLower(language), of)
	}
	return pkg.Version
}
