package main

import (
	"context"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/tools/account"
)

func (p *program) releasesCommand() *ffcli.Command {
	return p.command(p.flagSet("releases"), "svc releases", "list the operating-system releases that svc knows: support, and how much of their packages", noArgs(func(ctx context.Context) error {
		if err := p.borrowData(); err != nil {
			return err
		}
		r, err := account.OSReleases(ctx, p.toolEnv())
		if err != nil {
			return err
		}
		return p.print(r, func(w *view) { viewOSReleases(w, r) })
	}))
}

func viewOSReleases(w *view, all account.OSReleasesResult) {
	rows := [][]string{{"RELEASE", "NAME", "SUPPORT", "SOURCE", "TARGET", "PACKAGE LIST"}}
	for _, r := range all.Releases {
		rows = append(rows, []string{r.Slug, r.Name, supportOf(r), yesNo(r.Source), yesNo(r.Target), string(r.List)})
	}
	w.table(rows)
	w.title("Package list: whole = the release's own list; derived = another release's, but for what is known to differ; most, some = part of the names.")
	w.line("What a list lacks is a question in the plan. Releases may be named as people write them: bookworm, jammy, el9, alma9, rocky-9.")
	if all.IndexDate != nil {
		w.line("The lists had been taken from the archives by %s: newer packages are not in them.", *all.IndexDate)
	}
}

// supportOf says until when the vendor mends a release for everybody.
func supportOf(r account.OSRelease) string {
	switch {
	case r.Released == nil:
		return "not released"
	case r.EndOfLife == nil:
		return "yes"
	case r.Supported != nil && *r.Supported:
		return "until " + *r.EndOfLife
	}
	return "ended " + *r.EndOfLife
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
