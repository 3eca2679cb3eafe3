// Package rehearsal judges a move that was tried on a throw-away target: function by
// function, what ran on the source's own copy, what runs on the target, and what is
// the likely cause where it does not. It is pure: what both machines said comes from
// its caller.
package rehearsal

import (
	"cmp"
	"slices"

	"svc/assess"
	"svc/assess/ask"
	"svc/assess/ask/compile"
	"svc/backend/sliced"
	"svc/tools/migration"
	"svc/tools/rehearsal/session"
	"svc/tools/rehearsal/sites"
	"svc/tools/rehearsal/tap"
)

// Schema names the form of a Document.
const Schema = "svc.rehearsal/v1"

// Verdict is what a rehearsal says of a function.
type Verdict string

// The verdicts.
const (
	Runs    Verdict = "runs"
	Fails   Verdict = "does not run"
	Untried Verdict = "could not be tried"
)

// Level is how far a target was tried.
type Level string

// The levels: a target whose systemd ran, and one whose programs alone were called.
const (
	Booted Level = "booted"
	Chroot Level = "chroot"
)

// Document is rehearsal.json.
type Document struct {
	Schema       string   `json:"schema"`
	Source       string   `json:"source"`
	Target       string   `json:"target"`
	Fingerprint  string   `json:"fingerprint"`
	IndexVersion string   `json:"index_version"`
	PlanDigest   string   `json:"plan_digest"` // of the plan that was rehearsed
	Level        Level    `json:"level"`
	Base         string   `json:"base"`      // how the target's root was made
	Compared     string   `json:"compared"`  // what the target is held against: the source's copy, booted, or its files alone
	WithData     bool     `json:"with_data"` // the data were moved, too
	Sum          Sum      `json:"sum"`
	Checks       []Check  `json:"checks"` // what does not run first
	Role         Role     `json:"role"`
	Steps        []Step   `json:"steps"`   // of the move, beside the role, in their order
	Fixes        []Fix    `json:"fixes"`   // that went into the role
	Errors       []Line   `json:"errors"`  // of the target's log since its boot, that the source's copy had not
	Remarks      []string `json:"remarks"` // what a reader should know of how it was tried
}

// Sum counts the checks by their verdicts.
type Sum struct {
	Runs    int `json:"runs"`
	Fails   int `json:"fails"`
	Untried int `json:"untried"`
}

// Check is a function of the source, and what became of it.
type Check struct {
	Kind     string   `json:"kind"` // unit, port, configuration, settings, site, database, listing, data, mend, cron, timer, program, account, session, certificate, own
	Subject  string   `json:"subject"`
	Verdict  Verdict  `json:"verdict"`
	Source   string   `json:"source,omitempty"` // what the source has, or did
	Target   string   `json:"target,omitempty"` // what the target did
	Why      string   `json:"why,omitempty"`    // of what does not run, or could not be tried
	Log      []string `json:"log,omitempty"`    // the last lines about it
	Cause    *Cause   `json:"cause,omitempty"`
	MendedBy []string `json:"mended_by,omitempty"` // fixes: an earlier rehearsal without them had it fail
}

// Cause is the likely cause of a failure: a row of the plan, a line of a text, or a step that failed.
type Cause struct {
	Kind string `json:"kind"` // step, package, configuration, mention, service, data, program
	Name string `json:"name"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

// Role is how the role was applied.
type Role struct {
	Applied  bool     `json:"applied"` // it came to its end
	OK       int      `json:"ok"`      // tasks
	Changed  int      `json:"changed"`
	Failed   int      `json:"failed"`
	Failures []string `json:"failures"` // tasks that failed, with what they said
	Notes    []string `json:"notes"`    // what the role itself asks a person to look at
}

// Step is a step of the move that a person makes beside the role.
type Step struct {
	Name   string   `json:"name"`
	OK     bool     `json:"ok"`
	Output []string `json:"output"` // its last lines
	Status int      `json:"-"`      // as its program ended
	About  []string `json:"-"`      // words, in small letters, by which what depends on it is told
}

// Fix is what a person added to the role.
type Fix struct {
	Name   string   `json:"name"`
	SHA256 string   `json:"sha256"` // of all that is in it
	Mended []string `json:"mended"` // checks that failed without it, and run

	about []string // paths, packages and commands
}

// Line is a line of a log, as often as it was there.
type Line struct {
	Unit  string `json:"unit"`
	Text  string `json:"text"`
	Count int    `json:"count"`
}

// Observed is what a machine said while it ran.
type Observed struct {
	Assessment *assess.Assessment     // with what ran
	Services   map[string]ask.Service // of systemd; nil where it does not run
	Answers    []ask.Answer           // services' own checks of their configuration
	Pages      map[sites.Request]sites.Page
	Greetings  map[int]Greeting // by port of its loopback
	Catalogues map[string]Catalogue
	Programs   map[string]bool         // of cron lines: whether they are there
	Sudo       map[string]int          // rules of each account; -1 where it has none
	Sessions   map[string]session.Said // what a login of an account gives
	Compiled   *compile.Answers        // what interpreters say of people's programs; nil where they were not asked
	Owners     map[string]string       // packages that bring people's programs, and what these load, by path
	Logs       map[string][]string     // last lines, by unit
	Errors     []Line
}

// Greeting is how a port answers a connection.
type Greeting struct {
	Open  bool
	First string // line that the server says first, if any
}

// Catalogue is what a server or a language says that it holds, a line each.
type Catalogue struct {
	Answers bool
	Lines   []string
}

// Input is what a verdict is made of.
type Input struct {
	Level    Level // of the target
	Plan     *migration.Plan
	Before   *assess.Assessment // as it was planned from
	Source   *Observed          // the source's copy; nil where it could not be booted
	Target   *Observed          // nil where the target did not come so far
	WithData bool
	// OnSource and OnTarget say whether a path is there.
	OnSource, OnTarget func(path string) bool
	// Same says whether a file of the source is on the target as it was.
	Same func(path string) bool
	// UnitPaths are the paths that a unit file of the source names to be started.
	UnitPaths func(unitFile string) []string
	// People are people's programs on the source, with what of them was not looked at.
	People     []compile.Program
	PeopleLeft string
	OwnSource  map[string]tap.Result // nil where the source did not run
	OwnTarget  []tap.Result
	Data       []Step   // the data's own comparisons
	Mends      []Step   // commands of known troubles, by what they mend
	Unread     []string // files and folders of the source that could not be read, so that nobody moved them
}

// PlaceNow is where the target has a file of the source.
func PlaceNow(plan *migration.Plan, name string) string {
	row := sliced.First(plan.Configuration, func(row migration.Config) bool { return row.From == name && row.To != "" })
	return cmp.Or(row.To, name)
}

// New judges a rehearsal. The caller adds how it was made.
func New(in Input) *Document {
	d := &Document{
		Schema: Schema, Source: in.Plan.Source, Target: in.Plan.Target, Fingerprint: in.Plan.Fingerprint, IndexVersion: in.Plan.IndexVersion, WithData: in.WithData,
		Checks: []Check{}, Steps: []Step{}, Fixes: []Fix{}, Errors: []Line{}, Remarks: []string{}, Role: Role{Failures: []string{}, Notes: []string{}},
	}
	if in.Target == nil {
		return d
	}
	j := judge{in}
	for _, kind := range kinds {
		for _, c := range kind.judge(j) {
			c.Kind = kind.name
			j.level(&c, kind.started)
			j.explain(&c)
			d.Checks = append(d.Checks, c)
		}
	}
	d.Errors, d.Remarks = j.errors(), append(d.Remarks, j.unasked()...)
	d.order()
	return d
}

// order puts what a person acts on first, and counts.
func (d *Document) order() {
	rank := map[Verdict]int{Fails: 0, Untried: 1, Runs: 2}
	slices.SortStableFunc(d.Checks, func(a, b Check) int { return cmp.Compare(rank[a.Verdict], rank[b.Verdict]) })
	d.Sum = Sum{}
	for _, c := range d.Checks {
		*map[Verdict]*int{Runs: &d.Sum.Runs, Fails: &d.Sum.Fails, Untried: &d.Sum.Untried}[c.Verdict]++
	}
}

// ID names a check within a rehearsal.
func (c *Check) ID() string { return c.Kind + " " + c.Subject }

// errors are lines of the target's log that the source's copy had not.
func (j judge) errors() []Line {
	known := map[string]bool{}
	if j.Source != nil {
		known = sliced.SetOf(j.Source.Errors, func(l Line) string { return l.Text })
	}
	return append([]Line{}, sliced.Filter(j.Target.Errors, func(l Line) bool { return !known[l.Text] })...)
}

// Passed reports whether the role came to its end, and nothing failed that was tried.
func (d *Document) Passed() bool { return d.Role.Applied && d.Sum.Fails == 0 && d.Sum.Runs > 0 }
