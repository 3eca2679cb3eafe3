package lvm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess/disk/block"
)

const (
	extent  = 4096
	areaAt  = 4096
	areaEnd = 1 << 20
)

// ids of the physical volumes, as the label has them.
var ids = []string{strings.Repeat("a", 32), strings.Repeat("b", 32)}

// newMember is a physical volume of 100 extents, whose metadata begins at a
// place of its area. Each extent has numbers that no other has.
func newMember(id, text string, at uint64) []byte {
	disk := make([]byte, areaEnd+100*extent)
	copy(disk[512:], labelMagic)
	copy(disk[512+24:], labelKind)
	binary.LittleEndian.PutUint32(disk[512+20:], 32)
	header := disk[512+32:]
	copy(header, id)
	for i, n := range []uint64{uint64(len(disk)), areaEnd, 0, 0, 0, areaAt, areaEnd - areaAt, 0, 0} {
		binary.LittleEndian.PutUint64(header[32+8*i:], n)
	}
	binary.LittleEndian.PutUint32(disk[512+16:], checksum(disk[512+20:1024]))
	h := areaHeader{Version: 1, At: areaAt, Size: areaEnd - areaAt}
	copy(h.Magic[:], areaMagic)
	h.Texts[0].At, h.Texts[0].Length, h.Texts[0].Check = at, uint64(len(text)), checksum([]byte(text))
	area := disk[areaAt:areaEnd]
	_, _ = binary.Encode(area, binary.LittleEndian, h)
	binary.LittleEndian.PutUint32(area, checksum(area[4:areaHeaderSize]))
	copy(area[areaHeaderSize:], text[copy(area[at:], text):])
	for i := range 100 * extent / 8 {
		binary.LittleEndian.PutUint64(disk[areaEnd+8*i:], uint64(i)|uint64(id[0])<<32)
	}
	return disk
}

// metadata is a group's; the segments are of its one volume.
func metadata(seqno int, segments ...string) string {
	var members, parts strings.Builder
	for i, id := range ids {
		fmt.Fprintf(&members, "pv%d {\nid = \"%s-%s\"\npe_start = %d\npe_count = 100\n}\n", i, id[:6], id[6:], areaEnd/sector)
	}
	for i, s := range segments {
		fmt.Fprintf(&parts, "segment%d {\n%s\n}\n", i+1, s)
	}
	return fmt.Sprintf(`contents = "Text Format Volume Group" # comment
description = "with \"quotes\""
vg-0 {
id = "the-group"
seqno = %d
status = ["RESIZEABLE", "READ"]
extent_size = %d
physical_volumes {
%s}
logical_volumes {
hidden {
status = ["READ"]
}
root {
status = ["READ", "WRITE", "VISIBLE"]
%s}
}
}
`, seqno, extent/sector, members.String(), parts.String())
}

func segmentOf(first, count int, kind string, stripeSize int, stripes string) string {
	return fmt.Sprintf("start_extent = %d\nextent_count = %d\ntype = %q\nstripe_size = %d\nstripes = [\n%s\n]", first, count, kind, stripeSize, stripes)
}

func open(disks ...[]byte) ([]Volume, error) {
	var members []block.Device
	for _, d := range disks {
		members = append(members, bytes.NewReader(d))
	}
	return Open(members)
}

// extents gives what stands in an extent of a physical volume.
func extents(disk []byte, first, count int) []byte {
	return disk[areaEnd+first*extent : areaEnd+(first+count)*extent]
}

func TestVolumes(t *testing.T) {
	is := is.New(t)
	newer := metadata(7,
		segmentOf(0, 3, "striped", 0, `"pv1", 10`),
		segmentOf(3, 4, "striped", 2, `"pv0", 20, "pv1", 30`),
		segmentOf(7, 2, "linear", 0, `"pv0", 0`))
	older := metadata(6, segmentOf(0, 1, "striped", 0, `"pv0", 0`))
	a := newMember(ids[0], newer, areaEnd-areaAt-100) // goes round in its area
	b := newMember(ids[1], older, 512)
	var want []byte
	want = append(want, extents(b, 10, 3)...)
	for i := 0; i < 2*extent; i += 1024 {
		want = append(want, extents(a, 20, 2)[i:i+1024]...)
		want = append(want, extents(b, 30, 2)[i:i+1024]...)
	}
	want = append(want, extents(a, 0, 2)...)
	volumes, err := open(b, a)
	is.NoErr(err)
	is.Equal(len(volumes), 1)
	v := volumes[0]
	is.Equal(v.Group+"/"+v.Name, "vg-0/root")
	is.Equal(v.Device.Size(), int64(len(want)))
	for range 300 {
		from := rand.IntN(len(want))
		p := make([]byte, rand.IntN(len(want)-from+1))
		is.NoErr(block.ReadFull(v.Device, p, int64(from)))
		is.True(bytes.Equal(p, want[from:from+len(p)]))
	}
}

func TestVolumesThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		want     error
		says     string
		segments []string
	}{
		"thin":             {block.ErrUnsupported, "not supported: volumes of the kind thin", []string{segmentOf(0, 1, "thin", 0, "")}},
		"gap":              {block.ErrDamaged, "begins at", []string{segmentOf(1, 1, "striped", 0, `"pv0", 0`)}},
		"no such member":   {block.ErrDamaged, "pv9", []string{segmentOf(0, 1, "striped", 0, `"pv9", 0`)}},
		"missing member":   {nil, "the physical volume pv1", []string{segmentOf(0, 1, "striped", 0, `"pv1", 0`)}},
		"absurd":           {block.ErrDamaged, "extents", []string{segmentOf(0, 1<<40, "striped", 0, `"pv0", 0`)}},
		"negative":         {block.ErrDamaged, "extents", []string{segmentOf(0, -4, "striped", 0, `"pv0", 0`)}},
		"stripe of naught": {block.ErrDamaged, "stripes", []string{segmentOf(0, 2, "striped", 0, `"pv0", 0, "pv0", 5`)}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			volumes, err := open(newMember(ids[0], metadata(1, c.segments...), 512))
			is.NoErr(err)
			is.Equal(len(volumes), 1)
			is.Equal(volumes[0].Device, nil)
			is.True(strings.Contains(volumes[0].Err.Error(), c.says))
			is.True(c.want == nil || errors.Is(volumes[0].Err, c.want))
		})
	}
}

func TestMetadataThatIsDamaged(t *testing.T) {
	is := is.New(t)
	good := newMember(ids[0], metadata(1, segmentOf(0, 1, "striped", 0, `"pv0", 0`)), 512)
	for _, at := range []int{512 + 40, areaAt + 30, areaAt + 600} {
		disk := bytes.Clone(good)
		disk[at]++
		_, err := open(disk)
		is.True(errors.Is(err, block.ErrDamaged))
	}
	_, err := open(newMember(ids[0], strings.Repeat("a { ", 50_000), 512))
	is.True(errors.Is(err, block.ErrDamaged))
	_, err = open(newMember(ids[0], strings.Repeat("a=1 ", 200_000), 512))
	is.True(errors.Is(err, block.ErrDamaged))
}

func FuzzParseGroup(f *testing.F) {
	f.Add(metadata(1, segmentOf(0, 1, "striped", 0, `"pv0", 0`), segmentOf(1, 4, "striped", 2, `"pv0", 20, "pv1", 30`)))
	f.Add(`a { extent_size = 8 logical_volumes { b { segment1 { stripes = [ "x"`)
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := RoomOf(text); err == nil && r.Free < 0 {
			t.Fatalf("%d bytes are free", r.Free)
		}
		g, err := parseGroup(text)
		if err != nil {
			return
		}
		var members []physical
		for _, p := range g.physical {
			members = append(members, physical{id: p.id, device: strings.NewReader("content")})
		}
		for _, v := range g.volumes(members) {
			if v.Err == nil {
				b := make([]byte, 100)
				_, _ = v.Device.ReadAt(b, 0)
				_, _ = v.Device.ReadAt(b, v.Device.Size()-1)
			}
		}
	})
}

func FuzzReadPhysical(f *testing.F) {
	whole := newMember(ids[0], metadata(1), 512)
	f.Add(whole[512:1024], whole[areaAt:areaAt+2048])
	f.Fuzz(func(t *testing.T, label, area []byte) {
		disk := make([]byte, 64<<10)
		copy(disk[512:1024], label)
		copy(disk[areaAt:], area)
		binary.LittleEndian.PutUint32(disk[512+16:], checksum(disk[512+20:1024]))
		binary.LittleEndian.PutUint32(disk[areaAt:], checksum(disk[areaAt+4:areaAt+areaHeaderSize]))
		_, _ = readPhysical(bytes.NewReader(disk)) // an error is as good
	})
}
