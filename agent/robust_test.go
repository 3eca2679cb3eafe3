package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc/agent/lineguard"
	"svc/backend"
	"svc/backend/client"
	"svc/tools"
	"svc/tools/tool"
)

// charactersToken is how many characters of JSON a model's token has, roughly.
const charactersToken = 4

// The list of tools must fit what clients and models have room for.
const (
	maxListBytes    = 25 << 10
	maxListTokens   = 3200
	mayGrow         = 1.05
	budgetFile      = "testdata/budget.json"
	parallel, calls = 100, 10_000
)

type budget struct {
	Tools   int `json:"tools"`
	Wire    int `json:"wire"`    // bytes of the whole list
	Visible int `json:"visible"` // bytes of what models see: names, descriptions, input schemas
}

func TestTheListKeepsItsBudget(t *testing.T) {
	is := is.New(t)
	listed, err := connect(t, newEnv(t), nil).ListTools(t.Context(), nil)
	is.NoErr(err)
	now := budget{Tools: len(listed.Tools)}
	for _, made := range listed.Tools {
		now.Wire += len(lineguard.Line(made)) + 1
		now.Visible += len(lineguard.Line(map[string]any{"name": made.Name, "description": made.Description, "input_schema": made.InputSchema}))
	}
	if *update {
		is.NoErr(os.WriteFile(budgetFile, []byte(lineguard.Line(now)+"\n"), 0o644))
	}
	b, err := os.ReadFile(budgetFile)
	is.NoErr(err)
	var before budget
	is.NoErr(json.Unmarshal(b, &before))
	t.Logf("%+v, some %.0f tokens", now, float64(now.Visible)/charactersToken)
	is.True(float64(now.Wire) <= mayGrow*float64(before.Wire)) // grew by more than 5 %: shorten, or go test ./agent -update
	is.True(float64(now.Visible) <= mayGrow*float64(before.Visible))
	is.True(now.Wire <= maxListBytes)
	is.True(float64(now.Visible)/charactersToken <= maxListTokens)
}

func TestAHundredCallsAtOnce(t *testing.T) {
	is := is.New(t)
	session := connect(t, newEnv(t), eras["modern"])
	failed := make(chan error, parallel)
	var all sync.WaitGroup
	for i := range parallel {
		all.Go(func() {
			name, args := "svc_whoami", map[string]any{}
			if i%10 == 0 {
				name, args = "svc_assess", map[string]any{"root": fixture}
			}
			r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
			if err == nil && r.IsError {
				err = errors.New(text(r))
			}
			failed <- err
		})
	}
	all.Wait()
	for range parallel {
		is.NoErr(<-failed)
	}
}

// TestNoLeak makes ten thousand calls, with progress asked for.
func TestNoLeak(t *testing.T) {
	is := is.New(t)
	session := connect(t, newEnv(t), eras["legacy"])
	run := func(n int) (goroutines int, heap uint64) {
		for range n {
			params := &mcp.CallToolParams{Name: "svc_ask_question", Arguments: map[string]any{"question": "What does exit code 6 mean?", "confirm": true}}
			params.SetProgressToken("t")
			r, err := session.CallTool(t.Context(), params)
			is.NoErr(err)
			is.True(!r.IsError)
		}
		time.Sleep(50 * time.Millisecond) // goroutines that were told to end do so
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return runtime.NumGoroutine(), m.HeapAlloc
	}
	goroutinesBefore, heapBefore := run(500)
	goroutinesAfter, heapAfter := run(calls)
	t.Logf("goroutines %d to %d, heap %d to %d", goroutinesBefore, goroutinesAfter, heapBefore, heapAfter)
	is.True(goroutinesAfter <= goroutinesBefore+5)
	is.True(heapAfter < heapBefore+4<<20)
}

// withTool is a client of a server that has one more tool.
func withTool(t *testing.T, era *mcp.ClientSessionOptions, o *mcp.ClientOptions, fn func(context.Context, *tool.Env, json.RawMessage) (any, error)) *mcp.ClientSession {
	t.Helper()
	env := newEnv(t)
	store := temporary(t, env.Log)
	s := newServer(env, store, Options{Log: env.Log})
	made := tool.Tool{Name: "svc_test", Hints: tool.Hints{Idempotent: true}, Call: fn, Input: tools.All()[0].Input, Output: tools.All()[0].Input}
	s.AddTool(describe(made), handler(env, (&flights{}).patient(guarded(made, env.Log)), &consent{}, store, env.Log))
	return connectTo(t, s, era, o)
}

func TestCancellationStopsTheWork(t *testing.T) {
	for name, era := range eras {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			began, stopped := make(chan struct{}), make(chan struct{})
			session := withTool(t, era, nil, func(ctx context.Context, _ *tool.Env, _ json.RawMessage) (any, error) {
				close(began)
				<-ctx.Done()
				close(stopped)
				return nil, ctx.Err()
			})
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-began; cancel() }()
			_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "svc_test"})
			is.True(err != nil)
			select {
			case <-stopped:
			case <-time.After(5 * time.Second):
				t.Fatal("the work goes on")
			}
			is.True(!call(t, session, "svc_whoami", nil).IsError) // the session too
		})
	}
}

func TestProgressReachesTheClient(t *testing.T) {
	for name, era := range eras {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			told := make(chan *mcp.ProgressNotificationParams, 100)
			o := &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) { told <- req.Params }}
			session := withTool(t, era, o, func(_ context.Context, env *tool.Env, _ json.RawMessage) (any, error) {
				env.Progress("reading", 1, 2)
				return map[string]string{"a": "b"}, nil
			})
			params := &mcp.CallToolParams{Name: "svc_test"}
			params.SetProgressToken("t")
			_, err := session.CallTool(t.Context(), params)
			is.NoErr(err)
			is.Equal((<-told).Message, "reading: 1 of 2")
		})
	}
}

// TestProgressHasARhythm runs a silent minute and a busy second on a clock of
// its own.
func TestProgressHasARhythm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		ctx, cancel := context.WithCancel(t.Context())
		var sent []float64
		p := &progress{what: "working", send: func(n float64, _ string) { sent = append(sent, n) }}
		go p.beat(ctx)
		time.Sleep(time.Minute)
		synctest.Wait()
		is.True(len(sent) >= 12) // at least every 5 s
		before := len(sent)
		for i := range 1000 {
			p.report("step", i, 1000)
			time.Sleep(time.Millisecond)
		}
		is.True(len(sent)-before <= 6) // no flood
		for i := range sent[1:] {
			is.True(sent[i+1] > sent[i]) // numbers only rise
		}
		cancel()
		synctest.Wait()
	})
}

// TestTheEndOfInputInACommit ends the input while a migration is written: out
// is whole, or not there.
func TestTheEndOfInputInACommit(t *testing.T) {
	is := is.New(t)
	for _, after := range []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond, time.Second} {
		env := newEnv(t)
		out := filepath.Join(t.TempDir(), "out")
		in, feed := io.Pipe()
		done := make(chan error, 1)
		go func() {
			done <- Serve(t.Context(), env, in, nopCloser{io.Discard}, Options{Log: env.Log, Results: t.TempDir()})
		}()
		for _, l := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"svc_migrate","arguments":{"root":%s,"target":"debian-13","out":%s,"confirm":true}}}`, lineguard.Line(fixture), lineguard.Line(out)),
		} {
			_, err := io.WriteString(feed, l+"\n")
			is.NoErr(err)
		}
		time.Sleep(after)
		feed.Close()
		is.NoErr(<-done)
		_, missing := os.Stat(out)
		_, unsigned := os.Stat(filepath.Join(out, "attestation.dsse.json"))
		is.True(os.IsNotExist(missing) || unsigned == nil)
		left, err := filepath.Glob(filepath.Join(filepath.Dir(out), ".svc-staging-*"))
		is.NoErr(err)
		is.Equal(len(left), 0)
	}
}

// TestTheTokenIsNowhere has a server refuse the token: no error and no log
// shows it.
func TestTheTokenIsNowhere(t *testing.T) {
	is := is.New(t)
	const secret = "svc_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	var logged strings.Builder
	env := newEnv(t)
	env.Log = slog.New(slog.NewTextHandler(&logged, nil))
	env.Client = func(context.Context) (*client.Client, error) {
		return client.New("http://127.0.0.1:9", secret, client.Options{})
	}
	session := connectTo(t, newServer(env, temporary(t, env.Log), Options{Log: env.Log}), nil, nil)
	r := call(t, session, "svc_whoami", nil)
	is.True(r.IsError)
	is.True(!strings.Contains(text(r)+logged.String(), secret))
}

func BenchmarkNoOpCall(b *testing.B) {
	is := is.New(b)
	c, closer, err := backend.OpenEmbedded(b.Context(), b.TempDir(), backend.Config{Log: slog.New(slog.DiscardHandler)})
	is.NoErr(err)
	defer closer.Close()
	env := &tool.Env{Log: slog.New(slog.DiscardHandler), Now: time.Now, LocalKey: localKey(), Client: func(context.Context) (*client.Client, error) { return c, nil }}
	here, there := mcp.NewInMemoryTransports()
	_, err = newServer(env, temporary(b, env.Log), Options{Log: env.Log}).Connect(b.Context(), there, nil)
	is.NoErr(err)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(), here, nil)
	is.NoErr(err)
	defer session.Close()
	for b.Loop() {
		_, err := session.CallTool(b.Context(), &mcp.CallToolParams{Name: "svc_whoami"})
		is.NoErr(err)
	}
}
