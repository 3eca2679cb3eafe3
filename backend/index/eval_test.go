package index

import (
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// facts are beside the project; tests of them are skipped where they are not.
const facts = "../../../shared/data"

// open opens a file of the facts.
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
		{"truth/debian_suites.tsv", 1, 0.999, 0.999, 0.03},
		{"truth/pes_el7_el8.tsv", 1, 0.995, 0.995, 0.03},
		{"truth/cross_el_debian_core.tsv", 0.955, 0.955, 0.971, 0.012},
		{"truth/cross_el_debian_packages.tsv", 0.89, 0.939, 0.954, 0.012},
	} {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			s, err := Eval(embeddedIndex(t), openFacts(t, c.file))
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

// TestEachKindOfEvidenceIsAsSureAsItIsRight measures confidences on both halves
// of the known pairs, parted by name: no kind may be right in a share so small
// that chance does not account for it.
func TestEachKindOfEvidenceIsAsSureAsItIsRight(t *testing.T) {
	files := []string{"truth/debian_suites.tsv", "truth/pes_el7_el8.tsv", "truth/cross_el_debian_packages.tsv"}
	for half := range uint32(2) {
		e := NewEvaluation(embeddedIndex(t))
		for _, name := range files {
			is.New(t).NoErr(e.Add(halfOf(t, openFacts(t, name), half), nil))
		}
		s := e.Score()
		if s.CalibrationError > 0.03 {
			t.Errorf("half %d: the calibration error is %.4f", half, s.CalibrationError)
		}
		for kind, tally := range s.Evidence {
			if kind == included || tally.Judged < 5 {
				continue // machines' packages are the libraries themselves; few answers prove nothing
			}
			claim := tally.Claim()
			chance := 1.65 * math.Sqrt(claim*(1-claim)/float64(tally.Judged))
			if claim-tally.Precision() > max(0.03, chance) {
				t.Errorf("half %d: %s claims %.3f, and is right in %.3f of %d", half, kind, claim, tally.Precision(), tally.Judged)
			}
		}
	}
}

// halfOf has the comments of a file, and one half of its rows.
func halfOf(t *testing.T, r io.Reader, half uint32) io.Reader {
	t.Helper()
	lines, header, err := readLines(r)
	is.New(t).NoErr(err)
	kept := slices.Clone(header)
	for _, line := range lines {
		columns := strings.Split(line, "\t")
		name := columns[0]
		if !ofFamily(lines) {
			name = columns[1]
		}
		if crc32.ChecksumIEEE([]byte(name))&1 != half {
			kept = append(kept, line)
		}
	}
	return strings.NewReader(strings.Join(kept, "\n"))
}

// sureOfMachines is the part of a machine's packages that must be answered for
// with a confidence of 0.8 or more, by the target's distribution. Amazon, Fedora and SUSE
// have no list in the index: honest answers are less sure there.
var sureOfMachines = map[string]float64{"debian": 0.98, "ubuntu": 0.975, "almalinux": 0.92}

// TestPackagesOfMachines is the floor of what is accounted for of real
// machines' packages.
func TestPackagesOfMachines(t *testing.T) {
	hosts, err := filepath.Glob(filepath.Join(facts, "hosts/*.tsv"))
	is.New(t).NoErr(err)
	if len(hosts) == 0 {
		t.Skip("the facts are not here")
	}
	targets := []string{"debian-13", "ubuntu-24.04", "almalinux-9", "sles-15", "amzn-2023", "fedora-42"}
	e := NewEvaluation(embeddedIndex(t))
	for _, host := range hosts {
		name, err := filepath.Rel(facts, host)
		is.New(t).NoErr(err)
		is.New(t).NoErr(e.Add(openFacts(t, name), targets))
	}
	for way, tally := range e.Score().Ways {
		source, target, _ := strings.Cut(way, ">")
		if share(tally.Resolved, tally.Rows) < 0.997 || tally.Coverage() < 0.997 {
			t.Errorf("%s: %d of %d resolved, %d accounted for", way, tally.Resolved, tally.Rows, tally.Accounted)
		}
		if floor := sureOfMachines[strings.SplitN(target, "-", 2)[0]]; share(tally.Sure, tally.Rows) < floor {
			t.Errorf("%s from %s: %d of %d sure, below %.3f", target, source, tally.Sure, tally.Rows, floor)
		}
	}
}
