package signature

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// made are the tools that make what blkid too can name: the kind, what blkid
// calls it, and the command.
var made = []struct {
	kind    Kind
	blkid   string
	command string
}{
	{Ext, "ext2", "mke2fs -q -t ext2 -L 'the label'"},
	{Ext, "ext4", "mke2fs -q -t ext4 -L sixteen-letters-"},
	{XFS, "xfs", "mkfs.xfs -q -L twelve-lette"},
	{XFS, "xfs", "mkfs.xfs -q -m crc=0"},
	{Btrfs, "btrfs", "mkfs.btrfs -q -L 'system of it'"},
	{"swap", "swap", "mkswap -q -L swapped"},
	{"swap", "swap", "mkswap -q -p 8192"},
	{"vfat", "vfat", "mkfs.vfat -F 32"},
	{"vfat", "vfat", "mkfs.vfat -F 16"},
	{"LUKS (encrypted)", "crypto_LUKS", "echo x | cryptsetup -q luksFormat --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000"},
	{"LUKS (encrypted)", "crypto_LUKS", "echo x | cryptsetup -q luksFormat --type luks1 --pbkdf-force-iterations 1000"},
}

func TestWhatToolsMake(t *testing.T) {
	for _, m := range made {
		t.Run(m.command, func(t *testing.T) {
			is := is.New(t)
			for _, tool := range []string{strings.Fields(strings.TrimPrefix(m.command, "echo x | "))[0], "blkid"} {
				if _, err := exec.LookPath(tool); err != nil {
					t.Skip("no " + tool + " here")
				}
			}
			file := filepath.Join(t.TempDir(), "volume")
			is.NoErr(os.WriteFile(file, nil, 0o600))
			is.NoErr(os.Truncate(file, 320<<20)) // the least that XFS takes
			out, err := exec.Command("sh", "-c", m.command+" "+file).CombinedOutput()
			if err != nil {
				t.Skipf("%s: %s", m.command, out) // newer tools refuse older forms
			}
			f, err := os.Open(file)
			is.NoErr(err)
			defer f.Close()
			found, ok := Of(sized{f, 320 << 20})
			is.True(ok)
			is.Equal(found.Kind, m.kind)
			is.Equal(blkid(t, file, "TYPE"), m.blkid)
			if found.ID != "" {
				is.Equal(found.ID, blkid(t, file, "UUID"))
				is.Equal(found.Label, blkid(t, file, "LABEL"))
			}
		})
	}
}

type sized struct {
	*os.File
	size int64
}

func (s sized) Size() int64 { return s.size }

func blkid(t *testing.T, file, what string) string {
	t.Helper()
	out, err := exec.Command("blkid", "-p", "-o", "value", "-s", what, file).Output()
	if err != nil && len(out) > 0 {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// TestMarksAtTheEnd has those that stand before a volume's end, where Linux
// looks for them, and a file system that shows through.
func TestMarksAtTheEnd(t *testing.T) {
	is := is.New(t)
	for at, want := range map[int]Kind{
		1<<20 - 8192:  "RAID (mdadm, version 1.0)",
		1<<20 - 65536: "RAID (mdadm, version 0.90)",
		4096:          "RAID (mdadm, version 1.2)",
		0:             "RAID (mdadm, version 1.1)",
	} {
		volume := make([]byte, 1<<20+1000)
		copy(volume[1024+56:], "\x53\xef")
		copy(volume[at:], "\xfc\x4e\x2b\xa9")
		found, ok := Of(bytes.NewReader(volume))
		is.True(ok)
		is.Equal(found.Kind, want)
	}
}

func TestNothingKnown(t *testing.T) {
	is := is.New(t)
	for _, volume := range [][]byte{nil, {1}, make([]byte, 512), make([]byte, 1<<20)} {
		_, ok := Of(bytes.NewReader(volume))
		is.True(!ok)
	}
}
