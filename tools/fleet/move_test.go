package fleet

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"
)

// TestReachIsAsFarAsSeatsGo: the machines that are reached need no more seats than
// there are, and one more would.
func TestReachIsAsFarAsSeatsGo(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		is := is.NewRelaxed(rt)
		d := &Document{}
		for i := range rapid.IntRange(0, 12).Draw(rt, "machines") {
			d.Machines = append(d.Machines, Machine{
				Name: fmt.Sprintf("m%d", i), Fingerprint: fmt.Sprint(rapid.IntRange(0, 6).Draw(rt, "fingerprint")),
				Wave: rapid.IntRange(0, 4).Draw(rt, "wave"), Verdict: rapid.SampledFrom(Verdicts).Draw(rt, "verdict"),
				Licensed: rapid.Bool().Draw(rt, "licensed"),
			})
		}
		need := func(machines []Machine) int {
			seats := map[string]bool{}
			for _, m := range machines {
				if !m.Licensed {
					seats[m.Fingerprint] = true
				}
			}
			return len(seats)
		}
		seats := rapid.IntRange(0, 8).Draw(rt, "seats")
		order, reached := d.Order(), d.Reach(seats)
		is.True(need(reached) <= seats)
		if len(reached) < len(order) {
			is.True(need(order[:len(reached)+1]) > seats)
		}
		for i, m := range order {
			is.True(m.Verdict != Unreadable)
			is.True(i == 0 || m.Wave == 0 || order[i-1].Wave != 0 && order[i-1].Wave <= m.Wave)
		}
	})
}

// TestAnsibleReadsWhatIsWritten, and no name of an inventory leads anywhere.
func TestAnsibleReadsWhatIsWritten(t *testing.T) {
	is := is.New(t)
	moved := []Machine{{Name: "web1", Wave: 1}, {Name: "007", Wave: 1}, {Name: "db@x", Wave: 3}, {Name: "yes"}}
	var inventory struct {
		All struct {
			Children map[string]struct {
				Hosts map[string]map[string]string
			}
		}
	}
	is.NoErr(yaml.Unmarshal(Inventory(moved), &inventory))
	groups := inventory.All.Children
	is.Equal(len(groups), 3)
	is.Equal(len(groups["wave_1"].Hosts), 2)
	is.Equal(groups["blocked"].Hosts["yes"]["ansible_host"], "yes.invalid")
	for _, g := range groups {
		for _, h := range g.Hosts {
			is.True(strings.HasSuffix(h["ansible_host"], ".invalid")) // a person writes where the new machine is
		}
	}
	made := string(Inventory(moved))
	is.True(Unfilled([]byte(made)) && Unfilled(Inventory(nil)))
	for _, written := range []string{
		"", strings.Replace(made, "web1.invalid", "10.0.0.9", 1), strings.Replace(made, `"007.invalid"`, `10.0.0.9 # was "007.invalid"`, 1),
		strings.Replace(made, "    wave_3", "    databases", 1) + "  vars: {}\n", made + "          ansible_port: 22\n",
	} {
		is.True(!Unfilled([]byte(written))) // a person's work
	}
	var plays []struct {
		Hosts string
		Roles []struct{ Role string }
	}
	is.NoErr(yaml.Unmarshal(Site(moved), &plays))
	is.Equal(len(plays), 4)
	is.Equal(plays[1].Hosts, "007")
	is.Equal(plays[1].Roles[0].Role, "007/role")
}
