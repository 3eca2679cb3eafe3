package cvescan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc/backend/api"
	"svc/backend/client"
	"svc/tools/exposure"
	"svc/tools/job"
	"svc/tools/migration"
	"svc/tools/tool"
)

// MigrateExposure counts what advisories say of a move; the lists are in
// exposure.json and in the report.
type MigrateExposure struct {
	Compared bool   `json:"compared"` // false: nothing is known, and why says why
	Why      string `json:"why,omitempty"`
	// The rest is there only where it is known.
	Before  *exposure.Counts `json:"before,omitempty"`  // advisories that apply to the machine
	Fixed   *int             `json:"fixed,omitempty"`   // vulnerabilities that are gone after the move
	Stays   *int             `json:"stays,omitempty"`   // that are in the target's packages, too
	Brought *int             `json:"brought,omitempty"` // that are in these alone
	Open    *int             `json:"open,omitempty"`    // of which nobody can say
	// Gravest are the worst of each: "CVE-2024-6387 critical, in openssh-server".
	Gravest *GravestCVEs `json:"gravest,omitempty"`
	// Warnings say why these may not be all: old advisories, packages that could not be
	// compared.
	Warnings []string `json:"warnings,omitempty"`
}

// errNotCompared says why a move could not be held against advisories.
var errNotCompared = errors.New("not compared with advisories")

// Expose holds the machine and its plan against the advisories of both
// releases. The machine has a seat by now, so that a scan claims none; without
// advisories none is recorded.
func Expose(ctx context.Context, j *job.Job, plan *migration.Plan) *exposure.Document {
	d, err := compareExposure(ctx, j, plan)
	if err != nil {
		if !errors.Is(err, errNotCompared) {
			j.Env.Log.Warn("comparing with advisories", "error", err)
		}
		d = exposure.Uncompared(j.Assessment.Release, j.Target.Slug, err.Error())
	}
	return d
}

func compareExposure(ctx context.Context, j *job.Job, plan *migration.Plan) (*exposure.Document, error) {
	scan := j.Usage(api.CVEScanKind)
	scan.Source, scan.Target = job.OSOf(scannedRelease(j.Assessment)), nil
	gate, err := client.Call(ctx, j.Client, api.Authorize, scan)
	switch {
	case err != nil:
		return nil, err
	case !gate.Licensed:
		return nil, fmt.Errorf("%w: the machine has no licence seat, which a preflight does not claim; svc cve-scan --target %s compares, and claims it", errNotCompared, j.Target.Slug)
	case gate.Feed == nil || !gate.Feed.Loaded:
		return nil, fmt.Errorf("%w: there are none for %s; svc advisories update gets them", errNotCompared, j.Assessment.Release)
	}
	s := newScan(j)
	before, err := s.ask(ctx, scannedRelease(j.Assessment), Scanned(j.Assessment))
	if err != nil {
		return nil, err
	}
	after, err := s.compare(ctx, before, plan)
	if err != nil {
		return nil, err
	}
	if !after.Compared {
		return nil, fmt.Errorf("%w: %s", errNotCompared, after.why())
	}
	return &exposure.Document{
		Schema: exposure.Schema, Source: j.Assessment.Release, Target: j.Target.Slug, Compared: true, SourceFeed: before.Feed, TargetFeed: after.Feed,
		Scanned: before.Scanned, Planned: after.Scanned, Before: exposure.Count(before.Matches), Unsure: after.Unsure, Change: after.Change,
	}, nil
}

// exposureWarnings are those of the feeds of both releases, and of what was not
// compared.
func exposureWarnings(d *exposure.Document, now time.Time) []string {
	all := warnings(d.Source, d.SourceFeed, exposure.Stale(d.SourceFeed, now))
	if d.Target != d.Source {
		all = append(all, warnings(d.Target, d.TargetFeed, exposure.Stale(d.TargetFeed, now))...)
	}
	return append(all, targetWarnings(&Target{Release: d.Target, Compared: true, Unsure: d.Unsure})...)
}

// Counted is a document in numbers.
func Counted(d *exposure.Document, now time.Time) *MigrateExposure {
	if !d.Compared {
		return &MigrateExposure{Why: d.Why}
	}
	return &MigrateExposure{
		d.Compared, d.Why, &d.Before, new(len(d.Fixed)), new(len(d.Stays)), new(len(d.Brought)), new(len(d.Open)),
		&GravestCVEs{gravest(d.Stays), gravest(d.Brought), gravest(d.Open), gravest(d.Fixed)}, exposureWarnings(d, now),
	}
}

// GravestCVEs are the worst vulnerabilities by what becomes of them; exposure.json
// has all.
type GravestCVEs struct {
	Stays   []string `json:"stays,omitempty"`
	Brought []string `json:"brought,omitempty"`
	Open    []string `json:"open,omitempty"`
	Fixed   []string `json:"fixed,omitempty"`
}

// mostGrave is how many vulnerabilities a result names of each kind.
const mostGrave = 10

func gravest(all []exposure.Vulnerability) (lines []string) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b exposure.Vulnerability) int {
		return cmp.Compare(exposure.Rank(a.Severity), exposure.Rank(b.Severity))
	})
	for _, v := range all[:min(mostGrave, len(all))] {
		lines = append(lines, fmt.Sprintf("%s %s, in %s", v.ID, v.Severity, strings.Join(v.Packages[:min(tool.Few, len(v.Packages))], ", ")))
	}
	return lines
}
