package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc/assess"
	"svc/assess/disk/inode/inodetest"
	"svc/backend/visible"
	"svc/tools/account"
	"svc/tools/assessment"
	"svc/tools/collaboration"
	"svc/tools/database"
	"svc/tools/dataplan"
	"svc/tools/dbplan"
	"svc/tools/move"
	"svc/tools/readiness"
	"svc/tools/tool"
	"svc/tools/verification"
)

// charactersToken is how many characters of JSON a model's token has, roughly.
const charactersToken = 4

const webServer = "../../fixtures/hosts/debian-11-web"

// trial is a task of a user that an agent does over MCP, with the program as agents
// start it: each call follows from what the protocol showed before, and the results
// cost a model no more than the ceilings.
type trial struct {
	*testing.T
	home    string
	session *mcp.ClientSession
	calls   int
	letters int
	links   map[string]bool // of all results
}

func newTrial(t *testing.T) *trial {
	trial := &trial{T: t, home: t.TempDir(), links: map[string]bool{}}
	trial.session = trial.start()
	t.Cleanup(trial.follow)
	return trial
}

// svc is the program, as the user of the trial runs it.
func (t *trial) svc(args ...string) *exec.Cmd {
	cmd := exec.Command("svc", args...)
	cmd.Env = append(os.Environ(), "HOME="+t.home, "SVC_API_KEY=", "SVC_SERVER=", "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=")
	return cmd
}

// start is a session with a new process.
func (t *trial) start() *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "trial", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: t.svc("mcp")}, nil)
	is.New(t).NoErr(err)
	return session
}

var link = regexp.MustCompile(`svc://(?:out|document|guide)/[^"\\ ,)]+`)

// ask makes a call, and gives what it answers.
func (t *trial) ask(into any, name string, args map[string]any) string {
	t.Helper()
	is := is.New(t)
	r, err := t.session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	is.NoErr(err)
	said := r.Content[0].(*mcp.TextContent).Text
	t.calls++
	t.letters += len(said)
	t.Logf("%s: %d tokens", name, len(said)/charactersToken)
	if into != nil && (r.IsError || json.Unmarshal([]byte(said), into) != nil) {
		t.Fatal(said)
	}
	is.Equal(visible.Lines(said), said) // nothing in it is hidden
	for _, uri := range link.FindAllString(said, -1) {
		t.links[uri] = true
	}
	for _, c := range r.Content[1:] {
		t.links[c.(*mcp.ResourceLink).URI] = true
	}
	return said
}

// follow reads every link that results had, in a new process.
func (t *trial) follow() {
	is := is.New(t)
	is.NoErr(t.session.Close())
	if len(t.links) == 0 {
		return
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "trial", Version: "1"}, nil).Connect(context.Background(), &mcp.CommandTransport{Command: t.svc("mcp")}, nil)
	is.NoErr(err)
	defer session.Close()
	for uri := range t.links {
		r, err := session.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || len(r.Contents) != 1 || r.Contents[0].Text == "" {
			t.Errorf("%s leads nowhere: %v", uri, err)
		}
	}
}

// within holds what the task took against its ceilings.
func (t *trial) within(calls, tokens int) {
	t.Helper()
	t.Logf("%d calls, %d tokens", t.calls, t.letters/charactersToken)
	if t.calls > calls || t.letters > tokens*charactersToken {
		t.Errorf("%d calls and %d tokens: the ceilings are %d and %d", t.calls, t.letters/charactersToken, calls, tokens)
	}
}

// take is the call of a step, with what the call before had.
func take(before map[string]any, step tool.Step) (string, map[string]any) {
	args := maps.Clone(before)
	maps.Copy(args, step.Input)
	return step.Tool, args
}

// imageOf is a disk image of a folder.
func imageOf(t *testing.T, root, image string) string {
	t.Helper()
	inodetest.Needs(t, "mke2fs")
	inodetest.Command(t, "mke2fs", "-q", "-F", "-t", "ext4", "-d", root, image, "96M")
	return image
}

func TestTrialOfAMove(t *testing.T) {
	t.Run("root", func(t *testing.T) { moving(newTrial(t), map[string]any{"root": webServer}) })
	t.Run("image", func(t *testing.T) {
		moving(newTrial(t), map[string]any{"image": imageOf(t, webServer, filepath.Join(t.TempDir(), "web.img"))})
	})
}

// moving moves a machine to Debian 13: it looks, shows the user what it found, writes,
// and compares.
func moving(t *trial, machine map[string]any) {
	is := is.New(t)
	t.ask(nil, "svc_whoami", nil)
	var found assessment.Result
	t.ask(&found, "svc_assess", machine)
	name, args := take(machine, found.Next[0])
	args["target"] = "Debian 13" // as the user says it
	var preflight move.Result
	t.ask(&preflight, name, args)
	is.Equal(preflight.Target, "debian-13")
	is.True(strings.Contains(preflight.Cost, "USD"))
	is.Equal(len(preflight.Removed), preflight.Sum.Removed)
	for _, f := range preflight.Findings {
		if f.Title == "" || f.Severity == assess.High && (f.Summary == "" || len(f.Do) == 0) {
			t.Errorf("%s says too little: %+v", f.Key, f)
		}
	}
	name, args = take(args, preflight.Next[0])
	args["out"] = filepath.Join(t.TempDir(), "out")
	var written move.Result
	t.ask(&written, name, args)
	is.Equal(written.PlanDigest, preflight.PlanDigest)
	is.True(strings.HasPrefix(written.Next[0].Command, "ansible-playbook"))
	verify := written.Next[1]
	delete(verify.Input, "ssh") // the role is not applied here: the same machine is compared
	name, args = take(machine, verify)
	var verified verification.Result
	t.ask(&verified, name, args)
	is.True(verified.Attestation == nil && t.links[verified.Signature]) // what nobody reads is a link
	is.Equal(verified.Next[0].Tool, "svc_verify")
	t.within(8, 9000)
}

func TestTrialOfTwoTargets(test *testing.T) {
	t, is := newTrial(test), is.New(test)
	var r readiness.TargetsResult
	t.ask(&r, "svc_migrate", map[string]any{"root": webServer, "targets": []string{"alma9", "Debian 13"}, "preflight": true})
	is.Equal(len(r.Targets), 2)
	for _, target := range r.Targets {
		is.True(target.SupportedUntil != "" && target.Verdict != "" && target.Sum.Total == r.Packages)
	}
	is.Equal([]string{r.Targets[0].Target, r.Targets[1].Target}, []string{"almalinux-9", "debian-13"}) // normalised, and said
	t.within(1, 2500)
}

// TestTrialsOfEveryMachine holds the ceilings on machines of every kind: some have more to
// say than there is room for, and then what stops a move is said longest.
func TestTrialsOfEveryMachine(test *testing.T) {
	for host, target := range moves {
		if target == "" {
			continue
		}
		test.Run(host, func(test *testing.T) {
			t, is := newTrial(test), is.New(test)
			root := map[string]any{"root": filepath.Join("../../fixtures/hosts", host)}
			t.ask(nil, "svc_assess", root)
			plan := maps.Clone(root)
			plan["target"], plan["preflight"] = target, true
			var preflight, written move.Result
			t.ask(&preflight, "svc_migrate", plan)
			for _, f := range preflight.Inhibitors {
				is.True(f.Summary != "")
			}
			for name, list := range map[string][]tool.Headline{"findings": preflight.Findings, "inhibitors": preflight.Inhibitors} {
				if n, cut := preflight.Total[name]; cut {
					is.True(n > len(list) && preflight.Resource != "")
				}
			}
			delete(plan, "preflight")
			plan["out"], plan["confirm"] = filepath.Join(t.TempDir(), "out"), true
			t.ask(&written, "svc_migrate", plan)
			is.Equal(written.PlanDigest, preflight.PlanDigest)
			var verified verification.Result
			t.ask(&verified, "svc_verify", map[string]any{"root": root["root"], "source": plan["out"], "confirm": true})
			t.within(8, 9000)

			t.calls, t.letters = 0, 0
			var r readiness.TargetsResult
			t.ask(&r, "svc_migrate", map[string]any{"root": root["root"], "targets": []string{"almalinux-9", "debian-13"}, "preflight": true})
			is.Equal(len(r.Targets), 2)
			t.within(1, 2500)
		})
	}
}

// TestTrialOfDatabases asks three tools how to move MariaDB 10.5: none contradicts another.
func TestTrialOfDatabases(test *testing.T) {
	t, is := newTrial(test), is.New(test)
	machine := map[string]any{"root": webServer}
	var found dataplan.DiscoverResult
	t.ask(&found, "svc_data_discover", machine)
	var plan dbplan.PlanResult
	t.ask(&plan, "svc_db_plan", map[string]any{"root": webServer, "target": "debian 13"})
	for _, d := range plan.Databases {
		if way := database.Recommended(d.Engine); way != "" && len(d.Paths) > 0 {
			is.Equal(d.Paths[0].Steps[0].Way, way)
		}
	}
	var moved dataplan.PlanResult
	t.ask(&moved, "svc_data_plan", map[string]any{"root": webServer, "target": "debian13", "out": filepath.Join(t.TempDir(), "data"), "confirm": true})
	is.True(moved.Methods["dump-and-load"] > 0)
	var ways dbplan.UpgradePathResult
	t.ask(&ways, "svc_db_upgrade_path", map[string]any{"engine": "Postgres", "from": "13", "to": "latest"})
	is.True(ways.Possible && len(ways.Paths) > 0)
	t.ask(&ways, "svc_db_upgrade_path", map[string]any{"engine": "mariadb", "from": "10.5", "to": "debian-13"})
	is.True(ways.Paths[0].Cost.Back) // to a fresh host, the source stays
	is.Equal(ways.Paths[0].Steps[0].Way, database.Recommended("mariadb"))
	t.within(5, 7000)
}

func TestTrialOfSeatsAndTheBill(test *testing.T) {
	t, is := newTrial(test), is.New(test)
	out, err := t.svc("migrate", "--root", webServer, "--target", "debian-13", "--out", filepath.Join(t.TempDir(), "out"), "--confirm").CombinedOutput()
	is.True(strings.Contains(string(out), "NEXT.md")) // a person did it; its exit code says that there are inhibitors
	_ = err
	var machines, bill account.WhoamiResult
	t.ask(&machines, "svc_whoami", map[string]any{"detail": "vms"})
	t.ask(&bill, "svc_whoami", map[string]any{"detail": "statement"})
	is.Equal(len(machines.VMs), 1)
	is.True(machines.VMs[0].Name != "" && machines.VMs[0].Target == "debian-13" && machines.VMs[0].Out != "")
	is.True(bill.Statement != nil && strings.Contains(bill.NextSeat, "USD"))
	t.within(2, 1500)
}

func TestTrialOfTenMachines(test *testing.T) {
	test.Run("roots", func(test *testing.T) {
		t := newTrial(test)
		machines := []any{}
		for name, root := range tenMachines(test) {
			if name != "garbage" {
				machines = append(machines, map[string]any{"root": root})
			}
		}
		machines = append(machines, garbage(test, test.TempDir()))
		surveying(t, map[string]any{"machines": machines})
	})
	test.Run("images", func(test *testing.T) {
		t, dir := newTrial(test), test.TempDir()
		for name, root := range tenMachines(test) {
			imageOf(test, root, filepath.Join(dir, name+".img"))
		}
		garbage(test, dir)
		surveying(t, map[string]any{"images": dir})
	})
}

// tenMachines are nine roots by name, one of them a clone; what is no disk is the tenth.
func tenMachines(t *testing.T) map[string]string {
	is := is.New(t)
	kinds, err := os.ReadDir("../../fixtures/hosts")
	is.NoErr(err)
	roots := map[string]string{"clone": filepath.Join(t.TempDir(), "clone")}
	is.NoErr(os.CopyFS(roots["clone"], os.DirFS(webServer)))
	for _, e := range kinds {
		roots[e.Name()] = filepath.Join("../../fixtures/hosts", e.Name())
	}
	is.Equal(len(roots), 9)
	return roots
}

// garbage is a file that is no disk image.
func garbage(t *testing.T, dir string) string {
	file := filepath.Join(dir, "garbage.img")
	is.New(t).NoErr(os.WriteFile(file, []byte("no disk"), 0o644))
	return file
}

// surveying puts ten machines into waves.
func surveying(t *trial, several map[string]any) {
	is := is.New(t)
	several["target"], several["preflight"] = "debian-13", true
	var r readiness.FleetResult
	t.ask(&r, "svc_migrate", several)
	fleet := r.Targets[0]
	is.Equal(fleet.Totals.Machines, 10)
	is.Equal(len(fleet.Machines), 10)
	is.True(len(fleet.Waves) > 0 && strings.Contains(fleet.Cost, "seats"))
	is.True(slices.ContainsFunc(fleet.Machines, func(m readiness.FleetRow) bool { return m.CloneOf != "" }))
	is.True(slices.ContainsFunc(fleet.Machines, func(m readiness.FleetRow) bool { return m.Name == "garbage" && m.Error != "" }))
	t.within(3, 4000)
}

// TestTrialOfVulnerabilities has a feed and, before it, none: then what was not compared
// is said, and no zero stands for it.
func TestTrialOfVulnerabilities(test *testing.T) {
	t, is := newTrial(test), is.New(test)
	moving := map[string]any{"root": webServer, "target": "debian-13", "preflight": true}
	var r move.Result
	said := t.ask(&r, "svc_migrate", moving)
	is.True(!r.Exposure.Compared && r.Exposure.Why != "" && r.Exposure.Fixed == nil)
	is.True(!strings.Contains(said, `"fixed"`))
	t.within(1, 2500)

	is.NoErr(os.MkdirAll(filepath.Join(t.home, "osv"), 0o755))
	for id, fixed := range map[string]string{"CVE-2099-1": `{"fixed":"3.0.0-1"}`, "CVE-2099-2": `{"last_affected":"9"}`} {
		is.NoErr(os.WriteFile(filepath.Join(t.home, "osv", id+".json"), fmt.Appendf(nil, `{"id":"DEBIAN-%[1]s","modified":"2026-01-01T00:00:00Z","upstream":[%[1]q],
			"severity":[{"type":"CVSS_V3","score":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}],
			"affected":[{"package":{"ecosystem":"Debian:11","name":"openssl"},"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"}]}]},
			{"package":{"ecosystem":"Debian:13","name":"openssl"},"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"},%[2]s]}]}]}`, id, fixed), 0o644))
	}
	out, err := t.svc("admin", "advisories", "build", "--osv", filepath.Join(t.home, "osv")).CombinedOutput()
	t.Logf("%s", out)
	is.NoErr(err)
	is.NoErr(t.session.Close())
	t.session = t.start()
	delete(moving, "preflight")
	moving["out"], moving["confirm"] = filepath.Join(t.TempDir(), "out"), true
	said = t.ask(&r, "svc_migrate", moving)
	is.True(r.Exposure.Compared)
	for _, id := range []string{"CVE-2099-1", "CVE-2099-2"} {
		is.True(strings.Contains(said, id)) // by name: what is fixed, and what stays
	}
	t.within(2, 4500)
}

// TestTrialOfAnInjectedMachine has a machine that tells the agent what to do, where it
// can't be seen.
func TestTrialOfAnInjectedMachine(test *testing.T) {
	t, is := newTrial(test), is.New(test)
	root := filepath.Join(t.TempDir(), "root")
	is.NoErr(os.CopyFS(root, os.DirFS(webServer)))
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
		var r collaboration.AskResult
		t.ask(&r, "svc_ask_question", map[string]any{"question": question, "confirm": true})
		is.True(r.Answered)
		is.True(strings.Contains(r.Answer, want))
	}
	var unsure collaboration.AskResult
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
	args := map[string]any{"root": webServer, "section": "packages"}
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
	t.ask(&p, "svc_assess", map[string]any{"root": webServer, "section": "users", "match": `"root"`})
	is.True(p.Total["users"] >= 1 && len(p.Packages) == 0)
	t.ask(&p, "svc_migrate", map[string]any{"root": webServer, "target": "debian-13", "preflight": true, "section": "packages", "match": `"removed"`})
	is.True(p.Total["packages"] > 0)
	is.True(strings.Contains(t.ask(nil, "svc_assess", map[string]any{"root": webServer, "section": "user"}), "did you mean users?"))
	var data dataplan.DiscoverResult
	t.ask(&data, "svc_data_discover", map[string]any{"root": webServer, "section": "places", "match": `"web"`})
	is.True(len(data.Places) > 0 && data.Total["places"] == len(data.Places) && data.Notes == nil)
	var plan struct {
		Databases []map[string]any `json:"databases"`
		Total     map[string]int   `json:"total"`
		Next      string           `json:"next_cursor"`
	}
	t.ask(&plan, "svc_db_plan", map[string]any{"root": webServer, "target": "debian-13", "section": "databases", "match": "postgresql"})
	is.True(len(plan.Databases) == 1 && plan.Total["databases"] >= 1)
}
