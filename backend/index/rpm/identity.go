package rpm

import (
	"strings"

	"svc/backend/index/record"
	"svc/backend/lazyregexp"
)

// ofDistribution are the names of what is a distribution itself: its release, keys,
// repositories and pictures.
var ofDistribution = lazyregexp.New(`(?i)^((alma|rocky|oracle|amazon)?linux|centos|redhat|rhel|fedora|generic|system|sles?|sle-.*|opensuse|suse|leap|epel|almalinux|rocky)(-.*)?-(release|repos|logos|gpg-keys|indexhtml|backgrounds|artwork)(-.*)?$|-branding-(sle|opensuse|upstream)|-branding$`)

// identityWords follow a dash in all of these: most names have none, which costs less to see.
var identityWords = []string{"release", "repos", "logos", "gpg-keys", "indexhtml", "backgrounds", "artwork", "branding"}

// IsIdentity reports whether an rpm is a distribution itself, as almalinux-release is.
func IsIdentity(name string) bool {
	for _, rest := record.Cut(name, '-'); rest != ""; _, rest = record.Cut(rest, '-') {
		for _, word := range identityWords {
			if word[0] == rest[0] && strings.HasPrefix(rest, word) {
				return ofDistribution.MatchString(name)
			}
		}
	}
	return false
}
