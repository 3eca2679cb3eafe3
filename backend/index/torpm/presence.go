package torpm

import (
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
)

// presences are the ways to know that a target has a package, the surest last.
var presences = []lookup.Presence{lookup.Nowhere, lookup.InLater, lookup.InNear, lookup.InList}

// presenceOf is that of some names which is least known.
func (h *Path) presenceOf(names []string) (least lookup.Presence) {
	least = lookup.InList
	for _, name := range names {
		own := h.Seen.Presence(h.Target, name)
		if own == lookup.InList || h.stated[name] {
			continue
		}
		if own == lookup.InNear && h.Target.RPM.Known {
			if r, _ := h.Seen.Find(h.Target, name); r.CameLater(h.Target.RPM) {
				own = lookup.InLater
			}
		}
		if least == lookup.InList || slices.Index(presences, own) < slices.Index(presences, least) {
			least = own
		}
	}
	return least
}

// Evidence is how a course was found, to what, and how the index knows that the
// target has it.
func (h *Path) Evidence(p course.Course) string {
	if len(p.Names) == 0 && h.ownThere(&p) != "" {
		return course.Evidence(course.ByList, lookup.InList)
	}
	if len(p.Names) == 0 {
		return course.Evidence(p.Found, lookup.Presence(p.Relation))
	}
	return course.Evidence(foundBy(h.Source, &p), h.presenceOf(p.Names))
}

// foundBy is how a course was found, as it is measured: an rpm whose name its canonical
// leads back to keeps its own, which no rules had to guess.
func foundBy(source *lookup.Release, p *course.Course) string {
	if p.Found == course.ByGuess && source.RPM != nil && len(p.Names) == 1 && p.Names[0] == p.Source.Name {
		return course.ByName
	}
	return p.Found
}

// weigh gives a course the confidence that its evidence deserves. Names that the
// target's list lacks, and losses that only a whole list could tell of, are unsure.
func (h *Path) weigh(p *course.Course) {
	if h.Target.RPM.Lists() || h.Source == h.Target {
		return
	}
	if h.Source.Release.Family != h.Target.Release.Family && slices.Contains(p.Names, p.Source.Name) && rpm.IsIdentity(p.Source.Name) {
		p.Relation, p.Confidence, p.Names, p.Found = api.RelationRemoved, record.RowConfidence, nil, course.ByRow
		return
	}
	stated := p.Found == course.ByRow
	if own := h.ownThere(p); own != "" {
		*p = course.Course{Source: p.Source, Relation: api.RelationRenamed, Confidence: listedGuess, Names: []string{own}, Found: course.ByList, Methods: p.Methods}
		if stated {
			p.Confidence = course.Unsure // which of the two is right, a person must say
		}
		p.Settle(p.Source.Name)
		return
	}
	if len(p.Names) == 0 {
		if p.Relation == api.RelationRemoved && !h.saysSo(p.Found) {
			p.Confidence = h.weighed(p, course.Removed)
		}
		return
	}
	p.Confidence = h.weighed(p, h.presenceOf(p.Names))
	if !stated && h.Source.RPM != nil && losesHeaders(p) {
		p.Confidence = min(p.Confidence, course.Unsure)
	}
}

// losesHeaders reports whether a package of headers leads to packages without any.
func losesHeaders(p *course.Course) bool {
	return strings.HasSuffix(p.Source.Name, "-devel") && !slices.ContainsFunc(p.Names, func(name string) bool {
		return record.Role(rpm.Canonical(name)) == api.RoleDev
	})
}

// weighed is the confidence of a course across families by how often such answers were
// measured right: sure only where the target's list has the names. Within a family, and where
// nothing was measured, the rules say.
func (h *Path) weighed(p *course.Course, known lookup.Presence) float64 {
	claim, measured := p.Confidence, false
	if h.Source.Release.Family != h.Target.Release.Family {
		claim, measured = h.Rates.Claim(foundBy(h.Source, p), string(known))
	}
	switch {
	case known == lookup.InList && (!measured || p.Confidence < course.SureConfidence && p.Found != course.ByGuess):
		return p.Confidence // the rules have a doubt of their own
	case !measured:
		return min(p.Confidence, course.Unsure)
	case known == lookup.InList:
		return claim
	}
	return min(claim, course.Unsure)
}

// ownThere is the name of what is said to be lost, where the target's list has a package
// of that name: it is of EL that rows and events tell, and may be here.
func (h *Path) ownThere(p *course.Course) string {
	if p.Relation != api.RelationRemoved || h.Target.RPM.Known || p.Found != course.ByRow && h.saysSo(p.Found) || rpm.IsIdentity(p.Source.Name) {
		return ""
	}
	name := p.Source.Name
	if h.Source.RPM == nil {
		name = h.Tables.RPMName(name)
	}
	if h.ownRPMs(name) != "" || h.Seen.Presence(h.Target, name) != lookup.InList {
		return ""
	}
	return name
}

// listedGuess is that of the own name of what is said to be lost, where the target's
// list has it.
const listedGuess = 0.93

// saysSo reports whether a row tells of a loss, or an event of the target's own line.
func (h *Path) saysSo(found string) bool {
	switch found {
	case course.ByRow, course.ByVendor:
		return true
	case course.ByEvent:
		return h.Source.RPM != nil && h.Source.RPM.Line == h.Target.RPM.Line && (h.Target.RPM.Line == "suse" || h.sameKind())
	}
	return false
}

// isUnheard reports whether an rpm that no row speaks of is not known of a later
// release of EL either, whose list is nearly whole, and all that is known of it, nor
// called as those of a vendor are.
func (h *Path) isUnheard(p *course.Course, name string, known bool) bool {
	from, to := h.Source.RPM, h.Target.RPM
	later := from.Known && to.Known && from.Level < to.Level
	if !later || to.Level < record.WholeLists || to.Lists() || known || len(p.Methods) > 0 {
		return false
	}
	return byPattern(h.Tables, name) == ""
}

// byPattern is the vendor whose packages are called like an rpm; empty where nobody's are.
func byPattern(tables *lookup.Tables, name string) (vendor string) {
	x := &lookup.Names{Tables: tables, Line: "el"}
	return x.Vendor(name)
}
