package tools

import (
	"fmt"
	"strings"

	"svc/backend/api"
	"svc/backend/api/release"
)

// targetNamed is the release that a call names, in the words that people have for
// it, too.
func targetNamed(name string) (release.Release, error) {
	if r, ok := release.Named(name); ok {
		return r, nil
	}
	known := "it knows releases of " + strings.Join(release.Distributions(), ", ")
	if slugs := release.Suggest(name, 3); len(slugs) > 0 {
		known = "the nearest are " + strings.Join(slugs, ", ")
	}
	return release.Release{}, api.Errorf(api.UnknownRelease, "svc knows no release called %s; %s", fmt.Sprintf("%q", excerpt(name, 60)), known)
}
