package migration

import (
	"cmp"
	"slices"
	"strconv"

	"svc/assess"
	"svc/assess/ledger"
	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/tools/convert"
	"svc/tools/migration/edits"
	"svc/tools/migration/naming"
)

// Schema names the form of plan.json.
const Schema = "svc.plan/v1"

// Sure is the confidence from which on a counterpart is installed; below it is
// a question to a person.
const Sure = 0.8

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
	Clusters      []Cluster         `json:"clusters,omitempty"` // that the role makes
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

	names *naming.References
}

// Closed reports whether the role writes files that others may not read.
func (p *Plan) Closed() bool {
	return slices.ContainsFunc(p.Configuration, func(c Config) bool {
		mode, err := strconv.ParseUint(c.Mode, 8, 32)
		return c.To != "" && c.Link == "" && c.Action != Remove && (err != nil || mode&0o004 == 0 || c.Secret)
	})
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

// TargetNames are the names of its targets.
func (p Package) TargetNames() []string {
	names := make([]string, len(p.Targets))
	for i, t := range p.Targets {
		names[i] = t.Name
	}
	return names
}

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
	Spare   bool   `json:"spare,omitempty"` // the role writes it only where the target has none
	Old     bool   `json:"old,omitempty"`   // a secret that stays behind and, as it is, does not fit the target: with --include-secrets it is converted

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
	base    *origin
	shipped string // why it comes along, where it is as its package ships it
	taken   bool   // a secret that stays behind, of a kind that a converter knows
}

// Waits reports whether what the role writes waits for a person to put it in
// place.
func (c Config) Waits() bool { return convert.Waits(c.To) }

func compareConfig(a, b Config) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
}

// Waiting is where on the target files wait for a person.
const Waiting = convert.Waiting

// Merged is what came of joining a person's changes and the target's own file.
type Merged struct {
	Base   Origin `json:"base"`   // what the person changed: the file of the source's package
	Target Origin `json:"target"` // the file of the target's package
	// Changes are the lines that are not as the target's package has them: Was is
	// the package's, Now the person's; lines are those of the result. None where
	// something clashes.
	Changes []convert.Change `json:"changes"`
	// Clashes are the places that both changed, each in its own way. With one the
	// person's file is carried over as it is, and a person decides.
	Clashes []edits.Clash `json:"clashes"`
}

// Origin says where a file came from that is as a package ships it.
type Origin struct {
	Path          string `json:"path"`   // in the package, or on the machine
	SHA256        string `json:"sha256"` // of the file
	Package       string `json:"package,omitempty"`
	Version       string `json:"version,omitempty"`
	PackageSHA256 string `json:"package_sha256,omitempty"` // none where the machine itself has the file
}

// Archives are what has to be enabled on a target of the rpm families before its
// packages can be installed.
type Archives struct {
	Packages []string `json:"packages"` // packages that know further archives, or enable them
	Enable   []string `json:"enable"`   // archives that the release leaves disabled
	Streams  []string `json:"streams"`  // streams of modules, such as php:8.2
}

// System is what the role sets of the system as a whole; what is empty stays as
// the target has it.
type System struct {
	HostName     string   `json:"host_name"`
	TimeZone     string   `json:"time_zone"`
	Locale       string   `json:"locale"`
	Locales      []string `json:"locales,omitempty"`      // that are made beside it, where the target makes them by their names
	Recommends   bool     `json:"recommends"`             // packages that others recommend are installed too
	Unwanted     []string `json:"unwanted,omitempty"`     // but not these, which the source is without
	Dependencies []string `json:"dependencies,omitempty"` // came with others on the source: they are installed where the target's only recommend them
}

// Folder is a folder that the role makes.
type Folder struct {
	Path  string `json:"path"`
	Mode  string `json:"mode"` // octal: 0755
	Owner string `json:"owner"`
	Group string `json:"group"`
	// Own is a folder that no package brings: where it is there, it gets this
	// owner and mode.
	Own bool `json:"own"`
}

// Cluster is a cluster of PostgreSQL that the role makes: the target's package makes
// main alone, and what is written of another's settings needs it there.
type Cluster struct {
	Version   string `json:"version"`
	Name      string `json:"name"`
	Port      int    `json:"port"`
	Directory string `json:"directory"` // of its data
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
	// Members are accounts that the target's packages make, in further groups of the source.
	Members []Member `json:"members,omitempty"`
}

// Member is an account, and the groups that it is a member of.
type Member struct {
	User   string   `json:"user"`
	Groups []string `json:"groups"`
}

// origin is a file as a package ships it.
type origin struct {
	text string
	from Origin
}
