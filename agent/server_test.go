package agent

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/matryer/is"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc/agent/lineguard"
	"svc/backend"
	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/client"
	"svc/tools"
	"svc/tools/assessment"
	"svc/tools/collaboration"
	"svc/tools/tool"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// eras are the protocol versions that clients in use speak: the oldest
// handshake and the newest, which has none.
var eras = map[string]*mcp.ClientSessionOptions{
	"legacy": {ProtocolVersion: "2025-06-18"},
	"modern": nil,
}

const fixture = "../fixtures/hosts/debian-11-web"

// localKey is the key of a user of the tests.
func localKey() func() (ed25519.PrivateKey, error) {
	key := attest.NewKey()
	return func() (ed25519.PrivateKey, error) { return key, nil }
}

// newEnv is a real environment: the embedded backend on a new store.
func newEnv(t *testing.T) *tool.Env {
	t.Helper()
	dir := t.TempDir()
	var mu sync.Mutex
	var opened *client.Client
	return &tool.Env{
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Version: "test", LocalKey: localKey(),
		Client: func(ctx context.Context) (*client.Client, error) {
			mu.Lock()
			defer mu.Unlock()
			if opened != nil {
				return opened, nil
			}
			c, closer, err := backend.OpenEmbedded(ctx, dir, backend.Config{Log: slog.New(slog.DiscardHandler)})
			if err == nil {
				t.Cleanup(func() { closer.Close() })
				opened = c
			}
			return c, err
		},
	}
}

// connect starts a server over in-memory pipes and a real client of the era.
func connect(t *testing.T, env *tool.Env, era *mcp.ClientSessionOptions) *mcp.ClientSession {
	t.Helper()
	return connectTo(t, newServer(env, temporary(t, env.Log), Options{Version: "test", Log: env.Log}), era, nil)
}

// temporary keeps documents for as long as a test.
func temporary(t testing.TB, log *slog.Logger) *documents {
	return &documents{log: log, dir: t.TempDir()}
}

func connectTo(t *testing.T, s *mcp.Server, era *mcp.ClientSessionOptions, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	is := is.New(t)
	here, there := mcp.NewInMemoryTransports()
	_, err := s.Connect(t.Context(), there, nil)
	is.NoErr(err)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), here, era)
	is.NoErr(err)
	t.Cleanup(func() { session.Close() })
	return session
}

func TestToolsAreAsPublished(t *testing.T) {
	is := is.New(t)
	session := connect(t, newEnv(t), eras["modern"])
	listed, err := session.ListTools(t.Context(), nil)
	is.NoErr(err)
	is.Equal(len(listed.Tools), len(tools.All()))
	for _, made := range listed.Tools {
		b, err := json.MarshalIndent(made, "", "  ")
		is.NoErr(err)
		golden := filepath.Join("testdata", "tools", made.Name+".json")
		if *update {
			is.NoErr(os.WriteFile(golden, append(b, '\n'), 0o644))
		}
		want, err := os.ReadFile(golden)
		is.NoErr(err)                                              // every tool has its golden file: go test ./agent -update
		is.Equal(string(b), strings.TrimRight(string(want), "\n")) // the schema of a tool changed
	}
}

func TestSchemasArePortable(t *testing.T) {
	for _, made := range tools.All() {
		for what, schema := range map[string]*jsonschema.Schema{"input": made.Input, "output": made.Output} {
			b, err := json.Marshal(schema)
			is.New(t).NoErr(err)
			if schema.OneOf != nil || schema.AnyOf != nil || schema.AllOf != nil {
				t.Errorf("%s %s: a combinator at the top: some providers refuse the whole list", made.Name, what)
			}
			for _, bad := range []string{`"null"`, `"type":[`} {
				if strings.Contains(string(b), bad) {
					t.Errorf("%s %s schema has %s: %s", made.Name, what, bad, b)
				}
			}
		}
		if made.Title == "" || made.Description == "" {
			t.Errorf("%s has no title or description", made.Name)
		}
	}
}

func TestCallsInBothEras(t *testing.T) {
	for name, era := range eras {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			session := connect(t, newEnv(t), era)
			whoami := call(t, session, "svc_whoami", nil)
			is.True(!whoami.IsError)
			is.True(strings.Contains(text(whoami), `"plan":"internal"`))
			sameTwice(t, whoami)

			assessed := call(t, session, "svc_assess", map[string]any{"root": fixture})
			is.True(!assessed.IsError)
			sameTwice(t, assessed)
			is.True(len(text(assessed)) < 10<<10) // a summary is small

			refused := call(t, session, "svc_assess", map[string]any{})
			is.True(refused.IsError)
			is.Equal(refused.StructuredContent, nil) // errors are text only
			is.True(strings.Contains(text(refused), "Nothing was changed"))
		})
	}
}

func TestSummaryNamesWhereTheRestIs(t *testing.T) {
	is := is.New(t)
	session := connect(t, newEnv(t), eras["modern"])
	var summary assessment.Result
	is.NoErr(json.Unmarshal([]byte(text(call(t, session, "svc_assess", map[string]any{"root": fixture}))), &summary))
	is.True(summary.Truncated)
	is.True(summary.Total["packages"] > len(summary.Packages))
	rest, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: summary.Resource})
	is.NoErr(err)
	var whole assessment.Result
	is.NoErr(json.Unmarshal([]byte(rest.Contents[0].Text), &whole))
	is.Equal(len(whole.Packages), summary.Total["packages"])
	_, err = session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: documentScheme + "nothing"})
	is.True(err != nil)
}

func TestMigrateNeedsConfirm(t *testing.T) {
	is := is.New(t)
	session := connect(t, newEnv(t), eras["modern"])
	out := filepath.Join(t.TempDir(), "out")
	r := call(t, session, "svc_migrate", map[string]any{"root": fixture, "target": "debian-13", "out": out})
	is.True(r.IsError)
	is.True(strings.Contains(text(r), "confirm"))
	_, err := os.Stat(out)
	is.True(os.IsNotExist(err)) // nothing was written
}

func TestMigrateWritesAndNeverReturnsThePlaybook(t *testing.T) {
	is := is.New(t)
	session := connect(t, newEnv(t), eras["modern"])
	out := filepath.Join(t.TempDir(), "out")
	r := call(t, session, "svc_migrate", map[string]any{"root": fixture, "target": "debian-13", "out": out, "confirm": true})
	is.True(!r.IsError) // inhibitors never stop planning
	sameTwice(t, r)
	_, err := os.Stat(filepath.Join(out, "attestation.dsse.json"))
	is.NoErr(err)
	is.True(!strings.Contains(text(r), "ansible.builtin"))
}

func TestCollaborationInBothEras(t *testing.T) {
	for name, era := range eras {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			session := connect(t, newEnv(t), era)
			finding := map[string]any{"kind": "bug", "title": "nginx fails on web01", "body": strings.Repeat("see /etc/nginx ", 900)}
			asked := call(t, session, "svc_report_finding", finding)
			is.True(asked.IsError)
			is.True(strings.Contains(text(asked), "nginx fails on [host]")) // what would be sent
			finding["confirm"] = true
			is.True(!call(t, session, "svc_report_finding", finding).IsError)
			got := call(t, session, "svc_get_finding", map[string]any{"id": "1"})
			is.True(len(text(got)) < 8<<10)
			is.True(strings.Contains(text(got), `"resource":"svc://document/finding-1-`))
			for _, made := range []string{"svc_get_status", "svc_whats_new", "svc_updates", "svc_export_collaboration", "svc_list_findings", "svc_list_questions"} {
				r := call(t, session, made, nil)
				is.True(!r.IsError)
				sameTwice(t, r)
			}
			answer := call(t, session, "svc_ask_question", map[string]any{"question": "What does exit code 6 mean?", "confirm": true})
			is.True(strings.Contains(text(answer), `"answered":true`))
			is.True(strings.Contains(text(answer), "guide, exit-codes"))
			open := call(t, session, "svc_ask_question", map[string]any{"question": "Who painted web01 blue?", "confirm": true})
			is.True(strings.Contains(text(open), `"question":"Who painted [host] blue?"`))
			missing := call(t, session, "svc_get_question", map[string]any{"id": 7})
			is.True(missing.IsError)
			is.True(strings.Contains(text(missing), "NOT_FOUND"))
		})
	}
}

// TestLongListsGoOn follows the cursor of a list that does not fit in a result.
func TestLongListsGoOn(t *testing.T) {
	is := is.New(t)
	env := newEnv(t)
	session := connect(t, env, eras["modern"])
	c, err := env.Client(t.Context())
	is.NoErr(err)
	for range 70 {
		_, err := client.Call(t.Context(), c, api.FileFinding, api.FindingRequest{Kind: "coverage", Title: strings.Repeat("a long title ", 15), Body: "x"})
		is.NoErr(err)
	}
	seen, args := map[int64]bool{}, map[string]any{}
	for len(seen) < 70 {
		r := call(t, session, "svc_list_findings", args)
		is.True(len(text(r)) < 8<<10)
		var l collaboration.FindingList
		is.NoErr(json.Unmarshal([]byte(text(r)), &l))
		for _, f := range l.Findings {
			is.True(!seen[f.ID]) // no entry twice
			seen[f.ID] = true
		}
		is.Equal(l.NextCursor == "", len(seen) == 70)
		args["cursor"] = l.NextCursor
	}
}

func TestUnknownArgumentsAreRefusedInWords(t *testing.T) {
	is := is.New(t)
	session := connect(t, newEnv(t), eras["legacy"])
	r := call(t, session, "svc_assess", map[string]any{"rot": fixture})
	is.True(r.IsError)
	is.True(strings.Contains(text(r), "rot"))
}

func TestAPanicIsAResult(t *testing.T) {
	is := is.New(t)
	made := tool.Tool{Name: "svc_broken", Hints: tool.Hints{Idempotent: true}, Call: func(context.Context, *tool.Env, json.RawMessage) (any, error) { panic("broken") }}
	r, err := handler(newEnv(t), (&flights{}).patient(guarded(made, slog.New(slog.DiscardHandler))), &consent{}, &documents{}, slog.New(slog.DiscardHandler))(t.Context(), &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{}})
	is.NoErr(err)
	is.True(r.IsError)
}

// TestHostileLines drives the whole server over its streams with lines that
// are no messages: the session must go on.
func TestHostileLines(t *testing.T) {
	is := is.New(t)
	in, feed := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	env := newEnv(t)
	go func() { done <- Serve(t.Context(), env, in, out, Options{Log: env.Log, Results: t.TempDir()}) }()
	go func() {
		for _, line := range []string{
			"not json", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, `[]`, "", `{"jsonrpc":"2.0"}`,
			"\ufeff" + `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		} {
			io.WriteString(feed, line+"\n")
		}
	}()
	d := json.NewDecoder(answers)
	codes := []int{}
	for {
		var m struct {
			ID    *int
			Error struct{ Code int }
		}
		is.NoErr(d.Decode(&m))
		if m.ID != nil && *m.ID == 7 {
			break
		}
		codes = append(codes, m.Error.Code)
	}
	is.Equal(codes, []int{-32700, -32600, -32600, -32600})
	feed.Close()
	is.NoErr(<-done) // the end of input is a normal end
}

// TestPipedRequestsAreAnswered ends the input right after the requests, as a
// shell does.
func TestPipedRequestsAreAnswered(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	requests := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"svc_assess","arguments":{"root":"` + fixture + `"}}}
`
	env := newEnv(t)
	is.NoErr(Serve(t.Context(), env, io.NopCloser(strings.NewReader(requests)), nopCloser{&out}, Options{Log: env.Log, Results: t.TempDir()}))
	is.Equal(strings.Count(out.String(), "\n"), 2)
	is.True(strings.Contains(out.String(), `"id":2`))
	is.True(strings.Contains(out.String(), "debian-11"))
}

func FuzzLineGuard(f *testing.F) {
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\nnope\n"))
	f.Fuzz(func(t *testing.T, input []byte) {
		var out bytes.Buffer
		g := lineguard.New(io.NopCloser(bytes.NewReader(input)), nopCloser{&out})
		passed, err := io.ReadAll(g)
		is.New(t).NoErr(err)
		for line := range bytes.Lines(passed) {
			is.New(t).True(json.Valid(line)) // only messages pass
		}
	})
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func call(t *testing.T, s *mcp.ClientSession, name string, args map[string]any) *mcp.CallToolResult {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	is.New(t).NoErr(err)
	if !r.IsError {
		conforms(t, name, r)
	}
	return r
}

// conforms checks a result against the schema that its tool publishes: strict
// clients do too.
func conforms(t *testing.T, name string, r *mcp.CallToolResult) {
	t.Helper()
	is := is.New(t)
	for _, made := range tools.All() {
		if made.Name == name {
			schema, err := made.Output.Resolve(nil)
			is.NoErr(err)
			var v any
			is.NoErr(json.Unmarshal([]byte(text(r)), &v))
			is.NoErr(schema.Validate(v))
		}
	}
}

func text(r *mcp.CallToolResult) string { return r.Content[0].(*mcp.TextContent).Text }

// sameTwice checks that structure and text are one value.
func sameTwice(t *testing.T, r *mcp.CallToolResult) {
	t.Helper()
	is := is.New(t)
	var a, b any
	structured, err := json.Marshal(r.StructuredContent)
	is.NoErr(err)
	is.NoErr(json.Unmarshal(structured, &a))
	is.NoErr(json.Unmarshal([]byte(text(r)), &b))
	is.Equal(a, b)
}
