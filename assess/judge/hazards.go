package judge

import (
	"slices"

	"svc/assess"
	"svc/assess/hazards"
	"svc/backend/release"
	"svc/backend/sliced"
)

// Hazardous is the machine as tables of hazards ask it: what was assessed, and its
// files, each read when a row asks.
func Hazardous(a *assess.Assessment, asked hazards.Files) *hazards.Machine {
	m := &hazards.Machine{
		Architecture: a.System.Architecture, Packages: map[string][]string{}, Shipped: a.AsShipped, Strays: a.Strays, Files: asked,
		Units:        sliced.Index(slices.Concat(a.Services, a.Timers), func(u assess.Unit) (name, state string) { return u.Name, u.State }),
		Own:          sliced.FilterMap(a.Configuration, func(c assess.ConfigFile) (string, bool) { return c.Path, c.State != assess.ConfigMissing }),
		Certificates: sliced.Map(a.Certificates, func(c assess.Certificate) string { return c.Path }),
		Facts: sliced.Map(a.Facts, func(f assess.Fact) hazards.Fact {
			return hazards.Fact{Area: f.Area, Key: f.Key, Value: f.Value, At: hazards.Place(f.Evidence)}
		}),
	}
	m.Release, _ = release.Lookup(a.Release)
	for _, p := range a.Packages {
		m.Packages[p.Name] = append(m.Packages[p.Name], p.Version)
	}
	return m
}

// Hazards are the findings about the rows of a table that a machine meets on its
// way to a target; without a target, about those that need none.
func Hazards(t hazards.Table, m *hazards.Machine, target *release.Release) (all []assess.Finding) {
	for _, h := range t.Evaluate(m, target) {
		f := assess.Finding{Key: h.Key, Severity: assess.FindingSeverity(h.Severity), Inhibitor: h.Stops != hazards.None, Title: h.Title, Summary: h.Summary(assess.Some), Remediations: remedies(h.Remedy())}
		if f.Inhibitor {
			f.Severity = assess.High
			f.Summary += " " + h.Stops.Says()
		}
		f.Related = assess.Resources("package", h.Pkgs)
		for _, p := range h.Places {
			if p.Path != "" {
				f.Evidence = append(f.Evidence, assess.Evidence(p))
				f.Related = append(f.Related, assess.Resource{Scheme: "file", Name: p.Path})
			}
		}
		f.Evidence, f.Related = assess.List(few(f.Evidence)), assess.List(slices.Compact(f.Related))
		all = append(all, f)
	}
	return all
}

// remedies are what a row says to do. Its command runs as it stands, and where it does
// not say when, before the data.
func remedies(do string) []assess.Remediation {
	r := assess.Remedy(do)
	r.BeforeData = r.Type == "command" && !r.AfterData
	return []assess.Remediation{r}
}

// maxEvidence bounds the places that a finding of a table names.
const maxEvidence = 20

// few are the first places of a finding that may have very many.
func few(at []assess.Evidence) []assess.Evidence { return at[:min(len(at), maxEvidence)] }

// findHazards finds what tables of hazards know: what needs no target, and, where
// one is named, what lies on the way there.
func findHazards(r *assess.Reading) {
	table, asked := r.Options.Hazards, Hazardous(r.A, r.Asked)
	if table == nil {
		table = hazards.Curated()
	}
	r.Finding(Hazards(table, asked, nil)...)
	if target, ok := release.Lookup(r.Options.Target); ok {
		r.Finding(Hazards(table, asked, &target)...)
	}
}
