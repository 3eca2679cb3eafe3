package collaboration

import (
	"context"
	"crypto/rand"
	"fmt"

	"svc/backend/api"
	"svc/backend/client"
	"svc/backend/sliced"
	"svc/tools/tool"
)

// FindingKind is what a finding is about.
type FindingKind string

// FindingLine is a finding of this account in a list.
type FindingLine struct {
	ID         int64       `json:"id"`
	Kind       FindingKind `json:"kind"`
	Title      string      `json:"title"`
	Status     string      `json:"status"`            // open or fixed
	Release    string      `json:"release,omitempty"` // the tag it is fixed in, or was seen in while open
	CreatedAt  string      `json:"created_at"`
	UpdatedAt  string      `json:"updated_at"`
	ResolvedAt string      `json:"resolved_at,omitempty"`
}

func lineOf(f api.Finding) FindingLine {
	return FindingLine{f.ID, FindingKind(f.Kind), f.Title, f.Status, orEmpty(f.Release), f.CreatedAt, f.UpdatedAt, orEmpty(f.ResolvedAt)}
}

func linesOf(findings []api.Finding) []FindingLine {
	return append([]FindingLine{}, sliced.Map(findings, lineOf)...)
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// FindingResult is a finding with its text.
type FindingResult struct {
	FindingLine
	Body       string         `json:"body"`
	Redactions map[string]int `json:"redactions"`        // what was stripped, by kind
	Readers    string         `json:"readers,omitempty"` // who reads what was just filed
	tool.Cut
}

// FindingList is a page of findings.
type FindingList struct {
	Findings []FindingLine `json:"findings"`
	tool.Page
}

// ByID names one finding or question of this account.
type ByID struct {
	ID int64 `json:"id" jsonschema:"its number"`
}

func (in ByID) check(name string) error {
	if in.ID < 1 {
		return tool.InputErrorf(name, "id must be a number from 1, not %d", in.ID)
	}
	return nil
}

// ListFindings lists this account's findings, newest first.
func ListFindings(ctx context.Context, env *tool.Env, in tool.Paging) (FindingList, error) {
	limit, offset, err := in.Page("svc_list_findings")
	if err != nil {
		return FindingList{}, err
	}
	found, err := tool.Call(ctx, env, api.ListFindings, api.ShortPage{Limit: limit, Offset: offset})
	if err != nil {
		return FindingList{}, err
	}
	lines, page := tool.Paged(env, linesOf(found.Findings), found.Offset, found.HasMore)
	return FindingList{lines, page}, nil
}

// GetFinding is one finding of this account.
func GetFinding(ctx context.Context, env *tool.Env, in ByID) (FindingResult, error) {
	if err := in.check("svc_get_finding"); err != nil {
		return FindingResult{}, err
	}
	f, err := tool.Call(ctx, env, api.GetFinding, api.ByID{ID: in.ID})
	if err != nil {
		return FindingResult{}, err
	}
	return findingResult(env, f), nil
}

func findingResult(env *tool.Env, f api.Finding) FindingResult {
	r := FindingResult{FindingLine: lineOf(f), Body: f.Body, Redactions: f.Redactions}
	if env.TooBig(r) {
		r.Cut = env.Rest(fmt.Sprintf("finding-%d", f.ID), f)
		r.Body = tool.Excerpt(f.Body, maxExcerpt)
	}
	return r
}

// maxExcerpt is how much of a long text a result shows, in characters.
const maxExcerpt = 1500

// ReportFindingInput is the input of ReportFinding.
type ReportFindingInput struct {
	Kind    FindingKind `json:"kind" jsonschema:"what it is about"`
	Title   string      `json:"title" jsonschema:"one line, at most 200 characters"`
	Body    string      `json:"body" jsonschema:"what happened, what was expected"`
	Confirm bool        `json:"confirm,omitempty" jsonschema:"true files it"`
}

// ReportFinding files a finding, stripped of names. It is not billed.
func ReportFinding(ctx context.Context, env *tool.Env, in ReportFindingInput) (FindingResult, error) {
	stripped := api.FindingRequest{Kind: string(in.Kind), Title: tool.Excerpt(env.Strip(in.Title), api.MaxTitle), Body: tool.Excerpt(env.Strip(in.Body), api.MaxText)}
	if err := stripped.Check(); err != nil {
		return FindingResult{}, &tool.InputError{Tool: "svc_report_finding", Err: err}
	}
	if !in.Confirm {
		return FindingResult{}, unsent(ctx, env, fmt.Sprintf("file a finding (%s)", in.Kind), stripped.Title+"\n"+stripped.Body)
	}
	f, err := file(ctx, env, api.FileFinding, stripped)
	if err != nil {
		return FindingResult{}, err
	}
	r := findingResult(env, f)
	r.Readers = readers(ctx, env)
	return r, nil
}

// readers says who reads what was filed.
func readers(ctx context.Context, env *tool.Env) string {
	c, err := env.Client(ctx)
	switch {
	case err != nil: // it was filed by this very client
		return ""
	case c.Address() == "":
		return "nobody else: the words stay on this machine, in the service built into svc"
	}
	return "the team of " + c.Address()
}

// alone reports whether nobody but this user reads what is filed.
func alone(ctx context.Context, env *tool.Env) (bool, error) {
	c, err := env.Client(ctx)
	return err == nil && c.Address() == "", err
}

// unsent is the refusal of words that nobody confirmed: it shows them as
// they would be sent.
func unsent(ctx context.Context, env *tool.Env, what, words string) error {
	c, err := env.Client(ctx)
	if err != nil {
		return err
	}
	where := "on this machine alone, in the service built into svc: nothing is sent anywhere"
	if c.Address() != "" {
		where = "with the service at " + c.Address()
	}
	return &tool.NeedsConfirm{
		Would: fmt.Sprintf("%s %s, in these words: <<<%s>>>", what, where, tool.Excerpt(words, maxExcerpt)),
		Cost:  "It costs nothing, and claims no licence seat.",
	}
}

// file sends words to be kept. They are counted right before: what was asked
// about, refused or given up counts for nothing. From then on the call is
// finished even where its caller is gone.
func file[In, Out any](ctx context.Context, env *tool.Env, e api.Endpoint[In, Out], in In) (out Out, err error) {
	c, err := env.Client(ctx)
	if err != nil {
		return out, err
	}
	if env.Admit != nil {
		if err := env.Admit(ctx); err != nil {
			return out, err
		}
	}
	return client.Call(context.WithoutCancel(ctx), c, e, in, client.WithKey(rand.Text()))
}
