package account

import (
	"context"

	"svc/backend/api"
	"svc/backend/release"
	"svc/tools/tool"
)

// OSReleasesResult is what svc knows of operating-system releases.
type OSReleasesResult struct {
	IndexVersion string      `json:"index_version"`
	IndexDate    *string     `json:"index_date"` // by which its facts had been taken from the archives; null where that is not known
	Releases     []OSRelease `json:"releases"`
}

// OSRelease is a release, and what can be done with it.
type OSRelease struct {
	api.ReleaseInfo
	Supported *bool `json:"supported"` // by the vendor, free of charge, today; null where no end is announced
	Source    bool  `json:"source"`    // machines of it can be planned away from
	Target    bool  `json:"target"`    // machines can be planned towards it
}

// OSReleases lists the releases of the service's index, in order.
func OSReleases(ctx context.Context, env *tool.Env) (OSReleasesResult, error) {
	all, err := tool.Call(ctx, env, api.Releases, api.None{})
	if err != nil {
		return OSReleasesResult{}, err
	}
	result := OSReleasesResult{IndexVersion: all.IndexVersion, IndexDate: all.IndexDate, Releases: []OSRelease{}}
	for _, info := range all.Releases {
		planned := info.List != api.ListNone
		line := OSRelease{ReleaseInfo: info, Source: planned, Target: planned}
		if r, ok := release.Lookup(info.Slug); ok {
			if supported, known := r.Supported(env.Now()); known {
				line.Supported = &supported
			}
		}
		result.Releases = append(result.Releases, line)
	}
	return result, nil
}
