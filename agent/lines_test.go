package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc/agent/lineguard"
	"svc/tools"
	"svc/tools/tool"
)

const (
	hello     = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`
	ready     = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	callSlow  = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"svc_slow"}}`
	pingAsOne = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
)

// conversation runs a server of one tool on a clock of its own: the client
// sends lines and ends its input. It gives what the client reads until the
// server has ended, and when that was.
func conversation(t *testing.T, made tool.Tool, reads bool, lines ...string) (answers []string, took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		log := slog.New(slog.DiscardHandler)
		s := mcp.NewServer(&mcp.Implementation{Name: "test"}, nil)
		made.Name, made.Input, made.Output = "svc_slow", tools.All()[0].Input, tools.All()[0].Input
		s.AddTool(describe(made), handler(&tool.Env{Log: log}, made, &consent{}, temporary(t, log), log))
		in, feed := io.Pipe()
		unread, out := io.Pipe()
		read := make(chan string, 1)
		if reads {
			go func() { b, _ := io.ReadAll(unread); read <- string(b) }()
		}
		go func() {
			for _, l := range lines {
				io.WriteString(feed, l+"\n")
			}
			feed.Close()
		}()
		start := time.Now()
		is.NoErr(serve(t.Context(), s, lineguard.New(in, out), log))
		took = time.Since(start)
		out.Close()
		if reads {
			answers = strings.Split(strings.TrimSpace(<-read), "\n")
		}
		unread.Close()
		time.Sleep(2 * time.Hour) // what the server has left behind ends
	})
	return answers, took
}

func takes(d time.Duration, obeys bool) tool.Tool {
	return tool.Tool{Call: func(ctx context.Context, _ *tool.Env, _ json.RawMessage) (any, error) {
		if !obeys {
			ctx = context.Background()
		}
		select {
		case <-time.After(d):
			return map[string]string{"done": "yes"}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
}

// TestAnIdInUseIsRefused sends ids again while their requests are in flight:
// each is answered or refused, in whatever form the id is written.
func TestAnIdInUseIsRefused(t *testing.T) {
	is := is.New(t)
	for _, id := range []string{`1`, `1.0`, `1e0`, `"a"`, `"\u0061"`} {
		first := `1`
		if id[0] == '"' {
			first = `"a"`
		}
		answers, took := conversation(t, takes(time.Second, true), true, hello, ready, fmt.Sprintf(callSlow, first), fmt.Sprintf(callSlow, id), fmt.Sprintf(callSlow, id))
		is.Equal(took, time.Second)
		is.Equal(len(answers), 4)
		all := strings.Join(answers, "\n")
		is.Equal(strings.Count(all, `"id":`+first), 1)
		is.Equal(strings.Count(all, `"code":-32600`), 2)
	}
}

// TestTheSessionEnds ends the input in every bad moment.
func TestTheSessionEnds(t *testing.T) {
	big := tool.Tool{Call: func(context.Context, *tool.Env, json.RawMessage) (any, error) {
		return map[string]string{"a": strings.Repeat("a", 100)}, nil
	}}
	asks := tool.Tool{Call: func(context.Context, *tool.Env, json.RawMessage) (any, error) {
		return nil, &tool.NeedsConfirm{Would: "write", Cost: "Nothing."}
	}}
	slowly := fmt.Sprintf(callSlow, `1`)
	for name, c := range map[string]struct {
		made  tool.Tool
		reads bool
		lines []string
		most  time.Duration
	}{
		"at once":                           {takes(0, true), true, []string{hello, ready}, 0},
		"in a call that ends":               {takes(time.Second, true), true, []string{hello, ready, slowly}, time.Second},
		"in a call that is cancelled":       {takes(time.Hour, true), true, []string{hello, ready, slowly, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`}, 0},
		"in a call that goes on":            {takes(time.Hour, true), true, []string{hello, ready, slowly}, lineguard.Patience},
		"in a call that nothing ends":       {takes(time.Hour, false), true, []string{hello, ready, slowly}, lineguard.Patience + grace},
		"in a question to the person":       {asks, true, []string{hello, ready, slowly}, 0},
		"with a client that does not read":  {big, false, []string{hello, ready, slowly}, lineguard.UnreadAtEnd + grace},
		"with refusals that nobody reads":   {big, false, []string{"no message", "nor this"}, lineguard.Unread + grace},
		"with an answer that can't be used": {takes(0, true), true, []string{hello, ready, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`}, 0},
		"with ids of another spelling":      {takes(time.Second, true), true, []string{hello, ready, `{"jsonrpc":"2.0","ID":7,"method":"ping"}`, pingAsOne}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, took := conversation(t, c.made, c.reads, c.lines...)
			if took > c.most {
				t.Errorf("took %v, not at most %v", took, c.most)
			}
		})
	}
}

// TestAClientThatStopsReading keeps its input open.
func TestAClientThatStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		in, feed := io.Pipe()
		unreadEnd, out := io.Pipe()
		go io.WriteString(feed, hello+"\n")
		start := time.Now()
		is.NoErr(serve(t.Context(), mcp.NewServer(&mcp.Implementation{Name: "test"}, nil), lineguard.New(in, out), slog.New(slog.DiscardHandler)))
		is.True(time.Since(start) <= lineguard.Unread+grace)
		feed.CloseWithError(errors.New("over"))
		unreadEnd.Close()
		time.Sleep(time.Hour)
	})
}
