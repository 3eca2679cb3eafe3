package lookup

// The confidence of each way to resolve a name that is not the release's own.
const (
	providesConfidence  = 0.9
	sourceConfidence    = 0.8
	kernelConfidence    = 0.95
	neighbourConfidence = 0.75
)

// neighbourRPM is the confidence of a name that is known from other releases of
// rpm distributions.
const neighbourRPM = 0.97

// libraryConfidence is that of a library with a soname that no release has.
const libraryConfidence = 0.85

// The likelihood that a derived release has what its nearest suite has.
const (
	inBoth     = 0.985 // the other suite has it too
	inNearest  = 0.93
	ownVersion = 0.96 // by the release's own version, or its own name
)
