package index

import (
	"os"
	"path/filepath"
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
		{"truth/debian_suites.tsv", 1, 0.998, 0.998, 0.055},
		{"truth/pes_el7_el8.tsv", 1, 0.985, 0.995, 0.03},
		{"truth/cross_el_debian_core.tsv", 0.95, 0.91, 0.91, 0.065},
		{"truth/cross_el_debian_packages.tsv", 0.84, 0.89, 0.90, 0.055},
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
		floor := 0.98
		if distribution(source) == distribution(target) {
			floor = 0.99
		}
		if share(tally.Resolved, tally.Rows) < 0.99 || tally.Coverage() < floor {
			t.Errorf("%s: %d of %d resolved, %d accounted for", way, tally.Resolved, tally.Rows, tally.Accounted)
		}
	}
}
