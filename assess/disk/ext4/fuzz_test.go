package ext4

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"svc/assess/disk/inode/inodetest"
)

// patched is a device with other bytes in some places: two at a time.
type patched struct {
	io.ReaderAt
	patches []byte // of 6 bytes: a place, and what stands there
	size    int64
	read    int
}

func (p *patched) ReadAt(b []byte, off int64) (int, error) {
	n, err := p.ReaderAt.ReadAt(b, off)
	p.read += n
	for x := p.patches; len(x) >= 6; x = x[6:] {
		at := int64(le.Uint32(x)) % p.size
		for i, c := range x[4:6] {
			if where := at + int64(i) - off; where >= 0 && where < int64(n) {
				b[where] = c
			}
		}
	}
	return n, err
}

func patch(at uint32, value uint16) []byte {
	return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint32(nil, at), value)
}

// FuzzOpen reads a bit of everything from devices that are no file system, and
// from the images of testdata with some bytes changed: no panic, and no more
// work than a few times what there is to read.
func FuzzOpen(f *testing.F) {
	var bases [][]byte
	for i, image := range images {
		b := imageBytes(f, image.name)
		bases = append(bases, b)
		f.Add(uint8(i), []byte(nil))
		for _, field := range []uint32{0, 4, 0x14, 0x18, 0x20, 0x28, 0x58, 0x60, 0x64, 0xFE} {
			f.Add(uint8(i), patch(superblockAt+field, 1))
		}
		s, err := openBytes(b)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range []string{".", "etc", "var/pieces", "usr/many", "fast"} {
			for _, place := range placesOf(f, s, name) {
				f.Add(uint8(i), patch(place, 0xFFFF))
			}
		}
	}
	f.Add(uint8(255), bases[0][:4096])
	f.Fuzz(func(t *testing.T, base uint8, patches []byte) {
		if len(patches) > 6*64 && int(base) < len(bases) {
			return
		}
		device := &patched{ReaderAt: bytes.NewReader(patches), size: int64(len(patches))}
		if int(base) < len(bases) {
			device = &patched{ReaderAt: bytes.NewReader(bases[base]), size: int64(len(bases[base])), patches: patches}
		}
		s, err := Open(device, device.size)
		if err != nil {
			return
		}
		budget := 300
		inodetest.Explore(s, ".", &budget)
		if device.read > 256<<20 {
			t.Fatalf("%d bytes read", device.read)
		}
	})
}

// placesOf is where a file's inode and its first block are on the device.
func placesOf(t testing.TB, f *FS, name string) []uint32 {
	n, err := f.resolve(name)
	if err != nil {
		t.Fatal(err)
	}
	inode := inodePlace(t, f, n.number)
	places := []uint32{inode, inode + 0x1A, inode + 4, inode + 0x20, inode + 0x28, inode + 0x2A, inode + 0x2C, inode + 0x2E, inode + 0x34, inode + 0x38}
	if n.flags&flagInline != 0 {
		return places
	}
	r, err := f.locate(n, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	first := uint32(r.start * f.blockSize)
	return append(places, first, first+4, first+6, first+12, first+24, first+32)
}

// inodePlace is where an inode is on the device.
func inodePlace(t testing.TB, f *FS, number uint32) uint32 {
	table, err := f.inodeTable((number - 1) / f.inodesPerGroup)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(table*f.blockSize) + (number-1)%f.inodesPerGroup*f.inodeSize
}
