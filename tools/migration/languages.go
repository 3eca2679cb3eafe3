package migration

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/backend/pkgversion"
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
func languages(_ Input, p *Plan) []assess.Finding {
	g := gather("software.other-versions-of-languages")
	for l := range tsv.Rows(runtimes, 3) {
		name, pattern := l[0], l[1]
		packages := lazyregexp.Whole(pattern)
		numbers, _ := strconv.Atoi(l[2])
		for _, row := range p.Packages {
			if !packages.MatchString(row.Name) || len(row.Targets) == 0 || row.Confidence < Sure {
				continue
			}
			was, now := firstNumbers(row.Version, numbers), firstNumbers(row.Targets[0].Version, numbers)
			if was == "" || now == "" || was == now {
				continue
			}
			g.Call(fmt.Sprintf("%s %s becomes %s", name, visible.Name(was), visible.Name(now)), assess.Resource{Scheme: "package", Name: row.Name})
			break
		}
	}
	return g.Tell(strings.Join(g.Said, ", ") + ". Sites, scripts, virtual environments and modules that are not of packages move as they are. They are read for what release notes name as gone, where people keep programs; what else these versions do otherwise, only a run shows.")
}

// firstNumbers are the first numbers of a version, without what comes before them:
// of 2:8.4+96 and two numbers, 8.4.
func firstNumbers(version string, n int) string {
	version = pkgversion.WithoutEpoch(version)
	all := strings.FieldsFunc(version, func(r rune) bool { return r < '0' || r > '9' })
	if version == "" || version[0] < '0' || version[0] > '9' {
		return ""
	}
	return strings.Join(slices.Clip(all[:min(n, len(all))]), ".")
}
