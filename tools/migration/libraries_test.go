package migration

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/release"
)

func TestLibrariesThatAreGone(t *testing.T) {
	is := is.New(t)
	target, _ := release.Lookup("debian-13")
	fact := func(area, key, value, file string) assess.Fact {
		return assess.Fact{Area: area, Key: key, Value: value, Evidence: assess.Evidence{Path: file}}
	}
	a := &assess.Assessment{Release: "debian-11", Facts: []assess.Fact{
		fact("library", "libtiff.so.5", "libtiff5", "/usr/local/bin/size"),
		fact("library", "libz.so.1", "zlib1g", "/usr/local/bin/size"),
		fact("library", "libcurl.so.4", "libcurl4", "/usr/local/bin/get"),
		fact("library", "libgone.so.1", "libgone1", "/opt/a/bin/b c"),
		fact("linked", "/usr/lib/x86_64-linux-gnu/libtiff.so.5.6.0", "libtiff5", "/usr/local/bin/size"),
		fact("linked", "/usr/lib/x86_64-linux-gnu/libcurl.so.4.7.0", "libcurl4", "/usr/local/bin/get"),
		fact("linked", "/usr/lib/x86_64-linux-gnu/libldap.so.2.5", "libldap2.5", "/usr/lib/x86_64-linux-gnu/libcurl.so.4.7.0"),
		fact("linked", "/usr/lib/x86_64-linux-gnu/libgone.so.1", "libgone1", "/opt/a/bin/b c"),
		fact("linked", "/usr/local/lib/libown.so", "", "/opt/a/bin/b c"),
		fact("linked", "/usr/lib/x86_64-linux-gnu/libjpeg.so.62", "libjpeg62", "/usr/lib/x86_64-linux-gnu/libtiff.so.5.6.0"),
		fact("linked", "/usr/lib/x86_64-linux-gnu/libtiff.so.5.6.0", "libtiff5", "/usr/lib/x86_64-linux-gnu/libjpeg.so.62"),
		fact("linked", "/usr/lib/x86_64-linux-gnu/libz.so.1", "zlib1g", "/usr/lib/x86_64-linux-gnu/libjpeg.so.62"),
		fact("linked", "/usr/lib/x86_64-linux-gnu/libold.so.1", "libold1", "/usr/local/lib/libown.so"),
	}}
	p := &Plan{Packages: []Package{
		{Name: "libtiff5", Targets: []Target{{Name: "libtiff6"}}}, {Name: "zlib1g", Targets: []Target{{Name: "zlib1g"}}}, {Name: "libcurl4", Targets: []Target{{Name: "libcurl4t64"}}},
	}}
	in := Input{Assessment: a, Target: target}
	found := libraries(in, p)
	is.Equal(len(found), 1)
	is.Equal(found[0].Summary, "They do not start there: /usr/local/bin/size needs libtiff.so.5 of libtiff5, in whose place is libtiff6; \"/opt/a/bin/b c\" needs libgone.so.1 of libgone1, in whose place is nothing that is known."+
		" What the target lacks, with what these need themselves: /usr/lib/x86_64-linux-gnu/libgone.so.1 (libgone1), /usr/lib/x86_64-linux-gnu/libjpeg.so.62 (libjpeg62), /usr/lib/x86_64-linux-gnu/libold.so.1 (libold1), /usr/lib/x86_64-linux-gnu/libtiff.so.5.6.0 (libtiff5).")
	is.Equal(len(found[0].Remediations), 2)
	command := found[0].Remediations[1].Text
	is.True(strings.HasPrefix(command, `(apt-get install -y --no-install-recommends zlib1g && mkdir -p /usr/local/lib/debian-11 && rsync -a --chown=root:root "$SOURCE_SSH":'/usr/lib/x86_64-linux-gnu/libgone.so.1' :'/usr/lib/x86_64-linux-gnu/libjpeg.so.62' :`))
	is.True(strings.HasSuffix(command, ` /usr/local/lib/debian-11/ && echo /usr/local/lib/debian-11 >/etc/ld.so.conf.d/zz-debian-11.conf && ldconfig && for f in '/usr/local/bin/size' '/opt/a/bin/b c'; do ! ldd "$f" | grep 'not found' || exit 1; done)`))

	linked := row(in, assess.Package{Name: "zlib1g", Section: "libs", Needed: true}, api.Resolution{Canonical: new("zlib"), Confidence: 1, Match: api.MatchExact})
	is.True(!linked.Install) // the index knows nothing of it
	in.Translations = map[string]api.Translation{"zlib": {Relation: api.RelationSame, Confidence: 1, Packages: []api.TargetPackage{{Name: "zlib1g"}}}, "png": {Relation: api.RelationSame, Confidence: 1, Packages: []api.TargetPackage{{Name: "libpng16-16"}}}}
	is.True(row(in, assess.Package{Name: "zlib1g", Section: "libs", Needed: true}, api.Resolution{Canonical: new("zlib"), Confidence: 1, Match: api.MatchExact}).Install)
	is.True(!row(in, assess.Package{Name: "libpng16-16", Section: "libs", Needed: true}, api.Resolution{Canonical: new("png"), Confidence: 1, Match: api.MatchExact}).Install) // no program of people's own

	in.Target, _ = release.Lookup("almalinux-9")
	is.Equal(len(libraries(in, p)), 0) // nothing says so there
}
