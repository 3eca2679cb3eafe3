package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc/tools/assessment"
	"svc/tools/tool"
)

func TestInstructionsAreShort(t *testing.T) {
	is := is.New(t)
	is.True(len(instructions) <= 2<<10)
	for _, tool := range []string{"svc_whoami", "svc_assess", "svc_migrate", "svc_verify", "svc_ask_question", "svc_report_finding"} {
		is.True(strings.Contains(instructions, tool))
	}
}

func TestPromptsNameToolsThatExist(t *testing.T) {
	for era := range eras {
		t.Run(era, func(t *testing.T) {
			is := is.New(t)
			session := connect(t, newEnv(t), eras[era])
			listed, err := session.ListPrompts(t.Context(), nil)
			is.NoErr(err)
			is.Equal(len(listed.Prompts), 3)
			for _, p := range listed.Prompts {
				args := map[string]string{}
				for _, a := range p.Arguments {
					args[a.Name] = "debian-13"
				}
				got, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name, Arguments: args})
				is.NoErr(err)
				said := got.Messages[0].Content.(*mcp.TextContent).Text
				is.True(strings.Contains(said, `"debian-13"`))
				is.True(!strings.Contains(said, "%!"))
				_, err = session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name})
				is.True(err != nil) // an argument is missing
			}
		})
	}
}

func TestResources(t *testing.T) {
	is := is.New(t)
	session := connect(t, newEnv(t), eras["modern"])
	read := func(uri string) (string, error) {
		r, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			return "", err
		}
		return r.Contents[0].Text, nil
	}
	whole, err := read("svc://guide")
	is.NoErr(err)
	is.True(strings.Contains(whole, "## seats"))
	passage, err := read("svc://guide/ssh.root-login")
	is.NoErr(err)
	is.True(strings.Contains(passage, "PermitRootLogin"))
	call(t, session, "svc_report_finding", map[string]any{"kind": "bug", "title": "t", "body": strings.Repeat("word ", 3000), "confirm": true})
	finding, err := read("svc://finding/1")
	is.NoErr(err)
	is.True(len(finding) > 15000) // nothing is cut
	for _, uri := range []string{"svc://guide/nothing", "svc://finding/2", "svc://question/x", "svc://out/00000000/plan.json"} {
		_, err := read(uri)
		is.True(err != nil)
	}
}

// TestWrittenFoldersAreResources reads what a migration wrote, and nothing
// beside it.
func TestWrittenFoldersAreResources(t *testing.T) {
	is := is.New(t)
	session := connect(t, newEnv(t), eras["legacy"])
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	is.NoErr(os.WriteFile(filepath.Join(dir, "secret"), []byte("secret"), 0o600))
	r := call(t, session, "svc_migrate", map[string]any{"root": fixture, "target": "debian-13", "out": out, "confirm": true})
	var result struct{ Resource string }
	is.NoErr(json.Unmarshal([]byte(text(r)), &result))
	is.True(strings.HasPrefix(result.Resource, outScheme))
	is.Equal(r.Content[1].(*mcp.ResourceLink).URI, result.Resource+"report.html")
	is.NoErr(os.Symlink(filepath.Join(dir, "secret"), filepath.Join(out, "link")))
	for file, readable := range map[string]bool{"plan.json": true, "report.html": true, "role/tasks/main.yml": true, "../secret": false, "link": false, "role": false} {
		read, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: result.Resource + file})
		is.Equal(err == nil, readable) // only regular files below the folder
		if readable {
			want, err := os.ReadFile(filepath.Join(out, file))
			is.NoErr(err)
			is.Equal(read.Contents[0].Text, string(want))
		}
	}
}

// TestLinksOutliveTheirSession follows them in a later one. Two machines never
// share one, and a folder that was written anew is not what the link named.
func TestLinksOutliveTheirSession(t *testing.T) {
	is := is.New(t)
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	session := func(env *tool.Env) *mcp.ClientSession {
		return connectTo(t, newServer(env, &documents{log: env.Log, dir: dir}, Options{Log: env.Log}), nil, nil)
	}
	links := func(r *mcp.CallToolResult) (folder, link string) {
		var result struct{ Resource string }
		is.NoErr(json.Unmarshal([]byte(text(r)), &result))
		return result.Resource, r.Content[1].(*mcp.ResourceLink).URI
	}
	readable := func(s *mcp.ClientSession, uri string) (string, bool) {
		r, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			return "", false
		}
		return r.Contents[0].Text, true
	}
	env := newEnv(t)
	first := session(env)
	one, _ := links(call(t, first, "svc_db_plan", map[string]any{"root": fixture, "target": "debian-13"}))
	folder, report := links(call(t, first, "svc_migrate", map[string]any{"root": fixture, "target": "debian-13", "out": out, "confirm": true}))
	two, _ := links(call(t, first, "svc_db_plan", map[string]any{"root": fixture, "target": "debian-12"}))
	is.True(one != two)

	later := session(newEnv(t))
	plan, ok := readable(later, one)
	is.True(ok && strings.Contains(plan, `"target":"debian-13"`))
	listed, ok := readable(later, folder)
	is.True(ok && strings.Contains(listed, "role/tasks/main.yml\n"))
	_, ok = readable(later, report)
	is.True(ok)
	_, ok = readable(later, "svc://document/../"+filepath.Base(dir))
	is.True(!ok)
	call(t, later, "svc_migrate", map[string]any{"root": "../fixtures/hosts/ubuntu-22.04-apps", "target": "ubuntu-24.04", "out": filepath.Join(filepath.Dir(out), "other"), "confirm": true})
	is.NoErr(os.WriteFile(filepath.Join(out, "assessment.json"), []byte("{}"), 0o644))
	_, ok = readable(later, report)
	is.True(!ok)
}

// TestTheRestIsAFileToo reads it where a client can't read resources.
func TestTheRestIsAFileToo(t *testing.T) {
	is := is.New(t)
	env := newEnv(t)
	store := temporary(t, env.Log)
	session := connectTo(t, newServer(env, store, Options{Log: env.Log}), nil, nil)
	var summary struct {
		assessment.Result
		File string `json:"file"`
	}
	is.NoErr(json.Unmarshal([]byte(text(call(t, session, "svc_assess", map[string]any{"root": fixture}))), &summary))
	b, err := os.ReadFile(summary.File)
	is.NoErr(err)
	var whole assessment.Result
	is.NoErr(json.Unmarshal(b, &whole))
	is.Equal(len(whole.Packages), summary.Total["packages"])
	long := time.Now().Add(-time.Hour)
	is.NoErr(os.Chtimes(summary.File, long, long))
	for i := range maxDocuments {
		store.Put("x", []byte(strconv.Itoa(i)))
	}
	_, err = os.Stat(summary.File)
	is.True(os.IsNotExist(err)) // the oldest goes
}

func TestCompletion(t *testing.T) {
	is := is.New(t)
	session := connect(t, newEnv(t), eras["modern"])
	call(t, session, "svc_report_finding", map[string]any{"kind": "bug", "title": "t", "body": "b", "confirm": true})
	complete := func(ref *mcp.CompleteReference, name, value string) []string {
		r, err := session.Complete(t.Context(), &mcp.CompleteParams{Ref: ref, Argument: mcp.CompleteParamsArgument{Name: name, Value: value}})
		is.NoErr(err)
		return r.Completion.Values
	}
	is.True(slices.Contains(complete(&mcp.CompleteReference{Type: "ref/prompt", Name: "migrate_machine"}, "target", "debian-1"), "debian-13"))
	is.Equal(complete(&mcp.CompleteReference{Type: "ref/resource", URI: "svc://finding/{id}"}, "id", ""), []string{"1"})
	is.Equal(complete(&mcp.CompleteReference{Type: "ref/resource", URI: "svc://guide/{passage}"}, "passage", "ssh.root"), []string{"ssh.root-login"})
	is.Equal(complete(&mcp.CompleteReference{Type: "ref/prompt", Name: "assess_machine"}, "machine", "/"), []string{})
}
