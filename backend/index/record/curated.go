package record

import (
	"fmt"

	"svc/backend/api"
)

// Span says between which releases a curated row holds: it applies where the
// way leaves a release before Since, by the day it came out if it is of another
// distribution, and arrives at it or later. Without Since it always applies.
type Span struct {
	Since string `json:"since,omitempty"`
	// MajorChanges makes a row hold only where the major version changes, or may:
	// the index knows no versions of rpms.
	MajorChanges bool `json:"major_changes,omitempty"`
}

type CuratedCaveat struct {
	Span
	api.Caveat
}

type CuratedConditional struct {
	Span
	api.Conditional
}

// CuratedConfig is a row of config_paths.tsv.
type CuratedConfig struct {
	Span
	api.Relocation
}

func Condition(kind, value string) (api.Condition, error) {
	switch kind {
	case "canonical_installed":
		return api.Condition{CanonicalInstalled: value}, nil
	case "service_enabled":
		return api.Condition{ServiceEnabled: value}, nil
	case "path_exists":
		return api.Condition{PathExists: value}, nil
	}
	return api.Condition{}, fmt.Errorf("%q is no kind of condition", kind)
}
