// Package migration plans the move of a machine to another release: what each
// package becomes, where each setting goes, what a person has to decide. It is
// pure: the same assessment and the same index give the same plan.
package migration

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc/assess"
	"svc/assess/hazards"
	"svc/assess/ledger"
	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/release"
	"svc/tools/convert"
	"svc/tools/migration/naming"
)

// Schema names the form of plan.json.
const Schema = "svc.plan/v1"

// Sure is the confidence from which on a counterpart is installed; below it is
// a question to a person.
const Sure = 0.8

// Input is all that a plan depends on.
type Input struct {
	Assessment   *assess.Assessment
	Target       release.Release
	Day          time.Time // on which the target's support is judged; zero judges none
	IndexVersion string
	Resolutions  []api.Resolution            // one for each package of the assessment
	Translations map[string]api.Translation  // by canonical
	Relocations  map[string][]api.Relocation // by canonical
	// Hazards are the tables of known trouble, and Machine what they ask; nil asks nothing.
	Hazards hazards.Table
	Machine *hazards.Machine
	// PathExists looks at the machine, for conditions of the index.
	PathExists func(path string) bool
	// Mentions looks for text in a file of the machine.
	Mentions func(path, text string) bool
	// Read gives a file of the machine, for what has to be converted.
	Read func(path string) ([]byte, error)
	// Described gives mode and owner of a regular file of the machine, by names.
	Described func(path string) (mode, owner, group string, ok bool)
	// Owners tells the packages of the machine to which paths belong.
	Owners func(paths []string) map[string]string
	// SourceFile and TargetFile give files as packages of the releases ship them;
	// nil where no packages were named. Without TargetFile nothing is merged.
	SourceFile, TargetFile Shipped
	// Files is everything on the machine's disk; nil where it was not counted.
	Files *ledger.Sum
	// IncludeSecrets carries keys and files that others may not read.
	IncludeSecrets bool
}

// Plan is plan.json. No list is ever null.
type Plan struct {
	Schema        string            `json:"schema"`
	Source        string            `json:"source"`
	Target        string            `json:"target"`
	IndexVersion  string            `json:"index_version"`
	Fingerprint   string            `json:"fingerprint"`
	Packages      []Package         `json:"packages"` // one row for each package of the assessment
	Sum           attest.PackageSum `json:"sum"`
	Install       []string          `json:"install"` // packages of the target that the role installs
	Archives      *Archives         `json:"archives,omitempty"`
	System        System            `json:"system"`
	Configuration []Config          `json:"configuration"`
	Folders       []Folder          `json:"folders"`        // that the role makes, beside those of its files
	Logs          []Folder          `json:"logs"`           // empty files of logs that carried configuration names
	Disabled      []string          `json:"disabled_links"` // links that the role removes where the target's packages made them
	Services      []Service         `json:"services"`
	Accounts      Accounts          `json:"accounts"`
	Mentions      []naming.Mention  `json:"mentions"` // lines that a person changes on the target
	Inhibitors    []assess.Finding  `json:"inhibitors"`
	Files         *ledger.Sum       `json:"files,omitempty"` // everything on the disk by what it belongs to; null where nobody counted
	Findings      []assess.Finding  `json:"findings"`        // of the pair of releases; the machine's own are in the assessment
}

// Package is what one installed package becomes.
type Package struct {
	Name       string       `json:"name"`
	Version    string       `json:"version"`
	Arch       string       `json:"arch"`
	Canonical  string       `json:"canonical"` // empty where the index does not know the name
	Role       string       `json:"role"`
	Relation   api.Relation `json:"relation"`
	Targets    []Target     `json:"targets"`
	Confidence float64      `json:"confidence"`
	Caveats    []api.Caveat `json:"caveats"`
	Manual     bool         `json:"manual"`
	Base       bool         `json:"base,omitempty"` // the source's own installation began with it
	Install    bool         `json:"install"`
	Why        string       `json:"why"`
}

// Chosen reports whether a person may have chosen the package: nothing pulled it in,
// and the distribution's own installation does not begin with it.
func (p Package) Chosen() bool { return p.Manual && !p.Base }

// Target is a package of the target release.
type Target struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Action says what happens to a configuration file.
type Action string

// The actions.
const (
	Copy    Action = "copy"     // the role writes it as it is
	Convert Action = "convert"  // the role writes it to its new place, with the changes that are listed
	Merge   Action = "merge"    // the role writes the target's own file with what a person changed
	Remove  Action = "remove"   // the role removes it, as it was removed
	Manual  Action = "manual"   // a person has to carry it over
	LeftOut Action = "left-out" // it stays behind, for the reason given
)

// Config is what happens to one configuration file. What is converted may have
// several: a row for each file and link that follows from it.
type Config struct {
	From    string `json:"from"`
	To      string `json:"to"` // empty where it stays behind
	Action  Action `json:"action"`
	Reason  string `json:"reason"`
	Package string `json:"package"`
	Mode    string `json:"mode"`
	Owner   string `json:"owner"`
	Group   string `json:"group"`
	SHA256  string `json:"sha256"`
	Link    string `json:"link"`             // where a link leads on the target
	Awaits  bool   `json:"awaits,omitempty"` // what a link leads to comes later, with the secrets or the data
	Place   string `json:"place,omitempty"`  // where a secret that stays behind goes
	Secret  bool   `json:"secret"`
	Old     bool   `json:"old,omitempty"` // a secret that stays behind and, as it is, does not fit the target: with --include-secrets it is converted

	Edited    []convert.Change  `json:"edited,omitempty"`    // what a person changed of the package's own file, where that is at hand
	Converter string            `json:"converter,omitempty"` // what converted it, such as httpd
	Changes   []convert.Change  `json:"changes,omitempty"`   // lines that are not as they were
	Refusals  []convert.Refusal `json:"refusals,omitempty"`  // lines for which it was left to a person
	Merge     *Merged           `json:"merge,omitempty"`     // what came of joining it with the target's own file, where that is at hand
	// Text is what a converted file has on the target, where that is not what
	// it has on the source.
	Text *string `json:"-"`
	// base is what a person changed to make the file, converted as the file is;
	// nil where that is not known.
	base *shipped
}

// Service is what happens to one unit.
type Service struct {
	Unit   string `json:"unit"`
	To     string `json:"to"`
	State  string `json:"state"` // enabled, disabled, masked, static
	Apply  bool   `json:"apply"` // the role sets the state
	Local  bool   `json:"local"` // written on the machine; the role brings the unit too
	Reason string `json:"reason"`
}

// Accounts are the users and groups that the role makes.
type Accounts struct {
	Users  []assess.User  `json:"users"`
	Groups []assess.Group `json:"groups"`
}

// New makes the plan.
func New(in Input) *Plan {
	a := in.Assessment
	p := &Plan{
		Schema: Schema, Source: a.Release, Target: in.Target.Slug, IndexVersion: in.IndexVersion, Fingerprint: a.Fingerprint, Files: in.Files,
		Install: []string{}, Inhibitors: []assess.Finding{}, Findings: []assess.Finding{},
	}
	p.Packages = packages(in)
	p.Sum = sum(p.Packages)
	p.Install = install(in, p.Packages)
	places := naming.New(rowsOf(p.Packages), in.Relocations)
	p.convert(in, configuration(in, places))
	p.merge(in, places)
	p.refer(in, places)
	p.withhold(in)
	p.await(in, places)
	p.Archives = archives(in, p)
	bad := &invalid{}
	p.System = system(in, bad)
	p.Folders = folders(in, places)
	p.Logs = logs(in, p)
	p.Disabled = disabled(in, places, p.Configuration)
	p.Services = services(in, places, bad)
	p.Accounts = accounts(a, places, bad)
	for i, u := range p.Accounts.Users {
		p.Accounts.Users[i].Shell = in.inits().Shell(u.Shell)
	}
	p.Findings = append(findings(in, p), complete(bad.finding())...)
	for _, f := range slices.Concat(a.Findings, p.Findings) {
		if f.Inhibitor {
			p.Inhibitors = append(p.Inhibitors, f)
		}
	}
	return p
}

// sum counts the packages by relation: the parts always add up to the total.
func sum(rows []Package) attest.PackageSum {
	s := attest.PackageSum{Total: len(rows)}
	part := map[api.Relation]*int{
		api.RelationSame: &s.Same, api.RelationRenamed: &s.Renamed, api.RelationSplit: &s.Split, api.RelationMerged: &s.Merged,
		api.RelationReplaced: &s.Replaced, api.RelationIncluded: &s.Included, api.RelationRemoved: &s.Removed, api.RelationUnknown: &s.Unknown,
	}
	for _, r := range rows {
		*part[r.Relation]++
	}
	return s
}

// install lists what the role installs, by name: the targets of the chosen
// packages, and what conditions of the index add.
func install(in Input, rows []Package) []string {
	names := append(append([]string{}, in.inits().Packages(in.Assessment)...), locales(in)...)
	for _, r := range rows {
		if r.Install {
			for _, t := range r.Targets {
				names = append(names, t.Name)
			}
		}
		for _, c := range held(in, r) {
			names = append(names, c.Packages...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// held are the conditionals of a package's counterpart whose condition the machine
// meets. That is what says that they are needed, whoever chose the package.
func held(in Input, r Package) (all []api.Conditional) {
	there := r.Relation == api.RelationIncluded || slices.Contains(installable, r.Relation)
	if !there || len(r.Targets) == 0 || r.Confidence < Sure {
		return nil
	}
	for _, c := range in.Translations[r.Canonical].Conditionals {
		if holds(in, c.When) {
			all = append(all, c)
		}
	}
	return all
}

// CaveatCondition is the code of what is needed as a condition of the index holds.
const CaveatCondition = "CONDITION"

// conditional are the caveats of the conditionals that hold, with what they bring.
func conditional(in Input, r Package) (all []api.Caveat) {
	for _, c := range held(in, r) {
		text := fmt.Sprintf("%s As the machine has %s, %s is installed too.", c.Text, cmp.Or(c.When.PathExists, c.When.ServiceEnabled, c.When.CanonicalInstalled), strings.Join(c.Packages, " and "))
		all = append(all, api.Caveat{Code: CaveatCondition, Severity: api.SeverityInfo, Text: text})
	}
	return all
}

// holds evaluates a condition of the index on the machine.
func holds(in Input, c api.Condition) bool {
	switch {
	case c.CanonicalInstalled != "":
		return slices.ContainsFunc(in.Resolutions, func(r api.Resolution) bool { return r.Canonical != nil && *r.Canonical == c.CanonicalInstalled })
	case c.ServiceEnabled != "":
		return slices.ContainsFunc(in.Assessment.Services, func(u assess.Unit) bool {
			return u.State == "enabled" && strings.TrimSuffix(u.Name, ".service") == strings.TrimSuffix(c.ServiceEnabled, ".service")
		})
	case c.PathExists != "" && in.PathExists != nil:
		return in.PathExists(c.PathExists)
	}
	return false
}

func compareConfig(a, b Config) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
}
