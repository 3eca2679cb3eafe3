package tools

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/host"
	"svc/assess/judge"
	"svc/assess/packages"
	"svc/backend/api"
	"svc/backend/client"
	"svc/tools/migration"
)

// lookUp asks the index about every package of the machine, in batches.
func (m *move) lookUp(ctx context.Context) (migration.Input, error) {
	in := migration.Input{
		Assessment: m.a, Target: m.target, Day: m.env.Now(), Translations: map[string]api.Translation{}, Relocations: map[string][]api.Relocation{},
		IncludeSecrets: m.in.IncludeSecrets,
	}
	if m.host != nil { // else there is but an assessment
		in.PathExists, in.Mentions, in.Read = m.exists, m.mentions, m.peek
		in.Described = m.described
		in.Hazards, in.Machine = m.hazards, judge.Hazardous(m.a, assess.Asking(m.host.FS()))
		in.Owners = func(paths []string) map[string]string { return packages.Owners(ctx, m.host, paths) }
	}
	names := []string{}
	for _, p := range m.a.Packages {
		names = append(names, p.Name)
	}
	for batch := range slices.Chunk(names, api.MaxBatch) {
		r, err := client.Call(ctx, m.client, api.Resolve, api.ResolveRequest{Release: m.a.Release, Packages: batch, Architecture: api.BesideX86(m.a.System.Architecture)})
		if err != nil {
			return in, err
		}
		in.IndexVersion = r.IndexVersion
		in.Resolutions = append(in.Resolutions, r.Results...)
	}
	return in, m.translate(ctx, &in)
}

func (m *move) exists(path string) bool {
	_, err := m.host.FS().Stat(strings.TrimPrefix(path, "/"))
	return err == nil
}

// described gives mode and owner of a regular file.
func (m *move) described(name string) (mode, owner, group string, ok bool) {
	return packages.Described(m.host, m.a, name)
}

func (m *move) mentions(path, text string) bool {
	b, err := m.readFile(path)
	return err == nil && text != "" && bytes.Contains(b, []byte(text))
}

// peek reads a file that may be converted: it is part of the role only if it is.
func (m *move) peek(name string) ([]byte, error) {
	return host.ReadFile(m.host.FS(), strings.TrimPrefix(name, "/"), maxRoleFile)
}

// translate asks what the canonicals become, and where their configuration goes.
func (m *move) translate(ctx context.Context, in *migration.Input) error {
	for batch := range slices.Chunk(canonicals(in.Resolutions), api.MaxBatch) {
		request := api.TranslateRequest{Source: m.a.Release, Target: m.target.Slug, Canonicals: batch, Architecture: api.BesideX86(m.a.System.Architecture)}
		t, err := client.Call(ctx, m.client, api.Translate, request)
		if err != nil {
			return err
		}
		for _, r := range t.Results {
			in.Translations[r.Canonical] = r
		}
		c, err := client.Call(ctx, m.client, api.ConfigPaths, request)
		if err != nil {
			return err
		}
		for _, r := range c.Results {
			in.Relocations[r.Canonical] = r.Relocations
		}
	}
	return nil
}

// canonicals are the distinct canonicals of resolutions, sorted.
func canonicals(resolutions []api.Resolution) []string {
	all := []string{}
	for _, r := range resolutions {
		if r.Canonical != nil {
			all = append(all, *r.Canonical)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
