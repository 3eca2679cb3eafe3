package fleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/assess"
)

// drawn are the machines of a random fleet.
func drawn(t *rapid.T) []Read {
	severity := rapid.SampledFrom([]assess.FindingSeverity{assess.High, assess.Medium, assess.Low, assess.Info})
	key := rapid.SampledFrom([]string{"a.b", "target.database.mariadb", "release.end-of-life", "c.d", "packages.unknown", "packages.uncertain", "configuration.by-hand"})
	finding := rapid.Custom(func(t *rapid.T) Finding {
		return Finding{Key: key.Draw(t, "key"), Severity: severity.Draw(t, "severity"), Title: rapid.SampledFrom([]string{"one", "another"}).Draw(t, "title")}
	})
	read := []Read{}
	for i := range rapid.IntRange(0, 12).Draw(t, "machines") {
		r := Read{
			Machine: Machine{
				Name: fmt.Sprintf("m%02d", i), Source: rapid.SampledFrom([]string{"debian-11", "centos-7"}).Draw(t, "source"), Fingerprint: rapid.SampledFrom([]string{"f1", "f2", "f3", "f4"}).Draw(t, "fingerprint"),
				Questions: rapid.IntRange(0, 9).Draw(t, "questions") / 5, Manual: rapid.IntRange(0, 9).Draw(t, "manual") / 5, Findings: rapid.SliceOfN(finding, 0, 3).Draw(t, "findings"), Licensed: rapid.Bool().Draw(t, "licensed"),
				Inhibitors: rapid.SliceOfN(finding, 0, rapid.IntRange(0, 1).Draw(t, "stops")).Draw(t, "inhibitors"),
			},
			Features: rapid.SliceOfNDistinct(rapid.Uint64Range(0, 6), 0, 6, rapid.ID).Draw(t, "features"),
			Names:    []uint64{uint64(i)},
			Mentions: rapid.SliceOfN(rapid.Uint64Range(0, 14), 0, 3).Draw(t, "mentions"),
		}
		if rapid.IntRange(0, 9).Draw(t, "fails") == 0 {
			r.Machine.Error = "gone"
		}
		slices.Sort(r.Features)
		read = append(read, r)
	}
	return read
}

func TestEveryMachineHasItsPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		read := drawn(t)
		d := New("debian-13", "index", read, Funds{Left: 2, Rate: 799})
		totals := d.Totals
		if totals.Machines != len(read) || totals.Ready+totals.Work+totals.Blocked+totals.Unreadable != totals.Machines {
			t.Fatalf("the totals do not add up: %+v", totals)
		}
		grouped, moved, byName := map[string]int{}, map[string]int{}, map[string]Machine{}
		for _, g := range d.Groups {
			for _, name := range g.Machines {
				grouped[name]++
			}
		}
		for i, w := range d.Waves {
			if w.Number != i+1 || len(w.Machines) == 0 || w.Why == "" {
				t.Fatalf("wave %d is %+v", i+1, w)
			}
			for _, name := range w.Machines {
				moved[name] += w.Number
			}
		}
		pilots := map[string]bool{}
		for _, m := range d.Machines {
			byName[m.Name] = m
			moves := m.Verdict == Ready || m.Verdict == Work
			if grouped[m.Name] != map[bool]int{true: 1}[m.Verdict != Unreadable] {
				t.Fatalf("%s is in %d groups", m.Name, grouped[m.Name])
			}
			if moves != (m.Wave > 0) || moved[m.Name] != m.Wave {
				t.Fatalf("%s, %s, has wave %d and is in %d", m.Name, m.Verdict, m.Wave, moved[m.Name])
			}
			if m.Wave == 1 {
				pilots[m.Group] = true
			}
		}
		for _, m := range d.Machines {
			for _, on := range m.DependsOn {
				if other := byName[on]; m.Wave > 0 && other.Wave > m.Wave {
					t.Fatalf("%s moves in wave %d, before %s, which it names, in %d", m.Name, m.Wave, on, other.Wave)
				}
			}
		}
		if c := d.Cost; c.CapacityLeft == nil || *c.CapacityLeft != 2 || c.Price != 799*max(0, c.SeatsNeeded-2) || c.SeatsNeeded > 4 {
			t.Fatalf("the cost is %+v", c)
		}
		for _, s := range d.Shared {
			for _, name := range s.Frees {
				if m := without(byName[name], s.identity()); VerdictOf(&m) != Ready || byName[name].Verdict == Ready {
					t.Fatalf("%s needs nothing but %s, and is %s then", name, s.Key, VerdictOf(&m))
				}
			}
		}
		// Each fix says how many are ready then, which the verdicts of machines without
		// what was fixed must say too; in the end all that could be read are.
		fixed := slices.Clone(d.Machines)
		for _, f := range d.Fixes {
			ready := 0
			for i := range fixed {
				fixed[i] = without(fixed[i], identity{f.Key, f.Title})
				if VerdictOf(&fixed[i]) == Ready {
					ready++
				}
			}
			if ready != f.Ready {
				t.Fatalf("with %s %d are ready, not %d: %+v", f.Key, ready, f.Ready, d.Fixes)
			}
		}
		for i := range fixed {
			if v := VerdictOf(&fixed[i]); v != Ready && v != Unreadable {
				t.Fatalf("with all fixes %s is %s", fixed[i].Name, v)
			}
		}
	})
}

// without is a machine once a finding is dealt with, and with the last that tells of a
// count what it holds.
func without(m Machine, id identity) Machine {
	is := func(f Finding) bool { return f.identity() == id }
	before := needs(&m)
	m.Inhibitors, m.Findings = slices.DeleteFunc(slices.Clone(m.Inhibitors), is), slices.DeleteFunc(slices.Clone(m.Findings), is)
	left := slices.Concat(m.Inhibitors, m.Findings)
	for _, c := range counted {
		tells := func(f Finding) bool {
			return slices.Contains(c.told, f.Key) && (f.Work() || slices.Contains(m.Inhibitors, f))
		}
		if !slices.ContainsFunc(before, is) || slices.ContainsFunc(left, tells) {
			continue
		}
		switch {
		case !slices.Contains(c.told, id.key) && c.instead.identity() != id:
		case c.instead.Key == "packages.undecided":
			m.Questions = 0
		default:
			m.Manual = 0
		}
	}
	return m
}

func TestWhatToFixFirst(t *testing.T) {
	is := is.New(t)
	machine := func(name string, keys ...string) Read {
		m := Machine{Name: name}
		for _, key := range keys {
			m.Findings = append(m.Findings, Finding{Key: key, Severity: assess.Medium, Title: key})
		}
		return Read{Machine: m}
	}
	read := []Read{machine("r"), {Machine: Machine{Name: "x", Error: "gone"}}}
	for i := range 10 {
		read = append(read, machine(fmt.Sprint("a", i), "a"), machine(fmt.Sprint("b", i), "b1", "b2", fmt.Sprint("own", i)))
	}
	for i := range 12 {
		read = append(read, machine(fmt.Sprint("c", i), "c1", "c2", "c3"))
	}
	fixes := New("debian-13", "", read, Funds{}).Fixes
	got := ""
	for _, f := range fixes[:6] {
		got += fmt.Sprintf("%s %d %d, ", f.Title, len(f.Machines), f.Ready)
	}
	// One fix for ten machines, then three for twelve, then what each has of its own:
	// that most machines have c1 makes none of them ready.
	is.Equal(got, "a 10 11, c1 12 11, c2 12 11, c3 12 23, b1 10 23, b2 10 23, ")
	is.Equal(len(fixes), 16)
	is.Equal(fixes[15].Ready, 33) // all but the one that could not be read
}

func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		machine Machine
		want    Verdict
	}{
		"nothing":            {Machine{}, Ready},
		"the reason to move": {Machine{Findings: []Finding{{Key: "release.end-of-life", Severity: assess.High}}}, Ready},
		"data":               {Machine{Findings: []Finding{{Key: "target.database.mariadb", Severity: assess.High}}}, Ready},
		"a small thing":      {Machine{Findings: []Finding{{Key: "a", Severity: assess.Low}}}, Ready},
		"a finding":          {Machine{Findings: []Finding{{Key: "a", Severity: assess.Medium}}}, Work},
		"a question":         {Machine{Questions: 1}, Work},
		"a file":             {Machine{Manual: 1}, Work},
		"an inhibitor":       {Machine{Questions: 1, Inhibitors: []Finding{{Key: "a"}}}, Blocked},
		"an error":           {Machine{Error: "gone"}, Unreadable},
	} {
		if got := VerdictOf(&c.machine); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
	}
}

func TestGroupsAndWaves(t *testing.T) {
	is := is.New(t)
	many := func(from, to uint64) (all []uint64) {
		for i := from; i < to; i++ {
			all = append(all, i)
		}
		return all
	}
	read := []Read{
		{Machine: Machine{Name: "db", Questions: 9, Fingerprint: "1"}, Features: many(500, 600), Names: []uint64{1}},
		{Machine: Machine{Name: "web1", Fingerprint: "2"}, Features: many(0, 100), Mentions: []uint64{1}},
		{Machine: Machine{Name: "web2", Fingerprint: "3"}, Features: many(2, 100)},
		{Machine: Machine{Name: "web3", Fingerprint: "3"}, Features: many(40, 140)},
		{Machine: Machine{Name: "web4", Fingerprint: "4"}, Features: many(1, 100)},
	}
	d := New("debian-13", "index", read, Funds{Unlimited: true})
	is.Equal(d.Groups[0].Machines, []string{"web1", "web2", "web4"})
	is.Equal(len(d.Groups), 3)
	is.Equal(d.Machines[1].DependsOn, []string{"db"})
	is.Equal(d.Machines[3].CloneOf, "web2")
	is.Equal(d.Waves[0].Machines, []string{"db", "web2", "web3"}) // a pilot of each group, of the web servers one that names none
	is.Equal(d.Waves[1].Machines, []string{"web1", "web4"})
	is.Equal(d.Cost, Cost{SeatsNeeded: 4})

	page := Page(d, "svc test")
	is.True(strings.Contains(string(page), "<h1>5 machines to debian-13</h1>"))
}

func TestThePageIsNoMachinesOwn(t *testing.T) {
	is := is.New(t)
	evil := `"><script>alert(1)</script>`
	d := New("debian-13", "index", []Read{{Machine: Machine{Name: evil, Error: evil + "\x1b[2J", Source: evil}}}, Funds{})
	page := Page(d, "svc")
	is.True(!strings.Contains(string(page), "<script>alert"))
	is.True(!strings.Contains(string(page), "\x1b"))
}

func BenchmarkNew(b *testing.B) {
	read := []Read{}
	for i := range 1000 {
		r := Read{Machine: Machine{Name: fmt.Sprintf("m%04d", i), Fingerprint: fmt.Sprint(i)}}
		for f := range uint64(800) {
			r.Features = append(r.Features, f*uint64(1+i%40))
		}
		read = append(read, r)
	}
	for b.Loop() {
		New("debian-13", "", read, Funds{})
	}
}
