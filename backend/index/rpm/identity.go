package rpm

import (
	"slices"
	"strings"

	"svc/backend/lazyregexp"
)

// ofDistribution are the names of what is a distribution itself: its release, keys,
// repositories and pictures.
var ofDistribution = lazyregexp.New(`(?i)^((alma|rocky|oracle|amazon)?linux|centos|redhat|rhel|fedora|generic|system|sles?|sle-.*|opensuse|suse|leap|epel|almalinux|rocky)(-.*)?-(release|repos|logos|gpg-keys|indexhtml|backgrounds|artwork)(-.*)?$|-branding-(sle|opensuse|upstream)|-branding$`)

// identityWords are in all of these: most names have none, which costs less to see.
var identityWords = []string{"-release", "-repos", "-logos", "-gpg-keys", "-indexhtml", "-backgrounds", "-artwork", "-branding"}

// IsIdentity reports whether an rpm is a distribution itself, as almalinux-release is.
func IsIdentity(name string) bool {
	for i := 0; i+1 < len(name); i++ {
		if name[i] == '-' && beginsIdentity(name[i+1]) && slices.ContainsFunc(identityWords, func(word string) bool { return strings.HasPrefix(name[i:], word) }) {
			return ofDistribution.MatchString(name)
		}
	}
	return false
}

// beginsIdentity reports whether one of these words begins with a letter.
func beginsIdentity(letter byte) bool {
	switch letter {
	case 'r', 'l', 'g', 'i', 'b', 'a':
		return true
	}
	return false
}
