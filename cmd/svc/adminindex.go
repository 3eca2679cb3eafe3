package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

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
	return p.command(fs, "svc admin index eval TRUTH.tsv [--index FILE]", "measure an index against pairs that are known", func(_ context.Context, args []string) error {
		if len(args) != 1 {
			return usagef("index eval takes one file of known pairs")
		}
		return p.evaluate(args[0])
	})
}

func (p *program) evaluate(truth string) error {
	ix, err := openIndex(p.settings.index)
	if err != nil {
		return err
	}
	defer ix.Close()
	f, err := os.Open(truth)
	if err != nil {
		return fmt.Errorf("reading the known pairs: %w", err)
	}
	defer f.Close()
	score, err := index.Eval(ix, f)
	if err != nil {
		return err
	}
	return p.print(score, func(w *view) { w.line("%+v", score.Total) })
}

func openIndex(file string) (*index.Index, error) {
	if file == "" {
		return index.Embedded()
	}
	return index.Open(file)
}
