package attest

import "fmt"

// The predicate types of the project.
const (
	MigrationType = "urn:svc:predicate:migration:v1"
	ParityType    = "urn:svc:predicate:parity:v1"
	DataPlanType  = "urn:svc:predicate:data-plan:v1"
	RehearsalType = "urn:svc:predicate:rehearsal:v1"
)

// Predicate is what a statement says of its subjects.
type Predicate interface {
	// Type is the predicate's URI.
	Type() string
	operation() *Operation
}

// predicates makes an empty predicate of each type.
var predicates = map[string]func() Predicate{
	MigrationType: func() Predicate { return new(MigrationPredicate) },
	ParityType:    func() Predicate { return new(ParityPredicate) },
	DataPlanType:  func() Predicate { return new(DataPlanPredicate) },
	RehearsalType: func() Predicate { return new(RehearsalPredicate) },
}

// Operation is what all predicates share: which VM, from where to where, by
// which index. Of the machine's files it tells nothing: the plan is among those
// that the subject lists.
type Operation struct {
	Fingerprint  string  `json:"vm_fingerprint"` // 64 lower-case hex characters
	Source       string  `json:"source"`         // release slug
	Target       string  `json:"target"`         // release slug
	IndexVersion string  `json:"index_version"`
	Tool         string  `json:"tool"` // name and version of the program
	Issued       *Issued `json:"issued,omitzero"`
}

// Issued is filled by the service when it signs.
type Issued struct {
	AccountID int64  `json:"account_id"`
	At        string `json:"at"` // RFC 3339, UTC
}

func (o *Operation) operation() *Operation { return o }

func (o *Operation) check() error {
	switch {
	case !hex64.MatchString(o.Fingerprint):
		return fmt.Errorf("the predicate's vm_fingerprint must be 64 lower-case hexadecimal characters")
	case o.Source == "" || o.Target == "":
		return fmt.Errorf("the predicate needs source and target: release slugs")
	}
	return nil
}

// VM is the fingerprint of the machine that a predicate is about.
func VM(p Predicate) string { return p.operation().Fingerprint }

// PackageSum counts a plan's rows by relation; the relations add up to Total.
type PackageSum struct {
	Total    int `json:"total"`
	Same     int `json:"same"`
	Renamed  int `json:"renamed"`
	Split    int `json:"split"`
	Merged   int `json:"merged"`
	Replaced int `json:"replaced"`
	Included int `json:"included"`
	Removed  int `json:"removed"`
	Unknown  int `json:"unknown"`
}

// MigrationPredicate says what a migration was planned from and what it made;
// its subject lists the artifacts.
type MigrationPredicate struct {
	Operation
	Packages   PackageSum `json:"packages"`
	Inhibitors int        `json:"inhibitors"`
	// Rehearsal is the rehearsal of this move, where one was named.
	Rehearsal *Rehearsed `json:"rehearsal,omitempty"`
}

// Rehearsed is a rehearsal that a migration follows: the SHA-256 of its document,
// and its functions by verdict, with what failed by kind.
type Rehearsed struct {
	SHA256  string         `json:"sha256"`
	Runs    int            `json:"runs"`
	Fails   int            `json:"fails"`
	Untried int            `json:"untried"`
	Failed  map[string]int `json:"failed"`
}

// RehearsalPredicate says how a move was tried on a throw-away target; its subject
// lists what was observed.
type RehearsalPredicate struct {
	Operation
	Level    string `json:"level"` // booted or chroot
	WithData bool   `json:"with_data"`
	Runs     int    `json:"runs"`
	Fails    int    `json:"fails"`
	Untried  int    `json:"untried"`
}

// Type is the predicate's URI.
func (*RehearsalPredicate) Type() string { return RehearsalType }

// Type is the predicate's URI.
func (*MigrationPredicate) Type() string { return MigrationType }

// ParityPredicate says how a migrated VM compares with its source; its subject
// lists the report and the assessment of the VM.
type ParityPredicate struct {
	Operation
	// Migration is the SHA-256 of the manifest of the migration that was checked,
	// as its attestation has it: what links the two. It is absent where the VM was
	// compared with an assessment alone.
	Migration string     `json:"migration,omitempty"`
	Packages  PackageSum `json:"packages"` // of the plan that was checked
	Checks    CheckSum   `json:"checks"`
	// Dimensions counts the checks by what was compared.
	Dimensions []DimensionSum `json:"dimensions" jsonschema:"the checks by what was compared, such as packages, users or programs"`
	NotLooked  []string       `json:"not_looked" jsonschema:"what was not looked at, and why; text for people"`
	Parity     bool           `json:"parity" jsonschema:"nothing is missing or other than announced, and nothing unannounced is there"`
}

// DimensionSum counts the checks of one dimension. Equal, announced, accepted,
// differ and unreadable add up to compared; added is part of differ, base of none.
// A count that is absent is zero.
type DimensionSum struct {
	Dimension  string `json:"dimension" jsonschema:"what was compared: packages, services, users, programs, and so on"`
	Compared   int    `json:"compared,omitzero" jsonschema:"checks of the dimension"`
	Equal      int    `json:"equal,omitzero" jsonschema:"as on the source"`
	Announced  int    `json:"announced,omitzero" jsonschema:"not as on the source, as the plan announced, or left to a person"`
	Accepted   int    `json:"accepted,omitzero" jsonschema:"differs, and a person accepted it in writing"`
	Differ     int    `json:"differ,omitzero" jsonschema:"otherwise than announced"`
	Added      int    `json:"added,omitzero" jsonschema:"of those that differ: on the target alone, and accounted for by neither source, plan nor packages"`
	Base       int    `json:"base,omitzero" jsonschema:"on the target alone, and accounted for by its release, its packages or the plan: not among the checks"`
	Unreadable int    `json:"unreadable,omitzero" jsonschema:"could not be read, or is not known"`
}

// CheckSum counts the checks of a comparison; the others add up to Total.
type CheckSum struct {
	Total   int `json:"total"`
	Passed  int `json:"passed"`
	Differ  int `json:"differ"`
	Manual  int `json:"manual"`  // not as on the source, as announced: left to a person
	Unknown int `json:"unknown"` // could not be read
}

// Type is the predicate's URI.
func (*ParityPredicate) Type() string { return ParityType }

// DataPlanPredicate says what data a plan covers; its subject lists
// the plan's files. It is signed by a key of the machine where it was made.
type DataPlanPredicate struct {
	Operation
	Packages      PackageSum `json:"packages"`
	Items         int        `json:"items"`          // stores and directories that the plan moves
	Bytes         int64      `json:"bytes"`          // of those, as found
	SourceOffline bool       `json:"source_offline"` // somebody asserted that the source was quiesced
}

// Type is the predicate's URI.
func (*DataPlanPredicate) Type() string { return DataPlanType }
