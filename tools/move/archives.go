package move

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"svc/backend/pristine"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/tools/migration"
	"svc/tools/tool"
)

// Archives are where the packages of both releases are, for their files as they
// ship them: folders, and archives by their URLs. Nothing else is fetched.
type Archives struct {
	SourceArchives []string `json:"source_archives,omitempty" jsonschema:"the same of the machine's release"`
	TargetArchives []string `json:"target_archives,omitempty" jsonschema:"folders of packages or archive URLs of the target, to merge what people changed into its own files"`
	// Keyrings are files of the keys that must have signed the archives. That is
	// for a person to decide, so agents can't set it.
	Keyrings []string `json:"-"`
}

func (a Archives) check() error {
	if len(a.SourceArchives) > 0 && len(a.TargetArchives) == 0 {
		return tool.InputErrorf("svc_migrate", "source_archives is of no use without target_archives: what a person changed is merged into the target's own file")
	}
	return nil
}

// consented refuses to fetch what nobody confirmed, where an agent calls: what it
// names may be the machine's idea, and an address can carry words out.
func (a Archives) consented(env *tool.Env, confirmed bool) error {
	addresses := sliced.Map(sliced.Filter(slices.Concat(a.SourceArchives, a.TargetArchives), func(place string) bool {
		return strings.Contains(place, "://")
	}), strconv.Quote)
	if !env.ForAgent || confirmed || len(addresses) == 0 {
		return nil
	}
	return &tool.NeedsConfirm{
		Would: "also fetch lists and files of packages from " + strings.Join(addresses, ", "),
		Cost:  "To fetch costs nothing. With preflight=true beside confirm=true still nothing is written and no seat is claimed; a folder of packages needs no confirm.",
	}
}

// shipped completes the input of a plan by files as packages ship them. The
// fault of one that could not be read is told by the function that it gives.
func (m *Move) shipped(ctx context.Context, in *migration.Input) (fault func() error, err error) {
	var failed error
	finder := func(places []string, slug string) (migration.Shipped, error) {
		if len(places) == 0 || m.Host == nil {
			return nil, nil
		}
		archives, err := pristine.Open(ctx, pristine.Options{
			Places: places, Release: slug, Arch: archOf(slug, m.Assessment.System.Architecture), Keyrings: m.in.Keyrings, Cache: m.Env.Cache,
			Progress: m.Env.Progress, Log: func(what string) { m.Env.Log.Warn(what) },
		})
		return func(packages []string, file string, fits func([]byte) bool) *pristine.File {
			found, err := archives.Find(ctx, packages, file, fits)
			failed = errors.Join(failed, err)
			return found
		}, err
	}
	if in.SourceFile, err = finder(m.in.SourceArchives, m.Assessment.Release); err == nil {
		in.TargetFile, err = finder(m.in.TargetArchives, m.Target.Slug)
	}
	return func() error { return withoutFiles(failed) }, withoutFiles(err)
}

// withoutFiles says what follows from an archive that can't be read.
func withoutFiles(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w; nothing was written: name archives that can be read, or none, and files are carried over whole", err)
}

// archOf is an architecture as the packages of a release call it.
func archOf(slug, arch string) string {
	names := [][2]string{{"amd64", "x86_64"}, {"arm64", "aarch64"}, {"ppc64el", "ppc64le"}, {"i386", "i686"}}
	r, _ := release.Lookup(slug)
	for _, n := range names {
		if arch == n[0] || arch == n[1] {
			if r.Family.Conventions().Format == release.Deb {
				return n[0]
			}
			return n[1]
		}
	}
	return strings.TrimSpace(arch)
}
