package index

import "svc/backend/index/rpm"

// The confidence of curated rows, by what they say: as often as people who say
// what they install on both sides agree with them.
const (

	// includedConfidence is between what was measured on lists of what people
	// install, who often mean to build with a library and name its headers on the
	// other side (0.6), and what holds of machines' packages.
	includedConfidence = 0.9
	choiceConfidence   = 0.55 // one of several alternatives that the target has
)

// The kinds of curated rows that are less sure than the others.
const (
	Included = "curated, included"
	choice   = "curated, one of several"
)

// evidence is the kind of evidence that a course ends with.
func (p course) evidence() string {
	if len(p.methods) == 0 {
		return "same release or name"
	}
	last := p.methods[len(p.methods)-1]
	if rpm.IsVendor(last) {
		return "third-party"
	}
	return last
}
