package advisory

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"svc/backend/lazyregexp"
	"svc/backend/pkgversion"
)

// Limits of one advisory.
const (
	maxAdvisory = 32 << 20 // bytes of its JSON; real ones of kernels have some 5 MB
	maxName     = 256      // bytes of an id or of a package's name
	maxSummary  = 300      // bytes that are kept of a summary
	maxURL      = 500      // bytes of a link
	maxAliases  = 2000     // other names that are kept
)

// document is what is read of an advisory in the OSV format.
type document struct {
	ID        string `json:"id"`
	Modified  string `json:"modified"`
	Withdrawn string `json:"withdrawn"`

	Aliases  []string `json:"aliases"`
	Upstream []string `json:"upstream"`
	Related  []string `json:"related"`

	Summary    string      `json:"summary"`
	Details    string      `json:"details"`
	Severity   []grade     `json:"severity"`
	Affected   []affected  `json:"affected"`
	References []reference `json:"references"`
	Specific   specific    `json:"database_specific"`
}

type grade struct {
	Type  string `json:"type"` // CVSS_V2, CVSS_V3, CVSS_V4, Ubuntu, …
	Score string `json:"score"`
}

type affected struct {
	Package struct {
		Ecosystem string `json:"ecosystem"`
		Name      string `json:"name"`
		PURL      string `json:"purl"`
	} `json:"package"`
	Severity []grade      `json:"severity"`
	Ranges   []eventRange `json:"ranges"`
	Versions []string     `json:"versions"`
	Specific specific     `json:"ecosystem_specific"`
}

type eventRange struct {
	Type   string  `json:"type"`
	Events []event `json:"events"`
}

// event has one member, the point at which it stands.
type event struct {
	Introduced   string `json:"introduced"`
	Fixed        string `json:"fixed"`
	LastAffected string `json:"last_affected"`
}

type reference struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// specific is what databases add as they like: a member may be of any type.
type specific struct {
	Severity jsontext.Value `json:"severity"`
	Urgency  jsontext.Value `json:"urgency"`
}

func text(v jsontext.Value) string {
	var s string
	if json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// parsed is an advisory as the feed takes it. One without findings says nothing
// of the systems that svc knows.
type parsed struct {
	record    record
	modified  int64 // Unix time
	withdrawn bool
	findings  []row
	// unimportant counts packages of which the distribution says that the fault
	// is none there, foreign those of other ecosystems, by name.
	unimportant int
	foreign     map[string]int
	// unknown is true where one of those is of no distribution that svc knows.
	unknown bool
	// faults are the parts that can't be used.
	faults []error
}

// parse reads an advisory. An error means that nothing of it can be used.
func parse(b []byte) (*parsed, error) {
	var d document
	if err := json.Unmarshal(b, &d); err != nil {
		return nil, errors.New("it is no OSV advisory: it is no JSON, or not of that form")
	}
	if d.ID == "" || len(d.ID) > maxName {
		return nil, fmt.Errorf("it has no id of 1 to %d bytes", maxName)
	}
	modified, err := time.Parse(time.RFC3339, d.Modified)
	if err != nil {
		return nil, fmt.Errorf("modified is no time: %.40q", d.Modified)
	}
	p := &parsed{record: d.record(), modified: modified.Unix(), withdrawn: d.Withdrawn != "", foreign: map[string]int{}}
	if p.withdrawn {
		return p, nil
	}
	update := isUpdate(d.ID, p.record.aliases)
	streams := streamsIn(d.Summary)
	for i := range d.Affected {
		p.add(&d.Affected[i], rule{id: d.ID, update: update}, streams)
	}
	return p, nil
}

var (
	// updateID tells advisories of bugs and enhancements by their name: ALBA,
	// RHEA, SUSE-RU.
	updateID = lazyregexp.New(`^((AL|RH|RL|EL|CE|FE)(BA|EA)-|(open)?SUSE-(RU|FU|OU)-)`)
	// almaUpdate are those that AlmaLinux publishes all of. Others publish as OSV
	// only what has to do with vulnerabilities: there a bug fix that names a CVE
	// fixes it.
	almaUpdate = lazyregexp.New(`^AL[BE]A-`)
)

// isUpdate tells bug fixes and enhancements from vulnerabilities; names has
// CVEs first.
func isUpdate(id string, names []string) bool {
	ofCVE := len(names) > 0 && strings.HasPrefix(names[0], "CVE-")
	return updateID.MatchString(id) && (!ofCVE || almaUpdate.MatchString(id))
}

// amazonTopic is an advisory of a topic of Amazon's extras: ALAS2KERNEL-5.10-2024-050.
var amazonTopic = lazyregexp.New(`^ALAS2?-?[A-Z]+-?([0-9]+(?:\.[0-9]+)?)-[0-9]{4}-[0-9]+$`)

// fromTopic begins the ranges of a topic's advisory at the topic's own version:
// it says nothing of the older branch that the distribution itself has.
func fromTopic(id string, spans []span) {
	m := amazonTopic.FindStringSubmatch(id)
	if m == nil {
		return
	}
	for i := range spans {
		if s := &spans[i]; s.introduced == "" {
			epoch, _, found := strings.Cut(s.fixed, ":")
			if s.introduced = m[1]; found {
				s.introduced = epoch + ":" + m[1]
			}
		}
	}
}

// add takes what the advisory says of one package.
func (p *parsed) add(a *affected, r rule, streams []string) {
	d, places, known := ecosystem(a.Package.Ecosystem)
	switch {
	case len(places) == 0:
		p.foreign[cut(a.Package.Ecosystem, 80)]++
		p.unknown = p.unknown || !known
		return
	case a.Package.Name == "" || len(a.Package.Name) > maxName || strings.ContainsRune(a.Package.Name, 0):
		p.faults = append(p.faults, fmt.Errorf("a package of %s has no name of 1 to %d bytes", a.Package.Ecosystem, maxName))
		return
	}
	switch strings.TrimRight(strings.ToLower(text(a.Specific.Urgency)), "* ") {
	case "unimportant":
		p.unimportant++
		return
	case "end-of-life":
		r.over = true
	}
	r.severity, r.cvss = graded(a.Severity, text(a.Specific.Severity), text(a.Specific.Urgency))
	if err := r.setVersions(d.kind, a); err != nil {
		p.faults = append(p.faults, fmt.Errorf("%.80s: %w", a.Package.Name, err))
		return
	}
	if len(r.spans) == 0 && len(r.versions) == 0 {
		return // not affected in any version
	}
	fromTopic(r.id, r.spans)
	if r.modular {
		r.streams = streams
		if m := moduleOfPURL.FindStringSubmatch(a.Package.PURL); m != nil {
			label, _ := url.QueryUnescape(m[1]) // what can't be unescaped is no label
			r.streams = []string{streamOf(label)}
		}
	}
	for _, where := range places {
		r.line = where.line
		p.findings = append(p.findings, row{release: where.release, name: a.Package.Name, kind: d.kind, source: d.source, modified: p.modified, rule: r})
	}
}

// setVersions takes the ranges of affected versions; the versions by name only
// where there is no range.
func (r *rule) setVersions(kind pkgversion.Kind, a *affected) error {
	ranged := false
	for _, events := range a.Ranges {
		if events.Type != "ECOSYSTEM" {
			continue
		}
		ranged = true
		spans, err := spansOf(kind, events.Events)
		if err != nil {
			return err
		}
		r.spans = append(r.spans, spans...)
	}
	for _, s := range r.spans {
		r.modular = r.modular || tagOf(s.fixed) != "" || tagOf(s.last) != ""
	}
	if ranged {
		return nil
	}
	if len(a.Versions) == 0 {
		return errors.New("it says neither a range of versions nor versions")
	}
	r.versions = a.Versions
	for _, v := range a.Versions {
		if !pkgversion.Valid(kind, v) {
			return fmt.Errorf("%.60q is no version of %s", v, kind)
		}
		r.modular = r.modular || tagOf(v) != ""
	}
	return nil
}

// spansOf evaluates events in the order of their versions, as OSV has it.
func spansOf(kind pkgversion.Kind, events []event) ([]span, error) {
	events = slices.Clone(events)
	begins := false
	for _, e := range events {
		if v := e.at(); v != "" && v != "0" && !pkgversion.Valid(kind, v) {
			return nil, fmt.Errorf("%.60q is no version of %s", v, kind)
		}
		begins = begins || e.Introduced != ""
	}
	if !begins {
		return nil, errors.New("a range does not say from which version on")
	}
	slices.SortStableFunc(events, func(a, b event) int { return compareEvents(kind, a, b) })
	var spans []span
	open := false
	for _, e := range events {
		last := len(spans) - 1
		switch {
		case e.Introduced != "" && !open:
			spans, open = append(spans, span{introduced: e.Introduced}), true
			if e.Introduced == "0" {
				spans[last+1].introduced = ""
			}
		case e.Fixed != "" && open:
			spans[last].fixed, open = e.Fixed, false
		case e.LastAffected != "" && open:
			spans[last].last, open = e.LastAffected, false
		}
	}
	return slices.DeleteFunc(spans, span.empty), nil
}

// empty is a span that no version lies in: fixed in "0" is never affected.
func (s span) empty() bool { return s.introduced == "" && s.fixed == "0" }

func (e event) at() string { return cmp.Or(e.Introduced, e.Fixed, e.LastAffected) }

// compareEvents orders by version, "0" first; what begins comes before what ends.
func compareEvents(kind pkgversion.Kind, a, b event) int {
	if a.Introduced == "0" || b.Introduced == "0" {
		return first(a.Introduced == "0", b.Introduced == "0")
	}
	return cmp.Or(pkgversion.Compare(kind, a.at(), b.at()), cmp.Compare(b.Introduced, a.Introduced))
}

// first orders two of which one has what the other lacks.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// record is what the feed keeps of the advisory as a whole.
func (d *document) record() record {
	r := record{id: d.ID, summary: cut(d.headline(), maxSummary), url: d.link(), aliases: d.names()}
	r.severity, r.cvss = graded(d.Severity, text(d.Specific.Severity), d.Summary)
	return r
}

// headline is the summary, or the first line of the details.
func (d *document) headline() string {
	line, _, _ := strings.Cut(strings.TrimSpace(cmp.Or(d.Summary, d.Details)), "\n")
	return strings.TrimSpace(line)
}

// names are the advisory's other names, CVEs first, each once.
func (d *document) names() []string {
	all := slices.Concat(d.Aliases, d.Upstream, d.Related)
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(first(strings.HasPrefix(a, "CVE-"), strings.HasPrefix(b, "CVE-")), cmp.Compare(a, b))
	})
	all = slices.DeleteFunc(slices.Compact(all), func(s string) bool { return s == "" || s == d.ID || len(s) > maxName })
	return all[:min(len(all), maxAliases)]
}

// link is the vendor's own page of the advisory where one is known, else the
// first advisory, else the first reference.
func (d *document) link() string {
	best, rank := "", 0
	own := strings.ReplaceAll(d.ID, ":", "-")
	for _, ref := range d.References {
		n := 1
		if ref.Type == "ADVISORY" {
			n = 2
		}
		if strings.Contains(strings.ReplaceAll(ref.URL, ":", "-"), own) {
			n += 2
		}
		if n > rank && len(ref.URL) <= maxURL && (strings.HasPrefix(ref.URL, "https://") || strings.HasPrefix(ref.URL, "http://")) {
			best, rank = ref.URL, n
		}
	}
	return best
}

// graded is the worst of the vectors of the newest version of CVSS, else what
// the distribution says in words.
func graded(grades []grade, texts ...string) (worst severity, cvss string) {
	version, top := "", -1.0
	for _, g := range grades {
		s, score, ok := rate(g.Score)
		if !ok || !strings.HasPrefix(g.Type, "CVSS_V") {
			texts = append(texts, g.Score)
			continue
		}
		if g.Type > version || g.Type == version && score > top {
			version, top, worst, cvss = g.Type, score, s, g.Score
		}
	}
	if cvss != "" {
		return worst, cvss
	}
	for _, t := range texts {
		worst = max(worst, wordOf(t))
	}
	return worst, ""
}

// cut shortens a text to a number of bytes, at the end of a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-len("…")], "") + "…"
}
