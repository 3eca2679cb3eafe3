package course

// rulesConfidence is that of what the rules make of an rpm that no release is
// known to have.
const rulesConfidence = 0.96

// SubpackageConfidence is that of a package which has the canonical of its software
// for want of one of that name, and may be another part of it.
const SubpackageConfidence = 0.7

// PartConfidence is that of one of several rpms which have a part of a package each,
// of which no row says whether any has what the package is for.
const PartConfidence = 0.6

// What it costs not to know whether the target has a package.
const (
	Unlisted  = 0.8  // the list of EL that is known does not have it, and it comes by itself or not at all
	Elsewhere = 0.65 // that list, before EL 9 far from whole, does not have it, but another release's has
	Later     = 0.55 // that list, nearly whole, does not have it, but that of a later release has
	Skipped   = 0.95 // that list does not have it, but the source has, and that of a later release
	Listless  = 0.9  // there is no list, but near releases have it
	Guessed   = 0.6  // nobody is known to have it
	Soname    = 0.93 // a library of SUSE under another name
	Alongside = 0.97 // SUSE's releases of one major version have nearly the same
	Onward    = 0.95 // SUSE has it in one major version, and no row says that it went
	BothHave  = 0.95 // SUSE's name is one of EL's at that level, and no row says that SUSE means another package by it
	DroppedIn = 0.85 // Debian had it once

	CandidateConfidence = 0.4 // what another release had has several that may be its successor
)

// How sure it is that EL has a package no more, by what the lists of its releases
// say of each other. The list of EL 9 has all of 69 names from chapters of its
// manual that it was not made from, and packages of all of 40 source packages drawn
// by lot. Of 393 doubtful names that 8 has and that list lacked, sources of 9 still
// made 109, most of them for nobody: those that 9 is known to have are in the list
// now. What no list has is of EPEL, of a vendor or of the machine's owner, rather
// than something of EL that all lists miss.
const (
	Dropped           = "not listed"
	DroppedConfidence = 0.95 // the list of a release before has it, that of the target does not
	WholeConfidence   = 0.95 // what it is a part of goes
	Unheard           = "in no list"
	unheardConfidence = 0.85 // no list, row or vendor knows the name
)

// OwnRepository is the method of an answer from a row that leads to packages which no
// list has.
const OwnRepository = "own repository"

// CrossConfidence is that of the same name in another distribution of one family,
// where both lists are known.
const CrossConfidence = 0.97

// The confidence of curated rows, by what they say: as often as people who say
// what they install on both sides agree with them.
const (

	// IncludedConfidence is between what was measured on lists of what people
	// install, who often mean to build with a library and name its headers on the
	// other side (0.6), and what holds of machines' packages.
	IncludedConfidence = 0.9
	ChoiceConfidence   = 0.55 // one of several alternatives that the target has
)

// The kinds of curated rows that are less sure than the others.
const (
	Included = "curated, included"
	Choice   = "curated, one of several"
)

// Undoubted is the least that the rules claim of a name towards Debian where nothing about
// it makes them doubt.
const Undoubted = 0.93

// Unsure is the most that an answer is sure of which nobody is to act on unasked.
const Unsure = 0.79

// What leads from a package to its successor by the target's own metadata.
const (
	ProviderConfidence = 0.85
)

const (
	SameConfidence     = 0.99
	ReturnedConfidence = 0.95 // away for a release and back
	AbsentConfidence   = 0.85 // the source does not have it, the target does
	OverConfidence     = 0.95 // by another release that has it
	GoneConfidence     = 0.6
	// LeastConfidence is what the rules need to name packages; below it they are
	// candidates for a person to choose from. What was measured may be less.
	LeastConfidence = 0.5
)

// SureConfidence is what an answer needs to be acted on without asking.
const SureConfidence = 0.8
