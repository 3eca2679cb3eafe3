package naming

import (
	_ "embed"
	"maps"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/backend/release"
	"svc/backend/tsv"
)

//go:embed commands.tsv
var commandRows string

// bringer is a package of a line, with what it is brought for.
type bringer struct {
	line           release.Line
	name           string
	from, commands []string
}

var bringers = tsv.List(commandRows, 4, func(c []string) bringer {
	return bringer{release.Line(c[0]), c[1], strings.Fields(c[2]), strings.Fields(c[3])}
})

// commandOf is a command where a shell's line, or that of a job, calls one.
var commandOf = lazyregexp.New(`(?:^|[|;&({\x60!])\s*(?:(?:then|do|else|if|while|until|exec|sudo|nice|xargs|time|!)\s+)*(?:(?:/usr)?/s?bin/)?([a-z][a-z0-9_-]*)(?:\s|;|\)|$)`)

// Commands are the packages of a line with commands that packages of the rpm families
// have beside what these are there for: of those that the role installs a counterpart of, and
// those that people's texts call and the machine has.
func Commands(line release.Line, installs, exists func(string) bool, programs map[string]string, jobs []assess.CronJob) (names []string) {
	called, texts := map[string]bool{}, slices.Collect(maps.Values(programs))
	for _, job := range jobs {
		texts = append(texts, job.Command)
	}
	for _, text := range texts {
		for n, line := range strings.Split(text, "\n") {
			if !Silent(n, line) {
				for _, m := range commandOf.FindAllStringSubmatch(line, -1) {
					called[m[1]] = true
				}
			}
		}
	}
	for _, b := range bringers() {
		if b.line == line && (slices.ContainsFunc(b.from, installs) || slices.ContainsFunc(b.commands, func(c string) bool { return called[c] && (exists("/usr/bin/"+c) || exists("/bin/"+c)) })) {
			names = append(names, b.name)
		}
	}
	return names
}
