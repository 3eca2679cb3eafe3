package partition

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/matryer/is"

	"svc/assess/disk/block"
)

// putEntry writes an entry of a boot sector's table.
func putEntry(disk []byte, at int64, i int, kind byte, first, count uint32) {
	b := disk[at+entriesAt+int64(16*i):]
	b[4] = kind
	binary.LittleEndian.PutUint32(b[8:], first)
	binary.LittleEndian.PutUint32(b[12:], count)
	disk[at+510], disk[at+511] = 0x55, 0xaa
}

// withMBR is a disk with one primary partition and three in an extended one,
// of which the last has an XFS.
func withMBR(sector int64) []byte {
	disk := make([]byte, 400*sector)
	binary.LittleEndian.PutUint32(disk[440:], 0xcafe0001)
	putEntry(disk, 0, 0, 0x83, 10, 20)
	putEntry(disk, 0, 2, 0x05, 100, 300)
	for i, at := range []int64{100, 150, 300} { // each boot sector says where the next one is, from the first
		putEntry(disk, at*sector, 0, 0x83, 8, 20)
		if i < 2 {
			putEntry(disk, at*sector, 1, 0x05, []uint32{50, 200}[i], 30)
		}
	}
	copy(disk[308*sector:], "XFSB")
	return disk
}

// withGPT is a disk whose partitions have the given first and last sectors.
func withGPT(sector int64, parts ...[2]uint64) []byte {
	const sectors = 200
	disk := make([]byte, sectors*sector)
	putEntry(disk, 0, 0, protective, 1, sectors-1)
	entries := make([]byte, 128*128)
	for i, p := range parts {
		e := gptEntry{Kind: [16]byte{1}, ID: [16]byte{0x10, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, byte(i)}, First: p[0], Last: p[1]}
		copy(e.Name[:], utf16.Encode([]rune("räume")))
		_, _ = binary.Encode(entries[i*2*128:], binary.LittleEndian, e) // each second entry is empty
	}
	put := func(at, entriesAt uint64) {
		h := gptHeader{Length: 92, Self: at, EntriesAt: entriesAt, Count: 128, EntryLength: 128, EntriesCheck: crc32.ChecksumIEEE(entries)}
		copy(h.Signature[:], gptMagic)
		b := disk[int64(at)*sector:]
		_, _ = binary.Encode(b, binary.LittleEndian, h)
		binary.LittleEndian.PutUint32(b[16:], crc32.ChecksumIEEE(b[:92]))
		copy(disk[int64(entriesAt)*sector:], entries)
	}
	put(1, 2)
	put(sectors-1, sectors-1-uint64(int64(len(entries))/sector))
	return disk
}

func read(disk []byte) ([]Partition, error) { return Read(bytes.NewReader(disk)) }

func TestExtendedPartitions(t *testing.T) {
	for _, sector := range sectors {
		is := is.New(t)
		disk := withMBR(sector)
		found, err := read(disk)
		is.NoErr(err)
		var numbers []int
		for _, p := range found {
			numbers = append(numbers, p.Number)
			is.Equal(p.Size(), 20*sector)
		}
		is.Equal(numbers, []int{1, 5, 6, 7})
		is.Equal(found[3].ID, "cafe0001-07")
		is.True(block.HasAt(found[3], 0, "XFSB"))
	}
}

func TestAnExtendedPartitionThatLeadsBack(t *testing.T) {
	is := is.New(t)
	disk := withMBR(512)
	putEntry(disk, 300*512, 1, 0x05, 50, 30)
	_, err := read(disk)
	is.True(errors.Is(err, block.ErrDamaged))
}

func TestGPT(t *testing.T) {
	for _, sector := range sectors {
		is := is.New(t)
		disk := withGPT(sector, [2]uint64{64, 71}, [2]uint64{80, 150})
		check := func() {
			found, err := read(disk)
			is.NoErr(err)
			is.Equal(len(found), 2)
			is.Equal([]int{found[0].Number, found[1].Number}, []int{1, 3})
			is.Equal(found[1].ID, "04030210-0605-0807-090a-0b0c0d0e0f01")
			is.Equal(found[1].Label, "räume")
			is.Equal(found[1].Size(), 71*sector)
		}
		check()
		disk[sector+60]++ // the first header
		check()
		disk[199*sector+60]++ // and its copy
		_, err := read(disk)
		is.True(errors.Is(err, block.ErrDamaged))
	}
}

func TestDisksWithoutTables(t *testing.T) {
	is := is.New(t)
	boot := make([]byte, 4096) // of a FAT: code where the table would be
	copy(boot[440:], "This is not a bootable disk. Please insert a bootable floppy and press any key")
	boot[510], boot[511] = 0x55, 0xaa
	for _, disk := range [][]byte{nil, make([]byte, 100), make([]byte, 4096), boot} {
		_, err := read(disk)
		is.True(errors.Is(err, ErrNone))
	}
}

// tables are what sfdisk makes tables of.
var tables = map[string]string{
	"dos":    "label: dos\nlabel-id: 0x12345678\n1: start=2048,size=2048\n4: start=8192,type=f\n5: start=10240,size=1000\n6: start=14336,size=512\n7: start=20000,size=1000\n",
	"gpt":    "label: gpt\nstart=2048,size=2048,name=root\nstart=8192,size=100\n",
	"sparse": "label: dos\n3: start=2048,size=2048\n4: start=8192,type=f\n5: start=10240,size=1000\n",
}

func TestTablesThatSfdiskWrote(t *testing.T) {
	if _, err := exec.LookPath("sfdisk"); err != nil {
		t.Skip("no sfdisk here")
	}
	for name, script := range tables {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			file := filepath.Join(t.TempDir(), "disk")
			is.NoErr(os.WriteFile(file, nil, 0o600))
			is.NoErr(os.Truncate(file, 32<<20))
			cmd := exec.Command("sfdisk", "-q", file)
			cmd.Stdin = strings.NewReader(script)
			is.NoErr(cmd.Run())
			out, err := exec.Command("sfdisk", "--json", file).Output()
			is.NoErr(err)
			var want struct {
				PartitionTable struct {
					Partitions []struct {
						Node        string
						Start, Size int64
						UUID, Type  string
					}
				}
			}
			is.NoErr(json.Unmarshal(out, &want))
			disk, err := os.ReadFile(file)
			is.NoErr(err)
			found, err := read(disk)
			is.NoErr(err)
			i := 0
			for _, p := range want.PartitionTable.Partitions {
				if p.Type == "5" || p.Type == "f" {
					continue
				}
				is.True(strings.HasSuffix(p.Node, "disk"+string(rune('0'+found[i].Number))))
				is.Equal(found[i].Size(), p.Size*512)
				marker := []byte{byte(i + 1), 0xde, 0xad}
				copy(disk[p.Start*512:], marker)
				is.True(block.HasAt(found[i], 0, string(marker)))
				if p.UUID != "" {
					is.Equal(found[i].ID, strings.ToLower(p.UUID))
				}
				i++
			}
			is.Equal(i, len(found))
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(withMBR(512))
	f.Add(withMBR(4096)[:64<<10])
	f.Add(withGPT(512, [2]uint64{64, 71}))
	f.Fuzz(func(t *testing.T, disk []byte) {
		found, err := read(disk)
		if err != nil {
			return
		}
		for _, p := range found {
			if p.Size() < 0 || p.Size() > int64(len(disk)) {
				t.Fatalf("partition %d of %d bytes on a disk of %d", p.Number, p.Size(), len(disk))
			}
		}
	})
}
