package packages

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/adler32"
	"os"
	"slices"
	"testing"

	"github.com/matryer/is"

	"svc/assess/packages/rpm"
	"svc/assess/packages/sqlite"
)

// The targets stand apart from the readers' other tests: those link a database
// library, and a fuzzer that watches all of it gets nowhere.

// header makes a package's header: name, version and release, and files that
// stand in one folder.
func header(name string, files ...string) []byte {
	var index, store []byte
	add := func(tag, kind, count uint32, data []byte) {
		for _, n := range []uint32{tag, kind, uint32(len(store)), count} {
			index = binary.BigEndian.AppendUint32(index, n)
		}
		store = append(store, data...)
	}
	text := func(tag uint32, s string) { add(tag, 6, 1, append([]byte(s), 0)) }
	var bases, digests, zeros []byte
	for _, f := range files {
		bases, digests, zeros = append(append(bases, f...), 0), append(digests, "d41d8cd98f00b204e9800998ecf8427e\x00"...), append(zeros, 0, 0, 0, 0)
	}
	add(1003, 4, 1, []byte{0, 0, 0, 2})
	add(1037, 4, uint32(len(files)), zeros)
	add(1116, 4, uint32(len(files)), zeros)
	text(1000, name)
	text(1001, "1.2")
	text(1002, "3")
	text(1044, name+"-1.2-3.src.rpm")
	add(1035, 8, uint32(len(files)), digests)
	add(1117, 8, uint32(len(files)), bases)
	add(1118, 8, 1, []byte("/etc/\x00"))
	blob := binary.BigEndian.AppendUint32(nil, uint32(len(index)/16))
	blob = binary.BigEndian.AppendUint32(blob, uint32(len(store)))
	return slices.Concat(blob, index, store)
}

// ndb makes a database in SUSE's form.
func ndb(headers ...[]byte) []byte {
	file := make([]byte, 4096)
	copy(file, "RpmP")
	binary.LittleEndian.PutUint32(file[12:], 1)
	for at := 32; at < len(file); at += 16 {
		copy(file[at:], "Slot")
	}
	for i, h := range headers {
		size := (16 + len(h) + 12 + 15) / 16 * 16
		slot := file[32+16*i:]
		for n, v := range []uint32{uint32(i + 1), uint32(len(file) / 16), uint32(size / 16)} {
			binary.LittleEndian.PutUint32(slot[4+4*n:], v)
		}
		blob := make([]byte, size)
		copy(blob, "BlbS")
		binary.LittleEndian.PutUint32(blob[4:], uint32(i+1))
		binary.LittleEndian.PutUint32(blob[12:], uint32(len(h)))
		copy(blob[16:], h)
		binary.LittleEndian.PutUint32(blob[size-12:], adler32.Checksum(blob[:size-12]))
		binary.LittleEndian.PutUint32(blob[size-8:], uint32(len(h)))
		copy(blob[size-4:], "BlbE")
		file = append(file, blob...)
	}
	return file
}

// order is a byte order that reads and writes.
type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// hash makes a Berkeley DB hash with one bucket and pages of 512 bytes. Headers
// stand on chains of pages of their own.
func hash(order order, headers ...[]byte) []byte {
	const size = 512
	page := func(n, next uint32, entries, offset uint16, kind byte) []byte {
		p := make([]byte, size)
		order.PutUint32(p[8:], n)
		order.PutUint32(p[16:], next)
		order.PutUint16(p[20:], entries)
		order.PutUint16(p[22:], offset)
		p[25] = kind
		return p
	}
	meta, bucket := page(0, 0, 0, 0, 8), page(1, 0, uint16(2*len(headers)), 0, 13)
	file, end := slices.Concat(meta, bucket), size
	put := func(i int, item []byte) {
		end -= len(item)
		copy(file[size+end:], item)
		order.PutUint16(file[size+26+2*i:], uint16(end))
	}
	for i, h := range headers {
		first, total := uint32(len(file)/size), len(h)
		for len(h) > 0 {
			n, used := uint32(len(file)/size), min(len(h), size-26)
			p := page(n, n+1, 0, uint16(used), 7)
			copy(p[26:], h[:used])
			file, h = append(file, p...), h[used:]
		}
		put(2*i, append([]byte{1}, order.AppendUint32(nil, uint32(i+1))...))
		put(2*i+1, slices.Concat([]byte{3, 0, 0, 0}, order.AppendUint32(nil, first), order.AppendUint32(nil, uint32(total))))
	}
	for at, v := range map[int]uint32{12: 0x061561, 16: 9, 20: size, 32: uint32(len(file)/size - 1), 72: 0, 88: uint32(len(headers) + 1), 96: 1} {
		order.PutUint32(file[at:], v)
	}
	return file
}

// names reads the names of all packages, with all of their files.
func names(file, log []byte) (names []string, err error) {
	d := rpm.Database{File: bytes.NewReader(file), Size: int64(len(file))}
	if len(log) > 0 {
		d.Log, d.LogSize = bytes.NewReader(log), int64(len(log))
	}
	var failed error
	err = d.Each(func(p *rpm.Package) {
		names = append(names, p.Name)
		wanted := map[int]string{}
		err := p.Paths(func([]byte) bool { return true }, func(i int, path string) { wanted[i] = path })
		_, err2 := p.Files(wanted)
		failed = errors.Join(failed, err, err2)
	})
	return names, errors.Join(err, failed)
}

// sample reads a file of testdata: a SQLite file with a table Packages of two
// headers, on pages of 512 bytes, and its log with a third.
func sample(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile("testdata/" + name)
	is.New(tb).NoErr(err)
	return b
}

// TestEachForm reads small databases of each form.
func TestEachForm(t *testing.T) {
	is := is.New(t)
	a, b := header("a", "x.conf", "y.conf"), header("b", slices.Repeat([]string{"file"}, 100)...)
	for _, file := range [][]byte{ndb(a, b), hash(binary.LittleEndian, a, b), hash(binary.BigEndian, a, b), sample(t, "packages.sqlite")} {
		got, err := names(file, nil)
		is.NoErr(err)
		is.Equal(got, []string{"a", "b"})
	}
	got, err := names(sample(t, "packages.sqlite"), sample(t, "packages.sqlite-wal"))
	is.NoErr(err)
	is.Equal(got, []string{"a", "b", "c"})
}

// TestACutDatabaseIsAnError cuts databases at every place: what is read is
// right, and the loss is told.
func TestACutDatabaseIsAnError(t *testing.T) {
	is := is.New(t)
	a, b := header("a"), header("b", slices.Repeat([]string{"file"}, 100)...)
	for _, file := range [][]byte{ndb(a, b), hash(binary.LittleEndian, a, b), sample(t, "packages.sqlite")} {
		for n := range file {
			got, err := names(file[:n], nil)
			is.True(err != nil) // the cut is told
			is.True(len(got) < 3)
			for i, name := range got {
				is.Equal(name, string("ab"[i]))
			}
		}
	}
}

// TestADamagedByte turns each byte of databases: nothing breaks, and of two
// packages never more than two are read.
func TestADamagedByte(t *testing.T) {
	is := is.New(t)
	a, b := header("a"), header("b", slices.Repeat([]string{"file"}, 30)...)
	for _, file := range [][]byte{ndb(a, b), hash(binary.LittleEndian, a, b), sample(t, "packages.sqlite")} {
		for i := range file {
			file[i] ^= 0xff
			got, _ := names(file, nil)
			file[i] ^= 0xff
			is.True(len(got) <= 2)
		}
	}
}

func FuzzRPM(f *testing.F) {
	a, b := header("a"), header("b", slices.Repeat([]string{"file"}, 30)...)
	for _, file := range [][]byte{ndb(a, b), hash(binary.LittleEndian, a, b), hash(binary.BigEndian, a, b), sample(f, "packages.sqlite")} {
		f.Add(file, []byte{})
	}
	f.Add(sample(f, "packages.sqlite"), sample(f, "packages.sqlite-wal"))
	f.Fuzz(func(t *testing.T, file, log []byte) {
		got, _ := names(file, log)
		if 40*len(got) > len(file)+len(log) { // a header has three values at least
			t.Fatalf("%d packages in %d bytes", len(got), len(file)+len(log))
		}
	})
}

func FuzzHeader(f *testing.F) {
	f.Add(header("a"))
	f.Add(header("b", "c", "d"))
	f.Fuzz(func(t *testing.T, blob []byte) {
		p, err := rpm.Parse(blob)
		if err != nil {
			return
		}
		wanted := map[int]string{}
		if err := p.Paths(func([]byte) bool { return true }, func(i int, path string) { wanted[i] = path }); err != nil {
			return
		}
		if files, err := p.Files(wanted); err == nil && len(files) != len(wanted) {
			t.Fatalf("%d files, of %d wanted", len(files), len(wanted))
		}
	})
}

func FuzzSQLite(f *testing.F) {
	f.Add(sample(f, "packages.sqlite"), sample(f, "packages.sqlite-wal"))
	f.Fuzz(func(t *testing.T, file, log []byte) {
		db, err := sqlite.Open(bytes.NewReader(file), int64(len(file)), bytes.NewReader(log), int64(len(log)))
		if err != nil {
			return
		}
		size := 0
		_ = db.Each("packages", []string{"hnum", "blob"}, func(error) {}, func(row []sqlite.Value) { size += len(row[1].Bytes) })
		if size > len(file)+len(log) {
			t.Fatalf("%d bytes of rows in %d", size, len(file)+len(log))
		}
	})
}
