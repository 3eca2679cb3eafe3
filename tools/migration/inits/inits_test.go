package inits

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/release"
)

// Every row is read, and of an init that a family has.
func TestEveryRow(t *testing.T) {
	is := is.New(t)
	n := 0
	for line := range strings.Lines(rows) {
		if !strings.HasPrefix(line, "#") {
			n++
		}
	}
	is.Equal(len(all()), n)
	for _, r := range all() {
		is.True(strings.HasPrefix(r.path, "/etc/") && r.do != "")
		is.True(slices.ContainsFunc(release.Families(), func(c release.Conventions) bool { return c.Init == r.init }))
	}
}

func TestShell(t *testing.T) {
	is := is.New(t)
	debian, _ := release.Lookup("debian-12")
	alpine, _ := release.Lookup("alpine-3.22")
	is.Equal(Move{Source: debian, Target: alpine}.Shell("/usr/sbin/nologin"), "/sbin/nologin")
	is.Equal(Move{Source: debian, Target: alpine}.Shell("/usr/bin/zsh"), "/bin/zsh")
	is.Equal(Move{Source: alpine, Target: debian}.Shell("/bin/ash"), "/bin/sh")
	is.Equal(Move{Source: alpine, Target: alpine}.Shell("/bin/ash"), "/bin/ash")
	is.True(Move{Source: release.Release{}, Target: alpine}.Same()) // nothing is said of what is not known
}
