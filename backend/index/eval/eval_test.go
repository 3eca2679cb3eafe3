package eval

import (
	"hash/crc32"
	"io"
	"maps"
	"math"
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

// facts are beside the project; tests of them are skipped where they are not.
const facts = "../../../../shared/data"

// alsoRight are answers that known pairs of a role or a formula do not state, and a person found
// right beside these: the client where the role wants the server, the editor's smallest build.
const alsoRight = `el>debian	java-11-openjdk	default-jre	replaced	0.99	openjdk-11-jdk	naming	ansible-role-java
el>debian	java-21-openjdk-devel	openjdk-21-jdk	renamed	0.99	default-jdk	naming	r-system-requirements
el>debian	postgresql	postgresql-client	renamed	0.99	postgresql	naming	icinga2-formula
el>debian	rdma	rdma-core	renamed	0.99	rdmacm-utils	naming	diskimage-builder
el>debian	s-nail	s-nail	same	0.99	bsd-mailx	naming	lfops
el>debian	vim-minimal	vim-tiny	renamed	0.99	vim	naming	diskimage-builder
el>debian	wireguard-tools	wireguard-tools	same	0.99	wireguard	naming	kubespray
`

// newJudged begins to measure an index, with what is right besides.
func newJudged(ix *index.Index) (*Evaluation, error) {
	e := New(ix)
	return e, e.Add(strings.NewReader(alsoRight), nil)
}

// scoreOf measures an index on one file of known pairs.
func scoreOf(ix *index.Index, truth io.Reader) (*Score, error) {
	e, err := newJudged(ix)
	if err != nil {
		return nil, err
	}
	if err := e.Add(truth, nil); err != nil {
		return nil, err
	}
	return e.Score(), nil
}

// embeddedIndex is the index that is part of the program.
func embeddedIndex(t *testing.T) *index.Index {
	t.Helper()
	ix, err := index.Embedded()
	is.New(t).NoErr(err)
	return ix
}

// openFacts opens a file of the facts.
func openFacts(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join(facts, name))
	if os.IsNotExist(err) {
		t.Skip("the facts are not here")
	}
	is.New(t).NoErr(err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestKnownPairs is the floor of what the embedded index answers right: raise
// it whenever it does better.
func TestKnownPairs(t *testing.T) {
	for _, c := range []struct {
		file                                   string
		resolved, precision, sure, calibration float64
	}{
		{"truth/debian_suites.tsv", 1, 0.998, 0.998, 0.03},
		{"truth/pes_el7_el8.tsv", 1, 0.9948, 0.9948, 0.03},
		{"truth/cross_el_debian_core.tsv", 0.955, 0.955, 0.971, 0.02},
		{"truth/cross_el_debian_packages.tsv", 0.89, 0.937, 0.954, 0.027}, // a third of its included libraries are headers that people mean
	} {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			s, err := scoreOf(embeddedIndex(t), openFacts(t, c.file))
			is.New(t).NoErr(err)
			for what, got := range map[string][2]float64{
				"resolved":             {share(s.Total.Resolved, s.Total.Rows), c.resolved},
				"precision":            {s.Total.Precision(), c.precision},
				"precision where sure": {s.Total.SurePrecision(), c.sure},
				"calibration":          {1 - s.CalibrationError, 1 - c.calibration},
			} {
				if got[0] < got[1] {
					t.Errorf("%s is %.4f, below %.4f", what, got[0], got[1])
				}
			}
		})
	}
}

// wrongTruth are rows of the known pairs that are wrong themselves.
var wrongTruth = map[string]string{
	"debian-11\tfirmware-atheros\tdebian-12": "the pairs were made without non-free-firmware, where debian-12 has firmware-atheros",
}

func TestKnownPairsOfDebian(t *testing.T) {
	is := is.New(t)
	score, err := scoreOf(embeddedIndex(t), openFacts(t, "truth/debian_suites.tsv"))
	is.NoErr(err)
	for _, method := range slices.Sorted(maps.Keys(score.Methods)) {
		m := score.Methods[method]
		t.Logf("%-26s rows %4d, names right %4d, relation too %4d (%.2f %%)", method, m.Rows, m.Names, m.Both, 100*m.Share())
	}
	t.Logf("%-26s rows %4d, names right %4d, relation too %4d (%.2f %%)", "all", score.Total.Rows, score.Total.Names, score.Total.Both, 100*score.Total.Share())
	for _, miss := range score.Wrong {
		key := strings.Join(strings.Split(miss.Row, "\t")[:3], "\t")
		if _, known := wrongTruth[key]; !known {
			t.Logf("wrong: %s: %s %v", miss.Row, miss.Relation, miss.Packages)
		}
	}
	is.Equal(score.Total.Skipped, 0)
	is.True(score.Total.Share() >= 0.99)
}

// TestEachKindOfEvidenceIsAsSureAsItIsRight measures confidences on both halves
// of the known pairs, parted by name: no kind may be right in a share so small
// that chance does not account for it.
func TestEachKindOfEvidenceIsAsSureAsItIsRight(t *testing.T) {
	files := []string{"truth/debian_suites.tsv", "truth/pes_el7_el8.tsv", "truth/cross_el_debian_packages.tsv"}
	for half := range uint32(2) {
		e, err := newJudged(embeddedIndex(t))
		is.New(t).NoErr(err)
		for _, name := range files {
			is.New(t).NoErr(e.Add(halfOf(t, openFacts(t, name), half), nil))
		}
		s := e.Score()
		if s.CalibrationError > 0.03 {
			t.Errorf("half %d: the calibration error is %.4f", half, s.CalibrationError)
		}
		for kind, tally := range s.Evidence {
			if kind == course.Included || tally.Judged < 5 {
				continue // machines' packages are the libraries themselves; few answers prove nothing
			}
			claim := tally.Claim()
			chance := 2.33 * math.Sqrt(claim*(1-claim)/float64(tally.Judged))
			if claim-tally.Precision() > max(0.03, chance) {
				t.Errorf("half %d: %s claims %.3f, and is right in %.3f of %d", half, kind, claim, tally.Precision(), tally.Judged)
			}
		}
	}
}

// halfOf has the comments of a file, and one half of its rows.
func halfOf(t *testing.T, r io.Reader, half uint32) io.Reader {
	t.Helper()
	rows, header, err := readTruth(r)
	is.New(t).NoErr(err)
	kept := slices.Clone(header)
	for _, row := range rows {
		columns := row.columns()
		name := columns[0]
		if !ofFamily(rows) {
			name = columns[1]
		}
		if crc32.ChecksumIEEE([]byte(name))&1 != half {
			kept = append(kept, row.text)
		}
	}
	return strings.NewReader(strings.Join(kept, "\n"))
}

// sureOfMachines is the part of all machines' packages that must be answered for with
// a confidence of 0.8 or more, by the target.
var sureOfMachines = map[string]float64{
	"debian-13": 0.99, "ubuntu-24.04": 0.99, "almalinux-9": 0.95, "sles-15": 0.8, "amzn-2023": 0.88, "fedora-42": 0.93,
}

// hostLists are the files of machines' packages, below the facts.
func hostLists(t *testing.T) (names []string) {
	t.Helper()
	hosts, err := filepath.Glob(filepath.Join(facts, "hosts/*.tsv"))
	is.New(t).NoErr(err)
	if len(hosts) == 0 {
		t.Skip("the facts are not here")
	}
	for _, host := range hosts {
		names = append(names, "hosts/"+filepath.Base(host))
	}
	return names
}

// TestPackagesOfMachines is the floor of what is accounted for of real
// machines' packages.
func TestPackagesOfMachines(t *testing.T) {
	targets := []string{"debian-13", "ubuntu-24.04", "almalinux-9", "sles-15", "amzn-2023", "fedora-42"}
	e := New(embeddedIndex(t))
	for _, name := range hostLists(t) {
		is.New(t).NoErr(e.Add(openFacts(t, name), targets))
	}
	all := map[string]Tally{}
	for way, tally := range e.Score().Ways {
		_, target, _ := strings.Cut(way, ">")
		if share(tally.Resolved, tally.Rows) < 0.997 || tally.Coverage() < 0.997 {
			t.Errorf("%s: %d of %d resolved, %d accounted for", way, tally.Resolved, tally.Rows, tally.Accounted)
		}
		all[target] = all[target].plus(tally)
	}
	for target, floor := range sureOfMachines {
		if tally := all[target]; share(tally.Sure, tally.Rows) < floor {
			t.Errorf("%s: %d of %d sure, below %.3f", target, tally.Sure, tally.Rows, floor)
		}
	}
}

// pair and pairOfFamilies are rows of the two kinds of known pairs.
const (
	pair           = "debian-11\tnano\tdebian-12\tnano\tsame\tby hand\n"
	pairOfFamilies = "httpd\tapache2\trenamed\t3\t1\t1\trhel-9\tdebian-12\tdebian-12 debian-13\n"
)

func TestEveryKindOfTruthIsMeasured(t *testing.T) {
	for name, c := range map[string]struct {
		text, ways string
		rows       int
	}{
		"pairs between releases":     {"# a comment\n\n" + pair + pair, "debian-11>debian-12", 2},
		"pairs without their method": {"debian-11\tnano\tdebian-12\tnano\tsame\n", "debian-11>debian-12", 1},
		"pairs between families":     {pairOfFamilies + "httpd\tnginx\tset\t1\t0\t0\tel9\tdebian\t\n", "rhel-9>debian-13", 1},
		"packages of a machine":      {"# release-slug: rhel-9\nbash\t5.1\nnano\n", "rhel-9>debian-13", 2},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			e := New(embeddedIndex(t))
			is.NoErr(e.Add(strings.NewReader(c.text), []string{"debian-13"}))
			is.Equal(e.Score().Ways[c.ways].Rows, c.rows)
			is.Equal(e.Score().Total.Rows, c.rows)
			is.Equal(e.Score().Total.Skipped, 0)
		})
	}
}

func TestWhatIsNoTruthIsRefusedByItsLine(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"an empty file":           {"", "line 1: the file ends without a row"},
		"comments alone":          {"# nothing\n\n", "line 3: the file ends without a row"},
		"prose":                   {pair + "Some words.\n", "line 2: it has 1 columns"},
		"a column too few":        {"debian-11\tone\tdebian-12\tone\n", "line 1: it has 4 columns"},
		"names without a release": {"bash\t5\tx86_64\t\t\n", `line 1: "bash" is no release`},
		"no target":               {"debian-11\tpostgresql\t13\t13\tsame\n", `line 1: "13" is no release`},
		"no relation":             {"# of two\n" + pair + "debian-11\tnano\tdebian-12\tnano\t7\n", `line 3: "7" is no relation`},
		"a family's column less":  {"httpd\tapache2\trenamed\t3\n", "line 1: it has 4 columns"},
		"no family's relation":    {pairOfFamilies + strings.Replace(pairOfFamilies, "renamed", "called", 1), `line 2: "called" is no relation`},
		"no count":                {strings.Replace(pairOfFamilies, "\t3", "\tmany", 1), `line 1: "many" is no count`},
		"a family's release":      {strings.Replace(pairOfFamilies, "debian-13", "thirteen", 1), `line 1: "thirteen" is no release`},
		"no release of Debian":    {strings.Replace(pairOfFamilies, "debian-12 debian-13", "", 1), "line 1: neither it nor a row before it"},
		"a machine's prose":       {"# release-slug: rhel-9\nbash\nthis is prose\n", `line 3: "this is prose" is no name`},
		"a machine's empty name":  {"# release-slug: rhel-9\n\tbash\n", `line 2: "" is no name`},
		"a machine of nothing":    {"# release-slug:\nbash\n", `no packages of release ""`},
		"a machine of no release": {"# release-slug: plan-9\nbash\n", `no packages of release "plan-9"`},
		"a file with NUL":         {pair + "\x00\x01\n", "line 2: it is not text"},
		"bytes that are no text":  {"\xff\xfe\n", "line 1: it is not text"},
		"a line without an end":   {pair + strings.Repeat("x", maxTruthLine+1), "line 2: it has more than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) { refusesTruth(t, strings.NewReader(c.text), c.says) })
	}
}

// refusesTruth wants an error that names a line, and that nothing is measured.
func refusesTruth(t *testing.T, r io.Reader, says string) {
	t.Helper()
	e := New(embeddedIndex(t))
	err := e.Add(r, []string{"debian-13"})
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%v does not say %q", err, says)
	}
	is.New(t).Equal(e.Score().Total, Tally{})
}

// TestWhatEPELHasIsNotOfTheDistribution: a pair which says that EL dropped a package
// is answered right by the one that EPEL has, for it tells of EL alone.
func TestWhatEPELHasIsNotOfTheDistribution(t *testing.T) {
	is := is.New(t)
	s, err := scoreOf(embeddedIndex(t), strings.NewReader(
		"centos-7\tscreen\trocky-8\t\tremoved\tpes\n"+
			"centos-7\ttar\trocky-8\t\tremoved\tpes\n"))
	is.NoErr(err)
	is.Equal([]int{s.Total.Judged, s.Total.Names, s.Total.Both}, []int{2, 1, 1})
}

// TestWhatATargetLacksIsAFactToo: where nothing is there, an answer that names a package is
// wrong, however the pair is written, and counts in the calibration of its direction.
func TestWhatATargetLacksIsAFactToo(t *testing.T) {
	for _, relation := range []api.Relation{"", api.RelationRemoved} {
		is := is.New(t)
		s, err := scoreOf(embeddedIndex(t), strings.NewReader(
			"debian-12\tbash\trhel-8\t\t"+string(relation)+"\trosdep\n"+
				"debian-12\tapt-listchanges\trhel-8\t\t"+string(relation)+"\trosdep\n"))
		is.NoErr(err)
		tally := s.Directions["debian>el"]
		is.Equal([]int{tally.Judged, tally.Names, tally.SureOf, tally.SureRight}, []int{2, 1, 2, 1})
		is.True(s.DirectionErrors["debian>el"] > 0.4)
	}
}

// TestWhatLimitsAnErrorIsTold: a right name that no list of the target has is held below sure,
// and that part of the error is the gate's; a wrong answer of another kind could hide some of it.
// Of one fact chance alone makes some.
func TestWhatLimitsAnErrorIsTold(t *testing.T) {
	is := is.New(t)
	const (
		held, sure = "debian-13\tlibdraco-dev\trhel-9\tdraco-devel\t\trosdep\n", "debian-13\tbash\trhel-9\tbash\t\trosdep\n"
		wrong      = "debian-13\tcurl\trhel-9\tbash\t\trosdep\n"
	)
	limit := func(pairs string) Limit {
		s, err := scoreOf(embeddedIndex(t), strings.NewReader(pairs))
		is.NoErr(err)
		is.True(s.DirectionErrors["debian>el"] >= s.Limits["debian>el"].Forced)
		return s.Limits["debian>el"]
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	l := limit(held + sure)
	is.Equal([]int{l.Judged, l.Held, l.HeldRight}, []int{2, 1, 1})
	is.True(near(l.Gate, (1-course.Unsure)/2) && near(l.Forced, l.Gate))
	is.True(l.Chance > 0.15 && l.Chance < 0.3)
	l = limit(held + wrong)
	is.True(near(l.Gate, (1-course.Unsure)/2))
	is.Equal(l.Forced, 0.0)
	is.Equal(limit(sure), Limit{Judged: 1, Chance: limit(sure).Chance})
}

// TestAVerdictMakesAnAnswerRight: a person said that it is as good as what is stated. The
// same pair of another release counts once in its direction.
func TestAVerdictMakesAnAnswerRight(t *testing.T) {
	is := is.New(t)
	pairs := "debian-12\tpkg-config\trhel-9\tpkgconfig\t\nubuntu-24.04\tpkg-config\trhel-9\tpkgconfig\t\n"
	verdict := "debian>el\tpkg-config\tpkgconf-pkg-config\trenamed\t0.96\tpkgconfig\tnaming\tbindep\n"
	for _, c := range []struct {
		verdict string
		right   int
	}{{"", 0}, {verdict, 1}, {strings.Replace(verdict, "naming", "wrong", 1), 0}} {
		e := New(embeddedIndex(t))
		if c.verdict != "" {
			is.NoErr(e.Add(strings.NewReader(c.verdict), nil))
		}
		is.NoErr(e.Add(strings.NewReader(pairs), nil))
		tally := e.Score().Directions["debian>el"]
		is.Equal([]int{tally.Judged, tally.Names}, []int{1, c.right})
		is.True((e.Score().DirectionErrors["debian>el"] < 0.1) == (c.right == 1))
	}
	refusesTruth(t, strings.NewReader("debian>el\tpkg-config\n"), "line 1: it has 2 columns")
}

func TestATargetThatIsNotKnownIsRefused(t *testing.T) {
	e := New(embeddedIndex(t))
	err := e.Add(strings.NewReader("# release-slug: rhel-9\nbash\n"), []string{"debian-13", "plan-9"})
	is.New(t).True(api.CodeOf(err) == api.UnknownRelease)
}

func TestATruthWithoutEndIsRefused(t *testing.T) {
	refusesTruth(t, &endless{line: []byte("# " + strings.Repeat("x", 1<<16) + "\n")}, "the file goes on after 67108864 bytes")
}

// endless repeats a line.
type endless struct {
	line []byte
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.line[e.at:])
	e.at = (e.at + n) % len(e.line)
	return n, nil
}

// TestFactsOfOtherKindsAreRefused has tables of paths, services, users and
// databases, whose lines are no packages.
func TestFactsOfOtherKindsAreRefused(t *testing.T) {
	for _, name := range []string{
		"config_paths_reviewed", "cross_services", "cross_users", "db_versions", "db_upgrade_edges", "unresolved_el_to_debian_by_frequency",
	} {
		t.Run(name, func(t *testing.T) {
			refusesTruth(t, openFacts(t, "truth/"+name+".tsv"), "nothing was measured: expected are known pairs")
		})
	}
}

// FuzzTruth reads anything: it is measured or refused.
func FuzzTruth(f *testing.F) {
	f.Add(pair)
	f.Add(pairOfFamilies)
	f.Add("# release-slug: debian-12\nbash\t5\n")
	ix, err := index.Embedded()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e := New(ix)
		err := e.Add(strings.NewReader(text), []string{"rhel-9"})
		if rows := e.Score().Total.Rows + len(e.verdicts); err == nil && rows == 0 {
			t.Errorf("%d rows, and the error %v", rows, err)
		}
	})
}
