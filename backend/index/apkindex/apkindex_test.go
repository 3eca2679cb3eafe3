package apkindex

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/matryer/is"
)

const two = "C:Q1abc=\nP:nginx\nV:1.28.0-r3\nA:x86_64\nS:1\nT:HTTP server\no:nginx\np:cmd:nginx=1.28.0-r3\n\nC:Q1abd=\nP:nginx-openrc\nV:1.28.0-r3\no:nginx\n"

// list is a list as abuild signs it: two tar files, of which the first has no end.
func list(t testing.TB, name, text string) []byte {
	is := is.New(t)
	var all bytes.Buffer
	part := func(name, text string, end bool) {
		z := gzip.NewWriter(&all)
		w := tar.NewWriter(z)
		is.NoErr(w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}))
		_, err := w.Write([]byte(text))
		is.NoErr(err)
		if end {
			is.NoErr(w.Close())
		} else {
			is.NoErr(w.Flush())
		}
		is.NoErr(z.Close())
	}
	part(".SIGN.RSA.alpine.rsa.pub", "signature", false)
	part(name, text, true)
	return all.Bytes()
}

func TestRead(t *testing.T) {
	is := is.New(t)
	got, err := Read(bytes.NewReader(list(t, "APKINDEX", two)))
	is.NoErr(err)
	is.Equal(got, []Package{{"nginx", "1.28.0-r3", "nginx"}, {"nginx-openrc", "1.28.0-r3", "nginx"}})
}

func TestReadRefuses(t *testing.T) {
	for name, b := range map[string][]byte{
		"no list":      list(t, "DESCRIPTION", "v3.22"),
		"no packages":  list(t, "APKINDEX", "\n\n"),
		"no colon":     list(t, "APKINDEX", "P:nginx\nthis is no line\n"),
		"cut short":    list(t, "APKINDEX", two)[:100],
		"not packed":   []byte(two),
		"nothing":      nil,
		"a long line":  list(t, "APKINDEX", "P:"+string(bytes.Repeat([]byte("x"), maxLine))),
		"another kind": []byte("ADB."),
	} {
		_, err := Read(bytes.NewReader(b))
		if err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(list(f, "APKINDEX", two))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := Read(bytes.NewReader(b))
		if err == nil && len(all) == 0 {
			t.Error("neither packages nor an error")
		}
		for _, p := range all {
			if p.Name == "" {
				t.Error("a package without a name")
			}
		}
	})
}
