// Package migration plans the move of a machine to another release: what each
// package becomes, where each setting goes, what a person has to decide. It is
// pure: the same assessment and the same index give the same plan.
package migration

import (
	"slices"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/sliced"
	"svc/tools/migration/naming"
	"svc/tools/migration/valid"
)

// New makes the plan.
func New(in Input) *Plan {
	a := in.Assessment
	p := &Plan{
		Schema: Schema, Source: a.Release, Target: in.Target.Slug, IndexVersion: in.IndexVersion, Fingerprint: a.Fingerprint, Files: in.Files,
		Install: []string{}, Inhibitors: []assess.Finding{}, Findings: []assess.Finding{},
	}
	p.Packages = packages(in)
	p.Sum = sum(p.Packages)
	p.Install = install(in, p.Packages)
	places := naming.New(rowsOf(p.Packages), in.Relocations)
	p.convert(in, configuration(in, places))
	p.merge(in, places)
	p.refer(in, places)
	p.withhold(in)
	p.await(in, places)
	p.Archives = archives(in, p)
	bad := &valid.Refused{}
	p.System = system(in, p, bad)
	p.Folders = folders(in, places)
	p.awaited(in, places)
	p.temporary(in, places)
	p.Clusters = clusters(in, places)
	p.Disabled = disabled(in, places, p.Configuration)
	p.Services = services(in, places, bad)
	p.Accounts = accounts(a, places, bad)
	for i, u := range p.Accounts.Users {
		p.Accounts.Users[i].Shell = in.inits().Shell(u.Shell)
	}
	known := troubles(in, p, places)
	p.reword(in, known)
	p.Findings = append(findings(in, p, known), complete(append(refused(bad.Values), in.inits().Lost(a, places)...))...)
	p.Inhibitors = append(p.Inhibitors, sliced.Filter(slices.Concat(a.Findings, p.Findings), func(f assess.Finding) bool { return f.Inhibitor })...)
	return p
}

// sum counts the packages by relation: the parts always add up to the total.
func sum(rows []Package) attest.PackageSum {
	s := attest.PackageSum{Total: len(rows)}
	part := map[api.Relation]*int{
		api.RelationSame: &s.Same, api.RelationRenamed: &s.Renamed, api.RelationSplit: &s.Split, api.RelationMerged: &s.Merged,
		api.RelationReplaced: &s.Replaced, api.RelationIncluded: &s.Included, api.RelationRemoved: &s.Removed, api.RelationUnknown: &s.Unknown,
	}
	for _, r := range rows {
		*part[r.Relation]++
	}
	return s
}

// install lists what the role installs, by name: the targets of the chosen
// packages, and what conditions of the index add.
func install(in Input, rows []Package) []string {
	names := append(append([]string{}, in.inits().Packages(in.Assessment)...), locales(in)...)
	for _, r := range rows {
		if r.Install {
			names = append(names, r.TargetNames()...)
		}
		for _, c := range held(in, r) {
			names = append(names, c.Packages...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
