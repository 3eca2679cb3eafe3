package advisory

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/anchore/go-rpmdb/pkg" // its test data are read
	"github.com/matryer/is"

	"svc/assess"
	"svc/assess/host"
	"svc/assess/inspect"
	"svc/backend/api"
	"svc/backend/pkgversion"
)

// corpus is the folder of real inputs beside the project; what needs it is
// skipped where there is none.
const corpus = "../../../shared/data"

func realFile(tb testing.TB, name string) string {
	tb.Helper()
	path := filepath.Join(corpus, name)
	if _, err := os.Stat(path); err != nil {
		tb.Skip("no real inputs beside the project")
	}
	return path
}

// almaFeed is the feed of the AlmaLinux corpus.
func almaFeed(tb testing.TB) *Feeds {
	tb.Helper()
	out := filepath.Join(tb.TempDir(), "feed")
	_, err := Build(tb.Context(), Sources{OSV: []string{realFile(tb, "osv")}, Out: out, Now: time.Now()})
	is.New(tb).NoErr(err)
	feeds, err := Load(out, false, nil)
	is.New(tb).NoErr(err)
	return feeds
}

// almaDocuments are the advisories of AlmaLinux 8 as published.
func almaDocuments(tb testing.TB) (all []document) {
	tb.Helper()
	add := func(_ string, b []byte) error {
		var d document
		err := json.Unmarshal(b, &d)
		all = append(all, d)
		return err
	}
	err := eachDocument(context.Background(), realFile(tb, "osv/almalinux8.tar.zst"), "", nil, add, func(where string, why error) { tb.Errorf("%s: %v", where, why) })
	is.New(tb).NoErr(err)
	return all
}

// hostPackages reads a package list: name, epoch:version, release, arch, source.
func hostPackages(tb testing.TB, name string) (packages []api.ScannedPackage) {
	tb.Helper()
	b, err := os.ReadFile(realFile(tb, "hosts/"+name))
	is.New(tb).NoErr(err)
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if !strings.HasPrefix(line, "#") && len(f) == 5 {
			packages = append(packages, api.ScannedPackage{Name: f[0], Version: f[1] + "-" + f[2], Arch: f[3], Source: f[4]})
		}
	}
	return packages
}

type pair struct{ name, version, advisory string }

// naive is what scanners report that compare names and versions alone: of each
// pair, the fixed versions above the installed one.
func naive(documents []document, packages []api.ScannedPackage) map[pair][]string {
	fixes := map[string]map[string][]string{} // by package, by advisory
	for _, d := range documents {
		for _, a := range d.Affected {
			if a.Package.Ecosystem != "AlmaLinux:8" {
				continue
			}
			if fixes[a.Package.Name] == nil {
				fixes[a.Package.Name] = map[string][]string{}
			}
			for _, e := range a.Ranges[0].Events {
				if e.Fixed != "" && !slices.Contains(fixes[a.Package.Name][d.ID], e.Fixed) {
					fixes[a.Package.Name][d.ID] = append(fixes[a.Package.Name][d.ID], e.Fixed)
				}
			}
		}
	}
	found := map[pair][]string{}
	for _, p := range packages {
		for id, versions := range fixes[p.Name] {
			for _, v := range versions {
				if pkgversion.Compare(pkgversion.RPM, p.Version, v) < 0 {
					key := pair{p.Name, p.Version, id}
					found[key] = append(found[key], v)
				}
			}
		}
	}
	return found
}

// The classes of what a naive scanner reports.
const (
	plain       = "neither is of a module"
	plainOnMod  = "plain package, the fix is only for a module"
	modOnPlain  = "package of a module, the fix is only for the plain one"
	sameStream  = "same stream"
	otherStream = "other stream"
	unnamed     = "the advisory names no stream"
)

var summaryStream = regexp.MustCompile(`([\w.+-]+:[\w.+-]+)( and |, | security| bug| enh|$)`)

// classify tells the class by the published advisory alone, without the code
// that is tested.
func classify(p api.ScannedPackage, d document, fixes []string) string {
	modular := p.Module != "" || strings.Contains(p.Version, ".module")
	fixModular := slices.ContainsFunc(fixes, func(v string) bool { return strings.Contains(v, ".module") })
	switch {
	case !modular && !fixModular:
		return plain
	case !modular:
		return plainOnMod
	case !fixModular:
		return modOnPlain
	}
	var named []string
	for _, m := range summaryStream.FindAllStringSubmatch(d.Summary, -1) {
		named = append(named, m[1])
	}
	switch {
	case len(named) == 0:
		return unnamed
	case slices.Contains(named, p.Module):
		return sameStream
	}
	return otherStream
}

// el8 is the package list of a real machine of EL 8, as svc reads it.
func el8(tb testing.TB) (packages []api.ScannedPackage) {
	tb.Helper()
	is := is.New(tb)
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/anchore/go-rpmdb").Output()
	if err != nil {
		tb.Skip("no go command, or no module cache")
	}
	database, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "pkg/testdata/centos8-modularitylabel/Packages"))
	is.NoErr(err)
	root := tb.TempDir()
	for name, content := range map[string]string{"etc/os-release": "ID=almalinux\nVERSION_ID=8.4\n", "var/lib/rpm/Packages": string(database)} {
		is.NoErr(os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(root, name), []byte(content), 0o644))
	}
	h, err := host.OpenRoot(root)
	is.NoErr(err)
	defer h.Close()
	a, err := inspect.Assess(tb.Context(), h, assess.Options{Now: time.Now()})
	is.NoErr(err)
	for _, p := range a.Packages {
		packages = append(packages, api.ScannedPackage{Name: p.Name, Version: p.Version, Arch: p.Arch, Source: p.Source, SourceVersion: p.SourceVersion, Module: p.Module})
	}
	return packages
}

// TestEveryDifferenceFromNaiveScannersIsExplained holds the answer for a real
// machine against what a scanner finds that compares names and versions alone.
// The 2,262 pairs are those that osv-scanner 2.5.0 reports of this machine.
func TestEveryDifferenceFromNaiveScannersIsExplained(t *testing.T) {
	is := is.New(t)
	documents, packages := almaDocuments(t), el8(t)
	result, err := almaFeed(t).Match("almalinux-8.4", packages, time.Now())
	is.NoErr(err)
	ours := map[pair]bool{}
	for _, m := range result.Matches {
		is.True(strings.HasPrefix(m.Advisory, "ALSA-")) // nothing else is a vulnerability
		ours[pair{m.Package, m.Version, m.Advisory}] = true
	}
	for _, m := range result.Updates {
		is.True(strings.HasPrefix(m.Advisory, "ALBA-") || strings.HasPrefix(m.Advisory, "ALEA-"))
		ours[pair{m.Package, m.Version, m.Advisory}] = true
	}
	is.Equal(len(ours), len(result.Matches)+len(result.Updates)) // each pair once

	all := naive(documents, packages)
	reported, left := map[string]int{}, map[string]int{}
	for p, fixes := range all {
		i := slices.IndexFunc(packages, func(s api.ScannedPackage) bool { return s.Name == p.name && s.Version == p.version })
		j := slices.IndexFunc(documents, func(d document) bool { return d.ID == p.advisory })
		class := classify(packages[i], documents[j], fixes)
		if ours[p] {
			reported[class]++
		} else {
			left[class]++
		}
		delete(ours, p)
	}
	is.Equal(len(all), 2262)
	is.Equal(len(ours), 0) // nothing that a naive scanner does not see
	is.Equal(reported, map[string]int{plain: 957, sameStream: 478, unnamed: 16})
	is.Equal(left, map[string]int{plainOnMod: 310, otherStream: 501})
}

// TestWithoutLabelsOnlyWhatIsKnownIsRuledOut has the packages of a machine of
// which nothing says a module but the versions.
func TestWithoutLabelsOnlyWhatIsKnownIsRuledOut(t *testing.T) {
	is := is.New(t)
	documents, packages := almaDocuments(t), hostPackages(t, "almalinux-8.vuls.tsv")
	result, err := almaFeed(t).Match("almalinux-8", packages, time.Now())
	is.NoErr(err)
	ours := len(result.Matches) + len(result.Updates)
	classes := map[string]int{}
	for p, fixes := range naive(documents, packages) {
		i := slices.IndexFunc(packages, func(s api.ScannedPackage) bool { return s.Name == p.name && s.Version == p.version })
		j := slices.IndexFunc(documents, func(d document) bool { return d.ID == p.advisory })
		classes[classify(packages[i], documents[j], fixes)]++
	}
	is.Equal(classes, map[string]int{plain: 812, plainOnMod: 959, otherStream: 6})
	is.Equal(ours, classes[plain]+classes[otherStream]) // of those six no advisory knows the build: not ruled out
}
