package service

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/assess"
	"svc/backend"
	"svc/backend/advisory"
	"svc/backend/visible"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/program"
)

func (p Commands) advisoriesCommand() *ffcli.Command {
	return p.Group("svc admin advisories", "the advisory feed of cve-scan", p.advisoriesBuild(), p.advisoriesStats())
}

func (p Commands) advisoriesBuild() *ffcli.Command {
	s := advisory.Sources{Out: p.Paths.Data(backend.FeedFile)}
	fs := p.FlagSet("build")
	fs.Func("osv", "file, folder or URL of advisories in the OSV format: JSON, zip or tar, also .zst and .gz; may be given again", program.AppendTo(&s.OSV))
	fs.StringVar(&s.Out, "out", s.Out, "feed file to write")
	return p.Command(fs, "svc admin advisories build --osv FILE|DIR|URL [--out FILE]", "build the feed from advisories in the OSV format", program.NoArgs(func(ctx context.Context) error {
		if len(s.OSV) == 0 || s.Out == "" {
			return exit.Usagef("advisories build needs --osv and --out")
		}
		if s.Out == p.Paths.Data(backend.FeedFile) { // which may be the first thing that this user does
			if err := os.MkdirAll(p.Paths.DataDir, 0o700); err != nil {
				return fmt.Errorf("making the data directory: %w", err)
			}
		}
		s.Now, s.Log = time.Now(), func(what string) { fmt.Fprintln(p.Stderr, visible.Text(what)) }
		report, err := advisory.Build(ctx, s)
		return p.Answer(report, err, func(w *program.View) { viewBuild(w, report) })
	}))
}

func viewBuild(w *program.View, r *advisory.Report) {
	w.Line("feed %s, %d bytes, of %d advisories", r.Version, r.Bytes, r.Read)
	viewReleases(w, r.Releases)
	w.Table([][]string{
		{"withdrawn", fmt.Sprint(r.Withdrawn)},
		{"no fault of security there", assess.Plural(r.Unimportant, "package")},
		{"of other ecosystems", fmt.Sprintf("%d, packages left out", len(r.Foreign))},
		{"not usable whole", fmt.Sprint(r.Rejected)},
	})
	for _, f := range r.Faults {
		w.Line("  %s: %s", f.Where, f.Why)
	}
	if r.Rejected > len(r.Faults) {
		w.Line("  … and %d more", r.Rejected-len(r.Faults))
	}
}

func viewReleases(w *program.View, releases map[string]advisory.ReleaseStats) {
	program.List(w, nil, slices.Sorted(maps.Keys(releases)), func(name string) []string {
		s := releases[name]
		return []string{name, fmt.Sprintf("%d advisories", s.Advisories), fmt.Sprintf("%d updates", s.Updates), assess.Plural(s.Packages, "package"), s.UpdatedAt}
	})
}

func (p Commands) advisoriesStats() *ffcli.Command {
	fs := p.FlagSet("stats")
	p.Settings.Serving(fs, p.Paths)
	return p.Command(fs, "svc admin advisories stats [--advisories FILE]", "check a feed, and say what it holds", program.NoArgs(func(context.Context) error {
		stats, err := advisory.ReadStats(cmp.Or(p.Settings.Advisories, p.Paths.Data(backend.FeedFile)))
		return p.Answer(stats, err, func(w *program.View) {
			w.Line("feed %s, %d bytes, built %s, %d advisories not usable whole", stats.Version, stats.Bytes, stats.BuiltAt, stats.Rejected)
			viewReleases(w, stats.Releases)
		})
	}))
}
