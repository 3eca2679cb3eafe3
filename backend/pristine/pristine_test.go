package pristine

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/klauspost/compress/zstd"
	"github.com/matryer/is"
	"github.com/ulikunitz/xz"

	"svc/backend/pkgversion"
)

// file is one of a package that a test makes.
type file struct{ name, text string }

// packed packs as packages do.
func packed(t testing.TB, ending string, text []byte) []byte {
	t.Helper()
	is := is.New(t)
	var b bytes.Buffer
	w, err := map[string]func(io.Writer) (io.WriteCloser, error){
		".gz":  func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		".xz":  func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
		".zst": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
	}[ending](&b)
	is.NoErr(err)
	_, err = w.Write(text)
	is.NoErr(err)
	is.NoErr(w.Close())
	return b.Bytes()
}

// debOf is a package of Debian, as dpkg-deb lays it out.
func debOf(t testing.TB, ending string, files ...file) []byte {
	t.Helper()
	is := is.New(t)
	var data, b bytes.Buffer
	w := tar.NewWriter(&data)
	is.NoErr(w.WriteHeader(&tar.Header{Name: "./etc/", Typeflag: tar.TypeDir, Mode: 0o755}))
	is.NoErr(w.WriteHeader(&tar.Header{Name: "./etc/link.conf", Typeflag: tar.TypeSymlink, Linkname: "/etc/shadow"}))
	for _, f := range files {
		is.NoErr(w.WriteHeader(&tar.Header{Name: "." + f.name, Typeflag: tar.TypeReg, Size: int64(len(f.text)), Mode: 0o644}))
		_, err := io.WriteString(w, f.text)
		is.NoErr(err)
	}
	is.NoErr(w.Close())
	b.WriteString("!<arch>\n")
	for _, member := range []struct {
		name string
		text []byte
	}{{"debian-binary", []byte("2.0\n")}, {"control.tar.xz", []byte("odd")}, {"data.tar" + ending, packed(t, ending, data.Bytes())}} {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", member.name, 0, 0, 0, "100644", len(member.text))
		b.Write(member.text)
		if len(member.text)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// rpmOf is a package of rpm: lead, an empty signature, a header that names the
// compressor, and cpio.
func rpmOf(t testing.TB, compressor string, files ...file) []byte {
	t.Helper()
	header := func(tag uint32, value string) []byte {
		b := []byte{0x8e, 0xad, 0xe8, 1, 0, 0, 0, 0}
		b = binary.BigEndian.AppendUint32(b, 1)
		b = binary.BigEndian.AppendUint32(b, uint32(len(value)+1))
		for _, n := range []uint32{tag, 6, 0, 1} {
			b = binary.BigEndian.AppendUint32(b, n)
		}
		return append(append(b, value...), 0)
	}
	b := append([]byte{0xed, 0xab, 0xee, 0xdb}, make([]byte, 92)...)
	b = append(b, header(269, "abc")...)
	b = append(b, make([]byte, 4)...) // up to eight bytes
	b = append(b, header(rpmCompressor, compressor)...)
	var cpio bytes.Buffer
	entry := func(name string, mode int, text string) {
		fmt.Fprintf(&cpio, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", 1, mode, 0, 0, 1, 0, len(text), 0, 0, 0, 0, len(name)+1, 0)
		cpio.WriteString(name + "\x00")
		cpio.Write(make([]byte, (4-cpio.Len()%4)%4))
		cpio.WriteString(text)
		cpio.Write(make([]byte, (4-cpio.Len()%4)%4))
	}
	entry("./etc", 0o40755, "")
	entry("./etc/link.conf", 0o120777, "/etc/shadow")
	for _, f := range files {
		entry("."+f.name, 0o100644, f.text)
	}
	entry("TRAILER!!!", 0, "")
	return append(b, packed(t, rpmEndings[compressor], cpio.Bytes())...)
}

// folder is one with files by their names.
func folder(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		is.New(t).NoErr(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		is.New(t).NoErr(os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	return dir
}

func anything([]byte) bool { return true }

func TestFilesOfPackagesInAFolder(t *testing.T) {
	sshd := func(text string) []file {
		return []file{{"/usr/share/openssh/sshd_config", text}, {"/usr/share/doc/x", "x"}}
	}
	conf := func(text string) file { return file{"/etc/a b.conf", text} }
	for name, c := range map[string]struct {
		release  string
		packages map[string][]byte
		file     string
		want     string
	}{
		"gz, xz and zst; the newest counts": {"debian-13", map[string][]byte{
			"a_1.9_amd64.deb": debOf(t, ".gz", conf("1.9")), "b/a_1%3a1.2_amd64.deb": debOf(t, ".zst", conf("1:1.2")), "a_1.10_all.deb": debOf(t, ".xz", conf("1.10")),
		}, "/etc/a b.conf", "a 1:1.2 /etc/a b.conf 1:1.2"},
		"another architecture":    {"debian-13", map[string][]byte{"a_2_arm64.deb": debOf(t, ".xz", conf("2")), "a_1_amd64.deb": debOf(t, ".xz", conf("1"))}, "/etc/a b.conf", "a 1 /etc/a b.conf 1"},
		"a template":              {"debian-13", map[string][]byte{"openssh-server_1_amd64.deb": debOf(t, ".xz", sshd("Port 22")...)}, "/etc/ssh/sshd_config", "openssh-server 1 /usr/share/openssh/sshd_config Port 22"},
		"a link is no file":       {"debian-13", map[string][]byte{"a_1_amd64.deb": debOf(t, ".xz", conf("1"))}, "/etc/link.conf", ""},
		"what no package has":     {"debian-13", map[string][]byte{"a_1_amd64.deb": debOf(t, ".xz", conf("1"))}, "/etc/other.conf", ""},
		"rpm; the newest counts":  {"centos-7", map[string][]byte{"a-1.9-1.el7.x86_64.rpm": rpmOf(t, "xz", conf("1.9")), "a-1.10-1.el7.noarch.rpm": rpmOf(t, "gzip", conf("1.10"))}, "/etc/a b.conf", "a 1.10-1.el7 /etc/a b.conf 1.10"},
		"rpm with zstd, no links": {"rocky-9", map[string][]byte{"a-1-1.x86_64.rpm": rpmOf(t, "zstd", conf("1"))}, "/etc/link.conf", ""},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			arch := map[bool]string{true: "amd64", false: "x86_64"}[kindOf(c.release) == pkgversion.Deb]
			a, err := Open(t.Context(), Options{Places: []string{folder(t, c.packages)}, Release: c.release, Arch: arch})
			is.NoErr(err)
			f, err := a.Find(t.Context(), []string{"a"}, c.file, anything)
			is.NoErr(err)
			got := ""
			if f != nil {
				got = strings.Join([]string{f.Package, f.Version, f.Path, string(f.Text)}, " ")
				is.Equal(len(f.SHA256), 64)
			}
			is.Equal(got, c.want)
		})
	}
}

// TestTheOneThatFits: of several versions that counts which the machine had.
func TestTheOneThatFits(t *testing.T) {
	is := is.New(t)
	dir := folder(t, map[string][]byte{"a_1_amd64.deb": debOf(t, ".xz", file{"/etc/a", "old"}), "a_2_amd64.deb": debOf(t, ".xz", file{"/etc/a", "new"})})
	a, err := Open(t.Context(), Options{Places: []string{dir}, Release: "debian-12", Arch: "amd64"})
	is.NoErr(err)
	f, err := a.Find(t.Context(), []string{"a"}, "/etc/a", func(text []byte) bool { return string(text) == "old" })
	is.NoErr(err)
	is.Equal(f.Version, "1")
}

// TestManyPackagesAreNotKept: each is within its bounds, and is read again where it
// is wanted again.
func TestManyPackagesAreNotKept(t *testing.T) {
	is := is.New(t)
	large := []file{}
	for i := range 30 {
		large = append(large, file{fmt.Sprintf("/etc/%d", i), strings.Repeat("x", maxText)})
	}
	files := map[string][]byte{}
	for i := range 5 {
		files[fmt.Sprintf("p%d_1_amd64.deb", i)] = debOf(t, ".zst", append(large, file{"/etc/a", strconv.Itoa(i)})...)
	}
	a, err := Open(t.Context(), Options{Places: []string{folder(t, files)}, Release: "debian-12", Arch: "amd64"})
	is.NoErr(err)
	for range 2 {
		for i := range 5 {
			f, err := a.Find(t.Context(), []string{fmt.Sprintf("p%d", i)}, "/etc/a", anything)
			is.NoErr(err)
			is.Equal(string(f.Text), strconv.Itoa(i))
			var kept int64
			for _, c := range a.opened {
				kept += c.size()
			}
			is.True(kept <= maxOpened)
		}
	}
}

func TestDamagedPackagesAreErrors(t *testing.T) {
	good, goodRPM := debOf(t, ".xz", file{"/etc/a", "x"}), rpmOf(t, "xz", file{"/etc/a", "x"})
	var many []file
	for i := range 40 {
		many = append(many, file{fmt.Sprintf("/etc/%d", i), strings.Repeat("x", maxText)})
	}
	var empty []file
	for i := range maxKept / perFile {
		empty = append(empty, file{fmt.Sprintf("/etc/%d", i), ""})
	}
	for name, c := range map[string]struct {
		release, file string
		text          []byte
	}{
		"too much below /etc":  {"debian-12", "a_1_amd64.deb", debOf(t, ".zst", append(many, file{"/etc/a", "x"})...)},
		"many files":           {"debian-12", "a_1_amd64.deb", debOf(t, ".gz", append(empty, file{"/etc/a", "x"})...)},
		"cut off":              {"debian-12", "a_1_amd64.deb", good[:len(good)/2]},
		"no package":           {"debian-12", "a_1_amd64.deb", []byte("hello")},
		"no data":              {"debian-12", "a_1_amd64.deb", good[:72]},
		"an rpm cut off":       {"centos-7", "a-1-1.amd64.rpm", goodRPM[:len(goodRPM)-60]},
		"a header without end": {"centos-7", "a-1-1.amd64.rpm", goodRPM[:120]},
		"another compressor":   {"centos-7", "a-1-1.amd64.rpm", bytes.Replace(goodRPM, []byte("\x01xz\x00"), []byte("\x01zz\x00"), 1)},
	} {
		is := is.New(t)
		a, err := Open(t.Context(), Options{Places: []string{folder(t, map[string][]byte{c.file: c.text})}, Release: c.release, Arch: "amd64"})
		is.NoErr(err)
		if _, err := a.Find(t.Context(), []string{"a"}, "/etc/a", anything); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	_, err := Open(t.Context(), Options{Places: []string{t.TempDir()}, Release: "debian-12"})
	is.New(t).True(err != nil) // an empty folder is nobody's archive
}

// TestAnArchiveIsTrustedByItsSignature: a package of another digest than the
// signed listing gives is refused.
func TestAnArchiveIsTrustedByItsSignature(t *testing.T) {
	is := is.New(t)
	key, err := openpgp.NewEntity("archive", "", "archive@example.org", nil)
	is.NoErr(err)
	pkg := debOf(t, ".xz", file{"/etc/a", "x"})
	packages := fmt.Appendf(nil, "Package: a\nVersion: 1\nArchitecture: amd64\nFilename: pool/a_1_amd64.deb\nSHA256: %x\n\nPackage: out\nVersion: 1\nArchitecture: amd64\nFilename: ../a_1_amd64.deb\nSHA256: %[1]x\n", sha256.Sum256(pkg))
	var inRelease, keyring bytes.Buffer
	w, err := clearsign.Encode(&inRelease, key.PrivateKey, nil)
	is.NoErr(err)
	fmt.Fprintf(w, "Codename: bookworm\nComponents: main\nSHA256:\n %x %d main/binary-amd64/Packages\n", sha256.Sum256(packages), len(packages))
	is.NoErr(w.Close())
	is.NoErr(key.Serialize(&keyring))
	dir := folder(t, map[string][]byte{"dists/bookworm/InRelease": inRelease.Bytes(), "dists/bookworm/main/binary-amd64/Packages": packages, "pool/a_1_amd64.deb": pkg})
	keys := folder(t, map[string][]byte{"keys.gpg": keyring.Bytes()}) + "/keys.gpg"
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	find := func(place string) error {
		a, err := Open(t.Context(), Options{Places: []string{place}, Release: "debian-12", Arch: "amd64", Keyrings: []string{keys}, Cache: t.TempDir()})
		is.NoErr(err)
		f, err := a.Find(t.Context(), []string{"a"}, "/etc/a", anything)
		is.True(err != nil || string(f.Text) == "x")
		out, err2 := a.Find(t.Context(), []string{"out"}, "/etc/a", anything)
		is.NoErr(err2)
		is.True(out == nil) // it lies outside of the archive
		return err
	}
	is.NoErr(find(dir))
	is.NoErr(find(server.URL))
	is.NoErr(os.WriteFile(dir+"/pool/a_1_amd64.deb", debOf(t, ".xz", file{"/etc/a", "y"}), 0o600))
	is.True(find(dir) != nil)
	is.True(find(server.URL) != nil)
	other := folder(t, map[string][]byte{"keys.gpg": nil}) + "/keys.gpg"
	_, err = Open(t.Context(), Options{Places: []string{dir}, Release: "debian-12", Arch: "amd64", Keyrings: []string{other}, Cache: t.TempDir()})
	is.True(err != nil)
}

func TestARepositoryOfRPMs(t *testing.T) {
	is := is.New(t)
	pkg := rpmOf(t, "xz", file{"/etc/a", "x"})
	primary := fmt.Sprintf(`<metadata><package type="rpm"><name>a</name><arch>x86_64</arch><version epoch="1" ver="2" rel="3"/><checksum type="sha256">%x</checksum><location href="Packages/a.rpm"/></package></metadata>`, sha256.Sum256(pkg))
	repomd := fmt.Sprintf(`<repomd><data type="primary"><checksum type="sha256">%x</checksum><location href="repodata/primary.xml"/></data></repomd>`, sha256.Sum256([]byte(primary)))
	dir := folder(t, map[string][]byte{"repodata/repomd.xml": []byte(repomd), "repodata/primary.xml": []byte(primary), "Packages/a.rpm": pkg})
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	a, err := Open(t.Context(), Options{Places: []string{server.URL}, Release: "centos-7", Arch: "x86_64", Cache: t.TempDir()})
	is.NoErr(err)
	f, err := a.Find(t.Context(), []string{"a"}, "/etc/a", anything)
	is.NoErr(err)
	is.Equal(f.Version, "1:2-3")
	is.Equal(string(f.Text), "x")
}

func TestTemplates(t *testing.T) {
	is := is.New(t)
	for file, want := range map[string]string{
		"/etc/php/8.4/cli/php.ini":                 "php8.4-common /usr/lib/php/8.4/php.ini-production.cli",
		"/etc/php/8.4/fpm/php.ini":                 "php8.4-common /usr/lib/php/8.4/php.ini-production",
		"/etc/postgresql/17/main/postgresql.conf":  "postgresql-17 /usr/share/postgresql/17/postgresql.conf.sample",
		"/etc/ssh/sshd_config":                     "openssh-server /usr/share/openssh/sshd_config",
		"/etc/postgresql/17/main/conf.d/more.conf": " ",
	} {
		got, _ := TemplateOf(file)
		is.Equal(got.Package+" "+got.Path, want)
	}
}

func FuzzPayload(f *testing.F) {
	f.Add(debOf(f, ".gz", file{"/etc/a", "x"}), false)
	f.Add(rpmOf(f, "gzip", file{"/etc/a", "x"}), true)
	f.Fuzz(func(t *testing.T, text []byte, isRPM bool) {
		p := payload{wanted: "/usr/x", files: contents{}}
		read := p.deb
		if isRPM {
			read = p.rpm
		}
		_ = read(context.Background(), bytes.NewReader(text))
		for name := range p.files {
			if name != p.wanted && !strings.HasPrefix(name, "/etc/") {
				t.Errorf("%q was not asked for", name)
			}
		}
	})
}
