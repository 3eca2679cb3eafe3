package migration

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/release"
	"svc/backend/visible"
	"svc/tools/convert"
)

// libraries says which programs of people's own are linked with libraries that the
// target calls otherwise: the linker does not start them. Debian has a library's version
// in its package's name; of others nothing says whether it is the same.
func libraries(in Input, p *Plan) []assess.Finding {
	if source, _ := release.Lookup(in.Assessment.Release); !convert.DebianFamily(source) || !convert.DebianFamily(in.Target) {
		return nil
	}
	f := found("software.libraries", "", nil)
	var lost, kept []string
	for _, fact := range in.Assessment.Facts {
		if fact.Area != "library" {
			continue
		}
		now := heirs(p, fact.Value)
		if same := slices.IndexFunc(now, func(name string) bool { return soname(name) == soname(fact.Value) }); same >= 0 {
			kept = append(kept, now[same])
			continue
		}
		f.Evidence = append(f.Evidence, assess.Evidence{Path: fact.Evidence.Path})
		f.Related = append(f.Related, assess.Resource{Scheme: "file", Name: fact.Evidence.Path})
		lost = append(lost, fmt.Sprintf("%s needs %s of %s, in whose place is %s", visible.Name(fact.Evidence.Path), visible.Name(fact.Key), visible.Name(fact.Value), cmp.Or(visible.Names(now), "nothing that is known")))
	}
	if len(lost) == 0 {
		return nil
	}
	slices.Sort(kept)
	f.Summary = fmt.Sprintf("They do not start there: %s.", strings.Join(lost[:min(len(lost), maxLibraries)], "; "))
	if more := len(lost) - maxLibraries; more > 0 {
		f.Summary += fmt.Sprintf(" And %d more.", more)
	}
	do := "Build them anew against the target's libraries, or get them for it from their maker; ldd FILE says what is missing."
	if kept = slices.Compact(kept); len(kept) > 0 {
		do += fmt.Sprintf(" The others need these to be installed: %s.", visible.Names(kept))
	}
	f.Remediations = assess.Hints(do)
	return []assess.Finding{f}
}

// maxLibraries is how many of them a finding names.
const maxLibraries = 20

// heirs are the target's packages in a package's place.
func heirs(p *Plan, name string) (names []string) {
	for _, row := range p.Packages {
		if row.Name == name {
			for _, t := range row.Targets {
				names = append(names, t.Name)
			}
		}
	}
	return names
}

// soname is the part of a package's name that says which library it is: those that were
// built for 64 bits of time are called so too.
func soname(name string) string { return strings.TrimSuffix(name, "t64") }
