package release

import (
	"testing"

	"github.com/matryer/is"
)

// TestEveryReleaseHasConventions: a family without a row would have neither a package
// manager nor a place for anything.
func TestEveryReleaseHasConventions(t *testing.T) {
	for _, r := range All() {
		is := is.New(t)
		c := r.Family.Conventions()
		is.Equal(c.Family, r.Family)
		is.True(c.Line != "" && c.Format != "" && c.Database != "" && c.Manager != "" && c.Ask != "")
		is.True(c.Crontabs.Folder != "" && c.Crontabs.Group != "")
		is.True(c.Userland != "" && c.Libc != "")
		is.True(c.Web.Account != "" && c.Web.Group != "")
		is.Equal(FamilyOf(r.ID), r.Family) // also where only os-release is known
	}
}

func TestBeforeTheManager(t *testing.T) {
	is := is.New(t)
	for slug, has := range map[string]bool{"centos-6": false, "centos-7": false, "amzn-2": false, "rocky-8": true, "almalinux-10": true, "amzn-2023": true, "fedora-42": true, "debian-11": true, "sles-12": true} {
		r, known := Lookup(slug)
		is.True(known)
		is.Equal(r.HasManager(), has)
	}
}

func TestADistributionIsOfOneFamily(t *testing.T) {
	is := is.New(t)
	seen := map[string]bool{}
	for _, c := range Families() {
		for _, id := range c.ids {
			is.True(!seen[id])
			seen[id] = true
		}
	}
	is.Equal(FamilyOf("plan9"), Family(""))
	is.Equal(Family("plan9").Conventions(), Conventions{})
}
