// Package inspect reads a machine from the outside: room by room, into one
// assessment.
package inspect

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/config"
	"svc/assess/database"
	"svc/assess/host"
	"svc/assess/judge"
	"svc/assess/network"
	"svc/assess/packages"
	"svc/assess/services"
	"svc/assess/software"
	"svc/assess/web"
)

// Assess reads the machine. On ErrCorrupt the assessment is there too.
func Assess(ctx context.Context, h host.Host, o assess.Options) (*assess.Assessment, error) {
	m := &assess.Machine{FS: assess.Watched{FS: h.FS(), Context: ctx}, Context: ctx, Host: h}
	m.Reading = assess.Reading{Options: o, A: &assess.Assessment{Schema: assess.Schema}, Asked: assess.Asking(m.FS)}
	if err := readSystem(m); err != nil {
		return nil, cmp.Or(ctx.Err(), host.Lost(h), err)
	}
	if _, err := m.Files("etc"); err != nil {
		return nil, cmp.Or(ctx.Err(), host.Lost(h), fmt.Errorf("%w: %w", assess.ErrNoConfiguration, err))
	}
	steps := []struct {
		what string
		read func(*assess.Machine)
	}{
		{"identity", readFingerprint},
		{"programs", software.FindPrograms},
		{"packages", packages.ReadPackages},
		{"package origins", packages.ReadOrigins},
		{"accounts", config.ReadAccounts},
		{"services", services.ReadServices},
		{"jobs", services.ReadCron},
		{"programs' digests", software.ReadPrograms},
		{"configuration", config.ReadConfiguration},
		{"folders", config.ReadFolders},
		{"mounts", readMounts},
		{"network", network.ReadNetworks},
		{"kernel settings", config.ReadSysctl},
		{"ssh", config.ReadSSH},
		{"firewall", network.ReadFirewalls},
		{"databases", database.ReadDatabases},
		{"web servers", web.ReadWebServers},
		{"settings", config.ReadFacts},
		{"storage", config.ReadStorage},
		{"runtimes", software.ReadRuntimes},
		{"software", software.ReadSoftware},
		{"containers", software.ReadContainers},
		{"certificates", web.ReadCertificates},
		{"Java's authorities", web.ReadKeystores},
		{"findings", func(m *assess.Machine) { look(m); judge.Find(&m.Reading) }},
		{"what runs", func(m *assess.Machine) { readRunning(m, ctx, h) }},
	}
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	for i, s := range steps {
		o.Progress(s.what, i, len(steps))
		s.read(m)
		m.Bound()
		if err := cmp.Or(ctx.Err(), host.Lost(h)); err != nil {
			return nil, fmt.Errorf("assessing: %w", err)
		}
	}
	o.Progress(steps[len(steps)-1].what, len(steps), len(steps))
	order(m)
	m.MaskSecrets()
	return m.A, corrupt(m)
}

// corrupt is the error of a package database that could not be read whole.
func corrupt(m *assess.Machine) error {
	for _, s := range m.A.Sources {
		if s.State != assess.SourceOK && s.What == m.Book.Source {
			return fmt.Errorf("%w: %s", assess.ErrCorrupt, reason(m, s))
		}
	}
	return nil
}

// reason says why the package database could not be read.
func reason(m *assess.Machine, s assess.Source) string {
	if s.State == assess.SourceAbsent {
		return "there is no /" + strings.Join(packages.OwnManager(m).Database, ", /")
	}
	return s.Detail
}

// order sorts every list that is not sorted by how it was made, and leaves no
// list null.
func order(m *assess.Machine) {
	a := m.A
	slices.SortFunc(a.Packages, func(x, y assess.Package) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Arch, y.Arch), assess.CompareNatural(x.Version, y.Version))
	})
	a.Sources = tidy(a.Sources)
	slices.SortStableFunc(a.Facts, func(x, y assess.Fact) int { return cmp.Or(cmp.Compare(x.Area, y.Area), cmp.Compare(x.Key, y.Key)) })
	slices.SortStableFunc(a.Findings, func(x, y assess.Finding) int {
		return cmp.Or(compareBool(y.Inhibitor, x.Inhibitor), cmp.Compare(rank(x.Severity), rank(y.Severity)), cmp.Compare(x.Key, y.Key))
	})
	for i := range a.Findings {
		f := &a.Findings[i]
		f.Remediations, f.Related, f.Evidence = assess.List(f.Remediations), assess.List(f.Related), assess.List(f.Evidence)
	}
	noneNull(a)
}

// noneNull gives the lists of a struct that have nothing in them as such, not as null.
func noneNull(of any) {
	for _, field := range reflect.ValueOf(of).Elem().Fields() {
		if field.Kind() == reflect.Slice && field.IsNil() {
			field.Set(reflect.MakeSlice(field.Type(), 0, 0))
		}
	}
}

// tidy sorts the sources. What can stand in several places is absent only where
// it is in none of them.
func tidy(sources []assess.Source) (tidied []assess.Source) {
	there, absent := map[string]bool{}, map[string]bool{}
	for _, s := range sources {
		there[s.What] = there[s.What] || s.State != assess.SourceAbsent
	}
	for _, s := range sources {
		if s.State == assess.SourceAbsent && (there[s.What] || absent[s.What]) {
			continue
		}
		absent[s.What] = s.State == assess.SourceAbsent
		tidied = append(tidied, s)
	}
	slices.SortFunc(tidied, func(x, y assess.Source) int {
		return cmp.Or(cmp.Compare(x.What, y.What), cmp.Compare(x.Detail, y.Detail))
	})
	return slices.Compact(tidied)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// rank orders the severities, worst first.
func rank(s assess.FindingSeverity) int {
	return slices.Index([]assess.FindingSeverity{assess.High, assess.Medium, assess.Low, assess.Info}, s)
}
