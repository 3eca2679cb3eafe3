package index_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/matryer/is"
)

// packages are what the repositories have.
var packages = []struct{ repository, name, version, release, more string }{
	{"rocky-8/base", "acme-one", "1.0", "1", ""},
	{"rocky-8/base", "acme-old", "1.5", "1", ""},
	{"rocky-8/base", "acme-kept", "3.0", "1", ""},
	{"rocky-9/base", "acme-two", "2.0", "1", "Obsoletes: acme-one < 2\nProvides: acme-one = 2.0\n"},
	{"rocky-9/base", "acme-new", "2.0", "1", "Obsoletes: acme-old < 1.2\n"},
	{"rocky-9/base", "acme-kept", "3.1", "2", "Epoch: 1\n"},
	{"rocky-9/apps", "acmedb", "10.3", "1", ""},
	{"rocky-9/apps", "acmedb", "13.1", "1", ""},
	{"rocky-9/apps", "acmedb-extra", "13.1", "1", ""},
}

const spec = `Name: %[1]s
Version: %[2]s
Release: %[3]s
Summary: of the end-to-end test
License: none
BuildArch: noarch
%[4]s%%description
%%install
mkdir -p %%{buildroot}/etc %%{buildroot}/usr/lib/systemd/system
touch %%{buildroot}/etc/%[1]s.conf %%{buildroot}/usr/lib/systemd/system/%[1]s.service
%%files
/etc/%[1]s.conf
/usr/lib/systemd/system/%[1]s.service
`

// modules are two streams of a module.
const modules = `---
document: modulemd
version: 2
data:
  name: acmedb
  stream: "10"
  version: 1
  context: aaaa
  artifacts:
    rpms:
    - acmedb-0:10.3-1.noarch
...
---
document: modulemd
version: 2
data:
  name: acmedb
  stream: "13"
  version: 1
  context: aaaa
  artifacts:
    rpms:
    - acmedb-0:13.1-1.noarch
    - acmedb-extra-0:13.1-1.noarch
...
---
document: modulemd-defaults
version: 1
data:
  module: acmedb
  stream: "10"
...
`

// repositories makes the packages, and repositories of them.
func (b builder) repositories(t *testing.T) {
	for i, p := range packages {
		name := fmt.Sprintf("%d.spec", i)
		b.Files(b.Dir, map[string]string{name: fmt.Sprintf(spec, p.name, p.version, p.release, p.more)})
		b.Run(0, "rpmbuild", "-bb", "--quiet", "--define", "_topdir "+b.Path("rpmbuild"), "--define", "_rpmdir "+b.Path("repo", p.repository), b.Path(name))
	}
	b.Files(b.Dir, map[string]string{"modules.yaml": modules})
	b.Run(0, "createrepo_c", "-q", b.Path("repo/rocky-8/base"))
	b.pack(t, "gz")
}

// pack makes the metadata of Rocky 9 again, packed so. Not every createrepo_c knows zstd.
func (b builder) pack(t *testing.T, kind string) {
	by := strings.ReplaceAll(kind, "zstd", "gz")
	for _, repository := range []string{b.Path("repo/rocky-9/base"), b.Path("repo/rocky-9/apps")} {
		is.New(t).NoErr(os.RemoveAll(repository + "/repodata"))
		b.Run(0, "createrepo_c", "-q", "--general-compress-type", by, repository)
	}
	b.Run(0, "modifyrepo_c", "--mdtype=modules", "--compress-type="+by, b.Path("modules.yaml"), b.Path("repo/rocky-9/apps/repodata"))
	if kind == "zstd" {
		for _, file := range b.found(t, "repo/rocky-9/*/repodata/*.gz") {
			repack(t, file)
		}
	}
}

// repack packs a part of the metadata by zstd, and has its repomd.xml say so.
func repack(t *testing.T, file string) {
	is := is.New(t)
	old, err := os.ReadFile(file)
	is.NoErr(err)
	unpacked, err := gzip.NewReader(bytes.NewReader(old))
	is.NoErr(err)
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed)
	is.NoErr(err)
	_, err = io.Copy(w, unpacked)
	is.NoErr(err)
	is.NoErr(w.Close())
	folder, name := filepath.Split(file)
	was, now := digest(old), digest(packed.Bytes())
	renamed := strings.TrimSuffix(strings.ReplaceAll(name, was, now), "gz") + "zst"
	is.NoErr(os.WriteFile(folder+renamed, packed.Bytes(), 0o644))
	is.NoErr(os.Remove(file))
	list, err := os.ReadFile(folder + "repomd.xml")
	is.NoErr(err)
	is.NoErr(os.WriteFile(folder+"repomd.xml", []byte(strings.NewReplacer(name, renamed, was, now).Replace(string(list))), 0o644))
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func TestRPM(t *testing.T) {
	b := newBuilder(t)
	b.repositories(t)
	repositories := []string{"--rpm-md", b.Path("repo")}
	t.Run("packings", func(t *testing.T) { b.packings(t, repositories) })
	b.answers(t, "a package that obsoletes and provides another", "rocky-8", "rocky-9", "acme-one", "renamed acme-two=2.0-1@base")
	b.answers(t, "an Obsoletes whose range the version is not in", "rocky-8", "rocky-9", "acme-old", "removed NO_COUNTERPART")
	b.answers(t, "a package that stays, with its epoch", "rocky-8", "rocky-9", "acme-kept", "same acme-kept=1:3.1-2@base")
	b.answers(t, "the default stream of a module", "rocky-9", "rocky-9", "acmedb", "same acmedb=10.3-1@apps")
	b.answers(t, "a stream that must be enabled", "rocky-9", "rocky-9", "acmedb-extra", "same acmedb-extra=13.1-1@apps MODULE_STREAM")
	add(t, b.found(t, "repo/rocky-9/base/repodata/*primary.xml*")[0], "damaged")
	b.refuses(t, "a damaged part", "SHA-256", repositories...)
	b.pack(t, "gz")
	t.Run("signatures", func(t *testing.T) { b.rpmSignatures(t, repositories) })
}

// packings checks that the same repositories give the same bytes, however they are packed.
func (b builder) packings(t *testing.T, repositories []string) {
	var first []byte
	for _, kind := range []string{"gz", "xz", "zstd"} {
		b.pack(t, kind)
		b.builds(t, kind, repositories...)
		index, err := os.ReadFile(b.index)
		is := is.New(t)
		is.NoErr(err)
		if first == nil {
			first = index
		}
		is.True(bytes.Equal(index, first))
	}
}

func (b builder) rpmSignatures(t *testing.T, repositories []string) {
	archive, stranger := b.keys(t)
	signed := append(repositories, "--keyring", archive)
	b.refuses(t, "none where one is asked for", "repomd.xml.asc", signed...)
	for _, file := range b.found(t, "repo/*/*/repodata/repomd.xml") {
		b.sign("--armor", "--detach-sign", file)
	}
	b.builds(t, "good ones", signed...)
	b.refuses(t, "of another key", "checking signature", append(repositories, "--keyring", stranger)...)
	b.builds(t, "by HTTP", "--rpm-md", b.serve(t)+"/repo/rocky-9/base", "--release", "rocky-9", "--keyring", archive)
}

// add adds to a file.
func add(t *testing.T, file, text string) {
	is := is.New(t)
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	is.NoErr(err)
	defer f.Close()
	_, err = f.WriteString(text)
	is.NoErr(err)
}
