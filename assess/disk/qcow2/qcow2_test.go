package qcow2

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
	"github.com/matryer/is"

	"svc/assess/disk/block"
	"svc/assess/disk/block/blocktest"
)

// cluster is the length of the clusters of images made here, of which the first
// is the header, the second the L1 table and the third the L2 table.
const (
	clusterBits = 9
	cluster     = 1 << clusterBits
	l2At        = 2 * cluster
	size        = 6*cluster + 100
)

// image is an image in the making.
type image struct {
	header     header
	extensions []byte
	l2         []uint64
	data       []byte // from the fourth cluster on
}

// newImage has clusters that are allocated, not there, zeroed, compressed and
// again allocated, and a last one that is not there.
func newImage(method uint8) *image {
	var packed bytes.Buffer
	if method == deflated {
		w, _ := flate.NewWriter(&packed, 9)
		_, _ = w.Write(bytes.Repeat([]byte("c"), cluster))
		_ = w.Close()
	} else {
		w, _ := zstd.NewWriter(&packed)
		_, _ = w.Write(bytes.Repeat([]byte("c"), cluster))
		_ = w.Close()
	}
	m := &image{header: header{Version: 3, ClusterBits: clusterBits, Size: size, L1Entries: 1, L1At: cluster, Length: lengthV3 + 8, Compression: method}}
	if method != deflated {
		m.header.Incompatible = compression
	}
	m.data = append(bytes.Repeat([]byte("a"), cluster), bytes.Repeat([]byte("e"), cluster)...)
	m.data = append(m.data, packed.Bytes()...)
	m.data = append(m.data, "of another cluster"...)
	m.l2 = []uint64{3*cluster | copied, 0, zeros, 5*cluster | compressed, 4 * cluster, 0}
	return m
}

func (m *image) bytes() []byte {
	copy(m.header.Magic[:], magic)
	b := make([]byte, 3*cluster)
	_, _ = binary.Encode(b, binary.BigEndian, m.header)
	copy(b[m.header.Length:], m.extensions)
	binary.BigEndian.PutUint64(b[cluster:], l2At|copied)
	for i, e := range m.l2 {
		binary.BigEndian.PutUint64(b[l2At+8*i:], e)
	}
	return append(b, m.data...)
}

func noFiles(name, _ string) (block.Device, error) { return nil, errors.New("no file " + name) }

func open(b []byte, files block.Opener) (block.Device, error) {
	return Open(bytes.NewReader(b), block.NewCache(1<<20), files)
}

// content is what the disk of an image has.
func content(b []byte, files block.Opener) (string, error) {
	return blocktest.Content(open(b, files))
}

// layout repeats each letter for a cluster; a dot stands for zeros.
func layout(letters string) string {
	var b strings.Builder
	for _, c := range letters {
		if c == '.' {
			c = 0
		}
		b.WriteString(strings.Repeat(string(c), cluster))
	}
	return b.String()[:size]
}

func TestClusters(t *testing.T) {
	for _, method := range []uint8{deflated, zstandard} {
		is := is.New(t)
		got, err := content(newImage(method).bytes(), noFiles)
		is.NoErr(err)
		is.Equal(got, layout("a..ce.."))
	}
}

func TestABackingFile(t *testing.T) {
	is := is.New(t)
	m := newImage(deflated)
	m.extensions = binary.BigEndian.AppendUint32(nil, backingFormat)
	m.extensions = binary.BigEndian.AppendUint32(m.extensions, 3)
	m.extensions = append(m.extensions, "raw\x00\x00\x00\x00\x00"...)
	m.header.BackingAt, m.header.BackingLen = 300, 4
	b := m.bytes()
	copy(b[300:], "base")
	short := strings.Repeat("B", 2*cluster) // the disk is longer
	got, err := content(b, func(name, format string) (block.Device, error) {
		is.Equal(name+" "+format, "base raw")
		return strings.NewReader(short), nil
	})
	is.NoErr(err)
	is.Equal(got, layout("aB.ce.."))
	_, err = content(b, noFiles)
	is.True(strings.Contains(err.Error(), "no file base"))
}

func TestSubclusters(t *testing.T) {
	is := is.New(t)
	const bits = 14
	m := &image{header: header{Version: 3, ClusterBits: bits, Size: 3 << bits, L1Entries: 1, L1At: 1 << bits, Length: lengthV3, Incompatible: extendedL2}}
	copy(m.header.Magic[:], magic)
	b := make([]byte, 4<<bits)
	_, _ = binary.Encode(b, binary.BigEndian, m.header)
	binary.BigEndian.PutUint64(b[1<<bits:], 2<<bits)
	binary.BigEndian.PutUint64(b[2<<bits:], 3<<bits)
	binary.BigEndian.PutUint64(b[2<<bits+8:], 1<<(32+3)|1<<31|1<<1) // one zeroed, two allocated
	for i := range 1 << bits {
		b[3<<bits+i] = byte('A' + i/512)
	}
	got, err := content(b, noFiles)
	is.NoErr(err)
	want := make([]byte, 3<<bits)
	copy(want[512:], strings.Repeat("B", 512))
	copy(want[31*512:], strings.Repeat(string(rune('A'+31)), 512))
	is.True(got == string(want))
	binary.BigEndian.PutUint64(b[2<<bits+8:], 1<<(32+1)|1<<1) // zeroed and allocated
	_, err = content(b, noFiles)
	is.True(errors.Is(err, block.ErrDamaged))
}

func TestImagesThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		want   error
		says   string
		change func(*image)
	}{
		"version":           {block.ErrUnsupported, "version 4", func(m *image) { m.header.Version = 4 }},
		"new feature":       {block.ErrUnsupported, "features 0x400", func(m *image) { m.header.Incompatible = 1 << 10 }},
		"corrupt":           {block.ErrDamaged, "qemu-img check", func(m *image) { m.header.Incompatible = corrupt }},
		"LUKS":              {block.ErrUnsupported, "LUKS", func(m *image) { m.header.Crypt = 2 }},
		"AES":               {block.ErrUnsupported, "AES", func(m *image) { m.header.Crypt = 1 }},
		"huge clusters":     {block.ErrDamaged, "clusters", func(m *image) { m.header.ClusterBits = 63 }},
		"small clusters":    {block.ErrDamaged, "clusters", func(m *image) { m.header.ClusterBits = 0 }},
		"absurd size":       {block.ErrDamaged, "tables are for", func(m *image) { m.header.Size = 1 << 49 }},
		"more absurd size":  {block.ErrDamaged, "a disk of", func(m *image) { m.header.Size = 1 << 63 }},
		"no size":           {block.ErrDamaged, "a disk of 0", func(m *image) { m.header.Size = 0 }},
		"absurd table":      {block.ErrDamaged, "a table of", func(m *image) { m.header.L1Entries = 1 << 31 }},
		"table elsewhere":   {block.ErrDamaged, "beyond the end", func(m *image) { m.header.L1At = 1 << 40 }},
		"unaligned table":   {block.ErrDamaged, "a table", func(m *image) { m.header.L1At = 513 }},
		"compression":       {block.ErrUnsupported, "compression 9", func(m *image) { m.header.Incompatible, m.header.Compression = compression, 9 }},
		"long backing name": {block.ErrDamaged, "name of 5000 bytes", func(m *image) { m.header.BackingAt, m.header.BackingLen = 300, 5000 }},
		"data file":         {nil, "opening its data file", func(m *image) { m.header.Incompatible = dataFile }},
		"endless extension": {block.ErrDamaged, "extension", func(m *image) { m.extensions = []byte{1, 2, 3, 4, 0xff, 0xff, 0xff, 0xff} }},
		"cluster elsewhere": {block.ErrDamaged, "beyond the end", func(m *image) { m.l2[0] = 1 << 50 }},
		"cut short":         {block.ErrDamaged, "beyond the end", func(m *image) { m.data = m.data[:cluster] }},
		"bad compression":   {block.ErrDamaged, "decompressing the cluster", func(m *image) { copy(m.data[2*cluster:], "\xff\xff\xff\xff") }},
		"compressed cut":    {block.ErrDamaged, "decompressing the cluster", func(m *image) { m.data = m.data[:2*cluster+3] }},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			m := newImage(deflated)
			c.change(m)
			_, err := content(m.bytes(), noFiles)
			is.True(err != nil && strings.Contains(err.Error(), c.says))
			is.True(c.want == nil || errors.Is(err, c.want))
		})
	}
	is := is.New(t)
	_, err := open([]byte(magic), noFiles)
	is.True(errors.Is(err, block.ErrDamaged))
}

func FuzzOpen(f *testing.F) {
	f.Add(newImage(deflated).bytes())
	f.Add(newImage(zstandard).bytes())
	v2 := newImage(deflated)
	v2.header.Version = 2
	f.Add(v2.bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := open(b, func(string, string) (block.Device, error) { return strings.NewReader("backing"), nil })
		blocktest.Sample(t, d, err)
	})
}
