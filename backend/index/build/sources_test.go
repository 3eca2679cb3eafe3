package build

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/index"
	"svc/backend/index/course"
)

// repository writes the metadata of an rpm repository: a package element for
// each of name, version, source, and further elements of its format.
func repository(t *testing.T, dir string, packages ...[4]string) {
	t.Helper()
	is := is.New(t)
	text := `<metadata xmlns="http://linux.duke.edu/metadata/common" xmlns:rpm="http://linux.duke.edu/metadata/rpm">`
	for _, p := range packages {
		text += `<package type="rpm"><name>` + p[0] + `</name><arch>x86_64</arch><version epoch="0" ver="` + p[1] + `" rel="1"/><format><rpm:sourcerpm>` +
			p[2] + `-1-1.src.rpm</rpm:sourcerpm>` + p[3] + `</format></package>`
	}
	is.NoErr(os.MkdirAll(filepath.Join(dir, "repodata"), 0o755))
	is.NoErr(os.WriteFile(filepath.Join(dir, "repodata/primary.xml"), []byte(text+"</metadata>"), 0o600))
	is.NoErr(os.WriteFile(filepath.Join(dir, "repodata/repomd.xml"),
		[]byte(`<repomd><data type="primary"><location href="repodata/primary.xml"/></data></repomd>`), 0o600))
}

func obsoletes(name string) string {
	return `<rpm:obsoletes><rpm:entry name="` + name + `"/></rpm:obsoletes>`
}

func TestListsOfRPMReleasesDecideWhatIsThere(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	repository(t, filepath.Join(dir, "rocky-8/base"),
		[4]string{"httpd", "2.4.37", "httpd"}, [4]string{"zz-old", "1", "zz"}, [4]string{"zz-part", "1", "zz"},
		[4]string{"zz-gone", "1", "zz"}, [4]string{"zz-host", "1", "zz-host"}, [4]string{"zz-other", "1", "zz-other"}, [4]string{"zz-swallowed", "1", "zz-s"})
	repository(t, filepath.Join(dir, "rocky-9/base"),
		[4]string{"httpd", "2.4.62", "httpd"}, [4]string{"zz-new", "2", "zz", obsoletes("zz-old") + `<rpm:provides><rpm:entry name="zz-old"/></rpm:provides>`},
		[4]string{"zz-virtual", "2", "zz", `<rpm:provides><rpm:entry name="zz-part"/></rpm:provides>`},
		[4]string{"zz-host", "2", "zz-host", obsoletes("zz-swallowed")}, [4]string{"zz-fork", "2", "zz-fork", obsoletes("zz-other")})
	out := filepath.Join(dir, "out.index")
	ix := built(t, Sources{RPM: []string{dir}, Out: out})
	for _, c := range []struct {
		name     string
		relation api.Relation
		target   string
	}{
		{"httpd", api.RelationSame, "httpd"},
		{"zz-old", api.RelationRenamed, "zz-new"},
		{"zz-part", api.RelationRenamed, "zz-virtual"},
		{"zz-gone", api.RelationRemoved, ""},
		{"zz-swallowed", api.RelationMerged, "zz-host"},
		{"zz-other", api.RelationReplaced, "zz-fork"},
		{"bash", api.RelationRemoved, ""}, // known, but not of this target
	} {
		got, err := ix.Become("rocky-8", c.name, "rocky-9")
		is.NoErr(err)
		target := ""
		if len(got.Packages) > 0 {
			target = got.Packages[0].Name
		}
		if got.Relation != c.relation || target != c.target {
			t.Errorf("%s: %s %v", c.name, got.Relation, got.Packages)
		}
	}
	got, err := ix.Become("debian-12", "apache2", "rocky-9")
	is.NoErr(err)
	is.Equal(got.Packages, []api.TargetPackage{{Name: "httpd", Version: "2.4.62-1", Repository: "base"}})
	again, err := Build(t.Context(), Sources{Base: out, Curated: ourChoice(t), Out: filepath.Join(dir, "again.index")})
	is.NoErr(err)
	is.Equal(again.Tables["rocky-9/rpms"], 5) // the lists of the base stay
}

// overlay is a folder with one row of a customer's own.
func overlay(t *testing.T, file, row string) string {
	t.Helper()
	dir := t.TempDir()
	is.New(t).NoErr(os.WriteFile(filepath.Join(dir, file), []byte(row), 0o600))
	return dir
}

// ourChoice is a row that goes before the program's.
func ourChoice(t *testing.T) string {
	t.Helper()
	return overlay(t, "rpm_debian.tsv", "httpd\treplaced\tnginx\tEL: our choice\n")
}

// built is the index that some sources make, in a folder of its own unless they say where.
func built(t *testing.T, s Sources) *index.Index {
	t.Helper()
	s.Out = cmp.Or(s.Out, filepath.Join(t.TempDir(), "out.index"))
	_, err := Build(t.Context(), s)
	is.New(t).NoErr(err)
	ix, err := index.Open(s.Out)
	is.New(t).NoErr(err)
	return ix
}

// TestARowThatSaysNothingOfALine: what SUSE has is found as if there were no row.
func TestARowThatSaysNothingOfALine(t *testing.T) {
	is := is.New(t)
	ix := built(t, Sources{Curated: overlay(t, "debian_rpm.tsv", "zip\treplaced\tbzip2\t?\tours\n")})
	for to, relation := range map[string]api.Relation{"rocky-9": api.RelationReplaced, "sles-15": api.RelationSame} {
		got, err := ix.Become("debian-13", "zip", to)
		is.NoErr(err)
		is.Equal(got.Relation, relation)
	}
}

func TestAnOverlayGoesBeforeTheRowsOfTheProgram(t *testing.T) {
	is := is.New(t)
	ix := built(t, Sources{Curated: ourChoice(t)})
	got, err := ix.Become("rocky-9", "httpd", "debian-13")
	is.NoErr(err)
	is.Equal(got.Relation, api.RelationReplaced)
	is.Equal(got.Packages[0].Name, "nginx")
}

// TestRowsThatLeadToWhatNoListHas checks that an overlay may lead to packages of a
// customer's own repository, and that build and answer say so.
func TestRowsThatLeadToWhatNoListHas(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	for file, rows := range map[string]string{
		"rpm_debian.tsv": "# ours\nhttpd\treplaced\tournginx\tEL: our choice\nvsftpd\treplaced\tourftpd|proftpd-core\tours\n",
		"el_trails.tsv":  "el-7\tzip\treplaced\tourzip\tours\nel-8\tzip\treplaced\tourzip\tours\n",
		"debian_rpm.tsv": "zip\treplaced\tourzip\tourzip\tours\n",
	} {
		is.NoErr(os.WriteFile(filepath.Join(dir, file), []byte(rows), 0o600))
	}
	out := filepath.Join(dir, "out.index")
	var said []string
	_, err := Build(t.Context(), Sources{Curated: dir, Out: out, Log: func(text string) { said = append(said, text) }})
	is.NoErr(err)
	is.Equal(len(said), 3) // EL 8's list is far from whole
	for i, place := range []string{"debian_rpm.tsv:1: ", "el_trails.tsv:2: ", "rpm_debian.tsv:2: "} {
		is.True(strings.HasPrefix(said[i], place+"no list of the index has our"))
	}
	ix, err := index.Open(out)
	is.NoErr(err)
	got, err := ix.Become("rocky-9", "httpd", "debian-13")
	is.NoErr(err)
	is.Equal(packageNames(got), "ournginx")
	is.Equal(got.Relation, api.RelationReplaced)
	is.True(slices.ContainsFunc(got.Caveats, func(c api.Caveat) bool {
		return c.Code == course.CaveatExistence && c.Severity == api.SeverityWarning && strings.Contains(c.Text, "ournginx")
	}))
	got, err = ix.Become("rocky-9", "vsftpd", "debian-13")
	is.NoErr(err)
	is.Equal(packageNames(got), "proftpd-core")
}

// TestANameThatOnlyOneReleaseHad: a customer's row for a name until a release of EL
// holds there, also where nobody else is known to have the name.
func TestANameThatOnlyOneReleaseHad(t *testing.T) {
	is := is.New(t)
	ix := built(t, Sources{Curated: overlay(t, "rpm_debian.tsv", "8/ourtool\trenamed\tnginx\tEL: our choice\n")})
	got, err := ix.Become("rhel-8", "ourtool", "debian-13")
	is.NoErr(err)
	is.Equal(packageNames(got), "nginx")
	got, err = ix.Become("rhel-9", "ourtool", "debian-13")
	is.NoErr(err)
	is.Equal(packageNames(got), "")
}

// TestARowKnowsTheNameThatItTellsOf: a package that no list has was in the level
// which its row leaves.
func TestARowKnowsTheNameThatItTellsOf(t *testing.T) {
	is := is.New(t)
	ix := built(t, Sources{Curated: overlay(t, "el_trails.tsv", "el-8\tourtool-devel\treplaced\tnginx\tour choice\n")})
	got, err := ix.Become("rhel-8", "ourtool-devel", "rhel-9")
	is.NoErr(err)
	is.Equal(got.Relation, api.RelationReplaced)
	is.Equal(packageNames(got), "nginx")
}

// TestATrailHasOneAsterisk: what two of them stand for in a name, nobody can tell.
func TestATrailHasOneAsterisk(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(dir, "el_trails.tsv"), []byte("el-8\t*our*tool\trenamed\tyour*tool\tour choice\n"), 0o600))
	_, err := Build(t.Context(), Sources{Curated: dir, Out: filepath.Join(dir, "out.index")})
	is.True(err != nil && strings.Contains(err.Error(), "*our*tool"))
}

func TestAFailedBuildLeavesTheIndexThatWasThere(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	out := filepath.Join(dir, "out.index")
	is.NoErr(os.WriteFile(out, []byte("good"), 0o600))
	repository(t, filepath.Join(dir, "repo/rocky-9"), [4]string{"a", "1", "a"})
	is.NoErr(os.WriteFile(filepath.Join(dir, "repo/rocky-9/repodata/primary.xml"), []byte("<metadata><package>"), 0o600))
	for _, s := range []Sources{
		{RPM: []string{filepath.Join(dir, "repo")}},
		{RPM: []string{filepath.Join(dir, "none")}},
		{Apt: filepath.Join(dir, "none")},
		{Curated: dir},
		{PES: filepath.Join(dir, "none.json")},
		{Curated: ourChoice(t), Base: out},
	} {
		s.Out = out
		_, err := Build(t.Context(), s)
		is.True(err != nil)
		text, err := os.ReadFile(out)
		is.NoErr(err)
		is.Equal(string(text), "good")
	}
}

func TestASuiteOfUbuntuIsMeasuredAgainstItsOwnList(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.MkdirAll(filepath.Join(dir, "apt/ubuntu-24.04/main"), 0o755))
	is.NoErr(os.WriteFile(filepath.Join(dir, "apt/ubuntu-24.04/main/Packages"), stanzas(
		"apache2", "libssl3t64; Source: openssl; Section: libs", "ubuntu-only", "php8.3-fpm; Source: php8.3").Data, 0o600))
	ix := built(t, Sources{Apt: filepath.Join(dir, "apt")})
	for _, c := range [][4]string{
		{"debian-12", "apache2", "ubuntu-24.04", "apache2"},
		{"debian-12", "libssl3", "ubuntu-24.04", "libssl3t64"},
		{"debian-12", "php8.2-fpm", "ubuntu-24.04", "php8.3-fpm"},
		{"ubuntu-24.04", "php8.3-fpm", "debian-13", "php8.4-fpm"},
		{"debian-12", "nginx", "ubuntu-24.04", ""},
		{"debian-12", "pgbackrest", "ubuntu-24.04", ""}, // its row leads to itself
		{"rocky-9", "httpd", "ubuntu-24.04", "apache2"},
	} {
		got, err := ix.Become(c[0], c[1], c[2])
		is.NoErr(err)
		target := ""
		if len(got.Packages) > 0 {
			target = got.Packages[0].Name
		}
		if target != c[3] {
			t.Errorf("%v: %s %v", c, got.Relation, got.Packages)
		}
	}
}

// TestRowsThatCanNotBeMeant checks that an overlay is refused where a row of it
// would be stored as an answer that clients can't read, or be lost.
func TestRowsThatCanNotBeMeant(t *testing.T) {
	for _, c := range []struct{ name, file, rows, want string }{
		{"severity", "caveats.tsv", "bind\tdebian-13\tno\tX\tfatal\ttext\tours\n", "not a severity"},
		{"kind", "config_paths.tsv", "bind\tdebian-13\t/etc/a\t/etc/b\tblah\tcopy\tnote\tours\n", "not a kind"},
		{"action", "config_paths.tsv", "bind\tdebian-13\t/etc/a\t/etc/b\tfile\tmove\tnote\tours\n", "not an action"},
		{"path", "config_paths.tsv", "bind\tdebian-13\tetc/a\t/etc/b\tfile\tcopy\tnote\tours\n", "not absolute"},
		{"nowhere", "config_paths.tsv", "bind\tdebian-13\t/etc/a\t-\tfile\tcopy\tnote\tours\n", "unless it is dropped"},
		{"twice", "rpm_debian.tsv", "httpd\trenamed\tapache2\tours\nhttpd\trenamed\tnginx\tours\n", "more than one row"},
		{"byte order mark", "rpm_debian.tsv", "\ufeffhttpd\trenamed\tapache2\tours\n", "byte order mark"},
		{"no text", "rpm_debian.tsv", "\xff\trenamed\tapache2\tours\n", "UTF-8"},
		{"not of an index", "families.tsv", "bind\trpm\tdebian\t/etc/a\t/etc/b\tfile\tcopy\tnote\tours\n", "is none of"},
		{"long", "rpm_debian.tsv", "a\trenamed\t" + strings.Repeat("x", 2<<20) + "\tours\n", "more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			dir := t.TempDir()
			is.NoErr(os.WriteFile(filepath.Join(dir, c.file), []byte(c.rows), 0o600))
			out := filepath.Join(dir, "out.index")
			is.NoErr(os.WriteFile(out, []byte("what was there"), 0o600))
			_, err := Build(t.Context(), Sources{Curated: dir, Out: out})
			is.True(err != nil && strings.Contains(err.Error(), c.want)) // says what is wrong
			kept, err := os.ReadFile(out)
			is.NoErr(err)
			is.Equal(string(kept), "what was there")
		})
	}
}

// TestEventsOfPackagesThatNobodyKnows checks that a vendor's events count though
// no list has its packages.
func TestEventsOfPackagesThatNobodyKnows(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	events := filepath.Join(dir, "vendor_pes.json")
	is.NoErr(os.WriteFile(events, []byte(`{"packageinfo": [
 {"action": 7, "in_packageset": {"package": [{"name": "ourold"}]}, "out_packageset": {"package": [{"name": "ournew"}]},
  "initial_release": {"major_version": 7, "minor_version": 9}, "release": {"major_version": 8, "minor_version": 0}}]}`), 0o600))
	ix := built(t, Sources{PES: events})
	got, err := ix.Become("centos-7", "ourold", "rocky-8")
	is.NoErr(err)
	is.Equal(got.Relation, api.RelationRenamed)
	is.Equal(packageNames(got), "ournew")
	is.Equal(len(got.Caveats), 0) // the event says that EL 8 has it
}
