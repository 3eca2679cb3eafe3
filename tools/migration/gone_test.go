package migration

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess/hazards"
	"svc/backend/api"
	"svc/backend/index"
	"svc/backend/release"
	"svc/backend/tsv"
)

// saysGone are the words by which a row says that the target lacks a package.
var saysGone = regexp.MustCompile(`(?i)\b(is|are) gone|(is|are) (not in|in no)\b|\b(has|have) no\b|\blacks?\b|no (package|longer)`)

// ofPackages are conditions that packages alone meet, of any version, on some releases.
var ofPackages = regexp.MustCompile(`^(?:from\([^)]*\) and )?package\("?([^,"()]+)"?\)(?: and from\([^)]*\))?$`)

// TestWhatIsGoneIsNotThere holds each row that says of packages alone that the target
// has them no more against the lists of the releases: a machine that has one of them
// must not hear so where the list of the target has a package of the same name.
// testdata/there.tsv has those of another kind, each with its reason.
func TestWhatIsGoneIsNotThere(t *testing.T) {
	is := is.New(t)
	ix, err := index.Embedded()
	is.NoErr(err)
	another := anotherKind(t)
	listed := map[string]api.Listing{} // a list that is another release's says nothing of what is gone
	for _, r := range ix.Releases() {
		listed[r.Slug] = r.List
	}
	wrong := map[string][]string{}
	checked := 0
	for _, row := range hazards.Curated() {
		m := ofPackages.FindStringSubmatch(row.When.String())
		if m == nil || row.Towards.Anywhere() || !saysGone.MatchString(row.Title+" "+row.Text) {
			continue
		}
		for name := range strings.FieldsSeq(m[1]) {
			if strings.ContainsAny(name, "*?[") {
				continue
			}
			for _, to := range release.All() {
				if from, ok := comesFrom(ix, row, name, to); ok && listed[to.Slug] != api.ListDerived && !ofTumbleweed(to) {
					checked++
					if there(t, ix, from, name, to) {
						wrong[row.Key+" "+name] = append(wrong[row.Key+" "+name], to.Slug)
					}
				}
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(wrong)) {
		if !another[what] {
			t.Errorf("%s: the lists of %v have it", what, wrong[what])
		}
	}
	for what := range another {
		if wrong[what] == nil {
			t.Errorf("%s: testdata/there.tsv has it for nothing", what)
		}
	}
	t.Logf("%d packages on their way to releases", checked)
	is.True(checked > 500)
}

// comesFrom is a release that has the package, and from which the row holds towards another.
func comesFrom(ix *index.Index, row *hazards.Row, name string, to release.Release) (release.Release, bool) {
	for _, from := range release.All() {
		m := &hazards.Machine{Release: from, Packages: map[string][]string{name: {"1"}}, Files: nothing{}}
		if to.Older(from) || len(hazards.Table{row}.Evaluate(m, &to)) == 0 {
			continue
		}
		if r, err := ix.Resolve(from.Slug, []string{name}); err == nil && len(r) == 1 && r[0].Canonical != nil {
			return from, true
		}
	}
	return release.Release{}, false
}

// ofTumbleweed reports whether what is known of a release's packages is what Tumbleweed
// has, which says nothing of what SLES left out.
func ofTumbleweed(r release.Release) bool {
	return r.Family == release.SUSE && strings.HasPrefix(r.Version, "16")
}

// there reports whether the release is sure to have a package of the name in its own
// archive, that it is what the source's is.
func there(t *testing.T, ix *index.Index, from release.Release, name string, to release.Release) bool {
	t.Helper()
	tr, err := ix.Become(from.Slug, name, to.Slug)
	if err != nil {
		t.Fatal(err)
	}
	return tr.Confidence >= 0.8 && slices.ContainsFunc(tr.Packages, func(p api.TargetPackage) bool { return p.Name == name && !strings.HasPrefix(p.Repository, "epel") })
}

// anotherKind are the rows of testdata/there.tsv: key and package.
func anotherKind(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("testdata/there.tsv")
	is.New(t).NoErr(err)
	all := map[string]bool{}
	for c := range tsv.Rows(string(text), 3) {
		all[c[0]+" "+c[1]] = true
	}
	return all
}

// nothing is a machine without files.
type nothing struct{}

func (nothing) Text(string) string      { return "" }
func (nothing) Link(string) string      { return "" }
func (nothing) Exists(string) bool      { return false }
func (nothing) Names(string) []string   { return nil }
func (nothing) Folders(string) []string { return nil }
