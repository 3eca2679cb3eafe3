package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend"
	"svc/backend/advisory"
	"svc/backend/visible"
)

func (p admin) advisoriesCommand() *ffcli.Command {
	return p.group("svc admin advisories", "the advisory feed of cve-scan", p.advisoriesBuild(), p.advisoriesStats())
}

func (p admin) advisoriesBuild() *ffcli.Command {
	s := advisory.Sources{Out: p.paths.data(backend.FeedFile)}
	fs := p.flagSet("build")
	fs.Func("osv", "file, folder or URL of advisories in the OSV format: JSON, zip or tar, also .zst and .gz; may be given again", func(source string) error {
		s.OSV = append(s.OSV, source)
		return nil
	})
	fs.StringVar(&s.Out, "out", s.Out, "feed file to write")
	return p.command(fs, "svc admin advisories build --osv FILE|DIR|URL [--out FILE]", "build the feed from advisories in the OSV format", noArgs(func(ctx context.Context) error {
		if len(s.OSV) == 0 || s.Out == "" {
			return usagef("advisories build needs --osv and --out")
		}
		if s.Out == p.paths.data(backend.FeedFile) { // which may be the first thing that this user does
			if err := os.MkdirAll(p.paths.dataDir, 0o700); err != nil {
				return fmt.Errorf("making the data directory: %w", err)
			}
		}
		s.Now, s.Log = time.Now(), func(what string) { fmt.Fprintln(p.stderr, visible.Text(what)) }
		report, err := advisory.Build(ctx, s)
		if err != nil {
			return err
		}
		return p.print(report, func(w *view) { viewBuild(w, report) })
	}))
}

func viewBuild(w *view, r *advisory.Report) {
	w.line("feed %s, %d bytes, of %d advisories", r.Version, r.Bytes, r.Read)
	viewReleases(w, r.Releases)
	w.table([][]string{
		{"withdrawn", fmt.Sprint(r.Withdrawn)},
		{"no fault of security there", plural(r.Unimportant, "package")},
		{"of other ecosystems", fmt.Sprintf("%d, packages left out", len(r.Foreign))},
		{"not usable whole", fmt.Sprint(r.Rejected)},
	})
	for _, f := range r.Faults {
		w.line("  %s: %s", f.Where, f.Why)
	}
	if r.Rejected > len(r.Faults) {
		w.line("  … and %d more", r.Rejected-len(r.Faults))
	}
}

func viewReleases(w *view, releases map[string]advisory.ReleaseStats) {
	rows := [][]string{}
	for _, name := range slices.Sorted(maps.Keys(releases)) {
		s := releases[name]
		rows = append(rows, []string{name, fmt.Sprintf("%d advisories", s.Advisories), fmt.Sprintf("%d updates", s.Updates), plural(s.Packages, "package"), s.UpdatedAt})
	}
	w.table(rows)
}

func (p admin) advisoriesStats() *ffcli.Command {
	fs := p.flagSet("stats")
	p.settings.serving(fs, p.paths)
	return p.command(fs, "svc admin advisories stats [--advisories FILE]", "check a feed, and say what it holds", noArgs(func(context.Context) error {
		file := p.settings.advisories
		if file == "" {
			file = p.paths.data(backend.FeedFile)
		}
		stats, err := advisory.ReadStats(file)
		if err != nil {
			return err
		}
		return p.print(stats, func(w *view) {
			w.line("feed %s, %d bytes, built %s, %d advisories not usable whole", stats.Version, stats.Bytes, stats.BuiltAt, stats.Rejected)
			viewReleases(w, stats.Releases)
		})
	}))
}
