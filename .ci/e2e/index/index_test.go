// Package index_test builds indexes from archives that are made here: rpm repositories
// that createrepo_c makes of packages that rpmbuild makes, with module streams, in every
// packing and signed; an apt archive by apt-ftparchive, by HTTP, signed, broken off and
// tampered with; and events of package evolution with their traps.
package index_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/.ci/e2e"
	"svc/backend/api"
	"svc/backend/index/build"
	"svc/cmd/svc/exit"
)

func TestMain(m *testing.M) {
	e2e.Main(m, "createrepo_c:createrepo-c", "rpmbuild:rpm", "apt-ftparchive:apt-utils", "gpg:gpg", "xz:xz-utils", "zstd:zstd", "lz4:lz4", "bzip2:bzip2")
}

// builder is a folder with archives and the index that is built of them.
type builder struct {
	*e2e.Work
	index string
}

func newBuilder(t *testing.T) builder {
	w := e2e.New(t)
	return builder{w, w.Path("out.index")}
}

// serve serves the folder by HTTP.
func (b builder) serve(t *testing.T) string {
	server := httptest.NewServer(http.FileServer(http.Dir(b.Dir)))
	t.Cleanup(server.Close)
	return server.URL
}

func (b builder) command(sources []string) []string {
	return append([]string{"admin", "index", "build", "--out", b.index}, sources...)
}

// builds checks that an index is built.
func (b builder) builds(t *testing.T, name string, sources ...string) {
	t.Helper()
	t.Run(name, func(t *testing.T) { b.In(t).SVC(exit.Done, b.command(sources)...) })
}

// refuses checks that no index is built, why, and that the one before is as it was.
func (b builder) refuses(t *testing.T, name, why string, sources ...string) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		is := is.New(t)
		before, err := os.ReadFile(b.index)
		is.NoErr(err)
		b.In(t).SVC(exit.Failed, b.command(sources)...).Has(why)
		after, err := os.ReadFile(b.index)
		is.NoErr(err)
		is.True(string(before) == string(after))
	})
}

// answers checks what a package of a release becomes in another.
func (b builder) answers(t *testing.T, name, source, target, pkg, want string) {
	t.Helper()
	t.Run(name, func(t *testing.T) { is.New(t).Equal(b.answer(t, source, target, pkg), want) })
}

// answer is the relation, the packages, each as NAME=VERSION@REPOSITORY, and the caveats.
func (b builder) answer(t *testing.T, source, target, pkg string) string {
	var a api.Translation
	b.In(t).SVC(exit.Done, "admin", "index", "ask", "--index", b.index, "--json", source, target, pkg).JSON(&a)
	words := []string{string(a.Relation)}
	for _, p := range a.Packages {
		words = append(words, p.Name+"="+p.Version+"@"+p.Repository)
	}
	for _, c := range a.Caveats {
		words = append(words, c.Code)
	}
	return strings.Join(words, " ")
}

// holds checks how many packages of a release the index has.
func (b builder) holds(t *testing.T, name, release string, packages int) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		var stats build.Stats
		b.In(t).SVC(exit.Done, "admin", "index", "stats", "--index", b.index, "--json").JSON(&stats)
		is.New(t).Equal(stats.Packages[release], packages)
	})
}

const events = `{"legal_notice": "none", "timestamp": "1", "provided_data_streams": ["4.0"], "packageinfo": [
{"id": 1, "action": 7, "architectures": ["x86_64"], "in_packageset": {"set_id": 1, "package": [{"name": "acme-before", "repository": "base", "module_stream": null}]},
 "out_packageset": {"set_id": 2, "package": [{"name": "acme-after", "repository": "appstream", "modulestreams": [null]}]},
 "initial_release": {"os_name": "{os_name}", "major_version": 8, "minor_version": 5}, "release": {"os_name": "{os_name}", "major_version": 8, "minor_version": 6}},
{"id": 2, "action": 4, "in_packageset": {"package": [{"name": "acme-after"}]}, "out_packageset": {"package": [{"name": "acme-last"}]},
 "initial_release": {"major_version": 8, "minor_version": 9}, "release": {"major_version": 9, "minor_version": 0}},
{"id": 3, "action": 1, "architectures": ["s390x"], "in_packageset": {"package": [{"name": "bash"}]}, "out_packageset": null,
 "initial_release": {"major_version": 8, "minor_version": 9}, "release": {"major_version": 9, "minor_version": 0}},
{"id": 4, "action": 1, "in_packageset": {"package": [{"name": "acme-gone"}]}, "out_packageset": null,
 "initial_release": null, "release": {"major_version": 9, "minor_version": 0}}]}
`

func TestEvents(t *testing.T) {
	b := newBuilder(t)
	b.Files(b.Dir, map[string]string{"pes-events.json": events, "cut.json": events[:700]})
	b.Run(0, "xz", "-k", b.Path("pes-events.json"))
	b.builds(t, "a file of events, packed", "--pes", b.Path("pes-events.json.xz"))
	b.answers(t, "events between minors are chained; a split in one is a new name", "rhel-8", "almalinux-9", "acme-before", "renamed acme-last=@")
	b.answers(t, "an event of another architecture", "rhel-8", "almalinux-9", "bash", "same bash=@")
	b.answers(t, "an event that says no release before", "rhel-8", "almalinux-9", "acme-gone", "removed NO_COUNTERPART")
	b.refuses(t, "a file of events that is cut off", "events", "--pes", b.Path("cut.json"))
}

func TestOverlay(t *testing.T) {
	b := newBuilder(t)
	folder := b.Path("overlay")
	b.Files(folder, map[string]string{"rpm_debian.tsv": "acme-legacy\treplaced\tnginx\tEL: our own\n"})
	b.builds(t, "curated rows", "--curated", folder)
	_, nginx, _ := strings.Cut(b.answer(t, "rocky-9", "debian-13", "nginx"), " ")
	b.answers(t, "what the overlay says", "rocky-9", "debian-13", "acme-legacy", "replaced "+nginx)
	b.Files(folder, map[string]string{"rpm_debian.tsv": "acme-legacy\treplaced\tacme-web\tEL: our own\n"})
	t.Run("rows that lead to a repository of its own, and where they do", func(t *testing.T) {
		b.In(t).SVC(exit.Done, b.command([]string{"--curated", folder})...).Has("rpm_debian.tsv:1: no list of the index has acme-web")
	})
	b.answers(t, "the answer names it, and warns", "rocky-9", "debian-13", "acme-legacy", "replaced acme-web=@ EXISTENCE_UNKNOWN")
	b.Files(folder, map[string]string{"mistyped.tsv": "x\n"})
	b.refuses(t, "a file that is none of an overlay", "mistyped", "--curated", folder)
}

// keys makes keys of an archive and of a stranger: files of what is public of them.
func (b builder) keys(t *testing.T) (archive, stranger string) {
	archive, stranger = b.Path("archive.gpg"), b.Path("stranger.asc")
	t.Setenv("GNUPGHOME", b.Path("gnupg"))
	is.New(t).NoErr(os.Mkdir(b.Path("gnupg"), 0o700))
	for _, name := range []string{"archive@example.org", "stranger@example.org"} {
		b.Run(0, "gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", name, "ed25519", "sign", "never")
	}
	b.Run(0, "gpg", "--output", archive, "--export", "archive@example.org")
	b.Run(0, "gpg", "--armor", "--output", stranger, "--export", "stranger@example.org")
	t.Cleanup(func() { b.Run(0, "gpgconf", "--kill", "all") }) // what gpg has left running
	return archive, stranger
}

// sign signs as the archive does.
func (b builder) sign(how ...string) {
	b.Run(0, "gpg", append([]string{"--quiet", "--yes", "--local-user", "archive@example.org"}, how...)...)
}

// found are the files of a pattern in the folder.
func (b builder) found(t *testing.T, pattern string) []string {
	files, err := filepath.Glob(b.Path(pattern))
	is := is.New(t)
	is.NoErr(err)
	is.True(len(files) > 0)
	return files
}
