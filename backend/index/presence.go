package index

import (
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/lazyregexp"
)

// presence says how the index knows that a release has an rpm.
type presence string

const (
	inList  presence = "in its list"     // that of the release, or of its level, or EPEL's
	inNear  presence = "in a list near"  // of another release of its line
	nowhere presence = "in no list near" // of none
)

// presence is how the index knows that the release has an rpm of a name.
func (t *releaseTables) presence(name string) (presence, error) {
	return (&sighting{by: t}).presence(name)
}

// presence is that of the release by which it is looked for.
func (s *sighting) presence(name string) (presence, error) {
	t := s.by
	r, _, err := s.find(name)
	if err != nil {
		return nowhere, err
	}
	if _, listed, err := t.rpm.own(name); listed || err != nil {
		return inList, err
	}
	switch l := t.rpm; {
	case l.lists():
		return nowhere, nil
	case r.has(l), l.known && r.inEPEL():
		return inList, nil
	case l.line == "suse" && (r.suse != "" || strings.Contains(r.lists, "suse-")):
		return inNear, nil
	case l.line == "el" && r.levels != "":
		return inNear, nil
	}
	lists, _, err := t.rpm.shared.Get(name)
	if t.rpm.line == "el" && (strings.Contains(lists, "fedora") || strings.Contains(lists, "amzn-")) {
		return inNear, err
	}
	return nowhere, err
}

// presenceOf is that of the names of a course which is least known.
func (h *hops) presenceOf(p course, seen *sighting) (least presence, err error) {
	least = inList
	for _, name := range p.names {
		if h.stated[name] {
			continue
		}
		own, err := seen.presence(name)
		if err != nil {
			return least, err
		}
		if own == nowhere || own == inNear && least == inList {
			least = own
		}
	}
	return least, nil
}

// How a course that ends at rpms was found.
const (
	byRow         = "row"             // a curated row
	byVendor      = "vendor"          // another vendor's row
	byMetapackage = "metapackage"     // what stands for all versions
	byCanonical   = "canonical"       // an rpm has the canonical
	byReverse     = "reverse"         // an rpm is the package of Debian
	byPart        = "part"            // an rpm has a part of it
	byGuess       = "guess"           // the name that rules make
	byName        = "name"            // its own name
	byEvent       = "event"           // what became of it between releases
	byAbsence     = "absence"         // a list lacks it
	byBoth        = "both"            // both lines have the name
	byDebian      = "over Debian"     // the package of Debian that it is
	byDebianRow   = "row over Debian" // the row of that
)

// evidence is how a course was found, to what, and how the index knows that the
// target has it.
func (h *hops) evidence(p course) (string, error) {
	if len(p.names) == 0 {
		return p.found + ", " + string(p.relation), nil
	}
	least, err := h.presenceOf(p, &sighting{by: h.target})
	return p.found + ", " + string(least), err
}

// unsure is the most that an answer is sure of which nobody is to act on unasked.
const unsure = 0.79

// certain is a course with the confidence that its evidence deserves. Names that the
// target's list lacks, and losses that only a whole list could tell of, are unsure.
func (h *hops) certain(p course, seen *sighting) (course, error) {
	if h.target.rpm.lists() || h.source == h.target {
		return p, nil
	}
	if isIdentity(p.source.Name) && h.source.release.Family != h.target.release.Family && slices.Contains(p.names, p.source.Name) {
		p.relation, p.confidence, p.names, p.found = api.RelationRemoved, record.RowConfidence, nil, byRow
		return p, nil
	}
	stated := p.found == byRow
	if own, err := h.ownThere(p); own != "" || err != nil {
		p = course{source: p.source, relation: api.RelationRenamed, confidence: listedGuess, names: []string{own}, found: byGuess, methods: p.methods}
		if stated {
			p.confidence = unsure // which of the two is right, a person must say
		}
		return p.settled(p.source.Name), err
	}
	if len(p.names) == 0 {
		if p.relation == api.RelationRemoved && !h.saysSo(p) {
			p.confidence = h.weighed(p, removed)
		}
		return p, nil
	}
	least, err := h.presenceOf(p, seen)
	p.confidence = h.weighed(p, least)
	return p, err
}

// removed is in the place of a presence where an answer names nothing.
const removed presence = "removed"

// weighed is the confidence of a course across families by how often such answers were
// measured right: sure where the target's list has the names and that is often enough.
// Within a family, and where nothing was measured, the rules say.
func (h *hops) weighed(p course, known presence) float64 {
	r, ok := measured(h.source.release.Family, h.target.release.Family, p.found, string(known))
	across := h.source.release.Family != h.target.release.Family
	switch {
	case known == inList && (!across || !ok || p.confidence < SureConfidence && p.found != byGuess):
		return p.confidence // the rules have a doubt of their own
	case !across || !ok:
		return min(p.confidence, unsure)
	case known == inList && r.sure():
		return r.claim()
	}
	return min(r.claim(), unsure)
}

// ownThere is the name of what is said to be lost, where the target's list has a package
// of that name: it is of EL that rows and events tell, and may be here.
func (h *hops) ownThere(p course) (string, error) {
	if p.relation != api.RelationRemoved || h.target.rpm.known || p.found != byRow && h.saysSo(p) || isIdentity(p.source.Name) {
		return "", nil
	}
	name := p.source.Name
	if h.source.rpm == nil {
		name = h.ix.rpmName(name)
	}
	if _, own := h.ownRow(name); own {
		return "", nil
	}
	if least, err := h.target.presence(name); least != inList {
		return "", err
	}
	return name, nil
}

// ownRow is the target's own row of an rpm of EL.
func (h *hops) ownRow(name string) (string, bool) {
	row := h.ownRPMs(name)
	return row, row != ""
}

// ofDistribution are the names of what is a distribution itself: its release, keys,
// repositories and pictures.
var ofDistribution = lazyregexp.New(`(?i)^((alma|rocky|oracle|amazon)?linux|centos|redhat|rhel|fedora|generic|system|sles?|sle-.*|opensuse|suse|leap|epel|almalinux|rocky)(-.*)?-(release|repos|logos|gpg-keys|indexhtml|backgrounds|artwork)(-.*)?$|-branding-(sle|opensuse|upstream)|-branding$`)

// identityWords are in all of these: most names have none, which costs less to see.
var identityWords = []string{"-release", "-repos", "-logos", "-gpg-keys", "-indexhtml", "-backgrounds", "-artwork", "-branding"}

func isIdentity(name string) bool {
	return slices.ContainsFunc(identityWords, func(word string) bool { return strings.Contains(name, word) }) && ofDistribution.MatchString(name)
}

// listedGuess is that of the own name of what is said to be lost, where the target's
// list has it.
const listedGuess = 0.93

// saysSo reports whether a row tells of a loss, or an event of the target's own line.
func (h *hops) saysSo(p course) bool {
	switch p.found {
	case byRow, byVendor:
		return true
	case byEvent:
		return h.source.rpm != nil && h.source.rpm.line == h.target.rpm.line && (h.target.rpm.line == "suse" || h.sameKind())
	}
	return false
}
