package service

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/index"
	"svc/backend/index/build"
	"svc/backend/index/eval"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/backend/visible"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/program"
)

func (p Commands) indexCommand() *ffcli.Command {
	return p.Group("svc admin index", "the package index", p.indexBuild(), p.indexStats(), p.indexAsk(), p.indexEval())
}

func (p Commands) indexBuild() *ffcli.Command {
	s := build.Sources{Lists: map[release.Format][]string{}}
	fs := p.FlagSet("build")
	releases := ""
	fs.StringVar(&s.Apt, "apt", "", "folder with a folder of Packages and Contents files for each release, folder that mirrors an archive, or URL of one")
	fs.Func("rpm-md", "folder of rpm repositories, or URL of one; may be given again", program.AppendTo(&s.RPM))
	synopsis, flags := "", ""
	for _, l := range build.ListFormats {
		places, name := []string{}, "--"+string(l.Format)
		fs.Func(string(l.Format), l.Usage, func(place string) error {
			places = append(places, place)
			s.Lists[l.Format] = places
			return nil
		})
		synopsis, flags = synopsis+" ["+name+" DIR|URL]…", flags+", "+name
	}
	fs.StringVar(&releases, "release", "", "`RELEASE,…` at a URL, separated by commas: suites of an apt archive, or one release of rpm repositories or of Alpine's")
	fs.Func("keyring", "file of the OpenPGP keys that must have signed the archives; may be given again", program.AppendTo(&s.Keyrings))
	fs.StringVar(&s.Base, "base", "", "index to build on; without it and without a suite of Debian, that of svc")
	fs.StringVar(&s.PES, "pes", "", "file of package evolution events (pes-events.json, may be packed)")
	fs.StringVar(&s.Curated, "curated", "", "folder of curated rows that go before those of svc")
	fs.BoolVar(&s.FactsAlone, "facts", false, "write what the archives say alone, as the program's own data/facts.bin has it")
	fs.StringVar(&s.Out, "out", "", "index file to write")
	return p.Command(fs, "svc admin index build [--apt DIR|URL] [--rpm-md DIR|URL]…"+synopsis+" [--release RELEASE,…] [--pes FILE] [--curated DIR] --out FILE", "build an index from archives' own metadata", program.NoArgs(func(ctx context.Context) error {
		if s.Out == "" || s.Apt == "" && len(s.RPM) == 0 && len(s.Lists) == 0 && s.PES == "" && s.Curated == "" {
			return exit.Usagef("index build needs --out, and at least one of --apt, --rpm-md%s, --pes and --curated", flags)
		}
		for name := range strings.FieldsFuncSeq(releases, func(r rune) bool { return r == ',' || r == ' ' }) {
			r, ok := release.Lookup(name)
			if !ok {
				return exit.Usagef("release %q is not known", name)
			}
			s.Releases = append(s.Releases, r.Slug)
		}
		s.Progress = p.NewProgress()
		s.Log = func(what string) { fmt.Fprintln(p.Stderr, visible.Text(what)) }
		stats, err := build.Build(ctx, s)
		if err != nil {
			return fmt.Errorf("%w; %s was not written", err, s.Out)
		}
		return p.printStats(stats)
	}))
}

func (p Commands) indexStats() *ffcli.Command {
	fs := p.FlagSet("stats")
	p.Settings.Serving(fs, p.Paths)
	return p.Command(fs, "svc admin index stats [--index FILE]", "say what an index holds", program.NoArgs(func(context.Context) error {
		stats, err := build.ReadStats(p.Settings.Index)
		if err != nil {
			return err
		}
		return p.printStats(stats)
	}))
}

func (p Commands) indexAsk() *ffcli.Command {
	fs := p.FlagSet("ask")
	p.Settings.Serving(fs, p.Paths)
	return p.Command(fs, "svc admin index ask [--index FILE] SOURCE TARGET PACKAGE", "say what a package of a release becomes in another", func(_ context.Context, args []string) error {
		if len(args) != 3 {
			return exit.Usagef("index ask takes the source's release, the target's, and a package")
		}
		ix, err := index.Open(p.Settings.Index)
		if err != nil {
			return err
		}
		answer, err := ix.Become(args[0], args[2], args[1])
		return p.Answer(answer, err, func(w *program.View) {
			names := sliced.Map(answer.Packages, func(t api.TargetPackage) string { return strings.TrimSpace(t.Name + " " + t.Version) })
			if answer.Canonical == "" {
				w.Line("%s: nothing is known of such a package of %s", args[2], args[0])
				return
			}
			w.Line("%s: %s %s, confidence %.2f", answer.Canonical, answer.Relation, strings.Join(names, ", "), answer.Confidence)
			for _, c := range answer.Caveats {
				w.Line("  %s %s: %s", c.Severity, c.Code, c.Text)
			}
		})
	})
}

func (p Commands) printStats(s *build.Stats) error {
	return p.Print(s, func(w *program.View) {
		w.Line("index %s, %d bytes", s.IndexVersion, s.Bytes)
		rows := sliced.Map(slices.Sorted(maps.Keys(s.Packages)), func(release string) []string { return []string{release, assess.Plural(s.Packages[release], "package")} })
		rows = append(rows, sliced.Map(slices.Sorted(maps.Keys(s.Trails)), func(hop string) []string { return []string{hop, assess.Plural(s.Trails[hop], "trail")} })...)
		w.Table(rows)
	})
}

func (p Commands) indexEval() *ffcli.Command {
	fs := p.FlagSet("eval")
	p.Settings.Serving(fs, p.Paths)
	targets := fs.String("target", "debian-13", "releases that the machines go to, parted by commas")
	missed := fs.Bool("missed", false, "list what is wrong or unknown")
	return p.Command(fs, "svc admin index eval [--target RELEASE,…] [--missed] [--index FILE] FILE…", "measure an index on known pairs and on machines' packages",
		func(_ context.Context, args []string) error {
			if len(args) == 0 {
				return exit.Usagef("index eval takes files of known pairs or of machines' packages")
			}
			return p.evaluate(args, strings.Split(*targets, ","), *missed)
		})
}

func (p Commands) evaluate(files, targets []string, missed bool) error {
	ix, err := index.Open(p.Settings.Index)
	if err != nil {
		return err
	}
	e := eval.New(ix)
	for _, file := range files {
		if err := addFile(e, file, targets); err != nil {
			return err
		}
	}
	score := e.Score()
	return p.Print(score, func(w *program.View) { viewScore(w, score, missed) })
}

func addFile(e *eval.Evaluation, file string, targets []string) error {
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
func viewScore(w *program.View, score *eval.Score, missed bool) {
	rows := [][]string{{"way", "packages", "resolved", "accounted", "sure", "right", "right if sure", "claimed"}}
	for _, way := range slices.Sorted(maps.Keys(score.Ways)) {
		rows = append(rows, scoreRow(way, score.Ways[way]))
	}
	w.Table(append(rows, scoreRow("all", score.Total)))
	for _, table := range []struct {
		of     string
		counts map[string]eval.Tally
	}{{"direction, and how it was found", score.Directions}, {"evidence", score.Evidence}} {
		if len(table.counts) == 0 {
			continue
		}
		program.List(w, []string{table.of, "packages", "resolved", "accounted", "sure", "right", "right if sure", "claimed"}, slices.Sorted(maps.Keys(table.counts)), func(kind string) []string {
			return scoreRow(kind, table.counts[kind])
		})
	}
	w.Line("calibration error %.3f", score.CalibrationError)
	viewErrors(w, score)
	for _, m := range score.Wrong {
		if missed {
			w.Line("%s: %s %v %.2f", m.Row, m.Relation, m.Packages, m.Confidence)
		}
	}
}

// viewErrors tells the error of each direction, and what of it no claims could mend.
func viewErrors(w *program.View, score *eval.Score) {
	if len(score.Limits) == 0 {
		return
	}
	rows := [][]string{{"direction", "judged", "calibration error", "held by the gate", "right of these", "error by the gate", "by it with any claims", "error by chance alone"}}
	for _, direction := range slices.Sorted(maps.Keys(score.Limits)) {
		l := score.Limits[direction]
		rows = append(rows, []string{
			direction, fmt.Sprint(l.Judged), fmt.Sprintf("%.3f", score.DirectionErrors[direction]),
			fmt.Sprint(l.Held), percent(l.HeldRight, l.Held), fmt.Sprintf("%.3f", l.Gate), fmt.Sprintf("%.3f", l.Forced), fmt.Sprintf("%.3f", l.Chance),
		})
	}
	w.Table(rows)
	w.Line("The gate: what no list of the target has is below 0.8, however often it is right; the least error that this leaves to claims which are each kind's own, and to any claims at all. By chance: what claims that are all true would show of as many facts.")
}

func percent(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

func scoreRow(name string, t eval.Tally) []string {
	return []string{
		name, fmt.Sprint(t.Rows), percent(t.Resolved, t.Rows), percent(t.Accounted, t.Rows), percent(t.Sure, t.Rows),
		percent(t.Names, t.Judged), percent(t.SureRight, t.SureOf), claimed(t),
	}
}

// claimed is how much of what was judged should be right, by the answers' own word.
func claimed(t eval.Tally) string {
	if t.Judged == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*t.Claim())
}
