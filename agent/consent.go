package agent

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc/backend/visible"
	"svc/tools/tool"
)

// stateless is the first protocol version whose requests say for themselves
// what the client can do.
const stateless = "2026-07-28"

// versionKey is where such a request says its version.
const versionKey = "io.modelcontextprotocol/protocolVersion"

// consent is what the person at the client said to calls. Where the client can
// ask, what nobody confirmed is asked, and so are secrets in a role and the first
// seat of a session, confirmed or not: what a machine's text says an agent to
// confirm shall spend nothing for ever. All else that is confirmed goes on; but once
// the person has declined a tool, it takes the person to let it go on.
//
// A form that was closed without an answer is no answer: clients without a person
// close them all. A call that names the digest of the plan that was shown needs none.
type consent struct {
	declined sync.Map    // has the tools that the person declined
	seated   atomic.Bool // the person agreed to a seat
}

// errDeclined is the refusal by the person at the client.
var errDeclined = errors.New("the user declined this; don't repeat the call unless the user asks for it")

// call runs a tool, and asks the person where the tool was not confirmed and
// the client can ask. ask is then what to ask.
func (c *consent) call(ctx context.Context, env *tool.Env, t tool.Tool, req *mcp.CallToolRequest) (v any, ask *mcp.CallToolResult, err error) {
	args := req.Params.Arguments
	if !confirmable(t) || !canAsk(req) {
		v, err = t.Call(ctx, env, args)
		return v, nil, err
	}
	action, answered := answerOf(req)
	switch {
	case action == "accept":
		c.declined.Delete(t.Name)
		c.seated.Store(true)
		args = withConfirm(args, true)
		person := *env
		person.ForAgent = false // who was shown all that this does, and agreed
		env = &person
	case action == "decline":
		c.declined.Store(t.Name, true)
		return nil, nil, errDeclined
	case answered && shown(args) && !c.isDeclined(t.Name):
	case answered, c.isDeclined(t.Name):
		args = withConfirm(args, false)
	default:
		if plan, done, err := c.grave(ctx, env, t, args); plan != nil || done != nil || err != nil {
			return done, question(plan), err
		}
	}
	v, err = t.Call(ctx, env, args)
	if plan, ok := errors.AsType[*tool.NeedsConfirm](err); ok && plan.Needs == "" && !answered {
		return nil, question(plan), nil
	}
	return v, nil, err
}

// wish are the arguments of a call that say how much of it was agreed to.
type wish struct {
	Confirm    bool   `json:"confirm"`
	Preflight  bool   `json:"preflight"`
	Secrets    bool   `json:"include_secrets"`
	Fixes      string `json:"fixes"`
	PlanDigest string `json:"plan_digest"`
}

func wishOf(args json.RawMessage) (w wish) {
	_ = json.Unmarshal(args, &w) // what is no such object wishes nothing, and is refused by the tool
	return w
}

// shown reports whether a call confirms a plan that was shown.
func shown(args json.RawMessage) bool { return wishOf(args).PlanDigest != "" }

// grave reports whether the role gets what may do harm whoever reads or runs it.
func (w wish) grave() bool { return w.Secrets || w.Fixes != "" }

// grave is the plan of a confirmed call that the person is asked about all the same;
// nil where it may go on. done is the result of a call that needed no consent, and err
// why it can't be made at all.
func (c *consent) grave(ctx context.Context, env *tool.Env, t tool.Tool, args json.RawMessage) (plan *tool.NeedsConfirm, done any, err error) {
	w := wishOf(args)
	if !w.Confirm || w.Preflight || !t.Hints.Seats || c.seated.Load() && !w.grave() {
		return nil, nil, nil
	}
	done, err = t.Call(ctx, env, withConfirm(args, false))
	if !errors.As(err, &plan) {
		return nil, done, err
	}
	if plan.Seat && !c.seated.Load() || w.grave() {
		return plan, nil, nil
	}
	return nil, nil, nil
}

func (c *consent) isDeclined(tool string) bool {
	_, declined := c.declined.Load(tool)
	return declined
}

func confirmable(t tool.Tool) bool { return t.Input != nil && t.Input.Properties["confirm"] != nil }

// canAsk reports whether the client of a request shows forms to a person. What
// a client claims counts only in the era that its request is of.
func canAsk(req *mcp.CallToolRequest) bool {
	if req.Session == nil {
		return false
	}
	if _, modern := req.Params.Meta[versionKey]; !modern && req.ProtocolVersion() >= stateless {
		return false
	}
	able := req.ClientCapabilities()
	if able == nil || able.Elicitation == nil {
		return false
	}
	return able.Elicitation.Form != nil || able.Elicitation.URL == nil
}

// consentKey names the question in a request's round trips.
const consentKey = "confirm"

func answerOf(req *mcp.CallToolRequest) (action string, answered bool) {
	answer, ok := req.Params.InputResponses[consentKey].(*mcp.ElicitResult)
	if !ok {
		return "", false
	}
	return answer.Action, true
}

func question(plan *tool.NeedsConfirm) *mcp.CallToolResult {
	if plan == nil {
		return nil
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{consentKey: &mcp.ElicitParams{
		Message:         visible.Lines("svc would " + plan.Would + ". " + plan.Cost),
		RequestedSchema: &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}},
	}}}
}

// withConfirm sets the argument; arguments that are no object stay as they are,
// for the tool to refuse.
func withConfirm(args json.RawMessage, yes bool) json.RawMessage {
	all := map[string]json.RawMessage{}
	if len(args) > 0 && json.Unmarshal(args, &all) != nil {
		return args
	}
	delete(all, "confirm")
	if yes {
		all["confirm"] = json.RawMessage("true")
	}
	b, err := json.Marshal(all)
	if err != nil {
		return args
	}
	return b
}
