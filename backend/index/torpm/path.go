package torpm

import (
	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
)

// Path is the way between two releases of which the target's packages are rpms.
type Path struct {
	*course.Pair
	ownNames
	levels    []lookup.NamedRows // what becomes of rpms after each level of the target's line
	elsewhere api.Caveat         // where a package may be that the target's lists lack
	noList    [2]string          // what is said of an rpm where the target's list is not known
}

// lacks reports whether the list of a release of EL is nearly whole, and has no such rpm.
func (h *Path) lacks(r *lookup.RPM) bool {
	l := h.Target.RPM
	return l.Line == "el" && l.Known && l.Level >= record.WholeLists && !r.Has(l) && !r.InEPEL(l)
}

// existence is how sure it is that the target has an rpm.
func (h *Path) existence(r *lookup.RPM) float64 {
	switch l := h.Target.RPM; {
	case r.Has(l), h.calledOtherwise(r.Name):
		return 1
	case l.FromEPEL(r):
		return course.Listless
	case l.Known && r.Levels != "" && l.Level >= record.WholeLists:
		return course.Later
	case l.Known && r.Levels != "":
		return course.Elsewhere
	case l.At(r), r.Line == l.Line, l.Line == "suse" && r.Levels != "":
		return course.Listless
	}
	return course.Listless - 0.1
}

// sameKind reports whether both releases are of EL, or of the one distribution.
func (h *Path) sameKind() bool {
	return h.Source.RPM.Known && h.Target.RPM.Known || record.Distribution(h.Source.Slug) == record.Distribution(h.Target.Slug)
}
