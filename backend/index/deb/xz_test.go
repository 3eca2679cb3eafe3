package deb

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/matryer/is"
	"github.com/ulikunitz/xz"
)

func packed(t *testing.T, text []byte, c xz.WriterConfig) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := c.NewWriter(&b)
	is.New(t).NoErr(err)
	_, err = w.Write(text)
	is.New(t).NoErr(errors.Join(err, w.Close()))
	return b.Bytes()
}

// TestXZ: what is packed comes back, in streams of several blocks and several
// streams; a window that is too large is refused before room is made for it, in
// whichever block it is claimed.
func TestXZ(t *testing.T) {
	is := is.New(t)
	random := make([]byte, 300_000)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	text := append(bytes.Repeat([]byte("text "), 100_000), random...)
	small := packed(t, text, xz.WriterConfig{BlockSize: 70_001, DictCap: 1 << 20})
	two := append(append(bytes.Clone(small), 0, 0, 0, 0), packed(t, text, xz.WriterConfig{CheckSum: xz.SHA256})...)
	for _, c := range []struct{ b, want []byte }{{small, text}, {two, append(bytes.Clone(text), text...)}, {packed(t, nil, xz.WriterConfig{}), nil}} {
		r, err := newXZ(bytes.NewReader(c.b))
		is.NoErr(err)
		got, err := io.ReadAll(r)
		is.NoErr(err)
		is.True(bytes.Equal(got, c.want))
	}
	large := packed(t, text, xz.WriterConfig{DictCap: 256 << 20})
	for _, b := range [][]byte{large, append(bytes.Clone(small), large...)} {
		r, err := newXZ(bytes.NewReader(b))
		if err == nil {
			_, err = io.ReadAll(r)
		}
		is.True(errors.Is(err, errWindow))
	}
}

func FuzzXZ(f *testing.F) {
	f.Add([]byte("\xfd7zXZ\x00\x00\x04"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := newXZ(bytes.NewReader(b)); err == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(r, 1<<20))
		}
	})
}
