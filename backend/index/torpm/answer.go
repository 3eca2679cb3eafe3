package torpm

import (
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
	"svc/backend/release"
)

// vendorOf is whose repository has an rpm that the target itself has not; empty where
// nobody's is known to.
func (h *Path) vendorOf(r *lookup.RPM) (vendor string) {
	if h.Target.RPM.FromEPEL(r) {
		return record.VendorEPEL
	}
	_, vendor, _ = strings.Cut(r.Trail, rpm.Vendor)
	vendor, _, _ = strings.Cut(vendor, "\t")
	return vendor
}

// doubt says why the target may not have an rpm: a vendor has it, or its list is not
// known.
func (h *Path) doubt(r *lookup.RPM, vendor string) api.Caveat {
	if vendor != "" {
		return course.Caveat(course.CaveatThirdParty, api.SeverityWarning, "%s is not of %s itself. %s", r.Name, h.Target.Slug, h.Tables.Vendors.Value(vendor))
	}
	return api.Caveat{Code: course.CaveatExistence, Severity: api.SeverityInfo, Text: h.noList[0] + r.Name + h.noList[1]}
}

// noFullList says to look whether a release has an rpm, which is named between the two.
func noFullList(target string) [2]string {
	return [2]string{
		"The index has no full list of " + target + ": check that it has ",
		". A list of your own mirror makes it sure: svc admin index build --rpm-md URL --release " + target + " --out FILE, then --index FILE.",
	}
}

// elsewhere says where a package may be that the lists of a release lack.
func elsewhere(target *lookup.Release) api.Caveat {
	where := "another repository"
	switch target.Release.Family {
	case release.EL:
		where = "EPEL or CodeReady Builder (CRB)"
	case release.SUSE:
		where = "a module or Package Hub"
	}
	return course.Caveat(course.CaveatExistence, api.SeverityInfo, "The lists of %s that the index has are not whole: %s may have it. "+
		"A list of your own mirror makes it sure: svc admin index build --rpm-md URL --release %s --out FILE, then --index FILE.", target.Slug, where, target.Slug)
}

// Present makes the answer of a course that ends at rpms.
func (h *Path) Present(canonical string, of *course.Course) (api.Translation, error) {
	p := *of
	p.Doubt()
	h.weigh(&p)
	t := api.Translation{
		Canonical: canonical, Relation: p.Relation, Confidence: course.Round(p.Confidence),
		Packages: make([]api.TargetPackage, 0, len(p.Names)), Caveats: []api.Caveat{}, Conditionals: []api.Conditional{},
	}
	for _, name := range p.Names {
		own, listed := h.Target.RPM.Own(name)
		t.Packages = append(t.Packages, api.TargetPackage{Name: name, Version: own.Version, Repository: own.Repository})
		if own.Hidden {
			t.Caveats = append(t.Caveats, h.streamCaveat(name, own))
		}
		if listed || h.stated[name] || h.Source == h.Target {
			continue
		}
		r, known := h.Seen.Find(h.Target, name)
		if r.Has(h.Target.RPM) {
			continue
		}
		vendor := h.vendorOf(r)
		if !known && name == p.Source.Name {
			vendor = byPattern(h.Tables, name)
		}
		if vendor == record.VendorEPEL {
			t.Packages[len(t.Packages)-1].Repository = api.EPEL
		}
		t.Caveats = append(t.Caveats, h.doubt(r, vendor))
	}
	if slices.Contains(p.Methods, course.Unheard) {
		t.Caveats = append(t.Caveats, course.Caveat(course.CaveatExistence, api.SeverityInfo,
			"No list of the index, of EL, EPEL or another vendor, knows this package: see where the machine has it from, and whether that has it for %s.", h.Target.Slug))
	}
	again := h.hasAgain(&p)
	if again {
		t.Confidence = min(t.Confidence, course.Unsure)
		t.Caveats = append(t.Caveats, course.Caveat(course.CaveatExistence, api.SeverityInfo,
			"Packages of %s by this name are known: a later minor release may have brought it back.", h.Target.Slug))
	}
	t.Caveats = h.OfVendor(t.Caveats, &p)
	t.Caveats = h.OfCourse(t.Caveats, &p, len(p.Names))
	if p.Relation == api.RelationRemoved && p.Confidence < course.SureConfidence && !h.Target.RPM.Lists() && !slices.Contains(p.Methods, course.Unheard) && !again {
		t.Caveats = append(t.Caveats, h.elsewhere)
	}
	return t, h.AddCurated(canonical, &t, nil)
}

// hasAgain reports whether the target is known to have what went, by the events
// of its first minor release, on the way to it.
func (h *Path) hasAgain(p *course.Course) bool {
	if p.Relation != api.RelationRemoved || p.Found != course.ByEvent || h.Target.RPM.Lists() || h.Source.RPM == nil || h.Source.RPM.Line != h.Target.RPM.Line {
		return false
	}
	r, _ := h.Seen.Find(h.Target, p.Source.Name)
	return h.Target.RPM.At(r)
}
