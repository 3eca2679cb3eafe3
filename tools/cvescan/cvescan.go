// Package cvescan holds the packages of a machine, and those of its plan, against
// advisories.
package cvescan

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/hazards"
	"svc/backend/api"
	"svc/backend/client"
	"svc/backend/lazyregexp"
	"svc/tools/exposure"
	"svc/tools/job"
	"svc/tools/machine"
	"svc/tools/migration"
	"svc/tools/tool"
)

// Schema names the form of a scan's result.
const Schema = "svc.cve-scan/v1"

// Input is the input of CVEScan.
type Input struct {
	machine.Machine
	Target string      `json:"target,omitempty" jsonschema:"release to hold the machine against, such as debian-13: what a move there fixes, and what it brings"`
	Limit  int         `json:"limit,omitempty" jsonschema:"entries of each list; 20"`
	Detail tool.Detail `json:"detail,omitempty" jsonschema:"full cuts nothing"`
}

// Result is what the advisories say of a machine. No list is ever null. A
// summary has the worst matches, with the first of their other names: Total has
// the whole length of each cut list, and Resource is where the rest can be read.
type Result struct {
	Schema      string          `json:"schema"`
	Release     string          `json:"release"`
	Fingerprint string          `json:"fingerprint"`
	Feed        api.Feed        `json:"feed"`
	Stale       bool            `json:"stale"` // no feed, or none newer than a week
	Warnings    []string        `json:"warnings"`
	SeatClaimed bool            `json:"seat_claimed"`
	Scanned     int             `json:"scanned"` // packages
	Counts      exposure.Counts `json:"counts"`  // of advisories that matched
	Matches     []api.CVEMatch  `json:"matches"`
	Updates     []api.CVEMatch  `json:"updates"` // bug fixes and enhancements: no vulnerabilities
	Target      *Target         `json:"target,omitempty"`
	Total       map[string]int  `json:"total,omitempty"`
	Truncated   bool            `json:"truncated,omitempty"`
	Resource    string          `json:"resource,omitempty"`
}

// Target is the same machine after a move to another release.
type Target struct {
	Release  string   `json:"release"`
	Feed     api.Feed `json:"feed"`
	Scanned  int      `json:"scanned"`  // planned packages that were compared
	Unsure   []string `json:"unsure"`   // packages of the machine whose counterparts could not all be compared
	Compared bool     `json:"compared"` // false: no feed for one of the two, so nothing is known of the change
	exposure.Change
}

// Scan holds the packages of a machine against the advisories of its
// release. It claims the machine's licence seat where that has none and the
// account has capacity.
func Scan(ctx context.Context, env *tool.Env, in Input) (Result, error) {
	if err := tool.CheckShown("svc cve-scan", &in.Detail, in.Limit); err != nil {
		return Result{}, err
	}
	j := &job.Job{Env: env, Machine: in.Machine, Hazards: hazards.Curated()}
	if in.Target != "" {
		target, err := job.TargetNamed(in.Target)
		if err != nil {
			return Result{}, err
		}
		j.Target = target
	}
	if err := j.Begin(ctx); err != nil {
		return Result{}, err
	}
	defer j.Close()
	s := newScan(j)
	packages := Scanned(j.Assessment)
	if len(packages) == 0 {
		return Result{}, errors.New("the machine has no packages, so there is nothing to compare; nothing was recorded")
	}
	found, err := s.ask(ctx, scannedRelease(j.Assessment), packages)
	if err != nil {
		return Result{}, err
	}
	result := Result{
		Schema: Schema, Release: j.Assessment.Release, Fingerprint: j.Assessment.Fingerprint, Feed: found.Feed, Stale: exposure.Stale(found.Feed, env.Now()),
		SeatClaimed: found.SeatClaimed, Scanned: found.Scanned, Counts: exposure.Count(found.Matches), Matches: found.Matches, Updates: found.Updates,
		Warnings: warnings(j.Assessment.Release, found.Feed, exposure.Stale(found.Feed, env.Now())),
	}
	if in.Target != "" {
		input, err := s.LookUp(ctx)
		if err != nil {
			return Result{}, err
		}
		if result.Target, err = s.compare(ctx, found, migration.New(input)); err != nil {
			return Result{}, err
		}
		result.Warnings = append(result.Warnings, targetWarnings(result.Target)...)
	}
	if in.Detail == tool.DetailFull {
		return result, nil
	}
	return summarizeScan(env, result, in.Limit), nil
}

// summarizeScan cuts the lists until the whole is small. What are no
// vulnerabilities is only counted; warnings always stay.
func summarizeScan(env *tool.Env, whole Result, limit int) Result {
	const names = 5
	r := whole
	r.Total, r.Matches = map[string]int{}, slices.Clone(whole.Matches)
	for i := range r.Matches {
		m := &r.Matches[i]
		m.Aliases = m.Aliases[:min(names, len(m.Aliases))]
	}
	lists := []tool.List{tool.ListOf("matches", &r.Matches), tool.ListOf("updates", &r.Updates)}
	lists[1].Cut(0, r.Total)
	if whole.Target != nil {
		target := *whole.Target
		r.Target = &target
		lists = append(lists, tool.ListsOf("target.", &target)...)
		lists = append(lists, tool.ListsOf("target.", &target.Change)...)
	}
	tool.Fit(func() any { return r }, lists, tool.BoundsOf(limit), r.Total)
	r.Truncated = true // the other names are cut, too
	if env.Resources != nil {
		r.Resource = env.Resources.Put("cve-scan-"+r.Fingerprint[:min(12, len(r.Fingerprint))], tool.Encoded(whole))
	}
	return r
}

// warnings say why no match may not mean that there is nothing.
func warnings(release string, f api.Feed, stale bool) []string {
	all := []string{}
	switch {
	case !f.Loaded:
		return append(all, fmt.Sprintf("NOTHING WAS COMPARED: there are no advisories for %s. That no vulnerability is listed means nothing. Get them: svc advisories update", release))
	case stale:
		all = append(all, fmt.Sprintf("THE ADVISORIES ARE OLD: the newest for %s is of %s. What was found since is missing. Get newer ones: svc advisories update", release, *f.UpdatedAt))
	}
	if f.Rejected > 0 {
		all = append(all, fmt.Sprintf("%d advisories of the feed's sources could not be used whole; the report of its build names them", f.Rejected))
	}
	return all
}

// why says why the two releases could not be compared.
func (t *Target) why() string {
	if t.Scanned == 0 {
		return "the index is sure of no package's counterpart in " + t.Release
	}
	return "there are no advisories for the machine's release, or none for " + t.Release
}

func targetWarnings(t *Target) []string {
	switch {
	case !t.Compared:
		return []string{"WHAT THE MOVE CHANGES IS NOT KNOWN: " + t.why()}
	case len(t.Unsure) > 0:
		return []string{fmt.Sprintf("of %d packages the counterparts in %s could not all be compared; their vulnerabilities are listed as open unless found there", len(t.Unsure), t.Release)}
	}
	return nil
}

// cveScan is one scan on its way: its parts share an id, and make one event.
type cveScan struct {
	*job.Job
	id   string
	part int
}

func newScan(j *job.Job) *cveScan { return &cveScan{Job: j, id: rand.Text()} }

// ask sends packages in parts and puts the answers together.
func (s *cveScan) ask(ctx context.Context, release string, packages []api.ScannedPackage) (all api.CVEScanResponse, err error) {
	all.Matches, all.Updates, all.Unlisted = []api.CVEMatch{}, []api.CVEMatch{}, []string{}
	const comparing = "comparing packages with advisories"
	defer s.Env.Step(comparing, len(packages), len(packages))
	for batch := range slices.Chunk(packages, api.MaxBatch) {
		s.part++
		s.Env.Step(comparing, all.Scanned, len(packages))
		r, err := client.Call(ctx, s.Client, api.CVEScan, api.CVEScanRequest{
			Fingerprint: s.Assessment.Fingerprint, Release: release, ScanID: s.id, Packages: batch,
		}, client.WithKey(fmt.Sprintf("%s.%d", s.id, s.part)))
		if err != nil {
			return all, err
		}
		all.Release, all.Feed, all.SeatClaimed = r.Release, r.Feed, all.SeatClaimed || r.SeatClaimed
		all.Scanned += r.Scanned
		all.Matches, all.Updates, all.Unlisted = append(all.Matches, r.Matches...), append(all.Updates, r.Updates...), append(all.Unlisted, r.Unlisted...)
	}
	exposure.Sort(all.Matches)
	exposure.Sort(all.Updates)
	return all, nil
}

// scannedRelease names the machine's release; of SUSE with the service pack,
// each of which has fixes of its own.
func scannedRelease(a *assess.Assessment) string {
	if a.System.ID == "sles" {
		return "sles-" + a.System.VersionID
	}
	return a.Release
}

// kernelName tells packages of which a machine has several versions and runs
// one. They go into the same part of a scan, where the newest counts.
var kernelName = lazyregexp.New(`^(kernel($|-)|linux-image-)`)

// Scanned are the machine's packages as a scan takes them: kernels first, and of
// those only the one that runs, where that is known.
func Scanned(a *assess.Assessment) []api.ScannedPackage {
	running := ""
	if a.Running != nil {
		running = a.Running.Kernel
	}
	boots := slices.ContainsFunc(a.Packages, func(p assess.Package) bool { return runs(p, running) })
	packages := []api.ScannedPackage{}
	for _, p := range a.Packages {
		if boots && kernelName.MatchString(p.Name) && versioned(a, p) && !runs(p, running) {
			continue
		}
		packages = append(packages, api.ScannedPackage{
			Name: p.Name, Version: p.Version, Source: p.Source, SourceVersion: p.SourceVersion, Arch: p.Arch, Module: p.Module,
		})
	}
	slices.SortStableFunc(packages, func(x, y api.ScannedPackage) int {
		return cmp.Compare(kernelLast(x.Name), kernelLast(y.Name))
	})
	return packages
}

func kernelLast(name string) int {
	if kernelName.MatchString(name) {
		return 0
	}
	return 1
}

// runs reports whether a package is of the kernel that runs: Debian's names say
// its release, rpm's versions do.
func runs(p assess.Package, running string) bool {
	if running == "" || !kernelName.MatchString(p.Name) {
		return false
	}
	_, version, found := strings.Cut(p.Version, ":")
	if !found {
		version = p.Version
	}
	return strings.HasSuffix(p.Name, "-"+running) || strings.HasPrefix(running, version+"."+p.Arch)
}

// versioned reports whether the machine may have other versions of a kernel's
// package beside this one.
func versioned(a *assess.Assessment, p assess.Package) bool {
	return strings.HasPrefix(p.Name, "linux-image-") || slices.ContainsFunc(a.Packages, func(o assess.Package) bool {
		return o.Name == p.Name && o.Version != p.Version
	})
}

// compare scans the packages that the machine would have after the move. It is
// part of the same scan: it records and claims nothing more.
func (s *cveScan) compare(ctx context.Context, before api.CVEScanResponse, plan *migration.Plan) (*Target, error) {
	planned, unsure := counterparts(plan)
	if err := s.nameSources(ctx, planned); err != nil {
		return nil, err
	}
	t := &Target{Release: s.Target.Slug, Unsure: []string{}}
	packages := []api.ScannedPackage{}
	for _, p := range planned {
		packages = append(packages, p.ScannedPackage)
	}
	slices.SortFunc(packages, func(x, y api.ScannedPackage) int { return cmp.Compare(x.Name, y.Name) })
	after, err := s.ask(ctx, s.Target.Slug, packages)
	if err != nil {
		return nil, err
	}
	for _, name := range after.Unlisted {
		for _, p := range planned[name].of {
			unsure[p] = true
		}
	}
	t.Unsure = slices.AppendSeq(t.Unsure, maps.Keys(unsure))
	slices.Sort(t.Unsure)
	t.Feed, t.Scanned, t.Compared = after.Feed, after.Scanned, before.Feed.Loaded && after.Feed.Loaded
	t.Change = exposure.Compare(nil, nil, nil)
	if t.Compared {
		t.Change = exposure.Compare(before.Matches, after.Matches, unsure)
	}
	return t, nil
}

// counterpart is a planned package, and the machine's packages it is for.
type counterpart struct {
	api.ScannedPackage
	of []string
}

// counterparts are the packages that a plan is sure of, by name, and the
// machine's packages for which there are others.
func counterparts(plan *migration.Plan) (planned map[string]*counterpart, unsure map[string]bool) {
	planned, unsure = map[string]*counterpart{}, map[string]bool{}
	for _, p := range plan.Packages {
		if p.Relation == api.RelationUnknown || len(p.Targets) > 0 && p.Confidence < migration.Sure {
			unsure[p.Name] = true
			continue
		}
		for _, t := range p.Targets {
			if t.Version == "" {
				unsure[p.Name] = true
				continue
			}
			if planned[t.Name] == nil {
				planned[t.Name] = &counterpart{ScannedPackage: api.ScannedPackage{Name: t.Name, Version: t.Version}}
			}
			planned[t.Name].of = append(planned[t.Name].of, p.Name)
		}
	}
	return planned, unsure
}

// nameSources gives planned packages the name of their software: where
// advisories name source packages, that is mostly theirs. Of those of which it
// is not, the answer says that no advisory names them.
func (s *cveScan) nameSources(ctx context.Context, planned map[string]*counterpart) error {
	for batch := range slices.Chunk(slices.Sorted(maps.Keys(planned)), api.MaxBatch) {
		r, err := client.Call(ctx, s.Client, api.Resolve, api.ResolveRequest{Release: s.Target.Slug, Packages: batch})
		if err != nil {
			return err
		}
		for _, found := range r.Results {
			if found.Canonical != nil {
				source, _, _ := strings.Cut(*found.Canonical, "--")
				planned[found.Package].Source = source
			}
		}
	}
	return nil
}
