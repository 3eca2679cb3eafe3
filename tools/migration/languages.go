package migration

import (
	"fmt"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/backend/pkgversion"
	"svc/backend/visible"
)

// runtimes are the packages of what runs programs that people write, by the names
// of all families. A version of them with other first numbers may run such
// programs otherwise, or not at all.
var runtimes = []struct {
	name    string
	pkg     *lazyregexp.Regexp
	numbers int // that say what programs meet
}{
	{"PHP", lazyregexp.Whole(`php[0-9.]*-(cli|fpm)|libapache2-mod-php[0-9.]*|php`), 2},
	{"Python", lazyregexp.Whole(`python3([.][0-9]+)?`), 2},
	{"Python 2", lazyregexp.Whole(`python(2([.]7)?)?`), 2},
	{"Perl", lazyregexp.Whole(`perl`), 2},
	{"Ruby", lazyregexp.Whole(`ruby[0-9.]*`), 2},
	{"Java", lazyregexp.Whole(`openjdk-[0-9]+-(jre|jdk)(-headless)?|java-[0-9.]+-openjdk(-headless)?|default-jre(-headless)?`), 1},
	{"Node.js", lazyregexp.Whole(`nodejs[0-9]*`), 1},
	{"Erlang", lazyregexp.Whole(`erlang(-base)?`), 1},
	{"Lua", lazyregexp.Whole(`lua[0-9.]*`), 2},
	{"Tcl", lazyregexp.Whole(`tcl[0-9.]*`), 2},
	{"Mono", lazyregexp.Whole(`mono-runtime`), 1},
	{"R", lazyregexp.Whole(`r-base-core`), 2},
	{"Go", lazyregexp.Whole(`golang-[0-9.]+-go|golang`), 2},
}

// languages says which languages have another version, since nobody but its
// authors can say what a program makes of that.
func languages(_ Input, p *Plan) []assess.Finding {
	var said []string
	var related []assess.Resource
	for _, l := range runtimes {
		for _, row := range p.Packages {
			if !l.pkg.MatchString(row.Name) || len(row.Targets) == 0 || row.Confidence < Sure {
				continue
			}
			was, now := firstNumbers(row.Version, l.numbers), firstNumbers(row.Targets[0].Version, l.numbers)
			if was == "" || now == "" || was == now {
				continue
			}
			said = append(said, fmt.Sprintf("%s %s becomes %s", l.name, visible.Name(was), visible.Name(now)))
			related = append(related, assess.Resource{Scheme: "package", Name: row.Name})
			break
		}
	}
	if len(said) == 0 {
		return nil
	}
	return []assess.Finding{found("software.other-versions-of-languages", strings.Join(said, ", ")+". Sites, scripts, virtual environments and modules that are not of packages move as they are, and are not read for what these versions no longer do.",
		related)}
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
