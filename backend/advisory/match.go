package advisory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc/backend/api"
	"svc/backend/lazyregexp"
	"svc/backend/pkgversion"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/backend/wire"
)

// Result is what the advisories of a release say of packages.
type Result struct {
	Feed    api.Feed
	Matches []api.CVEMatch
	// Updates are bug fixes and enhancements: no vulnerabilities.
	Updates []api.CVEMatch
	// Unlisted are packages that no advisory of the release names.
	Unlisted []string
}

func nothing() Result {
	return Result{Matches: []api.CVEMatch{}, Updates: []api.CVEMatch{}, Unlisted: []string{}}
}

// scan is one comparison of packages with a section.
type scan struct {
	feed    *Feed
	section *openSection
	line    string
	over    bool // the release has no support any more: what is not fixed won't be
	rules   []rule
	done    map[question]answer
	records map[uint64]*record
	buffer  []byte // of what is read
}

// question is all that the answer for a package depends on.
type question struct{ name, version, module string }

// answer is what a feed says of a package; listed is false where no advisory
// names it.
type answer struct {
	hits   []hit
	listed bool
}

// hit is an advisory that applies, and what its rule says.
type hit struct {
	record       *record
	update, over bool
	severity     severity // unknown and "" where they are the advisory's
	cvss         string
	fixed        string
	others       []string // advisories of the same CVE
}

// asked is a package, and what applies to it.
type asked struct {
	*api.ScannedPackage
	hits []hit
}

// match compares packages with the advisories of a release.
func (f *Feed) match(name string, packages []api.ScannedPackage, now time.Time) (Result, error) {
	at := where(name)
	section, ok := f.sections[at.release]
	if !ok {
		return nothing(), nil
	}
	r, _ := release.Lookup(at.release)
	supported, known := r.Supported(now)
	s := &scan{feed: f, section: section, line: at.line, over: known && !supported, done: make(map[question]answer, len(packages)), records: map[uint64]*record{}}
	found, unlisted, err := s.askAll(packages)
	if err != nil {
		return Result{}, err
	}
	result := s.result(found)
	result.Feed, result.Unlisted = f.about(section), unlisted
	return result, nil
}

// about is what the service says of the advisories of a release.
func (f *Feed) about(s *openSection) api.Feed {
	updated, built := stamp(time.Unix(s.updated, 0)), stamp(f.built)
	return api.Feed{Loaded: true, UpdatedAt: &updated, BuiltAt: &built, Version: f.Version(), Advisories: s.advisories, Rejected: f.rejected}
}

// askAll finds what applies to packages, each once for all its architectures,
// and the names of those that no advisory is about.
func (s *scan) askAll(packages []api.ScannedPackage) (found []asked, unlisted []string, err error) {
	found, unlisted = make([]asked, 0, len(packages)), []string{}
	seen := make(map[question]bool, len(packages))
	for _, i := range bootable(s.section.kind, packages) {
		p := &packages[i]
		q := s.question(p)
		once := question{p.Name, p.Version, q.name + " " + q.version + " " + q.module}
		if seen[once] {
			continue
		}
		seen[once] = true
		answer, err := s.ask(q)
		if err != nil {
			return nil, nil, err
		}
		if !answer.listed {
			unlisted = append(unlisted, p.Name)
		}
		found = append(found, asked{p, answer.hits})
	}
	return found, unlisted, nil
}

// result tells vulnerabilities from other updates.
func (s *scan) result(found []asked) Result {
	r, n := nothing(), 0
	for _, a := range found {
		n += len(a.hits)
	}
	r.Matches = make([]api.CVEMatch, 0, n)
	for _, a := range found {
		for i := range a.hits {
			if m := s.found(a.ScannedPackage, &a.hits[i]); a.hits[i].update {
				r.Updates = append(r.Updates, m)
			} else {
				r.Matches = append(r.Matches, m)
			}
		}
	}
	return r
}

// question is by what a package is looked for: source packages by their own
// version.
func (s *scan) question(p *api.ScannedPackage) question {
	if !s.section.source {
		return question{p.Name, p.Version, streamOf(p.Module)}
	}
	if name, signed := kernelOf(p.Source); signed {
		return question{name, p.Version, ""} // the source of the signed copy has a version of its own
	}
	return question{cmp.Or(p.Source, p.Name), cmp.Or(p.SourceVersion, p.Version), ""}
}

// ask finds what applies to a package, once for all that are alike.
func (s *scan) ask(q question) (answer, error) {
	if a, ok := s.done[q]; ok {
		return a, nil
	}
	rules, err := s.rulesOf(q.name)
	if err != nil {
		return answer{}, err
	}
	streams, err := s.streamsOf(q, rules)
	if err != nil {
		return answer{}, err
	}
	a := answer{listed: len(rules) > 0}
	for len(rules) > 0 {
		n := 1
		for n < len(rules) && rules[n].id == rules[0].id {
			n++
		}
		h, applies, err := s.judge(q, streams, rules[:n])
		if err != nil {
			return answer{}, err
		}
		if rules = rules[n:]; applies {
			a.hits = append(a.hits, h)
		}
	}
	a.hits = merged(a.hits)
	s.done[q] = a
	return a, nil
}

// rulesOf reads the rules of a package, in the order of their advisories. They
// are good until the next call.
func (s *scan) rulesOf(name string) ([]rule, error) {
	text, err := s.feed.rules(s.section, name, &s.buffer)
	if err != nil {
		return nil, err
	}
	s.rules = s.rules[:0]
	for in := (&wire.Input{Rest: text}); in.Rest != ""; {
		if len(s.rules) < cap(s.rules) {
			s.rules = s.rules[:len(s.rules)+1] // with the lists of an earlier rule
		} else {
			s.rules = append(s.rules, rule{})
		}
		if s.rules[len(s.rules)-1].read(in); in.Bad {
			return nil, fmt.Errorf("%w: the rules of a package are damaged", ErrFormat)
		}
	}
	return s.rules, nil
}

func (s *scan) recordOf(r *rule) (*record, error) {
	if known, ok := s.records[r.offset]; ok {
		return known, nil
	}
	record, err := s.feed.record(extent{r.offset, r.length}, &s.buffer)
	s.records[r.offset] = &record
	return &record, err
}

// judge decides about one advisory by its rules. Where several apply, the
// package is safe only with the last of their fixes.
func (s *scan) judge(q question, streams []string, rules []rule) (_ hit, applies bool, err error) {
	var h hit
	var by *rule
	line := s.lineOf(q.version, rules)
	modular := q.module != "" || tagOf(q.version) != ""
	for i := range rules {
		r := &rules[i]
		if line != anyLine && r.line != line || r.modular != modular || modular && !r.inStream(streams) {
			continue
		}
		at, ok := r.affects(s.section.kind, q.version)
		if ok && (by == nil || at.fixed == "" || h.fixed != "" && pkgversion.Compare(s.section.kind, at.fixed, h.fixed) > 0) {
			by, h = r, hit{update: r.update, over: r.over, severity: r.severity, cvss: r.cvss, fixed: at.fixed}
		}
	}
	if by == nil {
		return h, false, nil
	}
	h.record, err = s.recordOf(by)
	return h, true, err
}

// anyLine stands for all lines of updates.
const anyLine = "*"

// lineOf is the line of updates that a package is on: that of its service pack,
// or the one of Ubuntu that its version is from, where the advisory has it.
func (s *scan) lineOf(version string, rules []rule) string {
	has := func(line string) bool {
		return slices.ContainsFunc(rules, func(r rule) bool { return r.line == line })
	}
	version = strings.ToLower(version)
	switch {
	case strings.HasPrefix(s.section.release, "sles-"):
		return cmp.Or(s.line, anyLine)
	case strings.Contains(version, "fips") && has(lineFIPS):
		return lineFIPS
	case strings.Contains(version, "esm") && has(linePro), !has(""):
		return linePro
	}
	return ""
}

// streamsOf are the module streams that a package is of: by its label, else by
// the builds that the feed knows. None means that nobody knows.
func (s *scan) streamsOf(q question, rules []rule) ([]string, error) {
	tag := tagOf(q.version)
	if q.module != "" || tag == "" || len(rules) == 0 {
		return []string{q.module}, nil
	}
	builds, err := s.section.builds()
	if err != nil {
		return nil, err
	}
	var own []string // of builds of this very package
	for i := range rules {
		if slices.Contains(rules[i].tags(), tag) {
			own = union(own, rules[i].streams)
		}
	}
	if len(own) > 0 {
		return own, nil
	}
	return builds[tag], nil
}

// inStream reports whether a rule is about one of the streams. What is not
// known on either side is not ruled out.
func (r *rule) inStream(streams []string) bool {
	if len(streams) == 0 || len(r.streams) == 0 {
		return true
	}
	return slices.ContainsFunc(streams, func(s string) bool { return slices.Contains(r.streams, s) })
}

// ofCVE tells records of a single CVE, DEBIAN-CVE-2024-1, from advisories that
// may fix several.
var ofCVE = lazyregexp.New(`^(?:[A-Z]+-)?(CVE-[0-9]+-[0-9]+)$`)

func cveOf(id string) string {
	if !strings.Contains(id, "CVE-") {
		return "" // as most are
	}
	if m := ofCVE.FindStringSubmatch(id); m != nil {
		return m[1]
	}
	return ""
}

// merged leaves out the advisories of a package all of whose CVEs have a record
// of their own, and notes the advisory with those.
func merged(hits []hit) []hit {
	records := map[string]int{} // by CVE
	for i := range hits {
		if cve := cveOf(hits[i].record.id); cve != "" {
			records[cve] = i
		}
	}
	if len(records) == 0 {
		return hits
	}
	var kept []int
	for i := range hits {
		own := covering(&hits[i], records)
		for _, j := range own {
			hits[j].others = append(hits[j].others, hits[i].record.id)
		}
		if len(own) == 0 {
			kept = append(kept, i)
		}
	}
	return sliced.Map(kept, func(i int) hit { return hits[i] })
}

// covering are the records of an advisory's CVEs; none where one has no record,
// or the advisory is a record itself.
func covering(h *hit, records map[string]int) (own []int) {
	if cveOf(h.record.id) != "" {
		return nil
	}
	for _, name := range h.record.aliases {
		i, ok := records[name]
		if !ok && strings.HasPrefix(name, "CVE-") {
			return nil
		}
		if ok {
			own = append(own, i)
		}
	}
	return own
}

// names are the advisory's other names, and those of the advisories that are
// not listed beside it.
func (h *hit) names() []string {
	if len(h.others) == 0 && h.record.aliases != nil {
		return h.record.aliases
	}
	return append(slices.Clone(h.record.aliases), h.others...)
}

// found is a hit as the service says it.
func (s *scan) found(p *api.ScannedPackage, h *hit) api.CVEMatch {
	m := api.CVEMatch{
		Package: p.Name, Version: p.Version, Advisory: h.record.id, Aliases: h.names(), Severity: h.record.severity.String(), CVSS: h.record.cvss,
		FixedVersion: h.fixed, Status: "fixed", Summary: h.record.summary, URL: h.record.url,
	}
	if h.severity != unknown {
		m.Severity, m.CVSS = h.severity.String(), h.cvss
	}
	switch {
	case h.fixed != "":
	case h.over || s.over:
		m.Status = "end_of_life"
	default:
		m.Status = "unfixed"
	}
	return m
}
