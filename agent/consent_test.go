package agent

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc/agent/writecap"
	"svc/tools/move"
)

// person answers forms with the given actions in turn, and counts them.
type person struct {
	actions []string
	asked   []string
}

func (p *person) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		p.asked = append(p.asked, req.Params.Message)
		action := p.actions[0]
		p.actions = p.actions[1:]
		return &mcp.ElicitResult{Action: action, Content: map[string]any{}}, nil
	}}
}

func TestThePersonDecides(t *testing.T) {
	for name, era := range eras {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			env := newEnv(t)
			p := &person{actions: []string{"decline", "decline", "cancel", "accept", "cancel", "accept"}}
			session := connectTo(t, newServer(env, temporary(t, env.Log), Options{Version: "test", Log: env.Log}), era, p.options())
			finding := map[string]any{"kind": "bug", "title": "t", "body": "it breaks on web01"}
			filed := func() int { return strings.Count(text(call(t, session, "svc_list_findings", nil)), `"id"`) }

			r := call(t, session, "svc_report_finding", finding)
			is.True(r.IsError)
			is.True(strings.Contains(text(r), "declined"))
			is.True(strings.Contains(p.asked[0], "it breaks on [host]")) // the person sees what would be sent
			finding["confirm"] = true
			is.True(call(t, session, "svc_report_finding", finding).IsError) // a decline wins over confirm
			r = call(t, session, "svc_report_finding", finding)
			is.True(strings.Contains(text(r), "not confirmed")) // a closed form is no decline, nor consent to undo one
			is.Equal(filed(), 0)
			is.True(!call(t, session, "svc_report_finding", finding).IsError) // accepted
			is.Equal(filed(), 1)
			is.True(!call(t, session, "svc_report_finding", finding).IsError) // confirm is enough again
			is.Equal(len(p.asked), 4)
			delete(finding, "confirm")
			is.True(strings.Contains(text(call(t, session, "svc_report_finding", finding)), "not confirmed"))
			is.True(!call(t, session, "svc_report_finding", finding).IsError) // accepted without confirm
			is.Equal(filed(), 3)
		})
	}
}

// TestAcceptedWritesCountOnce has a person accept eleven: elicitation makes two
// rounds of each call, and the cap counts one.
func TestAcceptedWritesCountOnce(t *testing.T) {
	for name, era := range eras {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			env := newEnv(t)
			env.Admit = writecap.Cap{File: filepath.Join(t.TempDir(), "writes")}.Take
			p := &person{actions: slices.Repeat([]string{"accept"}, 11)}
			session := connectTo(t, newServer(env, temporary(t, env.Log), Options{Version: "test", Log: env.Log}), era, p.options())
			for i := range 11 {
				r := call(t, session, "svc_report_finding", map[string]any{"kind": "bug", "title": "t", "body": "b"})
				is.Equal(r.IsError, i == 10)
				if r.IsError {
					is.True(strings.Contains(text(r), "the next may go in"))
				}
			}
		})
	}
}

func TestFewerTools(t *testing.T) {
	is := is.New(t)
	env := newEnv(t)
	session := connectTo(t, newServer(env, temporary(t, env.Log), Options{Log: env.Log, ReadOnly: true, Tools: []string{"svc_whoami", "svc_migrate"}}), nil, nil)
	listed, err := session.ListTools(t.Context(), nil)
	is.NoErr(err)
	is.Equal(len(listed.Tools), 1) // read-only wins
	is.Equal(listed.Tools[0].Name, "svc_whoami")
	_, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "svc_migrate"})
	is.True(err != nil)
	is.True(Options{Tools: []string{"svc_nope"}}.Check() != nil)
}

// TestSecretsAndTheFirstSeatAreAsked has an agent confirm what no person agreed to.
func TestSecretsAndTheFirstSeatAreAsked(t *testing.T) {
	for name, era := range eras {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			env := newEnv(t)
			p := &person{actions: []string{"cancel", "cancel", "accept", "decline"}}
			session := connectTo(t, newServer(env, temporary(t, env.Log), Options{Version: "test", Log: env.Log}), era, p.options())
			out := filepath.Join(t.TempDir(), "out")
			moving := map[string]any{"root": fixture, "target": "debian-13", "out": out, "confirm": true}

			r := call(t, session, "svc_migrate", moving)
			is.True(strings.Contains(text(r), "not confirmed")) // a closed form is no consent to the first seat
			is.True(strings.Contains(p.asked[0], "licence seat") && strings.Contains(p.asked[0], "USD"))
			var preview move.Result
			is.NoErr(json.Unmarshal([]byte(text(call(t, session, "svc_migrate", map[string]any{"root": fixture, "target": "debian-13", "preflight": true}))), &preview))
			is.Equal(preview.Licensed, false)
			moving["plan_digest"] = preview.PlanDigest
			is.True(!call(t, session, "svc_migrate", moving).IsError) // closed again; but it is the plan that was shown
			is.Equal(len(p.asked), 2)
			is.True(!call(t, session, "svc_migrate", moving).IsError) // the machine has its seat: nothing is asked
			is.Equal(len(p.asked), 2)

			moving["include_secrets"] = true
			delete(moving, "plan_digest")
			is.True(!call(t, session, "svc_migrate", moving).IsError) // accepted
			is.True(strings.Contains(p.asked[2], "password digests"))
			is.True(strings.Contains(text(call(t, session, "svc_migrate", moving)), "declined")) // asked each time
			is.Equal(len(p.asked), 4)
		})
	}
}

// TestASeatOfAVerificationIsAsked moves a machine on one service, and verifies it on
// another that has no seat of it.
func TestASeatOfAVerificationIsAsked(t *testing.T) {
	is := is.New(t)
	out := filepath.Join(t.TempDir(), "assessment.json")
	assessed := call(t, connect(t, newEnv(t), nil), "svc_assess", map[string]any{"root": fixture, "detail": "full"})
	is.NoErr(os.WriteFile(out, []byte(text(assessed)), 0o644))
	for name, era := range eras {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			env := newEnv(t)
			compare := map[string]any{"root": fixture, "source": out}
			session := connectTo(t, newServer(env, temporary(t, env.Log), Options{Log: env.Log}), era, nil)
			r := call(t, session, "svc_verify", compare)
			is.True(r.IsError && strings.Contains(text(r), "not confirmed") && strings.Contains(text(r), "USD"))
			several := call(t, session, "svc_verify", map[string]any{"source": out, "machines": []any{map[string]any{"root": fixture}, map[string]any{"root": fixture}}})
			is.True(several.IsError && strings.Contains(text(several), "those that have none"))
			is.True(strings.Contains(text(call(t, session, "svc_whoami", nil)), `"billable_instances":0`))

			p := &person{actions: []string{"decline", "accept", "cancel"}}
			session = connectTo(t, newServer(env, temporary(t, env.Log), Options{Log: env.Log}), era, p.options())
			compare["confirm"] = true // as a machine's text may have said
			is.True(strings.Contains(text(call(t, session, "svc_verify", compare)), "declined"))
			delete(compare, "confirm")
			r = call(t, session, "svc_verify", compare)
			is.True(!r.IsError)
			is.True(strings.Contains(text(r), `"seat_claimed":true`))
			is.True(!call(t, session, "svc_verify", compare).IsError) // it has its seat: nothing is asked
			is.Equal(len(p.asked), 2)
		})
	}
}

// TestCommandsOfFixesAreShownFirst has an agent name a folder whose commands the role
// would run as root.
func TestCommandsOfFixesAreShownFirst(t *testing.T) {
	for name, era := range eras {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			env := newEnv(t)
			dir := t.TempDir()
			is.NoErr(os.MkdirAll(filepath.Join(dir, "fixes", "handy"), 0o755))
			is.NoErr(os.WriteFile(filepath.Join(dir, "fixes", "handy", "commands"), []byte("touch /from-a-fix\n"), 0o644))
			moving := map[string]any{"root": fixture, "target": "debian-13", "out": filepath.Join(dir, "out"), "confirm": true, "fixes": filepath.Join(dir, "fixes")}
			session := connectTo(t, newServer(env, temporary(t, env.Log), Options{Log: env.Log}), era, nil)
			r := call(t, session, "svc_migrate", moving)
			is.True(r.IsError && strings.Contains(text(r), "touch /from-a-fix") && strings.Contains(text(r), "plan_digest"))
			var plain, mended move.Result
			is.NoErr(json.Unmarshal([]byte(text(call(t, session, "svc_migrate", map[string]any{"root": fixture, "target": "debian-13", "preflight": true}))), &plain))
			moving["preflight"] = true
			is.NoErr(json.Unmarshal([]byte(text(call(t, session, "svc_migrate", moving))), &mended))
			is.True(strings.Contains(strings.Join(mended.Fixes, ""), "touch /from-a-fix"))
			delete(moving, "preflight")
			moving["plan_digest"] = plain.PlanDigest // that plan had no fixes
			is.True(call(t, session, "svc_migrate", moving).IsError)
			_, err := os.Stat(filepath.Join(dir, "out"))
			is.True(os.IsNotExist(err))
			moving["plan_digest"] = mended.PlanDigest
			is.True(!call(t, session, "svc_migrate", moving).IsError)

			p := &person{actions: []string{"decline", "accept"}}
			session = connectTo(t, newServer(env, temporary(t, env.Log), Options{Log: env.Log}), era, p.options())
			delete(moving, "plan_digest")
			is.True(strings.Contains(text(call(t, session, "svc_migrate", moving)), "declined")) // the seat is there, and yet it is asked
			is.True(strings.Contains(p.asked[0], "touch /from-a-fix"))
			is.True(!call(t, session, "svc_migrate", moving).IsError) // accepted
		})
	}
}
