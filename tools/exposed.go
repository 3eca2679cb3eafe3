package tools

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
)

// exposureFile is what advisories say of a move, as a machine reads it.
const exposureFile = "exposure.json"

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

// expose holds the machine and its plan against the advisories of both
// releases. The machine has a seat by now, so that a scan claims none; without
// advisories none is recorded.
func (m *move) expose(ctx context.Context) *exposure.Document {
	d, err := m.compareExposure(ctx)
	if err != nil {
		if !errors.Is(err, errNotCompared) {
			m.env.Log.Warn("comparing with advisories", "error", err)
		}
		d = exposure.Uncompared(m.a.Release, m.target.Slug, err.Error())
	}
	return d
}

func (m *move) compareExposure(ctx context.Context) (*exposure.Document, error) {
	scan := m.usage(api.CVEScanKind)
	scan.Source, scan.Target = osOf(scannedRelease(m.a)), nil
	gate, err := client.Call(ctx, m.client, api.Authorize, scan)
	switch {
	case err != nil:
		return nil, err
	case !gate.Licensed:
		return nil, fmt.Errorf("%w: the machine has no licence seat, which a preflight does not claim; svc cve-scan --target %s compares, and claims it", errNotCompared, m.target.Slug)
	case gate.Feed == nil || !gate.Feed.Loaded:
		return nil, fmt.Errorf("%w: there are none for %s; svc advisories update gets them", errNotCompared, m.a.Release)
	}
	s := newScan(m)
	before, err := s.ask(ctx, scannedRelease(m.a), scanned(m.a))
	if err != nil {
		return nil, err
	}
	after, err := s.compare(ctx, before, m.plan)
	if err != nil {
		return nil, err
	}
	if !after.Compared {
		return nil, fmt.Errorf("%w: %s", errNotCompared, after.why())
	}
	return &exposure.Document{
		Schema: exposure.Schema, Source: m.a.Release, Target: m.target.Slug, Compared: true, SourceFeed: before.Feed, TargetFeed: after.Feed,
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
	return append(all, targetWarnings(&CVETarget{Release: d.Target, Compared: true, Unsure: d.Unsure})...)
}

// counted is a document in numbers.
func counted(d *exposure.Document, now time.Time) *MigrateExposure {
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
		lines = append(lines, fmt.Sprintf("%s %s, in %s", v.ID, v.Severity, strings.Join(v.Packages[:min(few, len(v.Packages))], ", ")))
	}
	return lines
}

// few is how many things of a kind stand in one line.
const few = 3
