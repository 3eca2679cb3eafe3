//go:build linux

package rehearse

import (
	"context"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/ask/compile"
	"svc/backend/sliced"
	"svc/tools/migration"
	"svc/tools/rehearsal"
)

// people are people's programs on the source.
type people struct {
	programs []compile.Program
	left     string // what was not looked at
}

// on are the programs by their names on a machine.
func (p people) on(now func(string) string) []compile.Program {
	return sliced.Map(p.programs, func(one compile.Program) compile.Program {
		one.Path = now(one.Path)
		return one
	})
}

// findPrograms looks for people's programs: what cron and units of their own start, what of
// /etc is carried, and what stands where people keep programs, in homes, on sites and where
// nobody is known to have put it.
// Where no copy of the source is booted, there is nothing to hold the target's words against.
func (r *rehearsing) findPrograms(ctx context.Context) {
	if r.files == "" || r.level == rehearsal.Chroot {
		return
	}
	own := sliced.Filter(r.Assessment.Services, func(u assess.Unit) bool { return u.Local })
	named := slices.Concat(
		sliced.Map(rehearsal.Jobs(r.Assessment), func(job rehearsal.Job) string { return job.Program }),
		sliced.FlatMap(own, func(u assess.Unit) []string { return r.unitPaths(u.Path) }),
		sliced.FilterMap(r.Plan.Configuration, func(row migration.Config) (string, bool) { return row.From, row.To != "" && row.Link == "" }), // what a link leads to is a package's, or stands elsewhere
	)
	deep := func(folder string) bool { return strings.Count(folder, "/") > 1 }
	folders := slices.Concat(
		compile.Places,
		sliced.FilterMap(r.Assessment.Users, func(u assess.User) (string, bool) { return u.Home, !u.System && deep(u.Home) }),
		sliced.FilterMap(r.Assessment.Sites(), func(s assess.Site) (string, bool) { return s.Root, deep(s.Root) }),
	)
	if r.Plan.Files != nil {
		for _, f := range r.Plan.Files.Nobody { // a file, or the folder of many
			named, folders = append(named, f.Path), append(folders, f.Path)
		}
	}
	r.people.programs, r.people.left = compile.Find(ctx, r.Host.FS(), named, folders)
}
