//go:build linux

package rehearse

import (
	"context"
	"slices"
	"strings"

	"svc/assess/ask/compile"
	"svc/backend/sliced"
	"svc/tools/rehearsal"
)

// people are people's programs on the source.
type people struct {
	programs []compile.Program
	left     string // what was not looked at
}

// on are the programs by their names on a machine.
func (p people) on(now func(string) string) []compile.Program {
	all := slices.Clone(p.programs)
	for i := range all {
		all[i].Path = now(all[i].Path)
	}
	return all
}

// programNow is where the target has a file of the source.
func (r *rehearsing) programNow(name string) string {
	for _, row := range r.Plan.Configuration {
		if row.From == name && row.To != "" {
			return row.To
		}
	}
	return name
}

// findPrograms looks for people's programs: what cron and units of their own start, what of
// /etc is carried, and what stands where people keep programs, in homes, on sites and where
// nobody is known to have put it.
// Where no copy of the source is booted, there is nothing to hold the target's words against.
func (r *rehearsing) findPrograms(ctx context.Context) {
	if r.files == "" || r.level == rehearsal.Chroot {
		return
	}
	named := sliced.Map(rehearsal.Jobs(r.Assessment), func(job rehearsal.Job) string { return job.Program })
	for _, u := range r.Assessment.Services {
		if u.Local {
			named = append(named, r.unitPaths(u.Path)...)
		}
	}
	for _, row := range r.Plan.Configuration {
		if row.To != "" {
			named = append(named, row.From)
		}
	}
	folders := slices.Clone(compile.Places)
	for _, u := range r.Assessment.Users {
		if !u.System && strings.Count(u.Home, "/") > 1 {
			folders = append(folders, u.Home)
		}
	}
	for _, w := range r.Assessment.WebServers {
		for _, s := range w.Sites {
			if strings.Count(s.Root, "/") > 1 {
				folders = append(folders, s.Root)
			}
		}
	}
	if r.Plan.Files != nil {
		for _, f := range r.Plan.Files.Nobody { // a file, or the folder of many
			named, folders = append(named, f.Path), append(folders, f.Path)
		}
	}
	r.people.programs, r.people.left = compile.Find(ctx, r.Host.FS(), named, folders)
}
