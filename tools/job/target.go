package job

import (
	"fmt"
	"strings"

	"svc/backend/api"
	"svc/backend/release"
	"svc/tools/tool"
)

// TargetNamed is the release that a call names, in the words that people have for
// it, too.
func TargetNamed(name string) (release.Release, error) {
	if r, ok := release.Named(name); ok {
		return r, nil
	}
	said := fmt.Sprintf("%q", tool.Excerpt(name, 60))
	switch slugs := release.Suggest(name, 3); {
	case release.NoLinux(name):
		return release.Release{}, api.Errorf(api.UnknownRelease, "%s is no Linux: svc moves machines between releases of %s; nothing was done", said, strings.Join(release.Distributions(), ", "))
	case len(slugs) > 0:
		return release.Release{}, api.Errorf(api.UnknownRelease, "svc knows no release called %s; is it one of %s? nothing was done; `svc releases` lists all", said, strings.Join(slugs, ", "))
	}
	return release.Release{}, api.Errorf(api.UnknownRelease, "svc knows no release called %s: it knows those of %s; nothing was done; `svc releases` lists all", said, strings.Join(release.Distributions(), ", "))
}
