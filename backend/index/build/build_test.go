package build

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/index"
	"svc/backend/index/catalog"
	"svc/backend/index/course"
	"svc/backend/index/record"
	"svc/backend/index/table"
)

// stanzas makes a Packages file: the first field of each line names the
// package, the others are further fields.
func stanzas(lines ...string) *fstest.MapFile {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("Package: " + strings.ReplaceAll(line, "; ", "\n") + "\nVersion: 1.0-1\n\n")
	}
	return &fstest.MapFile{Data: []byte(b.String())}
}

// debianArchive is a small distribution of three releases.
func debianArchive() fstest.MapFS {
	return fstest.MapFS{
		"debian-11/main/Packages": stanzas(
			"apache2",
			"bird-bgp; Source: bird; Description: routing daemon",
			"bird",
			"dummy-dropped; Description: transitional package; Depends: kept",
			"firmware; Source: firmware-nonfree",
			"kept",
			"libssl1.1; Source: openssl; Section: libs",
			"linux-image-5.10.0-1-amd64; Source: linux",
			"linux-image-amd64; Source: linux",
			"lost",
			"openssl",
			"php7.4-fpm; Source: php7.4",
			"postgresql-13",
			"postgresql-client-13; Source: postgresql-13",
			"relation-none; Source: one-off",
			"swallowed; Source: odd",
			"virtual-name; Source: odd2",
		),
		"debian-11/main/Contents-amd64": {Data: []byte(`etc/kept.conf  net/kept
etc/kept/gone.conf  net/kept
etc/php/7.4/fpm/php-fpm.conf  php/php7.4-fpm
etc/php/7.4/fpm/pool.d/www.conf  php/php7.4-fpm
etc/stays.conf  net/kept
lib/systemd/system/kept-old.service  net/kept
lib/systemd/system/php7.4-fpm.service  php/php7.4-fpm
`)},
		"debian-12/main/Packages": stanzas(
			"apache2",
			"bird-bgp; Source: bird; Description: routing daemon [transitional package]; Depends: bird (>= 1), kept",
			"bird; Provides: route-daemon",
			"kept; Provides: virtual-name, shared",
			"libssl3; Source: openssl; Section: libs",
			"linux-image-6.1.0-1-amd64; Source: linux",
			"linux-image-amd64; Source: linux",
			"openssl",
			"other; Provides: shared; Replaces: swallowed (<< 2); Breaks: swallowed (<< 2)",
			"php8.2-fpm; Source: php8.2",
			"postgresql-15",
			"postgresql-client-15; Source: postgresql-15",
		),
		"debian-12/main/Contents-amd64": {Data: []byte(`etc/kept/kept.conf  net/kept
etc/php/8.2/fpm/php-fpm.conf  php/php8.2-fpm
etc/php/8.2/fpm/pool.d/www.conf  php/php8.2-fpm
etc/stays.conf  net/kept
usr/lib/systemd/system/kept-new.service  net/kept
usr/lib/systemd/system/php8.2-fpm.service  php/php8.2-fpm
`)},
		"debian-12/non-free-firmware/Packages": stanzas("firmware; Source: firmware-nonfree"),
		"debian-13/main/Packages": stanzas(
			"apache2",
			"bird",
			"kept",
			"libssl3t64; Source: openssl; Section: libs; Provides: libssl3 (= 3.5)",
			"lost",
			"openssl",
			"postgresql-17",
		),
	}
}

// small is the index of the small distribution.
func small(t *testing.T) *index.Index {
	t.Helper()
	is := is.New(t)
	releases, err := catalog.Load(t.Context(), debianArchive(), nil)
	is.NoErr(err)
	b, err := Sources{}.builder()
	is.NoErr(err)
	w, err := b.build(&inputs{releases: releases})
	is.NoErr(err)
	return opened(t, w)
}

func TestTheSameSourcesGiveTheSameBytes(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.CopyFS(filepath.Join(dir, "apt"), debianArchive()))
	sources := Sources{Apt: filepath.Join(dir, "apt"), Out: filepath.Join(dir, "index.bin")}
	first, err := Build(t.Context(), sources)
	is.NoErr(err)
	before, err := os.ReadFile(sources.Out)
	is.NoErr(err)
	second, err := Build(t.Context(), sources)
	is.NoErr(err)
	after, err := os.ReadFile(sources.Out)
	is.NoErr(err)
	is.Equal(before, after)
	is.Equal(first, second)
	is.Equal(first.Packages["debian-11"], 17)
	checked, err := ReadStats(sources.Out)
	is.NoErr(err)
	is.Equal(checked, first)
	ix, err := index.Open(sources.Out)
	is.NoErr(err)
	is.Equal(ix.Version(), first.IndexVersion)
}

func TestBuildRefusesAndLeavesTheOldIndex(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	out := filepath.Join(dir, "index.bin")
	is.NoErr(os.WriteFile(out, []byte("old"), 0o600))
	_, err := Build(t.Context(), Sources{Apt: dir, Out: out})
	is.True(err != nil) // no Packages file
	is.NoErr(os.MkdirAll(filepath.Join(dir, "debian-12", "main"), 0o700))
	is.NoErr(os.WriteFile(filepath.Join(dir, "debian-12", "main", "Packages.gz"), []byte("not gzip"), 0o600))
	_, err = Build(t.Context(), Sources{Apt: dir, Out: out})
	is.True(strings.Contains(err.Error(), "Packages.gz"))
	_, err = Build(t.Context(), Sources{Out: out})
	is.True(err != nil)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Build(ended, Sources{Apt: dir, Out: out})
	is.True(err != nil)
	kept, err := os.ReadFile(out)
	is.NoErr(err)
	is.Equal(string(kept), "old")
}

func TestCuratedRowsAreChecked(t *testing.T) {
	for name, file := range map[string]string{
		"columns":  "a\tb\n",
		"order":    "b\tx\t-\tp\na\tx\t-\tp\n",
		"dashes":   "a\n",
		"too long": strings.Repeat("a", 2<<20),
	} {
		t.Run(name, func(t *testing.T) {
			r := &reader{layers: layers{fstest.MapFS{"software.tsv": {Data: []byte(file)}}}}
			r.rows("software.tsv", 4)
			is.New(t).True(r.err != nil)
		})
	}
}

func TestTranslateByEachEvidence(t *testing.T) {
	ix := small(t)
	for _, c := range []struct {
		name, from, to string
		relation       api.Relation
		packages       string
		least          float64
		caveat         string
	}{
		{"kept", "debian-11", "debian-12", api.RelationSame, "kept", 0.99, ""},
		{"kept", "debian-12", "debian-12", api.RelationSame, "kept", 0.99, ""},
		{"bird-bgp", "debian-11", "debian-12", api.RelationSplit, "bird kept", 0.98, course.CaveatTransitional},
		{"dummy-dropped", "debian-11", "debian-12", api.RelationRenamed, "kept", 0.97, course.CaveatTransitional},
		{"swallowed", "debian-11", "debian-12", api.RelationRenamed, "other", 0.85, ""},
		{"virtual-name", "debian-11", "debian-12", api.RelationMerged, "kept", 0.85, ""},
		{"libssl1.1", "debian-11", "debian-12", api.RelationIncluded, "libssl3", 0.9, ""},
		{"libssl3", "debian-12", "debian-13", api.RelationRenamed, "libssl3t64", 0.99, ""},
		{"libssl1.1", "debian-11", "debian-13", api.RelationIncluded, "libssl3t64", 0.89, ""},
		{"libssl3t64", "debian-13", "debian-12", api.RelationRenamed, "libssl3", 0.9, ""},
		{"php7.4-fpm", "debian-11", "debian-12", api.RelationRenamed, "php8.2-fpm", 0.9, course.CaveatMajor},
		{"postgresql-13", "debian-11", "debian-13", api.RelationRenamed, "postgresql-17", 0.9, "DATA_MIGRATION"},
		{"postgresql-17", "debian-13", "debian-11", api.RelationRenamed, "postgresql-13", 0.9, course.CaveatMajor},
		{"linux-image-5.10.0-1-amd64", "debian-11", "debian-12", api.RelationRenamed, "linux-image-amd64", 0.95, course.CaveatKernel},
		{"firmware", "debian-11", "debian-12", api.RelationSame, "firmware", 0.99, course.CaveatComponent},
		{"lost", "debian-11", "debian-12", api.RelationRemoved, "", 0.6, course.CaveatNoCounterpart},
		{"lost", "debian-11", "debian-13", api.RelationSame, "lost", 0.95, ""},
		{"relation-none", "debian-11", "debian-12", api.RelationRemoved, "", 0.6, course.CaveatNoCounterpart},
	} {
		t.Run(c.name+" "+c.from+" "+c.to, func(t *testing.T) {
			is := is.New(t)
			got, err := ix.Become(c.from, c.name, c.to)
			is.NoErr(err)
			is.Equal(got.Relation, c.relation)
			is.Equal(packageNames(got), c.packages)
			is.True(got.Confidence >= c.least)
			if c.caveat != "" {
				is.True(hasCaveat(got, c.caveat))
			}
		})
	}
}

func packageNames(t api.Translation) string {
	var names []string
	for _, p := range t.Packages {
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}

func hasCaveat(t api.Translation, code string) bool {
	for _, c := range t.Caveats {
		if c.Code == code {
			return true
		}
	}
	return false
}

func TestNamesThatNoPackageHas(t *testing.T) {
	is := is.New(t)
	ix := small(t)
	resolve := func(release, name string) api.Resolution {
		got, err := ix.Resolve(release, []string{name})
		is.NoErr(err)
		return got[0]
	}
	provided := resolve("debian-12", "route-daemon")
	is.Equal(provided.Match, api.MatchProvides)
	is.Equal(*provided.Canonical, "bird")
	is.Equal(resolve("debian-12", "shared").Match, api.MatchNone) // two packages provide it
	source := resolve("debian-11", "one-off")
	is.Equal(source.Match, api.MatchSource)
	is.Equal(*source.Canonical, "one-off")
	elsewhere := resolve("debian-13", "swallowed")
	is.Equal(elsewhere.Match, api.MatchHeuristic)
	is.True(provided.Confidence > source.Confidence && source.Confidence > elsewhere.Confidence)
}

func TestWhatTheSourceLacks(t *testing.T) {
	is := is.New(t)
	got, err := small(t).Translate("debian-12", "debian-13", []string{"lost", "nosuch", "one-off"})
	is.NoErr(err)
	is.Equal(got[0].Relation, api.RelationSame) // the target has it
	is.True(hasCaveat(got[0], course.CaveatNotInSource))
	is.Equal(got[1].Relation, api.RelationUnknown)
	is.Equal(got[1].Confidence, 0.0)
	is.Equal(got[2].Relation, api.RelationRemoved) // only Debian 11 had it
}

func TestConfigurationMovesWithItsPackage(t *testing.T) {
	is := is.New(t)
	got, err := small(t).ConfigPaths("debian-11", "debian-12", []string{"kept", "php", "lost"})
	is.NoErr(err)
	to := func(s string) *string { return &s }
	strip := func(relocations []api.Relocation) []api.Relocation {
		for i := range relocations {
			is.True(relocations[i].Note != "")
			relocations[i].Note = ""
		}
		return relocations
	}
	is.Equal(strip(got[0].Relocations), []api.Relocation{
		{From: "/etc/kept.conf", To: to("/etc/kept/kept.conf"), Kind: api.RelocateFile, Action: api.ActionCopy},
		{From: "/etc/kept/gone.conf", Kind: api.RelocateFile, Action: api.ActionDrop},
		{From: "kept-old.service", To: to("kept-new.service"), Kind: api.RelocateService, Action: api.ActionConvert},
	})
	is.Equal(strip(got[1].Relocations), []api.Relocation{
		{From: "/run/php/php7.4-fpm.sock", To: to("/run/php/php8.2-fpm.sock"), Kind: api.RelocateFile, Action: api.ActionManual},
		{From: "/usr/sbin/php-fpm7.4", To: to("/usr/sbin/php-fpm8.2"), Kind: api.RelocateFile, Action: api.ActionManual},
		{From: "/var/log/php7.4-fpm.log", To: to("/var/log/php8.2-fpm.log"), Kind: api.RelocateFile, Action: api.ActionManual},
		{From: "/etc/php/7.4/fpm", To: to("/etc/php/8.2/fpm"), Kind: api.RelocateDir, Action: api.ActionConvert},
		{From: "php7.4-fpm.service", To: to("php8.2-fpm.service"), Kind: api.RelocateService, Action: api.ActionConvert},
	})
	is.Equal(got[2].Relocations, []api.Relocation{}) // without a successor nothing moves
}

// opened is the index of what was built.
func opened(t testing.TB, w *table.Writer) *index.Index {
	t.Helper()
	is := is.New(t)
	data, err := w.Bytes()
	is.NoErr(err)
	out := filepath.Join(t.TempDir(), "index.bin")
	is.NoErr(os.WriteFile(out, data, 0o600))
	ix, err := index.Open(out)
	is.NoErr(err)
	return ix
}

// TestAPackageThatIsACanonicalNamesItself: another version's canonical may be its name, and
// which of them a build writes must not be left to chance.
func TestAPackageThatIsACanonicalNamesItself(t *testing.T) {
	is := is.New(t)
	w := &table.Writer{}
	putDerivativePackages(w, map[string]derivativePackage{
		"golang-1.10": {"golang-1.10", "1.10", "ubuntu-18.04"}, "golang-1.10-go": {"golang-1.10", "1.10", "ubuntu-18.04"},
		"b-of-a": {"software", "", "ubuntu-18.04"}, "a-of-b": {"software", "", "ubuntu-20.04"},
	})
	data, err := w.Bytes()
	is.NoErr(err)
	file, err := table.Open(string(data))
	is.NoErr(err)
	packages := file.Table(record.DerivativePackages)
	is.Equal(packages.Value("golang-1.10"), "golang-1.10\t1.10\tubuntu-18.04")
	is.Equal(packages.Value("software"), "a-of-b")
}
