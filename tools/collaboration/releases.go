package collaboration

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"svc/backend/api"
	"svc/backend/sliced"
	"svc/tools/tool"
)

// considered is how many of the account's findings are looked at, newest first.
const considered = 50

// stampLayout is the form of the service's times.
const stampLayout = "2006-01-02 15:04:05-07"

// StatusInput takes nothing.
type StatusInput struct{}

// StatusResult is the public release status.
type StatusResult struct {
	Service  api.ServiceVersion `json:"service"`
	Releases ChannelReleases    `json:"releases"`
	History  []api.Release      `json:"history"` // newest first, at most 20
	tool.Cut
}

// ChannelReleases is the newest release of each channel that has one.
type ChannelReleases struct {
	Stable *api.Release `json:"stable,omitempty"`
	Beta   *api.Release `json:"beta,omitempty"`
}

// GetStatus is the public release status.
func GetStatus(ctx context.Context, env *tool.Env, _ StatusInput) (StatusResult, error) {
	v, err := tool.Call(ctx, env, api.Version, api.None{})
	if err != nil {
		return StatusResult{}, err
	}
	r := StatusResult{v.Service, ChannelReleases{v.Releases.Stable, v.Releases.Beta}, v.History, tool.Cut{}}
	if env.TooBig(r) {
		cut := env.Rest("status", r)
		r.Releases, r.History = ChannelReleases{brief(v.Releases.Stable), brief(v.Releases.Beta)}, briefly(v.History)
		r.Cut = cut
	}
	return r, nil
}

// briefly are releases with the beginnings of their notes.
func briefly(releases []api.Release) []api.Release {
	short := slices.Clone(releases)
	for i := range short {
		short[i].Notes = tool.Excerpt(short[i].Notes, lineLength)
	}
	return short
}

func brief(r *api.Release) *api.Release {
	if r == nil {
		return nil
	}
	return &briefly([]api.Release{*r})[0]
}

// WhatsNewInput is the input of WhatsNew.
type WhatsNewInput struct {
	Since string `json:"since,omitempty" jsonschema:"tag of a release, or a time such as 2026-08-07; everything where absent"`
}

// WhatsNewResult is what came after a release or a time, newest first.
type WhatsNewResult struct {
	Since    string        `json:"since,omitempty"` // as a time
	Releases []api.Release `json:"releases"`
	Fixes    []FindingLine `json:"fixes"` // of this account's newest 50 findings
	tool.Cut
}

// WhatsNew says what was released and fixed since a release or a time.
func WhatsNew(ctx context.Context, env *tool.Env, in WhatsNewInput) (WhatsNewResult, error) {
	v, findings, err := poll(ctx, env)
	if err != nil {
		return WhatsNewResult{}, err
	}
	since, err := moment(in.Since, v.History)
	if err != nil {
		return WhatsNewResult{}, err
	}
	r := WhatsNewResult{Since: since, Releases: []api.Release{}, Fixes: []FindingLine{}}
	r.Releases = append(r.Releases, sliced.Filter(v.History, func(release api.Release) bool { return release.PublishedAt > since })...)
	r.Fixes = append(r.Fixes, sliced.Filter(findings, func(f FindingLine) bool { return f.ResolvedAt > since })...)
	slices.SortStableFunc(r.Fixes, func(a, b FindingLine) int { return strings.Compare(b.ResolvedAt, a.ResolvedAt) })
	if env.TooBig(r) {
		cut := env.Rest("whats-new", r)
		r.Releases, r.Fixes = briefly(r.Releases), r.Fixes[:min(len(r.Fixes), tool.DefaultLimit)]
		r.Cut = cut
	}
	return r, nil
}

// poll asks for the releases and for this account's newest findings.
func poll(ctx context.Context, env *tool.Env) (v api.VersionResponse, findings []FindingLine, err error) {
	if v, err = tool.Call(ctx, env, api.Version, api.None{}); err != nil {
		return v, nil, err
	}
	l, err := tool.Call(ctx, env, api.ListFindings, api.ShortPage{Limit: considered})
	return v, linesOf(l.Findings), err
}

// moment is a tag's or a person's time in the form of the service, whose order
// is that of time.
func moment(since string, history []api.Release) (string, error) {
	if since == "" {
		return "", nil
	}
	tags := []string{}
	for _, r := range history {
		if r.Tag == since {
			return r.PublishedAt, nil
		}
		tags = append(tags, r.Tag)
	}
	for _, layout := range []string{time.RFC3339, stampLayout, "2006-01-02 15:04:05", "2006-01-02T15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, since); err == nil {
			return t.UTC().Format(stampLayout), nil
		}
	}
	return "", tool.InputErrorf("svc_whats_new", "since must be a time such as 2026-08-07, or the tag of a release (known: %s), not %q", orNone(tags), tool.Excerpt(since, 64))
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// UpdatesInput is the input of Updates.
type UpdatesInput struct {
	Cursor string `json:"cursor,omitempty" jsonschema:"cursor of the poll before; everything where absent"`
}

// UpdatesResult is what is new or changed since the poll before.
type UpdatesResult struct {
	Cursor   string        `json:"cursor"` // for the next poll
	Releases []api.Release `json:"releases"`
	Findings []FindingLine `json:"findings"`
	tool.Cut
}

// Updates polls once for releases and findings that are new or changed.
func Updates(ctx context.Context, env *tool.Env, in UpdatesInput) (UpdatesResult, error) {
	seen, err := parsePosition(in.Cursor)
	if err != nil {
		return UpdatesResult{}, err
	}
	v, findings, err := poll(ctx, env)
	if err != nil {
		return UpdatesResult{}, err
	}
	next := seen
	r := UpdatesResult{Releases: []api.Release{}, Findings: []FindingLine{}}
	for _, release := range v.History {
		if next.add(seen, release.PublishedAt, release) {
			r.Releases = append(r.Releases, release)
		}
	}
	for _, f := range findings {
		if next.add(seen, f.UpdatedAt, f) {
			r.Findings = append(r.Findings, f)
		}
	}
	r.Cursor = next.String()
	if env.TooBig(r) {
		cut := env.Rest("updates", r)
		r.Releases, r.Findings = briefly(r.Releases), r.Findings[:min(len(r.Findings), tool.DefaultLimit)]
		r.Cut = cut
	}
	return r, nil
}

// position is how far polls have come: the newest time that was seen, and what
// was seen of that second, since more may still come in it. Its text is
// "TIME DIGEST DIGEST …".
type position struct {
	at   string
	seen []string
}

func parsePosition(cursor string) (position, error) {
	if cursor == "" {
		return position{}, nil
	}
	const length = len(stampLayout)
	if len(cursor) >= length {
		if _, err := time.Parse(stampLayout, cursor[:length]); err == nil {
			return position{cursor[:length], strings.Fields(cursor[length:])}, nil
		}
	}
	return position{}, tool.InputErrorf("svc_updates", "cursor must be one that svc_updates gave, not %q; leave it out to begin anew", tool.Excerpt(cursor, 40))
}

// add moves the position to what is of a time, and reports whether that is new
// to those who have come as far as before.
func (p *position) add(before position, at string, what any) bool {
	sum := sha256.Sum256(tool.Encoded(what))
	digest := hex.EncodeToString(sum[:4])
	if at > p.at {
		p.at, p.seen = at, nil
	}
	if at == p.at && !slices.Contains(p.seen, digest) {
		p.seen = append(slices.Clip(p.seen), digest)
	}
	return at > before.at || at == before.at && !slices.Contains(before.seen, digest)
}

func (p position) String() string {
	return strings.TrimSpace(p.at + " " + strings.Join(p.seen, " "))
}

// ExportInput takes nothing.
type ExportInput struct{}

// ExportResult is what this account and the team have worked on.
type ExportResult struct {
	AccountID int64             `json:"account_id"`
	Findings  []ExportedFinding `json:"findings"` // the newest 50
	tool.Cut
}

// ExportedFinding is a finding without its text.
type ExportedFinding struct {
	ID         int64  `json:"id"`
	Title      string `json:"title"`
	Status     string `json:"status"`
	Release    string `json:"release,omitempty"`
	CreatedAt  string `json:"created_at"`
	UpdatedAt  string `json:"updated_at"`
	ResolvedAt string `json:"resolved_at,omitempty"`
}

// ExportCollaboration lists this account's newest findings without their texts.
func ExportCollaboration(ctx context.Context, env *tool.Env, _ ExportInput) (ExportResult, error) {
	a, err := tool.Call(ctx, env, api.GetAccount, api.None{})
	if err != nil {
		return ExportResult{}, err
	}
	l, err := tool.Call(ctx, env, api.ListFindings, api.ShortPage{Limit: considered})
	if err != nil {
		return ExportResult{}, err
	}
	r := ExportResult{AccountID: a.AccountID, Findings: []ExportedFinding{}}
	for _, f := range l.Findings {
		r.Findings = append(r.Findings, ExportedFinding{f.ID, f.Title, f.Status, orEmpty(f.Release), f.CreatedAt, f.UpdatedAt, orEmpty(f.ResolvedAt)})
	}
	if env.TooBig(r) {
		cut := env.Rest("collaboration", r)
		r.Findings, r.Cut = r.Findings[:tool.Fitting(r.Findings)], cut
	}
	return r, nil
}
