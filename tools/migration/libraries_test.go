package migration

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/release"
)

func TestLibrariesThatAreGone(t *testing.T) {
	is := is.New(t)
	target, _ := release.Lookup("debian-13")
	a := &assess.Assessment{Release: "debian-11", Facts: []assess.Fact{
		{Area: "library", Key: "libtiff.so.5", Value: "libtiff5", Evidence: assess.Evidence{Path: "/usr/local/bin/size"}},
		{Area: "library", Key: "libz.so.1", Value: "zlib1g", Evidence: assess.Evidence{Path: "/usr/local/bin/size"}},
		{Area: "library", Key: "libcurl.so.4", Value: "libcurl4", Evidence: assess.Evidence{Path: "/usr/local/bin/get"}},
		{Area: "library", Key: "libgone.so.1", Value: "libgone1", Evidence: assess.Evidence{Path: "/opt/a/bin/b"}},
	}}
	p := &Plan{Packages: []Package{
		{Name: "libtiff5", Targets: []Target{{Name: "libtiff6"}}}, {Name: "zlib1g", Targets: []Target{{Name: "zlib1g"}}}, {Name: "libcurl4", Targets: []Target{{Name: "libcurl4t64"}}},
	}}
	found := libraries(Input{Assessment: a, Target: target}, p)
	is.Equal(len(found), 1)
	is.Equal(found[0].Summary, "They do not start there: /usr/local/bin/size needs libtiff.so.5 of libtiff5, in whose place is libtiff6; /opt/a/bin/b needs libgone.so.1 of libgone1, in whose place is nothing that is known.")
	is.True(strings.HasSuffix(found[0].Remediations[0].Text, "The others need these to be installed: libcurl4t64, zlib1g."))
	target, _ = release.Lookup("almalinux-9")
	is.Equal(len(libraries(Input{Assessment: a, Target: target}, p)), 0) // nothing says so there
}
