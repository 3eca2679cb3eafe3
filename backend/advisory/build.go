package advisory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Limits of a build.
const (
	maxBuffer     = 64 << 20 // bytes of findings in memory; more goes to temporary files
	maxAdvisories = 8 << 20  // of all sources
	maxNamed      = 1000     // faults that a report names
)

// Sources says what a feed is built from.
type Sources struct {
	// OSV are files, folders and URLs of advisories in the OSV format: JSON, or a
	// zip or tar of it, also compressed with zstd or gzip.
	OSV []string
	// Out is the file to write, replaced as a whole and only by a good one.
	Out string
	// Now is the time of the build.
	Now time.Time
	// Log is told what is being done; may be nil.
	Log func(string)
	// Progress is told the bytes of a download that are there, and all; may be nil.
	Progress func(what string, done, total int)
}

// Report is what a build made of its sources.
type Report struct {
	Version   string `json:"version"` // the beginning of the content's SHA-256
	Bytes     int64  `json:"bytes"`
	BuiltAt   string `json:"built_at"`
	Read      int    `json:"read"`      // advisories
	Withdrawn int    `json:"withdrawn"` // left out
	// Superseded are older copies of advisories that came again.
	Superseded int `json:"superseded"`
	// Unimportant are packages of advisories that the distribution calls no fault
	// of security there.
	Unimportant int `json:"unimportant"`
	// Foreign are ecosystems, and products, that svc scans no systems of, with
	// the packages left out of each.
	Foreign  map[string]int          `json:"foreign"`
	Releases map[string]ReleaseStats `json:"releases"`
	// Rejected counts advisories of which something can't be used; Faults names
	// them, the first thousand.
	Rejected int     `json:"rejected"`
	Faults   []Fault `json:"faults"`
}

// ReleaseStats counts what a feed has for a release.
type ReleaseStats struct {
	Advisories int    `json:"advisories"` // of vulnerabilities
	Updates    int    `json:"updates"`    // bug fixes and enhancements
	Packages   int    `json:"packages"`   // named by advisories
	Rules      int    `json:"rules"`      // packages of advisories
	UpdatedAt  string `json:"updated_at"` // of the newest advisory of its ecosystem
}

// Fault is something of a source that can't be used.
type Fault struct {
	Where string `json:"where"`
	Why   string `json:"why"`
}

// build is a feed in the making.
type build struct {
	out     *writer
	sorter  sorter
	report  *Report
	rank    map[string]int64 // the newest change of each advisory
	updated map[string]int64 // the newest change by distribution
	now     time.Time
	log     func(string)
}

// Build makes a feed of the sources and puts it in its place as a whole. Where
// that fails, what stood there stays. The same sources give the same content.
func Build(ctx context.Context, s Sources) (_ *Report, err error) {
	if len(s.OSV) == 0 || s.Out == "" {
		return nil, errors.New("building a feed needs advisories and a file to write")
	}
	if s.Log == nil {
		s.Log = func(string) {}
	}
	out, err := newWriter(s.Out)
	if err != nil {
		return nil, err
	}
	b := &build{
		out: out, now: s.Now, log: s.Log, rank: map[string]int64{}, updated: map[string]int64{},
		report: &Report{Foreign: map[string]int{}, Releases: map[string]ReleaseStats{}, Faults: []Fault{}},
	}
	err = b.run(ctx, s)
	b.sorter.close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("building advisories: %w; %s is as it was", err, s.Out), out.discard())
	}
	feed, err := Open(s.Out)
	if err != nil {
		return nil, err
	}
	b.report.Version, b.report.Bytes, b.report.BuiltAt = feed.Version(), feed.size, stamp(s.Now)
	return b.report, feed.Close()
}

func (b *build) run(ctx context.Context, s Sources) error {
	for _, source := range s.OSV {
		b.log("reading " + source)
		if err := eachDocument(ctx, source, s.Out, s.Progress, b.add, b.fault); err != nil {
			return err
		}
	}
	b.log("writing " + s.Out)
	sections, err := b.sections(ctx)
	if err != nil {
		return err
	}
	if len(sections) == 0 {
		return errors.New("no advisory of the sources is about a system that svc knows" + b.firstFault())
	}
	return b.out.finish(sections, b.report.Rejected, s.Now)
}

func (b *build) firstFault() string {
	if len(b.report.Faults) == 0 {
		return ""
	}
	return fmt.Sprintf("; the first of %d faults: %s: %s", b.report.Rejected, b.report.Faults[0].Where, b.report.Faults[0].Why)
}

// fault notes something that can't be used.
func (b *build) fault(where string, why error) {
	b.report.Rejected++
	if len(b.report.Faults) < maxNamed {
		b.report.Faults = append(b.report.Faults, Fault{cut(strings.ToValidUTF8(where, "\uFFFD"), 500), cut(strings.ToValidUTF8(why.Error(), "\uFFFD"), 500)})
	}
}

// add takes one advisory.
func (b *build) add(where string, text []byte) error {
	p, err := parse(text)
	if err != nil {
		b.fault(where, err)
		return nil
	}
	if b.report.Read++; b.report.Read > maxAdvisories {
		return fmt.Errorf("there are more than %d advisories", maxAdvisories)
	}
	b.note(where, p)
	b.rank[p.record.id] = max(b.rank[p.record.id], p.modified)
	if p.withdrawn {
		b.report.Withdrawn++
		return nil
	}
	if len(p.findings) == 0 {
		return nil
	}
	at, err := b.out.record(&p.record)
	if err != nil {
		return err
	}
	for i := range p.findings {
		f := &p.findings[i]
		f.rule.offset, f.rule.length = at.offset, at.length
		distribution := distributionOf(f.release)
		b.updated[distribution] = max(b.updated[distribution], min(p.modified, b.now.Unix()))
		if err := b.sorter.add(*f); err != nil {
			return err
		}
	}
	return nil
}

// note puts into the report what of an advisory is left out.
func (b *build) note(where string, p *parsed) {
	b.report.Unimportant += p.unimportant
	foreign := 0
	for name, n := range p.foreign {
		foreign += n
		if _, known := b.report.Foreign[name]; known || len(b.report.Foreign) < maxNamed {
			b.report.Foreign[name] += n
		}
	}
	if len(p.faults) > 0 {
		b.fault(where, fmt.Errorf("%s: %w", cut(p.record.id, 80), errors.Join(p.faults[:min(3, len(p.faults))]...)))
	} else if foreign > 0 && len(p.findings) == 0 && p.unknown {
		b.fault(where, fmt.Errorf("%s: it is about no ecosystem that svc knows", cut(p.record.id, 80)))
	}
}

func distributionOf(release string) string {
	name, _, _ := strings.Cut(release, "-")
	return name
}

// sections writes what was collected, release by release and package by package.
func (b *build) sections(ctx context.Context) ([]*section, error) {
	var done []*section
	var s *section
	seen := map[string]bool{} // advisories of the section
	finish := func() error {
		if s == nil {
			return nil
		}
		for _, update := range seen {
			if update {
				s.updates++
			} else {
				s.advisories++
			}
		}
		done = append(done, s)
		b.report.Releases[s.release] = ReleaseStats{s.advisories, s.updates, len(b.out.entries), s.rules, stamp(time.Unix(s.updated, 0))}
		return b.out.tables(s)
	}
	err := b.sorter.groups(func(rows []row) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if first := rows[0]; s == nil || s.release != first.release {
			if err := finish(); err != nil {
				return err
			}
			s, seen = &section{release: first.release, kind: first.kind, source: first.source, updated: b.updated[distributionOf(first.release)]}, map[string]bool{}
		}
		rules := b.current(rows)
		for _, r := range rules {
			seen[r.id] = r.update
		}
		s.rules += len(rules)
		if len(rules) == 0 {
			return nil
		}
		resolveStreams(rules)
		return b.out.rules(rows[0].name, rules)
	})
	if err != nil {
		return nil, err
	}
	return done, finish()
}

// current are the rules of the newest copy of each advisory, each once.
func (b *build) current(rows []row) []*rule {
	var rules []*rule
	for i := range rows {
		r := &rows[i]
		switch {
		case r.modified < b.rank[r.rule.id]:
			b.report.Superseded++
		case len(rules) > 0 && sameRule(rules[len(rules)-1], &r.rule):
		default:
			rules = append(rules, &r.rule)
		}
	}
	return rules
}

// sameRule reports whether two rules of a package say the same; which record
// they lead to does not matter.
func sameRule(a, b *rule) bool {
	return a.id == b.id && a.line == b.line && slices.Equal(a.spans, b.spans) && slices.Equal(a.versions, b.versions)
}

// stamp is a time as the service writes it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + "+00" }
