// Package agent speaks the Model Context Protocol on a pair of streams: every
// tool of package tools, served to the coding agent that started svc.
package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc/agent/lineguard"
	"svc/backend/sliced"
	"svc/backend/visible"
	"svc/tools"
	"svc/tools/tool"
)

// Options are what Serve takes beside its streams.
type Options struct {
	Version string
	Log     *slog.Logger // never to stdout: that is the protocol's
	// ReadOnly leaves out every tool that may change something anywhere. It
	// wins over Tools.
	ReadOnly bool
	// Tools are the names of those to serve; all where empty.
	Tools []string
	// Results is the folder in which the whole of cut results is kept, for later
	// sessions too.
	Results string
}

// Check refuses a name that no tool has.
func (o Options) Check() error {
	known := sliced.Map(tools.All(), func(t tool.Tool) string { return t.Name })
	for _, name := range o.Tools {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no tool %q: the tools are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// tools are those to serve.
func (o Options) tools() []tool.Tool {
	return slices.DeleteFunc(tools.All(), func(t tool.Tool) bool {
		return o.ReadOnly && !t.Hints.ReadOnly || len(o.Tools) > 0 && !slices.Contains(o.Tools, t.Name)
	})
}

// grace is how long work that was told to end has for it.
const grace = 5 * time.Second

// Serve answers on in and out until in ends, ctx is done, or the client has
// stopped reading. It returns nil on each of them; what then still does not end
// is left behind, for the program to end.
func Serve(ctx context.Context, env *tool.Env, in io.ReadCloser, out io.WriteCloser, o Options) error {
	return serve(ctx, newServer(env, &documents{log: o.Log, dir: o.Results}, o), lineguard.New(in, out), o.Log)
}

func serve(ctx context.Context, s *mcp.Server, guard *lineguard.Guard, log *slog.Logger) error {
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, &mcp.IOTransport{Reader: guard, Writer: guard.Out}) }()
	select {
	case err := <-ended:
		return abnormal(err)
	case <-ctx.Done():
	case <-guard.Over:
	case <-guard.Out.Broken:
	}
	select {
	case err := <-ended:
		return abnormal(err)
	case <-time.After(grace):
		log.Warn("the session has ended, and some of its work has not")
		return nil
	}
}

// abnormal is the error of a session that did not end as sessions do.
func abnormal(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) || errors.Is(err, lineguard.ErrUnread) {
		return nil
	}
	return err
}

// newServer makes the MCP server over tools.All. What results leave out is
// kept in store.
func newServer(env *tool.Env, store *documents, o Options) *mcp.Server {
	served := *env
	served.Resources, served.ForAgent = store, true
	s := mcp.NewServer(&mcp.Implementation{Name: "svc", Title: "svc", Version: o.Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Logger:       o.Log,
		Capabilities: &mcp.ServerCapabilities{
			Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Prompts: &mcp.PromptCapabilities{}, Completions: &mcp.CompletionCapabilities{},
		},
		CompletionHandler: complete(env),
		SetCacheable:      cacheable,
	})
	addResources(s, env, store)
	addPrompts(s)
	asked, flying := &consent{}, &flights{}
	for _, t := range o.tools() {
		s.AddTool(describe(t), handler(&served, flying.patient(guarded(t, o.Log)), asked, store, o.Log))
	}
	return s
}

// cacheable says how long a client may take an answer for what it still is: lists,
// the guide and documents never change in a session; folders, findings and
// questions may at once.
func cacheable(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
	c.CacheScope = "private"
	read, ok := req.(*mcp.ReadResourceRequest)
	if !ok || strings.HasPrefix(read.Params.URI, guideURI) || strings.HasPrefix(read.Params.URI, documentScheme) {
		c.TTLMs = 300_000
	}
}

// describe is the tool as clients see it, with all four hints explicit.
func describe(t tool.Tool) *mcp.Tool {
	return &mcp.Tool{
		Name:         t.Name,
		Title:        t.Title,
		Description:  t.Description,
		InputSchema:  t.Input,
		OutputSchema: t.Output,
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint:    t.Hints.ReadOnly,
			DestructiveHint: &t.Hints.Destructive,
			IdempotentHint:  t.Hints.Idempotent,
			OpenWorldHint:   &t.Hints.OpenWorld,
		},
	}
}

// guarded gives a tool whose panics are errors: the session goes on.
func guarded(t tool.Tool, log *slog.Logger) tool.Tool {
	work := t.Call
	t.Call = func(ctx context.Context, env *tool.Env, args json.RawMessage) (_ any, err error) {
		defer func() {
			if r := recover(); r != nil {
				log.Error("panic in tool", "tool", t.Name, "panic", r, "stack", string(debug.Stack()))
				err = fmt.Errorf("%s failed by a fault of svc itself; what it had begun was not finished", t.Name)
			}
		}()
		return work(ctx, env, args)
	}
	return t
}

// handler runs a tool. Whatever goes wrong becomes a result that is an error in
// words.
func handler(env *tool.Env, t tool.Tool, asked *consent, store *documents, log *slog.Logger) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx, done := context.WithCancel(ctx)
		defer done()
		call := *env
		if p := newProgress(ctx, req); p != nil {
			call.Progress = p.report
		}
		v, question, err := asked.call(ctx, &call, t, req)
		if question != nil {
			return question, nil
		}
		if err != nil {
			log.Info("tool refused", "tool", t.Name, "error", err)
			return refusal(err), nil
		}
		return success(v, store)
	}
}

func refusal(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: visible.Lines(explain(err))}}}
}

// success carries the value as structure and the same JSON as text: clients
// show the model one or the other, and what is hidden in a machine's texts is
// spelt out in both. Package versions keep their < and >. A link leads to what
// the result leaves out.
func success(v any, store *documents) (*mcp.CallToolResult, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return refusal(fmt.Errorf("encoding the result: %w", err)), nil
	}
	text, uri := store.located(bytes.TrimSpace(b.Bytes()))
	text, err := visible.Values(text)
	if err != nil {
		return refusal(err), nil
	}
	result := &mcp.CallToolResult{StructuredContent: json.RawMessage(text), Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}
	if uri != "" {
		result.Content = append(result.Content, &mcp.ResourceLink{URI: uri, Name: path.Base(uri)})
	}
	return result, nil
}
