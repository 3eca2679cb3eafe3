package server

import (
	"context"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"svc/backend/api"
)

// routes is the whole surface of the service.
func (s *Server) routes() []route {
	return []route{
		mount(api.Health, s.health),
		mount(api.Version, s.version),
		mount(api.OpenAPI, s.openAPI),

		mount(api.Resolve, s.resolve),
		mount(api.Translate, s.translate),
		mount(api.ConfigPaths, s.configPaths),
		fixed(api.Releases, s.releases),
		fixed(api.UpgradeEdges, s.upgradeEdges),

		rechecks(mount(api.Usage, s.usage)),
		mount(api.Authorize, s.authorize),
		rechecks(mount(api.Enroll, s.enroll)),
		rechecks(mount(api.CVEScan, s.cveScan)),

		mount(api.GetAccount, s.account),
		mount(api.GetUsage, s.usageHistory),
		mount(api.GetVMs, s.vms),
		join(api.GetStatement, s.statement),
		mount(api.GetCapacity, s.capacity),
		mount(api.Entitlements, s.capacity),
		mount(api.Terms, s.capacity),

		mount(api.FileFinding, s.fileFinding),
		mount(api.ListFindings, s.findings),
		mount(api.GetFinding, s.finding),
		mount(api.ResolveFinding, s.resolveFinding),
		mount(api.AskQuestion, s.askQuestion),
		mount(api.ListQuestions, s.questions),
		mount(api.GetQuestion, s.question),
		mount(api.AnswerQuestion, s.answerQuestion),

		mount(api.AttestSign, s.attestSign),
		mount(api.AttestKeys, s.attestKeys),
		mount(api.Schema, s.schema),
	}
}

// route is an endpoint and the function that answers it.
type route struct {
	method, path string
	auth         api.Auth
	status       int
	replay       bool
	rechecks     bool // the token, where it records
	doc          string
	in, out      reflect.Type
	// answer decodes the request and calls the function.
	answer func(http.ResponseWriter, *http.Request, caller) (any, error)
}

// mount joins an endpoint to the function that answers it.
func mount[In, Out any](e api.Endpoint[In, Out], fn func(context.Context, caller, In) (Out, error)) route {
	return join(e, func(ctx context.Context, c caller, in In) (any, error) { return fn(ctx, c, in) })
}

// maxFixed is how many answers of an endpoint are kept: an engine has as many
// spellings as there are ways to write its letters small or large.
const maxFixed = 100

// fixed joins an endpoint whose answers only the requests decide, as the index stays
// the same: each is encoded once. What is refused is not kept.
func fixed[In comparable, Out any](e api.Endpoint[In, Out], fn func(context.Context, caller, In) (Out, error)) route {
	var answers sync.Map // encoded, by In
	var kept atomic.Int32
	return join(e, func(ctx context.Context, c caller, in In) (any, error) {
		if text, ok := answers.Load(in); ok {
			return text, nil
		}
		out, err := fn(ctx, c, in)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(out)
		if err == nil && kept.Add(1) <= maxFixed {
			answers.Store(in, encoded(text))
		}
		return encoded(text), err
	})
}

func join[In, Out any](e api.Endpoint[In, Out], fn func(context.Context, caller, In) (any, error)) route {
	return route{
		method: e.Method, path: e.Path, auth: e.Auth, status: max(e.Status, http.StatusOK), replay: e.Replay, doc: e.Doc,
		in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](),
		answer: func(w http.ResponseWriter, r *http.Request, c caller) (any, error) {
			var in In
			if err := c.read(w, r, e.Replay, &in); err != nil {
				return nil, err
			}
			end, err := c.begin()
			if err != nil {
				return nil, err
			}
			defer end()
			ctx := &patience{request: r.Context()}
			defer ctx.end()
			return fn(ctx, c, in)
		},
	}
}

// rechecks marks a route that answers nothing before the store has found the
// token to hold.
func rechecks(r route) route {
	r.rechecks = true
	return r
}
