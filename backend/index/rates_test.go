package index

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
)

// TestWhatIsSureIsInTheTargetsList asks for the packages of every machine, in every
// rpm release: what is named and sure, the target's list or a row about it has; no
// distribution's own release, keys or branding are named in another.
func TestWhatIsSureIsInTheTargetsList(t *testing.T) {
	ix := embeddedIndex(t)
	for source, names := range machines(t) {
		for _, target := range []string{"almalinux-9", "rocky-10", "sles-15", "opensuse-leap-16.0", "amzn-2023", "fedora-42"} {
			from, err := ix.tables.Release(source)
			is.New(t).NoErr(err)
			to, err := ix.tables.Release(target)
			is.New(t).NoErr(err)
			stated := statedFor(ix, to)
			for _, name := range names {
				got := becomes(t, source, name, target)
				for _, p := range got.Packages {
					there := new(lookup.Memo).Presence(to, p.Name)
					if got.Confidence >= course.SureConfidence && source != target && there != lookup.InList && !stated[p.Name] {
						t.Errorf("%s of %s in %s: %s is %s, %.2f", name, source, target, p.Name, there, got.Confidence)
					}
					if p.Name == name && rpm.IsIdentity(name) && from.Release.Family != to.Release.Family {
						t.Errorf("%s of %s is named in %s", name, source, target)
					}
				}
				if got.Confidence >= course.SureConfidence && hasCaveat(got, course.CaveatExistence) {
					t.Errorf("%s of %s in %s is sure, and not known to exist", name, source, target)
				}
			}
		}
	}
}

// statedFor are the names that rows say a release of rpms has in place of EL's.
func statedFor(ix *Index, to *lookup.Release) map[string]bool {
	names := map[string]bool{}
	for key, value := range ix.tables.File.Table(record.RPMOwn).All() {
		if owner, _, own := strings.Cut(key, " "); own && slices.Contains([]string{to.Slug, record.Distribution(to.Slug), to.RPM.Line}, owner) {
			_, stated, _ := strings.Cut(value, "\t")
			for name := range strings.FieldsSeq(stated) {
				names[name] = true
			}
		}
	}
	return names
}

// TestAReleaseToItselfGivesEachName, where its packages are rpms: what names a package
// leads back to it.
func TestAReleaseToItselfGivesEachName(t *testing.T) {
	clones := map[string]string{"rhel-9": "rocky-9", "almalinux-9": "rhel-9", "centos-7": "ol-7", "rocky-10": "almalinux-10"}
	for source, names := range machines(t) {
		if source == "rhel-6" {
			continue // the index has no list of EL 6
		}
		if !strings.HasPrefix(source, "debian") && !strings.HasPrefix(source, "ubuntu") && !strings.HasPrefix(source, "amzn") {
			for _, name := range names {
				if got := becomes(t, source, name, source); packageNames(got) != name && !rpm.IsIdentity(name) {
					t.Errorf("%s of %s in itself: %s %q", name, source, got.Relation, packageNames(got))
				}
				if clone := clones[source]; clone != "" {
					got := becomes(t, source, name, clone)
					if len(got.Packages) > 0 && packageNames(got) != name && !rpm.IsIdentity(name) {
						t.Errorf("%s of %s in %s: %s %q", name, source, clone, got.Relation, packageNames(got))
					}
				}
			}
		}
	}
}

// TestListedNamesAreThemselves: a name of a release's list, known or not, leads back to it
// in the release itself, but for a few whose rows or canonicals say otherwise.
func TestListedNamesAreThemselves(t *testing.T) {
	for _, c := range []struct {
		list, slug string
		least      float64
	}{{"fedora", "fedora-42", 0.997}, {"amzn-2023", "amzn-2023", 0.998}, {"suse-16", "opensuse-leap-16.0", 0.983}, {"suse-15", "opensuse-leap-15.6", 0.991}} {
		all, themselves := 0, 0
		for name, lists := range embeddedIndex(t).tables.File.Table(record.RPMLists).All() {
			if record.HasWord(lists, c.list) {
				all++
				themselves += record.BoolOrder(packageNames(becomes(t, c.slug, name, c.slug)) == name)
			}
		}
		if float64(themselves) < c.least*float64(all) {
			t.Errorf("%s: %d of %d names", c.slug, themselves, all)
		}
	}
}

// TestWhatAListHasIsNoOtherRPM: neither the rpm of another version of Python, nor of the other
// line, nor nothing.
func TestWhatAListHasIsNoOtherRPM(t *testing.T) {
	for _, name := range []string{"python3-more-itertools", "beakerlib", "uwsgi-plugin-xslt", "glibmm2.4-devel", "e2scrub"} {
		if got := becomes(t, "fedora-42", name, "fedora-42"); packageNames(got) != name {
			t.Errorf("%s of Fedora in itself: %q", name, packageNames(got))
		}
	}
}

// TestAModuleOfPython3IsNoneOfAnother: neither Python 2's, nor of a version that EL has beside its
// own; nor gone because EL 7's for Python 2 is.
func TestAModuleOfPython3IsNoneOfAnother(t *testing.T) {
	for _, c := range [][3]string{
		{"debian-13", "python3-redis", "rhel-8"},
		{"fedora-42", "python3-more-itertools", "rhel-8"},
		{"fedora-42", "python3-pytest-mock", "opensuse-leap-15.6"},
		{"debian-13", "python3-setproctitle", "rhel-9"},
		{"opensuse-leap-15.6", "python3-setproctitle", "rhel-8"},
	} {
		got := becomes(t, c[0], c[1], c[2])
		if packageNames(got) != c[1] || got.Confidence >= course.SureConfidence {
			t.Errorf("%s of %s in %s: %s %q, %.2f", c[1], c[0], c[2], got.Relation, packageNames(got), got.Confidence)
		}
	}
}

// TestAVersionOfPythonIsThatOne in the other line, which spells it otherwise; what stands beside
// EL's own Python is no module of SUSE's.
func TestAVersionOfPythonIsThatOne(t *testing.T) {
	for _, c := range [][4]string{
		{"rhel-9", "python3.11", "opensuse-leap-15.6", "python311"},
		{"rhel-9", "python3.11-devel", "sles-15", "python311-devel"},
		{"sles-15", "python311", "rhel-9", "python3.11"},
		{"sles-15", "python311", "rhel-10", "python3"}, // which has none of that version
		{"rhel-9", "python3.11-cryptography", "sles-16", "python313-cryptography"},
	} {
		if got := becomes(t, c[0], c[1], c[2]); packageNames(got) != c[3] {
			t.Errorf("%s of %s in %s: %q", c[1], c[0], c[2], packageNames(got))
		}
	}
}

// TestWhatNoListHasGivesWay to the name that a list has: EL's for SUSE's own.
func TestWhatNoListHasGivesWay(t *testing.T) {
	for _, c := range [][3]string{
		{"debian-13", "libfl-dev", "libfl-devel"},
		{"debian-12", "libmagick++-dev", "libMagick++-devel"},
		{"debian-13", "qt6-websockets-dev", "qt6-websockets-devel"},
		{"rhel-9", "paho-c-devel", "libpaho-mqtt-devel"},
	} {
		if got := becomes(t, c[0], c[1], "opensuse-leap-15.6"); packageNames(got) != c[2] {
			t.Errorf("%s of %s: %q", c[1], c[0], packageNames(got))
		}
	}
}

// TestTheTargetsOwnRPMOfADebianPackageIsFound where neither another line's name nor the one that
// the rules make is in a list: by what the listed rpm is in Debian. What lists alone know is read
// by the rules, of the same version, and takes the place of no name that the target has.
func TestTheTargetsOwnRPMOfADebianPackageIsFound(t *testing.T) {
	for _, c := range [][4]string{
		{"debian-13", "lm-sensors", "opensuse-leap-15.6", "sensors"},
		{"rhel-9", "pixman-devel", "opensuse-leap-15.6", "libpixman-1-0-devel"},
		{"debian-13", "libopenal-dev", "fedora-42", "openal-soft-devel"},
		{"debian-13", "gir1.2-secret-1", "opensuse-leap-15.6", "typelib-1_0-Secret-1"},
		{"rhel-9", "readline-devel", "opensuse-leap-15.6", "readline-devel"}, // not readline6-devel
		{"rhel-9", "gnutls-utils", "opensuse-leap-15.6", "gnutls"},
		{"opensuse-leap-15.6", "gnutls", "debian-13", "gnutls-bin"}, // SUSE's libraries have names of their own
		{"rhel-9", "gnutls", "debian-13", "libgnutls30t64"},
	} {
		if got := becomes(t, c[0], c[1], c[2]); packageNames(got) != c[3] {
			t.Errorf("%s of %s in %s: %q", c[1], c[0], c[2], packageNames(got))
		}
	}
}

// TestWhatOneReleaseRenamesTheNextHas: the modules of Python of SLES 16 are known of 15, by
// the names they had there; nobody is sure of these.
func TestWhatOneReleaseRenamesTheNextHas(t *testing.T) {
	ix, asked := embeddedIndex(t), 0
	before, err := ix.tables.Release("sles-15")
	is.New(t).NoErr(err)
	for name, lists := range ix.tables.File.Table(record.RPMLists).All() {
		module, ok := strings.CutPrefix(name, "python313-")
		if !ok || !record.HasWord(lists, "suse-16") {
			continue
		}
		asked++
		former := "python3-" + module
		there := new(lookup.Memo).Presence(before, former)
		if there == lookup.Nowhere {
			t.Errorf("%s is %s", former, there)
		}
		got := becomes(t, "fedora-42", former, "sles-15")
		if there == lookup.InNear && packageNames(got) == former && got.Confidence >= course.SureConfidence {
			t.Errorf("%s of Fedora is sure: %.2f", former, got.Confidence)
		}
	}
	is.New(t).True(asked > 1000)
}

// TestWhatCameLaterIsHardlyThere: what EL has since two levels later alone is no answer.
func TestWhatCameLaterIsHardlyThere(t *testing.T) {
	asked := 0
	for key, value := range embeddedIndex(t).tables.File.Table(record.RPMNames).All() {
		if r := lookup.DecodeRPM(key, value); r.Levels != "10" || r.Line != "" || r.Suse != "" {
			continue
		}
		if got := becomes(t, "fedora-42", key, "rhel-8"); packageNames(got) == key {
			asked++
			if got.Confidence > 0.5 {
				t.Errorf("%s: %.2f", key, got.Confidence)
			}
		}
	}
	is.New(t).True(asked > 50)
}

// TestCrossCompilersStayCross: none becomes the compiler of the machine itself.
func TestCrossCompilersStayCross(t *testing.T) {
	for _, name := range []string{"gcc-avr", "gcc-arm-none-eabi", "gcc-aarch64-linux-gnu", "g++-arm-linux-gnueabihf", "gcc-mingw-w64", "gcc-mingw-w64-i686", "gcc-riscv64-unknown-elf", "gcc-12-aarch64-linux-gnu"} {
		for _, target := range []string{"rhel-9", "fedora-42", "sles-15", "amzn-2023", "opensuse-leap-16.0"} {
			if got := packageNames(becomes(t, "debian-12", name, target)); got == "gcc" || got == "gcc-c++" {
				t.Errorf("%s of Debian is %s in %s", name, got, target)
			}
		}
	}
	for _, c := range [][2]string{{"fedora-42", "avr-gcc"}, {"rhel-9", "mingw64-gcc"}, {"sles-15", "cross-aarch64-gcc13"}} {
		if got := packageNames(becomes(t, c[0], c[1], "debian-13")); !strings.HasPrefix(got, "gcc-") {
			t.Errorf("%s of %s is %q in Debian", c[1], c[0], got)
		}
	}
}

// TestAPackageAndItsPlacesTellOneStory: where Valkey comes in the place of Redis, so do
// its file, unit and account.
func TestAPackageAndItsPlacesTellOneStory(t *testing.T) {
	for _, way := range [][2]string{{"debian-12", "rhel-10"}, {"debian-12", "fedora-42"}, {"rhel-9", "rhel-10"}, {"rhel-9", "fedora-42"}, {"sles-15", "rhel-10"}} {
		is := is.New(t)
		is.Equal(packageNames(becomes(t, way[0], "redis", way[1])), "valkey")
		moves, err := embeddedIndex(t).ConfigPaths(way[0], way[1], []string{"redis"})
		is.NoErr(err)
		valkeys := 0
		for _, r := range moves[0].Relocations {
			if r.To != nil && strings.Contains(*r.To, "valkey") {
				valkeys++
			}
			if r.From == "redis" || strings.HasSuffix(r.From, "/redis.conf") {
				is.True(r.To != nil && strings.Contains(*r.To, "valkey"))
			}
		}
		is.True(valkeys >= 3)
	}
}

// machines are the packages of real machines, by release; tests of them are skipped
// where the lists are not beside the project.
func machines(t *testing.T) map[string][]string {
	t.Helper()
	is := is.New(t)
	lists, err := filepath.Glob(filepath.Join(root(t), "../shared/data/hosts/*.tsv"))
	is.NoErr(err)
	if len(lists) == 0 {
		t.Skip("the lists of machines are not here")
	}
	all := map[string][]string{}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		is.NoErr(err)
		slug := ""
		for line := range strings.Lines(string(text)) {
			if _, value, ok := strings.Cut(line, "release-slug:"); ok {
				slug = strings.TrimSpace(value)
			}
			if name, _, ok := strings.Cut(line, "\t"); ok && !strings.HasPrefix(line, "#") {
				all[slug] = append(all[slug], name)
			}
		}
	}
	return all
}

// TestWhereAListIsMissingACommandIsNamed that builds an index with it, in the format of the
// target's archives.
func TestWhereAListIsMissingACommandIsNamed(t *testing.T) {
	for _, c := range [][3]string{
		{"debian-13 libdraco-dev", "rhel-9", "--rpm-md"}, {"rhel-9 draco-devel", "ubuntu-24.04", "--apt"}, {"debian-12 gimp", "alpine-3.22", "--apk"},
	} {
		source, name, _ := strings.Cut(c[0], " ")
		got := becomes(t, source, name, c[1])
		command := "svc admin index build " + c[2] + " URL --release " + c[1] + " --out FILE, then --index FILE."
		if !slices.ContainsFunc(got.Caveats, func(caveat api.Caveat) bool {
			return caveat.Code == course.CaveatExistence && strings.Contains(caveat.Text, command)
		}) {
			t.Errorf("%s of %s in %s: %v", name, source, c[1], got.Caveats)
		}
	}
}
