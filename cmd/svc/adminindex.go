package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend/index"
)

func (p *program) indexCommand() *ffcli.Command {
	return p.group("index", "the package index", p.indexBuild(), p.indexStats(), p.indexEval())
}

func (p *program) indexBuild() *ffcli.Command {
	var s index.Sources
	fs := p.flagSet("build")
	fs.StringVar(&s.Apt, "apt", "", "folder with a folder of Packages and Contents files for each release")
	fs.StringVar(&s.PES, "pes", "", "file of package evolution events (pes-events.json, may be packed)")
	fs.StringVar(&s.Curated, "curated", "", "folder of curated rows; those of svc where empty")
	fs.StringVar(&s.Out, "out", "", "index file to write")
	return p.command(fs, "svc admin index build --apt DIR --out FILE", "build an index from archives' own metadata", noArgs(func(ctx context.Context) error {
		if s.Apt == "" || s.Out == "" {
			return usagef("index build needs --apt and --out")
		}
		s.Log = func(what string) { fmt.Fprintln(p.stderr, printable(what)) }
		stats, err := index.Build(ctx, s)
		if err != nil {
			return err
		}
		return p.printStats(stats)
	}))
}

func (p *program) indexStats() *ffcli.Command {
	fs := p.flagSet("stats")
	p.settings.serving(fs, p.paths)
	return p.command(fs, "svc admin index stats [--index FILE]", "say what an index holds", noArgs(func(context.Context) error {
		stats, err := index.ReadStats(p.settings.index)
		if err != nil {
			return err
		}
		return p.printStats(stats)
	}))
}

func (p *program) printStats(s *index.Stats) error {
	return p.print(s, func(w *view) {
		w.line("index %s, %d bytes", s.IndexVersion, s.Bytes)
		rows := [][]string{}
		for _, release := range slices.Sorted(maps.Keys(s.Packages)) {
			rows = append(rows, []string{release, plural(s.Packages[release], "package")})
		}
		for _, hop := range slices.Sorted(maps.Keys(s.Trails)) {
			rows = append(rows, []string{hop, plural(s.Trails[hop], "trail")})
		}
		w.table(rows)
	})
}

func (p *program) indexEval() *ffcli.Command {
	fs := p.flagSet("eval")
	p.settings.serving(fs, p.paths)
	targets := fs.String("target", "debian-13", "releases that the machines go to, parted by commas")
	missed := fs.Bool("missed", false, "list what is wrong or unknown")
	return p.command(fs, "svc admin index eval [--target RELEASE,…] [--missed] [--index FILE] FILE…", "measure an index on known pairs and on machines' packages",
		func(_ context.Context, args []string) error {
			if len(args) == 0 {
				return usagef("index eval takes files of known pairs or of machines' packages")
			}
			return p.evaluate(args, strings.Split(*targets, ","), *missed)
		})
}

func (p *program) evaluate(files, targets []string, missed bool) error {
	ix, err := openIndex(p.settings.index)
	if err != nil {
		return err
	}
	defer ix.Close()
	e := index.NewEvaluation(ix)
	for _, file := range files {
		if err := addFile(e, file, targets); err != nil {
			return err
		}
	}
	score := e.Score()
	return p.print(score, func(w *view) { viewScore(w, score, missed) })
}

func addFile(e *index.Evaluation, file string, targets []string) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("reading what to measure: %w", err)
	}
	defer f.Close()
	if err := e.Add(f, targets); err != nil {
		return fmt.Errorf("measuring on %s: %w", file, err)
	}
	return nil
}

// viewScore is the score as a table: a line for each pair of releases.
func viewScore(w *view, score *index.Score, missed bool) {
	rows := [][]string{{"way", "packages", "resolved", "accounted", "sure", "right", "right if sure"}}
	for _, way := range slices.Sorted(maps.Keys(score.Ways)) {
		rows = append(rows, scoreRow(way, score.Ways[way]))
	}
	w.table(append(rows, scoreRow("all", score.Total)))
	w.line("calibration error %.3f", score.CalibrationError)
	for _, m := range score.Wrong {
		if missed {
			w.line("%s: %s %v %.2f", m.Row, m.Relation, m.Packages, m.Confidence)
		}
	}
}

func scoreRow(name string, t index.Tally) []string {
	percent := func(part, whole int) string {
		if whole == 0 {
			return "-"
		}
		return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
	}
	return []string{
		name, fmt.Sprint(t.Rows), percent(t.Resolved, t.Rows), percent(t.Accounted, t.Rows), percent(t.Sure, t.Rows),
		percent(t.Names, t.Judged), percent(t.SureRight, t.SureOf),
	}
}

func openIndex(file string) (*index.Index, error) {
	if file == "" {
		return index.Embedded()
	}
	return index.Open(file)
}
