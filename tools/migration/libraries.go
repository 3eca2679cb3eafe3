package migration

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/backend/visible"
	"svc/tools/convert"
)

// libraries says which programs of people's own are linked with libraries that the
// target calls otherwise: the linker does not start them. Debian has a library's version
// in its package's name; of others nothing says whether it is the same.
func libraries(in Input, p *Plan) []assess.Finding {
	if !namesLibraries(in) {
		return nil
	}
	f := gather("software.libraries")
	for _, fact := range in.Assessment.Facts {
		if fact.Area != "library" || kept(p, fact.Value) != "" {
			continue
		}
		f.AddFile(fmt.Sprintf("%s needs %s of %s, in whose place is %s", visible.Name(fact.Evidence.Path), visible.Name(fact.Key), visible.Name(fact.Value), cmp.Or(visible.Names(heirs(p, fact.Value)), "nothing that is known")), assess.Evidence{Path: fact.Evidence.Path})
	}
	lost := f.Said
	files, others := lostLibraries(in.Assessment, p)
	if len(lost)+len(files) == 0 {
		return nil
	}
	f.Summary = "They do not start there"
	if len(lost) > 0 {
		f.Summary += ": " + strings.Join(lost[:min(len(lost), maxLibraries)], "; ")
	}
	f.Summary += "."
	if more := len(lost) - maxLibraries; more > 0 {
		f.Summary += fmt.Sprintf(" And %d more.", more)
	}
	if len(files) > 0 {
		named := sliced.Map(files[:min(len(files), maxLibraries)], func(l library) string { return fmt.Sprintf("%s (%s)", visible.Name(l.file), visible.Name(l.owner)) })
		f.Summary += fmt.Sprintf(" What the target lacks, with what these need themselves: %s.", strings.Join(named, ", "))
		if more := len(files) - maxLibraries; more > 0 {
			f.Summary += fmt.Sprintf(" And %d more.", more)
		}
		f.Remediations = append(f.Remediations, assess.Command(bringLibraries(in.Assessment.Release, files, others, f.Evidence)))
	}
	return []assess.Finding{f.Finding}
}

// maxLibraries is how many of them a finding names.
const maxLibraries = 20

// namesLibraries reports whether both releases have a library's version in the name of
// its package.
func namesLibraries(in Input) bool {
	source, _ := release.Lookup(in.Assessment.Release)
	return convert.DebianFamily(source) && convert.DebianFamily(in.Target)
}

// kept is the target's package that has a package's library as the source has it.
func kept(p *Plan, name string) string {
	return sliced.First(heirs(p, name), func(heir string) bool { return soname(heir) == soname(name) })
}

// library is a file of a package of the source.
type library struct{ file, owner string }

// lostLibraries are the files that programs of people's own need and the target has not:
// those that they are linked with, and what these need; of the latter, others are the
// packages that the target has itself, where nothing else may bring them. One that people
// built comes with the data.
func lostLibraries(a *assess.Assessment, p *Plan) (lost []library, others []string) {
	linked, libraries := map[string][]library{}, map[string]bool{}
	for _, f := range a.Facts {
		if f.Area == "linked" {
			linked[f.Evidence.Path] = append(linked[f.Evidence.Path], library{f.Key, f.Value})
			libraries[f.Key] = libraries[f.Key] || f.Value != ""
		}
	}
	var next []string
	for file := range linked {
		if !libraries[file] { // a program, or a library of people's own
			next = append(next, file)
		}
	}
	seen := map[string]bool{}
	for ; len(next) > 0; next = next[1:] {
		for _, l := range linked[next[0]] {
			switch now := kept(p, l.owner); {
			case seen[l.file] || l.owner == "":
			case now == "":
				seen[l.file] = true
				lost, next = append(lost, l), append(next, l.file)
			case seen[next[0]]:
				others = append(others, now)
			}
		}
	}
	slices.SortFunc(lost, func(a, b library) int { return cmp.Compare(a.file, b.file) })
	slices.Sort(others)
	return lost, slices.Compact(others)
}

// bringLibraries copies exactly these from the source into a folder of their own, which
// the linker looks through last: the name of a library has its version, so nothing of the
// target takes one for its own. In the end it says what of the programs is still missing.
func bringLibraries(source string, files []library, others []string, programs []assess.Evidence) string {
	dir, command := "/usr/local/lib/"+source, ""
	if len(others) > 0 {
		command = "apt-get install -y --no-install-recommends " + strings.Join(others, " ") + " && "
	}
	command += fmt.Sprintf("mkdir -p %s && rsync -a --chown=root:root", dir)
	for i, l := range files {
		from := ":"
		if i == 0 {
			from = `"$SOURCE_SSH":`
		}
		command += " " + from + visible.Word(l.file)
	}
	command += fmt.Sprintf(" %s/ && echo %s >/etc/ld.so.conf.d/zz-%s.conf && ldconfig", dir, dir, source)
	own := sliced.Map(programs[:min(len(programs), maxLibraries)], func(e assess.Evidence) string { return visible.Word(e.Path) })
	if own = slices.Compact(own); len(own) > 0 { // one for each library that it lacks
		command += fmt.Sprintf(" && for f in %s; do ! ldd \"$f\" | grep 'not found' || exit 1; done", strings.Join(own, " "))
	}
	return "(" + command + ")"
}

// linkedHere reports whether a program of people's own is linked with a library of a
// package that the target has, too: nothing else may bring it there.
func linkedHere(in Input, row Package) bool {
	return namesLibraries(in) && slices.ContainsFunc(row.Targets, func(t Target) bool { return soname(t.Name) == soname(row.Name) }) &&
		slices.ContainsFunc(in.Assessment.Facts, func(f assess.Fact) bool { return f.Area == "library" && f.Value == row.Name })
}

// heirs are the target's packages in a package's place.
func heirs(p *Plan, name string) (names []string) {
	for _, row := range p.Packages {
		if row.Name == name {
			names = append(names, sliced.Map(row.Targets, func(t Target) string { return t.Name })...)
		}
	}
	return names
}

// soname is the part of a package's name that says which library it is: those that were
// built for 64 bits of time are called so too.
func soname(name string) string { return strings.TrimSuffix(name, "t64") }
