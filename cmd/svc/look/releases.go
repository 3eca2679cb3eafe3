package look

import (
	"context"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/cmd/svc/program"
	"svc/tools/account"
)

// Releases is `svc releases`.
func (p Commands) Releases() *ffcli.Command {
	return p.Command(p.FlagSet("releases"), "svc releases", "list the operating-system releases that svc knows: support, and how much of their packages", program.NoArgs(func(ctx context.Context) error {
		if err := p.BorrowData(); err != nil {
			return err
		}
		r, err := account.OSReleases(ctx, p.ToolEnv())
		return p.Answer(r, err, func(w *program.View) { viewOSReleases(w, r) })
	}))
}

func viewOSReleases(w *program.View, all account.OSReleasesResult) {
	program.List(w, []string{"RELEASE", "NAME", "SUPPORT", "SOURCE", "TARGET", "PACKAGE LIST"}, all.Releases, func(r account.OSRelease) []string {
		return []string{r.Slug, r.Name, supportOf(r), yesNo(r.Source), yesNo(r.Target), string(r.List)}
	})
	w.Title("Package list: whole = the release's own list; derived = another release's, but for what is known to differ; most, some = part of the names.")
	w.Line("What a list lacks is a question in the plan. Releases may be named as people write them: bookworm, jammy, el9, alma9, rocky-9.")
	if all.IndexDate != nil {
		w.Line("The lists had been taken from the archives by %s: newer packages are not in them.", *all.IndexDate)
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
