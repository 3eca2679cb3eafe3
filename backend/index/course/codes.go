package course

// Codes of the caveats across distributions.
const (
	CaveatExistence  = "EXISTENCE_UNKNOWN" // the target's list is not known, or not whole
	CaveatThirdParty = "THIRD_PARTY"       // comes from another vendor's repository
)

// Codes of the caveats that the index gives.
const (
	CaveatTransitional  = "TRANSITIONAL"      // the package only led to others
	CaveatMajor         = "MAJOR_VERSION"     // the major version changes
	CaveatComponent     = "ARCHIVE_COMPONENT" // an archive component must be enabled
	CaveatCandidates    = "CANDIDATES"        // several might be the counterpart
	CaveatNotInSource   = "NOT_IN_SOURCE"     // the source release has no such software
	CaveatStream        = "MODULE_STREAM"     // a module stream must be enabled
	CaveatKernel        = "KERNEL"            // the kernel comes by its metapackage
	CaveatNoCounterpart = "NO_COUNTERPART"    // nothing in the target does its job
)
