package job

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/judge"
	"svc/assess/packages"
	"svc/backend/api"
	"svc/backend/client"
	"svc/backend/sliced"
	"svc/tools/migration"
)

// LookUp asks the index about every package of the machine, in batches.
func (j *Job) LookUp(ctx context.Context) (migration.Input, error) {
	in := migration.Input{
		Assessment: j.Assessment, Target: j.Target, Day: j.Env.Now(), Translations: map[string]api.Translation{}, Relocations: map[string][]api.Relocation{}, Units: map[string][]string{},
	}
	if j.Host != nil { // else there is but an assessment
		in.PathExists, in.Mentions, in.Read = j.exists, j.mentions, j.ReadFile
		in.Described = j.Described
		in.Hazards, in.Machine = j.Hazards, judge.Hazardous(j.Assessment, assess.Asking(j.Host.FS()))
		in.Owners = func(paths []string) map[string]string { return packages.Owners(ctx, j.Host, paths) }
	}
	names := sliced.Map(j.Assessment.Packages, func(p assess.Package) string { return p.Name })
	for batch := range slices.Chunk(names, api.MaxBatch) {
		r, err := client.Call(ctx, j.Client, api.Resolve, api.ResolveRequest{Release: j.Assessment.Release, Packages: batch, Architecture: api.BesideX86(j.Assessment.System.Architecture)})
		if err != nil {
			return in, err
		}
		in.IndexVersion = r.IndexVersion
		in.Resolutions = append(in.Resolutions, r.Results...)
	}
	return in, j.translate(ctx, &in)
}

func (j *Job) exists(path string) bool {
	_, err := j.Host.FS().Stat(strings.TrimPrefix(path, "/"))
	return err == nil
}

// Described gives mode and owner of a regular file or a folder, by names.
func (j *Job) Described(name string) (f assess.Folder, folder, ok bool) {
	return packages.Described(j.Host, j.Assessment, name)
}

func (j *Job) mentions(path, text string) bool {
	b, err := j.ReadFile(path)
	return err == nil && text != "" && bytes.Contains(b, []byte(text))
}

// translate asks what the canonicals become, and where their configuration goes.
func (j *Job) translate(ctx context.Context, in *migration.Input) error {
	for batch := range slices.Chunk(Canonicals(in.Resolutions), api.MaxBatch) {
		request := api.TranslateRequest{Source: j.Assessment.Release, Target: j.Target.Slug, Canonicals: batch, Architecture: api.BesideX86(j.Assessment.System.Architecture)}
		t, err := client.Call(ctx, j.Client, api.Translate, request)
		if err != nil {
			return err
		}
		for _, r := range t.Results {
			in.Translations[r.Canonical] = r
		}
		c, err := client.Call(ctx, j.Client, api.ConfigPaths, request)
		if err != nil {
			return err
		}
		for _, r := range c.Results {
			in.Relocations[r.Canonical], in.Units[r.Canonical] = r.Relocations, r.Units
		}
	}
	return nil
}

// Canonicals are the distinct canonicals of resolutions, sorted.
func Canonicals(resolutions []api.Resolution) []string {
	known := sliced.Filter(resolutions, func(r api.Resolution) bool { return r.Canonical != nil })
	all := sliced.Map(known, func(r api.Resolution) string { return *r.Canonical })
	slices.Sort(all)
	return slices.Compact(all)
}
