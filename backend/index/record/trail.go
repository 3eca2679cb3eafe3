package record

import (
	"strings"

	"svc/backend/api"
)

// Trail is what a package becomes in a neighbouring release. A package without
// one stays as it is.
type Trail struct {
	Relation   api.Relation
	Confidence float64 // in hundredths
	Targets    []string
	Method     string
	Candidates []string // where the relation is unknown
}

// Alternatives are the packages of which one is meant by the i-th of some targets.
func Alternatives(targets []string, i int) []string {
	if strings.Contains(targets[i], "|") {
		return strings.Split(targets[i], "|")
	}
	return targets[i : i+1]
}

// The methods of trails, that is the evidence for them.
const (
	TransitionalInTarget = "transitional-in-target"
	TransitionalDropped  = "transitional-dropped"
	T64                  = "t64"
	ReplacesProvides     = "replaces+breaks+provides"
	Replaces             = "replaces+breaks"
	Provides             = "provides"
	Soname               = "soname"
	Lineage              = "lineage"
	Default              = "default"
	Kernel               = "kernel"
	Back                 = "back"
	Gone                 = "gone"
	Several              = "several"
	Curated              = "curated"
)

// LineageConfidence is that of the same software in the same role and another
// version.
const LineageConfidence = 0.9
