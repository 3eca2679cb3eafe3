package look

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/assess"
	"svc/backend"
	"svc/backend/advisory"
	"svc/backend/firstuse"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/program"
)

// osvExports is where OSV publishes its advisories: a zip for each ecosystem.
const osvExports = "https://osv-vulnerabilities.storage.googleapis.com"

// feedUpdate is what `svc advisories update` is told.
type feedUpdate struct {
	sources  []string // in place of OSV's exports
	releases []string // in place of those that were assessed
	mirror   string
}

// Advisories is `svc advisories`.
func (p Commands) Advisories() *ffcli.Command {
	var u feedUpdate
	fs := p.FlagSet("update")
	fs.Func("source", "`FILE|DIR|URL` of advisories in the OSV format, in place of OSV's public exports; may be given again", program.AppendTo(&u.sources))
	fs.Func("release", "release to get advisories of, in place of those that were assessed here; may be given again", program.AppendTo(&u.releases))
	fs.StringVar(&u.mirror, "mirror", osvExports, "where ECOSYSTEM/all.zip is fetched from")
	return p.Group("svc advisories", "the security advisories that machines are compared with",
		p.Command(fs, "svc advisories update [--release RELEASE] [--source FILE|DIR|URL]", "get the newest security advisories for cve-scan",
			program.NoArgs(func(ctx context.Context) error { return p.updateFeed(ctx, u) })))
}

// updateFeed fetches and builds the feed; the one before stays until the new one is
// whole. Downloads go on where an earlier one broke off.
func (p Commands) updateFeed(ctx context.Context, u feedUpdate) error {
	if len(u.sources) == 0 {
		if len(u.releases) == 0 {
			u.releases = p.assessed()
		}
		if len(u.releases) == 0 {
			return exit.Usagef("no machine was assessed by this user yet, so it is not known whose advisories to get: name releases, such as --release debian-12, or a --source; nothing was done")
		}
		ecosystems, err := exportsOf(u.releases)
		if err != nil {
			return err
		}
		u.sources = append(u.sources, sliced.Map(ecosystems, func(e string) string { return strings.TrimSuffix(u.mirror, "/") + "/" + url.PathEscape(e) + "/all.zip" })...)
	}
	if err := os.MkdirAll(p.Paths.DataDir, 0o700); err != nil {
		return fmt.Errorf("making the data directory: %w", err)
	}
	s := advisory.Sources{OSV: u.sources, Out: p.Paths.Data(backend.FeedFile), Now: time.Now(), Progress: p.NewProgress()}
	s.Log = func(what string) { p.Note("%s", what) }
	report, err := advisory.Build(ctx, s)
	return p.Answer(report, err, func(w *program.View) { viewUpdate(w, report, s.Now) })
}

// exportsOf are the ecosystems to fetch for releases, whatever people call them.
func exportsOf(names []string) ([]string, error) {
	slugs := []string{}
	for _, name := range names {
		r, ok := release.Lookup(name)
		if !ok {
			return nil, exit.Usagef("there is no release %q: `svc releases` lists them; nothing was done", name)
		}
		slugs = append(slugs, r.Slug)
	}
	ecosystems, without := advisory.Exports(slugs)
	if len(ecosystems) == 0 {
		return nil, fmt.Errorf("OSV publishes no advisories of %s: name another --source; nothing was done", strings.Join(without, ", "))
	}
	return ecosystems, nil
}

// viewUpdate says what the feed has, and how old the newest advisory of each release is.
func viewUpdate(w *program.View, r *advisory.Report, now time.Time) {
	w.Line("%d advisories for %s. The feed is used from now on.", r.Read-r.Withdrawn, assess.Plural(len(r.Releases), "release"))
	program.List(w, nil, slices.Sorted(maps.Keys(r.Releases)), func(name string) []string {
		s := r.Releases[name]
		return []string{name, Advisories(s.Advisories), "newest " + age(s.UpdatedAt, now)}
	})
	if r.Rejected > 0 {
		w.Line("%s of the source could not be read; `svc admin advisories build` names them.", assess.Plural(r.Rejected, "document"))
	}
}

// age says how long ago a time was, in days.
func age(stamp string, now time.Time) string {
	t, err := time.Parse("2006-01-02 15:04:05-07", stamp)
	if err != nil {
		return stamp
	}
	switch days := int(now.Sub(t).Hours() / 24); {
	case days < 1:
		return "today"
	default:
		return assess.Plural(days, "day") + " ago"
	}
}

// assessedFile has the releases of the machines that this user assessed, a line each.
func (p Commands) assessedFile() string { return filepath.Join(p.Paths.StateDir, "assessed") }

// assessed are those releases.
func (p Commands) assessed() []string {
	b, err := program.ReadBounded(p.assessedFile(), 1<<16)
	if err != nil {
		return nil
	}
	return strings.Fields(string(b))
}

// SawRelease keeps that a machine of a release was assessed. It is of use to
// `svc advisories update` alone, so that nothing fails where it can't be kept.
func (p Commands) SawRelease(slug string) {
	known := p.assessed()
	if slug == "" || slices.Contains(known, slug) {
		return
	}
	lines := strings.Join(append(known, slug), "\n") + "\n"
	if os.MkdirAll(p.Paths.StateDir, 0o700) == nil {
		_ = firstuse.Replace(p.assessedFile(), []byte(lines))
	}
}
