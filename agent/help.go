package agent

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc/backend/api"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/tools/collaboration"
	"svc/tools/guide"
	"svc/tools/tool"
)

// instructions are what a model reads before anything else.
//
//go:embed instructions.txt
var instructions string

const (
	guideURI       = "svc://guide"
	findingScheme  = "svc://finding/"
	questionScheme = "svc://question/"
)

// addResources registers what can be read beside the tools' results.
func addResources(s *mcp.Server, env *tool.Env, d *documents) {
	s.AddResource(&mcp.Resource{URI: guideURI, Name: "guide", Title: "The guide of svc", MIMEType: "text/markdown"}, passage)
	for _, t := range []struct {
		uri, name, mime, description string
		read                         mcp.ResourceHandler
	}{
		{documentScheme + "{name}", "document", "application/json", "The whole document that a cut result names.", d.read},
		{outScheme + "{folder}/{+file}", "artifact", "", "A file of an out folder that svc wrote: plan.json, report.html, role/tasks/main.yml …", d.artifact},
		{outScheme + "{folder}/", "artifacts", "text/plain", "The names of the files of an out folder that svc wrote.", d.artifact},
		{guideURI + "/{passage}", "passage", "text/markdown", "One passage of the guide, by topic, finding key or caveat code.", passage},
		{findingScheme + "{id}", "finding", "application/json", "A finding of this account.", byID(env, findingScheme, collaboration.GetFinding)},
		{questionScheme + "{id}", "question", "application/json", "A question of this account.", byID(env, questionScheme, collaboration.GetQuestion)},
	} {
		s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: t.uri, Name: t.name, MIMEType: t.mime, Description: t.description}, t.read)
	}
}

// passage reads the guide, or one passage of it.
func passage(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	if uri == guideURI {
		return contents(uri, "text/markdown", []byte(guide.Text())), nil
	}
	p, ok := guide.Find(strings.TrimPrefix(uri, guideURI+"/"))
	if !ok {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	return contents(uri, "text/markdown", []byte("## "+p.Title+"\n\n"+p.Text+"\n")), nil
}

// byID reads what a tool gives for the number at the end of a URI.
func byID[Out any](env *tool.Env, scheme string, get func(context.Context, *tool.Env, collaboration.ByID) (Out, error)) mcp.ResourceHandler {
	whole := *env
	whole.Resources = nil // nothing is cut
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		id, err := strconv.ParseInt(strings.TrimPrefix(req.Params.URI, scheme), 10, 64)
		if err != nil {
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		}
		v, err := get(ctx, &whole, collaboration.ByID{ID: id})
		if refused, ok := errors.AsType[*api.Error](err); ok && refused.Code == api.NotFound {
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		}
		if err != nil {
			return nil, errors.New(explain(err))
		}
		b, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("encoding: %w", err)
		}
		return contents(req.Params.URI, "application/json", b), nil
	}
}

// workflow is a prompt: what a person may start by its name.
type workflow struct {
	name, title, description string
	target                   bool // takes a release to move to
	text                     string
}

var workflows = []workflow{
	{
		"assess_machine", "Assess a machine", "Read a machine and say what matters for a move.", false,
		"Assess the machine %s with svc_assess. Say what it is (release, main services, databases), then its findings, worst first, each with what to do. Ask svc_ask_question what a finding key means where that is not clear. Change nothing.",
	},
	{
		"migrate_machine", "Migrate a machine", "Plan and, with consent, write a machine's move to another release.", true,
		"Plan the move of the machine %s to %s. Call svc_whoami, svc_assess, then svc_migrate with preflight=true. Show inhibitors, findings and counts, and what a confirmed call costs. Ask me for consent and for the out folder; only then call svc_migrate with confirm=true. Then say how to run site.yml on a fresh target and to check it with svc_verify.",
	},
	{
		"plan_databases", "Plan the databases", "Say how the databases of a machine reach another release.", true,
		"Plan how the databases of the machine %s reach %s. Call svc_data_discover for what there is, svc_db_plan for what becomes of the versions, and svc_db_upgrade_path for each engine that must change. Recommend one way for each, with its downtime and its way back. Execute nothing.",
	},
}

func addPrompts(s *mcp.Server) {
	for _, w := range workflows {
		p := &mcp.Prompt{Name: w.name, Title: w.title, Description: w.description, Arguments: []*mcp.PromptArgument{
			{Name: "machine", Description: "folder, disk image or ssh destination", Required: true},
		}}
		if w.target {
			p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: "target", Description: "release, such as debian-13", Required: true})
		}
		s.AddPrompt(p, w.prompt)
	}
}

func (w workflow) prompt(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	values := []any{}
	for _, name := range []string{"machine", "target"} {
		v := req.Params.Arguments[name]
		if name == "target" && !w.target {
			continue
		}
		if v == "" {
			return nil, fmt.Errorf("the prompt %s needs %s", w.name, name)
		}
		values = append(values, strconv.Quote(v))
	}
	return &mcp.GetPromptResult{Description: w.description, Messages: []*mcp.PromptMessage{
		{Role: "user", Content: &mcp.TextContent{Text: fmt.Sprintf(w.text, values...)}},
	}}, nil
}

// maxCompletions is how many values a client is offered.
const maxCompletions = 100

// complete offers releases, passages of the guide, and the ids of findings and
// questions.
func complete(env *tool.Env) func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	return func(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
		values := append([]string{}, sliced.Filter(known(ctx, env, req.Params), func(v string) bool {
			return strings.HasPrefix(strings.ToLower(v), strings.ToLower(req.Params.Argument.Value))
		})...)
		most := min(len(values), maxCompletions)
		return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values[:most], Total: len(values), HasMore: most < len(values)}}, nil
	}
}

// known are all values of an argument; none where that is not known.
func known(ctx context.Context, env *tool.Env, p *mcp.CompleteParams) (values []string) {
	switch {
	case p.Argument.Name == "target":
		values = append(values, sliced.Map(release.All(), func(r release.Release) string { return r.Slug })...)
	case p.Argument.Name == "passage":
		values = append(values, sliced.Map(guide.Passages(), func(p guide.Passage) string { return p.ID })...)
	case p.Ref == nil:
	case strings.HasPrefix(p.Ref.URI, findingScheme):
		l, err := collaboration.ListFindings(ctx, env, tool.Paging{Limit: maxCompletions})
		values = append(values, sliced.Map(l.Findings, func(f collaboration.FindingLine) string { return strconv.FormatInt(f.ID, 10) })...)
		logged(env, err)
	case strings.HasPrefix(p.Ref.URI, questionScheme):
		l, err := collaboration.ListQuestions(ctx, env, tool.Paging{Limit: maxCompletions})
		values = append(values, sliced.Map(l.Questions, func(q collaboration.QuestionLine) string { return strconv.FormatInt(q.ID, 10) })...)
		logged(env, err)
	}
	return slices.Clip(values)
}

// logged notes why there was nothing to offer.
func logged(env *tool.Env, err error) {
	if err != nil {
		env.Log.Info("completing", "error", err)
	}
}
