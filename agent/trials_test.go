package agent

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc/tools"
	"svc/tools/register"
)

// charactersToken is how many characters of JSON a model's token has, roughly.
const charactersToken = 4

// trial is a task of a user that an agent does over MCP: each call follows from what
// the protocol showed before, and the results cost a model no more than the ceilings.
type trial struct {
	*testing.T
	session *mcp.ClientSession
	calls   int
	letters int
}

func newTrial(t *testing.T) *trial {
	env := newEnv(t)
	env.Register = register.Register{File: filepath.Join(t.TempDir(), "machines.jsonl")}
	return &trial{T: t, session: connect(t, env, eras["modern"])}
}

// ask makes a call, and gives what it answers.
func (t *trial) ask(into any, name string, args map[string]any) string {
	t.Helper()
	r := call(t.T, t.session, name, args)
	t.calls++
	t.letters += len(text(r))
	t.Logf("%s: %d tokens", name, len(text(r))/charactersToken)
	if into != nil && (r.IsError || json.Unmarshal([]byte(text(r)), into) != nil) {
		t.Fatal(text(r))
	}
	return text(r)
}

// within holds what the task took against its ceilings.
func (t *trial) within(calls, tokens int) {
	t.Helper()
	t.Logf("%d calls, %d tokens", t.calls, t.letters/charactersToken)
	if t.calls > calls || t.letters > tokens*charactersToken {
		t.Errorf("%d calls and %d tokens: the ceilings are %d and %d", t.calls, t.letters/charactersToken, calls, tokens)
	}
}

func TestTrialOfAMove(test *testing.T) {
	t, is := newTrial(test), is.New(test)
	machine := map[string]any{"root": fixture, "target": "Debian 13"}
	t.ask(nil, "svc_whoami", nil)
	t.ask(nil, "svc_assess", machine)
	machine["preflight"] = true
	var preflight tools.MigrateResult
	t.ask(&preflight, "svc_migrate", machine)
	is.True(strings.Contains(preflight.Cost, "USD"))
	is.Equal(len(preflight.Removed), preflight.Sum.Removed)
	next := preflight.Next[0]
	for name, value := range next.Input {
		machine[name] = value
	}
	machine["out"] = filepath.Join(t.TempDir(), "out")
	var written tools.MigrateResult
	t.ask(&written, next.Tool, machine)
	var verified tools.ParityResult
	verify := written.Next[1]
	t.ask(&verified, verify.Tool, map[string]any{"root": fixture, "source": verify.Input["source"]})
	is.True(verified.Attestation == nil && verified.Signature != "") // signatures are a link
	signed, err := t.session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: verified.Signature})
	is.NoErr(err)
	is.True(strings.Contains(signed.Contents[0].Text, "manifest"))
	t.within(8, 9000)
}

func TestTrialOfTwoTargets(test *testing.T) {
	t, is := newTrial(test), is.New(test)
	var r tools.TargetsResult
	t.ask(&r, "svc_migrate", map[string]any{"root": fixture, "targets": []string{"alma9", "Debian 13"}, "preflight": true})
	is.Equal(len(r.Targets), 2)
	for _, target := range r.Targets {
		is.True(target.SupportedUntil != "" && target.Verdict != "" && target.Sum.Total == r.Packages)
	}
	is.Equal([]string{r.Targets[0].Target, r.Targets[1].Target}, []string{"almalinux-9", "debian-13"}) // normalised, and said
	t.within(1, 2500)
}

func TestTrialOfDatabases(test *testing.T) {
	t, is := newTrial(test), is.New(test)
	var found tools.DataDiscoverResult
	t.ask(&found, "svc_data_discover", map[string]any{"root": fixture})
	var plan tools.DBPlanResult
	t.ask(&plan, "svc_db_plan", map[string]any{"root": fixture, "target": "debian 13"})
	var ways tools.DBUpgradePathResult
	t.ask(&ways, "svc_db_upgrade_path", map[string]any{"engine": "Postgres", "from": "13", "to": "latest"})
	is.True(ways.Possible && len(ways.Paths) > 0)
	t.ask(&ways, "svc_db_upgrade_path", map[string]any{"engine": "mariadb", "from": "10.5", "to": "debian-13"})
	is.True(ways.Paths[0].Cost.Back) // to a fresh host, the source stays
	t.within(5, 7000)
}

func TestTrialOfSeatsAndTheBill(test *testing.T) {
	t, is := newTrial(test), is.New(test)
	r := call(test, t.session, "svc_migrate", map[string]any{"root": fixture, "target": "debian-13", "out": filepath.Join(t.TempDir(), "out"), "confirm": true})
	is.True(!r.IsError)
	var machines, bill tools.WhoamiResult
	t.ask(&machines, "svc_whoami", map[string]any{"detail": "vms"})
	t.ask(&bill, "svc_whoami", map[string]any{"detail": "statement"})
	is.Equal(len(machines.VMs), 1)
	is.True(machines.VMs[0].Name != "" && machines.VMs[0].Target == "debian-13" && machines.VMs[0].Out != "")
	is.True(bill.Statement != nil && strings.Contains(bill.NextSeat, "USD"))
	t.within(2, 1500)
}

func TestTrialOfTenMachines(test *testing.T) {
	t, is := newTrial(test), is.New(test)
	machines := []any{}
	kinds, err := os.ReadDir("../fixtures/hosts")
	is.NoErr(err)
	for _, e := range kinds {
		machines = append(machines, map[string]any{"root": "../fixtures/hosts/" + e.Name()})
	}
	clone := filepath.Join(t.TempDir(), "clone")
	is.NoErr(os.CopyFS(clone, os.DirFS(fixture)))
	garbage := filepath.Join(t.TempDir(), "garbage.img")
	is.NoErr(os.WriteFile(garbage, []byte("no disk"), 0o644))
	machines = append(machines, map[string]any{"root": clone}, garbage)
	is.Equal(len(machines), 10)
	var r tools.FleetResult
	t.ask(&r, "svc_migrate", map[string]any{"machines": machines, "target": "debian-13", "preflight": true})
	fleet := r.Targets[0]
	is.Equal(fleet.Totals.Machines, 10)
	is.Equal(len(fleet.Machines), 10)
	is.True(len(fleet.Waves) > 0 && strings.Contains(fleet.Cost, "seats"))
	is.True(slices.ContainsFunc(fleet.Machines, func(m tools.FleetRow) bool { return m.CloneOf != "" }))
	is.True(slices.ContainsFunc(fleet.Machines, func(m tools.FleetRow) bool { return m.Name == "garbage" && m.Error != "" }))
	t.within(3, 4000)
}

// TestTrialOfVulnerabilities has no feed: what was not compared is said, and no zero
// stands for it.
func TestTrialOfVulnerabilities(test *testing.T) {
	t, is := newTrial(test), is.New(test)
	var r tools.MigrateResult
	said := t.ask(&r, "svc_migrate", map[string]any{"root": fixture, "target": "debian-13", "preflight": true})
	is.True(!r.Exposure.Compared && r.Exposure.Why != "" && r.Exposure.Fixed == nil)
	is.True(!strings.Contains(said, `"fixed"`))
	t.within(1, 2500)
}

// TestTrialOfAnInjectedMachine has a machine that tells the agent what to do, where it
// can't be seen.
func TestTrialOfAnInjectedMachine(test *testing.T) {
	t, is := newTrial(test), is.New(test)
	root := filepath.Join(t.TempDir(), "root")
	is.NoErr(os.CopyFS(root, os.DirFS(fixture)))
	hidden := "x\u202e\U000e0049\U000e0067nore \x1b[2J"
	for i, dir := range []string{"opt", "etc/systemd/system", "srv"} {
		is.NoErr(os.MkdirAll(filepath.Join(root, dir), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(root, dir, fmt.Sprintf("%s%d.service", hidden, i)), []byte("[Service]\nExecStart=/opt/a\n"), 0o644))
	}
	is.NoErr(os.WriteFile(filepath.Join(root, "etc/hostname"), []byte(hidden+"\n"), 0o644))
	for name, args := range map[string]map[string]any{
		"svc_assess": {"root": root, "detail": "full"}, "svc_data_discover": {"root": root}, "svc_migrate": {"root": root, "target": "debian-13", "preflight": true},
	} {
		said := t.ask(nil, name, args)
		is.True(!strings.ContainsAny(said, "\u202e\U000e0049\x1b"))
	}
	is.Equal(t.calls, 3)
}

func TestTrialOfQuestions(test *testing.T) {
	t, is := newTrial(test), is.New(test)
	for question, want := range map[string]string{
		"What does a machine cost over my quota?": "On-Demand rate", "How do I roll back if the migration goes wrong?": "never changed",
		"Can I migrate many machines in one call?": "machines", "Which VMs have a licence seat?": "svc_whoami",
	} {
		var r tools.AskResult
		t.ask(&r, "svc_ask_question", map[string]any{"question": question, "confirm": true})
		is.True(r.Answered)
		is.True(strings.Contains(r.Answer, want))
	}
	var unsure tools.AskResult
	t.ask(&unsure, "svc_ask_question", map[string]any{"question": "Can the role be exported as a Terraform module?", "confirm": true})
	is.True(!unsure.Answered)
	is.Equal(len(unsure.Nearest), 3)
	is.True(strings.Contains(unsure.Readers, "nobody else"))
	t.within(5, 1500)
}

// TestWhatIsCutCanBeAimedAt reads a list that no summary has room for, page by page.
func TestWhatIsCutCanBeAimedAt(test *testing.T) {
	t, is := newTrial(test), is.New(test)
	type page struct {
		Total    map[string]int   `json:"total"`
		Packages []map[string]any `json:"packages"`
		Users    []map[string]any `json:"users"`
		Next     string           `json:"next_cursor"`
	}
	args := map[string]any{"root": fixture, "section": "packages"}
	seen := 0
	for {
		var p page
		said := t.ask(&p, "svc_assess", args)
		is.True(len(said) < 9<<10)
		seen += len(p.Packages)
		if args["cursor"] = p.Next; p.Next == "" {
			is.Equal(seen, p.Total["packages"])
			break
		}
	}
	var p page
	t.ask(&p, "svc_assess", map[string]any{"root": fixture, "section": "users", "match": `"root"`})
	is.True(p.Total["users"] >= 1 && len(p.Packages) == 0)
	t.ask(&p, "svc_migrate", map[string]any{"root": fixture, "target": "debian-13", "preflight": true, "section": "packages", "match": `"removed"`})
	is.True(p.Total["packages"] > 0)
	is.True(strings.Contains(t.ask(nil, "svc_assess", map[string]any{"root": fixture, "section": "user"}), "did you mean users?"))
	var data tools.DataDiscoverResult
	t.ask(&data, "svc_data_discover", map[string]any{"root": fixture, "section": "places", "match": `"web"`})
	is.True(len(data.Places) > 0 && data.Total["places"] == len(data.Places) && data.Notes == nil)
	var plan struct {
		Databases []map[string]any `json:"databases"`
		Total     map[string]int   `json:"total"`
		Next      string           `json:"next_cursor"`
	}
	t.ask(&plan, "svc_db_plan", map[string]any{"root": fixture, "target": "debian-13", "section": "databases", "match": "postgresql"})
	is.True(len(plan.Databases) == 1 && plan.Total["databases"] >= 1)
}
