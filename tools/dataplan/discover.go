// Package dataplan finds the data of a machine, and plans how they move.
package dataplan

import (
	"bytes"
	"context"

	"svc/tools/data"
	"svc/tools/job"
	"svc/tools/machine"
	"svc/tools/tool"
)

// DiscoverInput is the input of DataDiscover.
type DiscoverInput struct {
	machine.Machine
	Limit  int         `json:"limit,omitempty" jsonschema:"places; 20"`
	Detail tool.Detail `json:"detail,omitempty" jsonschema:"full cuts nothing"`
	tool.Aim
}

// DiscoverResult is the data of a machine. A summary has the biggest
// places, and of each the first entries of its lists; Total has how many places
// and notes there are.
type DiscoverResult struct {
	data.Discovery
	Total map[string]int `json:"total,omitempty"`
	tool.Cut
}

// DiscoverPart is Discover, or the part of its result that a call aims at.
func DiscoverPart(ctx context.Context, env *tool.Env, in DiscoverInput) (any, error) {
	if !in.Aimed() {
		return Discover(ctx, env, in)
	}
	in.Detail = tool.DetailFull
	whole, err := Discover(ctx, env, in)
	if err != nil {
		return nil, err
	}
	return in.Shoot(env, "svc_data_discover", whole, in.Limit)
}

// Discover finds the data of a machine.
func Discover(ctx context.Context, env *tool.Env, in DiscoverInput) (DiscoverResult, error) {
	if err := tool.CheckShown("svc_data_discover", &in.Detail, in.Limit); err != nil {
		return DiscoverResult{}, err
	}
	j := &job.Job{Env: env, Machine: in.Machine}
	if err := j.Open(ctx); err != nil {
		return DiscoverResult{}, err
	}
	defer j.Close()
	d, err := discover(ctx, j)
	if err != nil {
		return DiscoverResult{}, err
	}
	r := DiscoverResult{Discovery: *d}
	if in.Detail == tool.DetailSummary {
		r.summarize(env, d, in.Limit)
	}
	return r, nil
}

// discover assesses a machine and finds its data.
func discover(ctx context.Context, j *job.Job) (*data.Discovery, error) {
	err := j.Assess(ctx)
	if j.Assessment == nil {
		return nil, err
	}
	if err != nil {
		j.Env.Log.Warn("the packages can't be read, so engines that have no data may be missing", "error", err)
	}
	const what, unknown = "counting files", -1
	d, err := data.Discover(ctx, j.Host, j.Assessment, func(files int64) { j.Env.Step(what, int(files), unknown) })
	j.Env.Step(what, 0, 0)
	return d, err
}

// summarize cuts the lists, and then the places to what a result has room for.
func (r *DiscoverResult) summarize(env *tool.Env, whole *data.Discovery, limit int) {
	most := tool.BoundsOf(limit)
	r.Places = append([]data.Place{}, whole.Places[:min(most.Limit, len(whole.Places))]...)
	for i := range r.Places {
		p := &r.Places[i]
		p.Users, p.Groups, p.Mounts = p.Users[:min(tool.Few, len(p.Users))], p.Groups[:min(tool.Few, len(p.Groups))], p.Mounts[:min(tool.Few, len(p.Mounts))]
		p.OpenBy, p.Repositories, p.UnreadPaths = p.OpenBy[:min(tool.Few, len(p.OpenBy))], p.Repositories[:min(tool.Few, len(p.Repositories))], p.UnreadPaths[:min(tool.Few, len(p.UnreadPaths))]
	}
	r.Notes = whole.Notes[:min(tool.Few, len(whole.Notes))]
	if limit == 0 {
		r.Places = r.Places[:tool.Fitting(r.Places)]
	}
	r.Total = map[string]int{"places": len(whole.Places), "notes": len(whole.Notes)}
	if bytes.Equal(tool.Encoded(r.Discovery), tool.Encoded(whole)) {
		return // nothing was cut
	}
	r.Truncated = true
	if env.Resources != nil {
		r.Cut = env.Rest("data-"+whole.Fingerprint[:min(12, len(whole.Fingerprint))], whole)
	}
}
