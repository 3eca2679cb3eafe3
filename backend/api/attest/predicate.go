package attest

import "fmt"

// The predicate types of the project.
const (
	MigrationType = "urn:svc:predicate:migration:v1"
	ParityType    = "urn:svc:predicate:parity:v1"
	DataPlanType  = "urn:svc:predicate:data-plan:v1"
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
}

// Operation is what all predicates share: which VM, from where to where, by
// which index and plan.
type Operation struct {
	Fingerprint  string  `json:"vm_fingerprint"` // 64 lower-case hex characters
	Source       string  `json:"source"`         // release slug
	Target       string  `json:"target"`         // release slug
	IndexVersion string  `json:"index_version"`
	PlanDigest   string  `json:"plan_digest"` // SHA-256 of plan.json, hex
	Tool         string  `json:"tool"`        // name and version of the program
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
	case !hex64.MatchString(o.PlanDigest):
		return fmt.Errorf("the predicate's plan_digest must be 64 lower-case hexadecimal characters")
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
// its subjects are the artifacts.
type MigrationPredicate struct {
	Operation
	Packages   PackageSum `json:"packages"`
	Inhibitors int        `json:"inhibitors"`
}

// Type is the predicate's URI.
func (*MigrationPredicate) Type() string { return MigrationType }

// ParityPredicate says how a migrated VM compares with its source; its subject
// is the parity report.
type ParityPredicate struct {
	Operation
	Packages PackageSum `json:"packages"` // of the plan that was checked
	Checks   CheckSum   `json:"checks"`
	Parity   bool       `json:"parity"` // nothing differs
}

// CheckSum counts the checks of a comparison; the others add up to Total.
type CheckSum struct {
	Total   int `json:"total"`
	Passed  int `json:"passed"`
	Differ  int `json:"differ"`
	Unknown int `json:"unknown"` // could not be read
}

// Type is the predicate's URI.
func (*ParityPredicate) Type() string { return ParityType }

// DataPlanPredicate says what data a plan covers; its subjects are the plan's
// files. It is signed by a key of the machine where it was made.
type DataPlanPredicate struct {
	Operation
	Packages      PackageSum `json:"packages"`
	Items         int        `json:"items"`          // stores and directories that the plan moves
	Bytes         int64      `json:"bytes"`          // of those, as found
	SourceOffline bool       `json:"source_offline"` // somebody asserted that the source was quiesced
}

// Type is the predicate's URI.
func (*DataPlanPredicate) Type() string { return DataPlanType }
