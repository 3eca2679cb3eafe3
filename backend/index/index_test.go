package index

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/benchcpu"
	"svc/backend/index/course"
	"svc/backend/index/data"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/index/table"
	"svc/backend/lazyregexp"
)

func embeddedIndex(t testing.TB) *Index {
	t.Helper()
	ix, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

func TestResolveByEachEvidence(t *testing.T) {
	ix := embeddedIndex(t)
	for _, c := range []struct {
		release, name, canonical, software, major string
		role                                      api.Role
		match                                     api.Match
	}{
		{"debian-12", "apache2", "apache-httpd", "apache-httpd", "", api.RoleMain, api.MatchExact},
		{"bookworm", "bind9-dnsutils", "bind--client", "bind", "", api.RoleClient, api.MatchExact},
		{"debian-12", "libssl-dev", "openssl--dev", "openssl", "", api.RoleDev, api.MatchExact},
		{"debian-11", "libssl1.1", "openssl--lib", "openssl", "", api.RoleLib, api.MatchExact},
		{"debian-13", "libssl3t64", "openssl--lib", "openssl", "", api.RoleLib, api.MatchExact},
		{"debian-12", "postgresql-15", "postgresql", "postgresql", "15", api.RoleMain, api.MatchExact},
		{"debian-12", "postgresql-client-15", "postgresql--client", "postgresql", "15", api.RoleClient, api.MatchExact},
		{"debian-12", "libpq5", "postgresql--lib", "postgresql", "", api.RoleLib, api.MatchExact},
		{"debian-12", "openjdk-17-jdk", "openjdk-17", "openjdk", "17", api.RoleMain, api.MatchExact},
		{"debian-12", "mariadb-server", "mariadb", "mariadb", "10.11", api.RoleMain, api.MatchExact},
		{"debian-12", "redis-server", "redis", "redis", "7.0", api.RoleMain, api.MatchExact},
		{"debian-12", "python3.11", "python", "python", "3.11", api.RoleMain, api.MatchExact},
		{"debian-12", "python3-requests", "python-requests", "python-requests", "", api.RoleMain, api.MatchExact},
		{"debian-12", "libdbi-perl", "perl-dbi", "perl-dbi", "", api.RoleMain, api.MatchExact},
		{"debian-12", "libc6:amd64", "glibc--lib", "glibc", "", api.RoleLib, api.MatchAlias},
		{"debian-12", "linux-image-6.1.0-9-amd64", "linux-image-amd64", "linux-image-amd64", "", api.RoleMain, api.MatchAlias},
		{"debian-12", "postgresql-16", "postgresql", "postgresql", "16", api.RoleMain, api.MatchHeuristic},
		{"debian-12", "openjdk-8-jdk", "openjdk-8", "openjdk", "8", api.RoleMain, api.MatchHeuristic},
		{"ubuntu-22.04", "php8.1-fpm", "php-fpm", "php-fpm", "8.1", api.RoleMain, api.MatchAlias},
		{"ubuntu-22.04", "postgresql-14", "postgresql", "postgresql", "14", api.RoleMain, api.MatchAlias},
		{"debian-12", "dhcpcd-base", "dhcpcd-base", "dhcpcd-base", "", api.RoleMain, api.MatchExact},
		{"debian-12", "eza", "eza", "eza", "", api.RoleMain, api.MatchHeuristic},
	} {
		t.Run(c.release+" "+c.name, func(t *testing.T) {
			is := is.New(t)
			got, err := ix.Resolve(c.release, []string{c.name})
			is.NoErr(err)
			is.Equal(*got[0].Canonical, c.canonical)
			is.Equal(*got[0].Software, c.software)
			is.Equal(*got[0].Role, c.role)
			is.Equal(got[0].Match, c.match)
			is.Equal(got[0].Major == nil, c.major == "")
			is.True(got[0].Major == nil || *got[0].Major == c.major)
			is.True(got[0].Confidence > 0 && got[0].Confidence <= 1)
		})
	}
}

func TestResolveKeepsOrderAndAdmitsIgnorance(t *testing.T) {
	is := is.New(t)
	got, err := embeddedIndex(t).Resolve("debian-12", []string{"nosuch-thing", "bash", "nosuch-thing", "", "\xff\t\n"})
	is.NoErr(err)
	is.Equal(len(got), 5)
	is.Equal(got[0], api.Resolution{Package: "nosuch-thing", Match: api.MatchNone})
	is.Equal(*got[1].Canonical, "bash")
	is.Equal(got[2], got[0])
	is.Equal(got[3].Match, api.MatchNone)
	is.Equal(got[4].Match, api.MatchNone)
}

func TestReleasesWithoutDataAreUnknown(t *testing.T) {
	is := is.New(t)
	ix := embeddedIndex(t)
	_, resolve := ix.Resolve("debian-99", []string{"bash"})
	_, translate := ix.Translate("debian-12", "plan9-4", []string{"bash"})
	_, config := ix.ConfigPaths("nosuch", "debian-12", []string{"bash"})
	for _, err := range []error{resolve, translate, config} {
		is.Equal(api.CodeOf(err), api.UnknownRelease)
		is.True(strings.Contains(err.Error(), "debian")) // what is known, or near
	}
}

func TestUpgradeEdges(t *testing.T) {
	is := is.New(t)
	ix := embeddedIndex(t)
	for _, engine := range []string{"postgresql", "mariadb", "mysql", "redis", "valkey", "mongodb", "openldap", "sqlite", "PostgreSQL"} {
		r, err := ix.UpgradeEdges(engine)
		is.NoErr(err)
		is.Equal(r.Engine, strings.ToLower(engine))
		is.True(len(r.Edges) > 0 && len(r.Series) > 0 && len(r.Offers) > 0)
		for _, e := range r.Edges {
			is.True(e.From != "" && e.To != "" && e.Method != "" && e.Source != "")
			is.True(e.Rank >= 1 && len(e.Requires) > 0 && e.Risks != nil)
		}
	}
	_, err := ix.UpgradeEdges("dbase")
	is.Equal(api.CodeOf(err), api.NotFound)
}

// What Debian offers by the rows is what its packages are in the same index.
func TestOffersAgreeWithDebiansPackages(t *testing.T) {
	is := is.New(t)
	ix := embeddedIndex(t)
	checked := 0
	for _, engine := range []string{"postgresql", "mariadb", "redis", "valkey", "openldap"} {
		r, err := ix.UpgradeEdges(engine)
		is.NoErr(err)
		for _, o := range r.Offers {
			if !slices.Contains(ix.tables.Order, o.Release) {
				continue
			}
			p, found := ix.tables.BySlug[o.Release].Find(o.Package)
			version := p.Version
			if _, rest, epoch := strings.Cut(version, ":"); epoch {
				version = rest
			}
			if !found || !strings.HasPrefix(version, o.Version+".") {
				t.Errorf("%s of %s: %s is %s, not %s", engine, o.Release, o.Package, version, o.Version)
			}
			checked++
		}
	}
	is.True(checked >= 16)
}

func TestReleasesCountTheirPackages(t *testing.T) {
	is := is.New(t)
	counts := map[string]*int{}
	for _, r := range embeddedIndex(t).Releases() {
		is.True(r.Aliases != nil)
		counts[r.Slug] = r.Packages
	}
	is.True(*counts["debian-12"] > 60_000)
	is.True(counts["almalinux-9"] == nil) // no list of its own is whole
}

// everyPackage calls f with each record of a release.
func everyPackage(t *testing.T, ix *Index, slug string, f func(record.Record)) {
	t.Helper()
	for name, value := range ix.tables.BySlug[slug].Names.All() {
		f(record.DecodeRecord(name, value))
	}
}

// canonicalForm is the alphabet of canonicals.
var canonicalForm = lazyregexp.New(`^[a-z0-9][a-z0-9.+_-]*$`)

func TestEveryCanonicalNamesOnePackageOfARelease(t *testing.T) {
	ix := embeddedIndex(t)
	for _, slug := range ix.tables.Order {
		owner := map[string]string{}
		everyPackage(t, ix, slug, func(r record.Record) {
			if other, twice := owner[r.Canonical]; twice || !canonicalForm.MatchString(r.Canonical) {
				t.Errorf("%s: canonical %q of %s (and %s)", slug, r.Canonical, r.Name, other)
			}
			owner[r.Canonical] = r.Name
			back, ok := ix.tables.BySlug[slug].ByCanonical(r.Canonical)
			if !ok || back.Name != r.Name {
				t.Errorf("%s: %s is %s, which names %q", slug, r.Name, r.Canonical, back.Name)
			}
		})
	}
}

// Every answer over the whole index, every way: the packages exist (Translate
// fails where one does not), and what is not sure names none.
func TestEveryTranslationIsSound(t *testing.T) {
	if testing.Short() {
		t.Skip("goes through the whole index")
	}
	ix := embeddedIndex(t)
	for _, source := range ix.tables.Order {
		var canonicals, names []string
		everyPackage(t, ix, source, func(r record.Record) {
			canonicals, names = append(canonicals, r.Canonical), append(names, r.Name)
		})
		for _, target := range ix.tables.Order {
			got, err := ix.Translate(source, target, canonicals)
			if err != nil {
				t.Fatal(err)
			}
			for i, a := range got {
				if fault := unsound(a); fault != "" {
					t.Errorf("%s from %s to %s: %s: %+v", names[i], source, target, fault, a)
				}
				if source == target && (a.Relation != api.RelationSame || packageNames(a) != names[i]) {
					t.Errorf("%s of %s is not itself: %+v", names[i], source, a)
				}
			}
		}
	}
}

// Every package of Debian has an answer in the rpm families too, and every rpm
// that is known in every family: none of the rows leads around in a circle.
func TestEveryPackageHasAnAnswerInEveryFamily(t *testing.T) {
	if testing.Short() {
		t.Skip("goes through the whole index")
	}
	ix := embeddedIndex(t)
	var rpms []string
	for key, value := range ix.tables.File.Table(record.RPMNames).All() {
		rpms = append(rpms, lookup.DecodeRPM(key, value).Canonical)
	}
	canonicals := map[string][]string{"rhel-8": rpms, "sles-15": rpms, "amzn-2": rpms}
	for _, slug := range []string{"debian-11", "debian-13"} {
		everyPackage(t, ix, slug, func(r record.Record) { canonicals[slug] = append(canonicals[slug], r.Canonical) })
	}
	for source, all := range canonicals {
		for _, target := range []string{"almalinux-10", "amzn-2023", "sles-15", "ubuntu-24.04"} {
			got, err := ix.Translate(source, target, all)
			if err != nil {
				t.Fatal(err)
			}
			for i, a := range got {
				if fault := unsound(a); fault != "" && a.Relation != api.RelationIncluded {
					t.Errorf("%s from %s to %s: %s: %+v", all[i], source, target, fault, a)
				}
			}
		}
	}
}

func unsound(t api.Translation) string {
	named := len(t.Packages) > 0
	switch {
	case !slices.Contains(api.Relations, t.Relation):
		return "an unknown relation"
	case t.Caveats == nil || t.Packages == nil || t.Conditionals == nil:
		return "a nil list"
	case named == (t.Relation == api.RelationRemoved || t.Relation == api.RelationUnknown) && t.Relation != api.RelationIncluded:
		return "packages do not fit the relation"
	case named && t.Confidence == 0, t.Confidence < 0, t.Confidence > 1:
		return "the confidence is out of range"
	case (t.Relation == api.RelationSplit) != (len(t.Packages) > 1) && t.Relation != api.RelationIncluded && t.Relation != api.RelationReplaced:
		return "the number of packages does not fit the relation"
	}
	return ""
}

func TestCuratedRowsNameWhatExists(t *testing.T) {
	is := is.New(t)
	ix := embeddedIndex(t)
	canonicals, packages := map[string]bool{}, map[string]bool{}
	for _, slug := range ix.tables.Order {
		everyPackage(t, ix, slug, func(r record.Record) { canonicals[r.Canonical], packages[r.Name] = true, true })
	}
	for _, name := range []string{record.CaveatsTable, record.ConfigTable, record.ConditionalsTable} {
		for key := range ix.tables.File.Table(name).All() {
			if !ix.tables.File.Table(record.RPMCanonicals).Has(key) && !canonicals[strings.TrimPrefix(key, course.InPlaceOfOthers)] {
				t.Errorf("%s has a row of %q, which no release has", name, key)
			}
		}
	}
	for key := range ix.tables.File.Table(record.ConditionalsTable).All() {
		rows, err := lookup.Curated[record.CuratedConditional](ix.tables.File.Table(record.ConditionalsTable), key)
		is.NoErr(err)
		for _, row := range rows {
			for _, p := range row.Packages {
				is.True(packages[p])
			}
		}
	}
}

func TestConditionalsAndCaveatsHoldOnTheirWayOnly(t *testing.T) {
	is := is.New(t)
	ix := embeddedIndex(t)
	count := func(source, target, canonical string) (caveats, conditionals int) {
		got, err := ix.Translate(source, target, []string{canonical})
		is.NoErr(err)
		return len(got[0].Caveats), len(got[0].Conditionals)
	}
	_, n := count("debian-11", "debian-13", "systemd")
	is.Equal(n, 2)
	_, n = count("debian-12", "debian-13", "systemd")
	is.Equal(n, 1)
	_, n = count("debian-13", "debian-11", "systemd")
	is.Equal(n, 0)
	caveats, _ := count("debian-13", "debian-14", "dovecot")
	is.Equal(caveats, 0) // Dovecot 2.4 came with Debian 13
}

// A release that is near to a suite of Debian has versions of its own in its
// packages' names and in their paths.
func TestDerivedReleasesHaveTheirOwnVersions(t *testing.T) {
	ix := embeddedIndex(t)
	for _, c := range []struct{ source, target, name, want, from, to string }{
		{"ubuntu-22.04", "ubuntu-24.04", "php8.1-fpm", "php8.3-fpm", "/etc/php/8.1/fpm", "/etc/php/8.3/fpm"},
		{"ubuntu-22.04", "debian-13", "php8.1-fpm", "php8.4-fpm", "/etc/php/8.1/fpm", "/etc/php/8.4/fpm"},
		{"debian-13", "ubuntu-24.04", "php8.4-fpm", "php8.3-fpm", "php8.4-fpm.service", "php8.3-fpm.service"},
		{"ubuntu-22.04", "ubuntu-24.04", "php8.1-redis", "php8.3-redis", "/etc/php/8.1/mods-available/redis.ini", "/etc/php/8.3/mods-available/redis.ini"},
		{"ubuntu-22.04", "ubuntu-24.04", "postgresql-14-cron", "postgresql-16-cron", "", ""},
		{"ubuntu-22.04", "ubuntu-24.04", "postgresql-14", "postgresql-16", "/var/lib/postgresql/14/main", "/var/lib/postgresql/16/main"},
		{"ubuntu-22.04", "ubuntu-24.04", "python3.10-venv", "python3.12-venv", "", ""},
		{"centos-7", "ubuntu-24.04", "php-fpm", "php-fpm", "/etc/php-fpm.d/www.conf", "/etc/php/8.3/fpm/pool.d/www.conf"},
		{"ubuntu-24.04", "almalinux-9", "php8.3-fpm", "php-fpm", "/etc/php/8.3/fpm/php-fpm.conf", "/etc/php-fpm.conf"},
		{"debian-10", "debian-13", "php7.3-cli", "php8.4-cli", "/etc/php/7.3/cli", "/etc/php/8.4/cli"},
	} {
		t.Run(c.source+" "+c.name+" "+c.target, func(t *testing.T) {
			is := is.New(t)
			is.Equal(translated(t, ix, c.source, c.target, c.name), c.want)
			if c.from == "" {
				return
			}
			resolved, err := ix.Resolve(c.source, []string{c.name})
			is.NoErr(err)
			moved, err := ix.ConfigPaths(c.source, c.target, []string{*resolved[0].Canonical})
			is.NoErr(err)
			at := slices.IndexFunc(moved[0].Relocations, func(r api.Relocation) bool { return r.From == c.from })
			if at < 0 {
				t.Fatalf("%s does not move: %v", c.from, moved[0].Relocations)
			}
			is.Equal(*moved[0].Relocations[at].To, c.to)
		})
	}
}

// What two derived releases have beyond their suites stays what it is.
func TestWhatDerivedReleasesAddStays(t *testing.T) {
	ix := embeddedIndex(t)
	for name, value := range ix.tables.File.Table(record.DerivativePackages).All() {
		c := strings.Split(value, "\t")
		if len(c) != 3 {
			continue
		}
		releases := strings.Fields(c[2])
		for _, source := range releases {
			for _, target := range releases {
				got, err := ix.Become(source, name, target)
				if err != nil || got.Relation != api.RelationSame || packageNames(got) != name {
					t.Errorf("%s of %s in %s: %s %s (%v)", name, source, target, got.Relation, packageNames(got), err)
				}
			}
		}
	}
}

// Names of Ubuntu with a version that no suite has, and its kernels.
func TestNamesOfUbuntuWithAVersion(t *testing.T) {
	for _, c := range [][4]string{
		{"ubuntu-22.04", "golang-1.18-go", "debian-13", "golang-go"},
		{"ubuntu-22.04", "golang-1.18-go", "almalinux-9", "golang-bin"},
		{"ubuntu-20.04", "clang-12", "almalinux-9", "clang"},
		{"ubuntu-22.04", "gcc-12", "ubuntu-24.04", "gcc-12"},
		{"ubuntu-22.04", "g++-11", "debian-13", "g++-14"},
		{"ubuntu-24.04", "python3.12", "ubuntu-26.04", "python3.14"},
		{"ubuntu-22.04", "libperl5.34", "ubuntu-24.04", "libperl5.38t64"},
		{"ubuntu-22.04", "libicu70", "ubuntu-24.04", "libicu74"},
		{"ubuntu-22.04", "mariadb-server-10.6", "ubuntu-24.04", "mariadb-server"},
		{"ubuntu-22.04", "linux-image-5.15.0-1034-aws", "ubuntu-24.04", "linux-image-aws"},
		{"ubuntu-24.04", "linux-azure-headers-6.8.0-1065", "ubuntu-26.04", "linux-headers-azure"},
		{"ubuntu-20.04", "linux-aws-5.15-headers-5.15.0-1030", "debian-13", "linux-headers-cloud-amd64"},
		{"ubuntu-20.04", "linux-modules-5.15.0-1030-gcp", "almalinux-9", "kernel"},
		{"ubuntu-22.04", "linux-image-oracle-lts-22.04", "sles-15", "kernel-default"},
	} {
		got, err := embeddedIndex(t).Become(c[0], c[1], c[2])
		if err != nil || packageNames(got) != c[3] {
			t.Errorf("%s of %s in %s: %s (%v)", c[1], c[0], c[2], packageNames(got), err)
		}
	}
}

// What only Ubuntu calls otherwise is renamed there, and what only Debian does is not.
func TestRelationToANameOfUbuntu(t *testing.T) {
	for _, c := range []struct {
		target, name string
		want         api.Relation
	}{
		{"debian-13", "chromium", api.RelationSame},
		{"ubuntu-24.04", "chromium", api.RelationRenamed},
		{"debian-13", "firefox", api.RelationRenamed},
		{"ubuntu-24.04", "firefox", api.RelationSame},
	} {
		got, err := embeddedIndex(t).Translate("almalinux-9", c.target, []string{c.name})
		if err != nil || got[0].Relation != c.want {
			t.Errorf("%s in %s: %v (%v)", c.name, c.target, got, err)
		}
	}
}

// translated are the names that a package becomes.
func translated(t *testing.T, ix *Index, source, target, name string) string {
	t.Helper()
	resolved, err := ix.Resolve(source, []string{name})
	if err != nil || resolved[0].Canonical == nil {
		t.Fatalf("%s: %v", name, err)
	}
	becomes, err := ix.Translate(source, target, []string{*resolved[0].Canonical})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range becomes[0].Packages {
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}

// What derived.tsv says of the suites is what they have.
func TestDerivedReleasesKnowTheirSuites(t *testing.T) {
	ix := embeddedIndex(t)
	for slug, of := range ix.tables.BySlug {
		for _, v := range of.Versions {
			if r, _ := of.Nearest.ByCanonical(v.Software); v.Suite != r.Major {
				t.Errorf("%s: %s of %s is %s, not %s", slug, v.Software, of.Nearest.Slug, r.Major, v.Suite)
			}
		}
	}
}

func TestAnIndexIsSafeForConcurrentUse(t *testing.T) {
	ix := embeddedIndex(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 50 {
				name := fmt.Sprintf("libboost-system1.%d.0", i+50)
				if _, err := ix.Resolve("debian-12", []string{name, "bash"}); err != nil {
					t.Error(err)
				}
				if _, err := ix.ConfigPaths("debian-11", "debian-13", []string{"php-fpm", "bash"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// TestWhatIsKeptIsBounded: more canonicals than are kept, some of them twice, are
// answered as each alone.
func TestWhatIsKeptIsBounded(t *testing.T) {
	is := is.New(t)
	ix := embeddedIndex(t)
	canonicals := []string{"bash", "apache-httpd", "bash"}
	for i := range maxCourses {
		canonicals = append(canonicals, fmt.Sprintf("libboost-system1.%d.0", i))
	}
	canonicals = append(canonicals, "apache-httpd", "postgresql")
	for range 2 {
		answers, err := ix.Translate("debian-11", "debian-13", canonicals)
		is.NoErr(err)
		for _, i := range []int{0, 1, 2, 60, len(canonicals) - 2, len(canonicals) - 1} {
			alone, err := ix.Translate("debian-11", "debian-13", canonicals[i:i+1])
			is.NoErr(err)
			is.Equal(answers[i], alone[0])
		}
		h, err := ix.path("debian-11", "debian-13")
		is.NoErr(err)
		is.True(len(h.courses) <= maxCourses)
	}
}

// openProgram opens the tables of the program anew.
func openProgram() (*Index, error) {
	file, err := data.Open()
	if err != nil {
		return nil, err
	}
	return open(file), nil
}

func TestTheEmbeddedIndexIsWhole(t *testing.T) {
	is := is.New(t)
	is.NoErr(table.Verify(data.Facts))
	is.NoErr(table.Verify(data.Answers))
	is.NoErr(lookup.Verify(embeddedIndex(t).tables.File))
}

func TestADamagedIndexIsAnError(t *testing.T) {
	is := is.New(t)
	data := []byte(data.Answers)
	data[len(data)/3] ^= 0xff
	out := filepath.Join(t.TempDir(), "index.bin")
	is.NoErr(os.WriteFile(out, data, 0o600))
	_, err := Open(out)
	is.True(errors.Is(err, table.ErrFormat))
	is.NoErr(os.WriteFile(out, data[:1000], 0o600))
	_, err = Open(out)
	is.True(err != nil)
}

// What no digest tells: the records say what no trail is, or what an earlier program wrote.
func TestARecordThatIsNoneIsAnError(t *testing.T) {
	for _, c := range []struct{ table, key, value string }{
		{record.TrailsTable("debian-11", "debian-12"), "bash", ""},
		{record.TrailsTable("debian-11", "debian-12"), "bash", "renamed\tmost\tdash\tdefault\t"},
		{record.RPMTrails + "el-8", "bash", "renamed\t101\tdash\tdefault\t"},
		{record.RPMRows, "bash", "renamed\t90\tdash"},
		{record.RPMNames, "bash", "bash\t5\t9\t\t\t\trenamed\t90"},
		{record.RPMOwn, "bash suse", "same\tbash"}, // as it was once
	} {
		is := is.New(t)
		w := &table.Writer{}
		w.Put(c.table, c.key, c.value)
		made, err := w.Bytes()
		is.NoErr(err)
		out := filepath.Join(t.TempDir(), "index.bin")
		is.NoErr(os.WriteFile(out, made, 0o600))
		_, err = Open(out)
		is.True(errors.Is(err, table.ErrFormat)) // it is damaged
	}
}

// root is the project's folder.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatal("no go.mod above the test")
	return ""
}

// sampleNames are a thousand packages spread over a release.
func sampleNames(b *testing.B, ix *Index) (names, canonicals []string) {
	b.Helper()
	i := 0
	for name, value := range ix.tables.BySlug["debian-11"].Names.All() {
		if i++; i%59 == 0 && len(names) < 1000 {
			names, canonicals = append(names, name), append(canonicals, record.DecodeRecord(name, value).Canonical)
		}
	}
	if len(names) != 1000 {
		b.Fatal(len(names))
	}
	return names, canonicals
}

func BenchmarkOpenAndFirstLookup(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		ix, err := openProgram()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := ix.Resolve("debian-12", []string{"bash"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkResolve1000(b *testing.B) {
	ix := embeddedIndex(b)
	names, _ := sampleNames(b, ix)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ix.Resolve("debian-11", names); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTranslate1000OverThreeSteps(b *testing.B) {
	ix := embeddedIndex(b)
	_, canonicals := sampleNames(b, ix)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ix.Translate("debian-11", "debian-14", canonicals); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkConfigPaths1000(b *testing.B) {
	ix := embeddedIndex(b)
	_, canonicals := sampleNames(b, ix)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ix.ConfigPaths("debian-11", "debian-13", canonicals); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBatch1000 is what a machine's packages cost: resolve, translate and
// configuration of 1000 packages, between families and within, the first time
// and again.
func BenchmarkBatch1000(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the service has it
	for _, way := range [][2]string{
		{"debian-11", "debian-13"},
		{"ubuntu-20.04", "ubuntu-24.04"},
		{"centos-7", "debian-13"},
		{"rhel-8", "debian-13"},
		{"rhel-8", "ubuntu-24.04"},
		{"amzn-2", "debian-12"},
		{"sles-15", "debian-13"},
		{"debian-12", "rhel-9"},
		{"ubuntu-22.04", "almalinux-9"},
		{"ubuntu-24.04", "sles-15"},
		{"centos-6", "almalinux-9"},
		{"centos-7", "rhel-9"},
		{"rhel-8", "almalinux-10"},
		{"amzn-2", "rhel-9"},
		{"rhel-8", "sles-15"},
		{"sles-15", "rhel-9"},
	} {
		names := namesOf(b, embeddedIndex(b), way[0])
		for _, c := range []struct {
			when string
			open func() (*Index, error)
		}{{"first", func() (*Index, error) { return openProgram() }}, {"again", Embedded}} {
			b.Run(c.when+"/"+way[0]+">"+way[1], func(b *testing.B) {
				b.ReportAllocs()
				end := benchcpu.Start(b)
				for b.Loop() {
					ix, err := c.open()
					if err != nil {
						b.Fatal(err)
					}
					if err := ask(ix, way[0], way[1], names); err != nil {
						b.Fatal(err)
					}
				}
				end()
			})
		}
	}
}

// namesOf are 1000 packages of a release, evenly chosen.
func namesOf(b *testing.B, ix *Index, slug string) []string {
	b.Helper()
	t := ix.tables.BySlug[slug]
	each := t.Names.Len() / 1000
	var names []string
	i := 0
	for name := range t.Names.All() {
		if i++; i%each == 0 && len(names) < 1000 {
			names = append(names, name)
		}
	}
	if len(names) != 1000 {
		b.Fatal(len(names))
	}
	return names
}

// ask asks all three questions of packages.
func ask(ix *Index, from, to string, names []string) error {
	resolved, err := ix.Resolve(from, names)
	if err != nil {
		return err
	}
	canonicals := make([]string, 0, len(names))
	for _, r := range resolved {
		if r.Canonical != nil {
			canonicals = append(canonicals, *r.Canonical)
		}
	}
	if _, err := ix.Translate(from, to, canonicals); err != nil {
		return err
	}
	_, err = ix.ConfigPaths(from, to, canonicals)
	return err
}

// TestUnits are those that packages of the target have in the place of one, and beside these.
func TestUnits(t *testing.T) {
	is := is.New(t)
	units := func(pkg, target string) []string {
		resolved, err := embeddedIndex(t).Resolve("almalinux-8", []string{pkg})
		is.NoErr(err)
		moved, err := embeddedIndex(t).ConfigPaths("almalinux-8", target, []string{*resolved[0].Canonical})
		is.NoErr(err)
		return moved[0].Units
	}
	is.Equal(units("vsftpd", "debian-13"), []string{"vsftpd.service"})
	is.True(slices.Contains(units("cups", "debian-13"), "cups.socket"))                    // of cups-daemon
	is.True(slices.Contains(units("dhcp-server", "debian-13"), "isc-dhcp-server.service")) // of init.d
	none := units("git-daemon", "debian-13")
	is.True(none != nil && len(none) == 0)
	is.True(units("vsftpd", "almalinux-9") == nil) // what rpms ship is not known
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
