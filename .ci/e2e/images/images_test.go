// Package images_test assesses one machine on disk images of every format, partition
// table and file system, as a user who may neither mount nor use a loop device, and
// compares each answer byte for byte with that of its root folder. Then hostile images.
// Images are kept, and made once for each version of disks_test.go.
package images_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc/.ci/e2e"
)

func TestMain(m *testing.M) {
	e2e.Main(m, "qemu-img:qemu-utils", "mke2fs:e2fsprogs", "mkfs.xfs:xfsprogs", "mkfs.btrfs:btrfs-progs", "lvm:lvm2", "sgdisk:gdisk", "sfdisk:fdisk",
		"mkfs.vfat:dosfstools", "cryptsetup:cryptsetup-bin", "strace:strace", "mmdebstrap:mmdebstrap")
}

// What one assessment may take: of an image, and of a hostile one.
const (
	mostTime, mostMemory               = 30 * time.Second, 64 << 20
	mostHostileTime, mostHostileMemory = 20 * time.Second, 128 << 20
)

// disks are the images where an ordinary user reaches them.
type disks struct {
	*e2e.Work
	t      *testing.T
	is     *is.I
	public string // a folder with svc, the images, and the user's own
}

const nobody = 65534

func newDisks(t *testing.T) *disks {
	w, is := e2e.New(t), is.New(t)
	w.Call(0, "bash .ci/e2e/roots.sh")
	cache := filepath.Join(e2e.Cache(), "images")
	maker{w, is, cache}.make()
	public, err := os.MkdirTemp("", "svc-images")
	is.NoErr(err)
	t.Cleanup(func() { w.Run(0, "rm", "-rf", "--one-file-system", public) })
	is.NoErr(os.Chmod(public, 0o755))
	d := &disks{w, t, is, public}
	for _, dir := range []string{"images", "nobody"} {
		is.NoErr(os.Mkdir(d.at(dir), 0o755))
	}
	is.NoErr(os.Chown(d.at("nobody"), nobody, nobody))
	w.Run(0, "install", "-m", "755", w.Command().Path, d.at("svc"))
	w.Hold(`mount --bind "$1" "$2"`, `umount -l "$2"`, cache, d.at("images"))
	return d
}

func (d *disks) at(elem ...string) string {
	return filepath.Join(append([]string{d.public}, elem...)...)
}

func (d *disks) image(name string) string { return d.at("images", name) }

// machine is the root folder, with what fstab says in a layout.
func (d *disks) machine(layout string) string {
	d.t.Helper()
	d.Run(0, "cp", d.image(layout+".fstab"), d.image("machine/etc/fstab"))
	return d.image("machine")
}

// in is the same for a part of the test.
func (d *disks) in(t *testing.T) *disks {
	return &disks{d.Work.In(t), t, is.New(t), d.public}
}

// ended is how svc did.
type ended struct {
	code   int
	err    string
	memory int // at its peak
}

// nobody runs svc as one, for so long at most. What it prints goes to the file answer:
// what this process holds would count as svc's.
func (d *disks) nobody(most time.Duration, args ...string) ended {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), most)
	defer cancel()
	c := exec.CommandContext(ctx, d.at("svc"), args...)
	out, err := os.Create(d.Path("answer"))
	d.is.NoErr(err)
	defer out.Close()
	var said bytes.Buffer
	c.Stdout, c.Stderr = out, &said
	c.Env = []string{"HOME=" + d.at("nobody"), "PATH=" + os.Getenv("PATH")}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	d.is.NoErr(c.Start())
	_ = c.Wait() // its exit code is looked at
	return ended{c.ProcessState.ExitCode(), said.String(), int(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) << 10}
}

// TestAnswers is that of each image.
func TestAnswers(t *testing.T) {
	d := newDisks(t)
	for _, l := range layouts {
		d.expect(l.name)
		names := []string{l.name + ".raw"}
		switch l.name {
		case "lvm", "xfs", "btrfs":
			names = append(names, l.name+".qcow2")
		case "gpt":
			for _, f := range formats {
				names = append(names, "gpt."+f[0])
			}
			names = append(names, "overlay.qcow2")
		}
		for _, name := range names {
			t.Run(name, func(t *testing.T) { d.in(t).answers(name) })
		}
	}
}

// expect makes the answer that the images of a layout must give.
func (d *disks) expect(layout string) {
	d.Shell(0, `"$1" assess --root "$2" --json >"$3"`, d.at("svc"), d.machine(layout), d.Path("expected"))
}

// answers: an image gives what its root folder gives, in bounded memory.
func (d *disks) answers(name string) {
	ended := d.nobody(mostTime, "assess", "--image", d.image(name), "--json")
	d.t.Logf("exit %d, %d KiB %s", ended.code, ended.memory>>10, ended.err)
	d.Shell(0, `cmp -s "$1" "$2" || { diff <(tr , '\n' <"$1") <(tr , '\n' <"$2") | head -n 20; exit 1; }`, d.Path("expected"), d.Path("answer"))
	d.is.True(ended.memory <= mostMemory)
}

// TestCommands: what takes --root takes --image, and says the same.
func TestCommands(t *testing.T) {
	d := newDisks(t)
	out := map[string]string{}
	for kind, place := range d.places() {
		out[kind] = d.Path("out-" + kind)
		d.SVC(0, "migrate", "--"+kind, place, "--target", "debian-13", "--out", out[kind], "--confirm")
	}
	for _, written := range []string{"role", "plan.json"} {
		d.Run(0, "diff", "-r", filepath.Join(out["root"], written), filepath.Join(out["image"], written))
	}
	d.same("verify", "--source", out["root"])
	d.same("drift", "--source", out["root"])
	d.same("cve-scan")
	d.tools(out["root"])
}

// places are the root folder and an image of the same.
func (d *disks) places() map[string]string {
	return map[string]string{"root": d.machine("lvm"), "image": d.image("lvm.qcow2")}
}

// same: a command ends in the same way for both, and says the same.
func (d *disks) same(command string, options ...string) {
	d.t.Helper()
	answers := map[string]string{}
	for kind, place := range d.places() {
		c := d.Command(append([]string{command, "--json", "--" + kind, place}, options...)...)
		said, _ := c.Output() // its exit code is compared
		var answer map[string]any
		d.is.NoErr(json.Unmarshal(said, &answer))
		answers[kind] = strconv.Itoa(c.ProcessState.ExitCode()) + " " + d.unsigned(answer, kind, place)
	}
	d.is.Equal(answers["image"], answers["root"])
}

// unsigned is an answer without what is signed anew each time, and without the place.
func (d *disks) unsigned(answer map[string]any, kind, place string) string {
	for _, key := range []string{"attestation", "manifest", "salt", "signature"} {
		delete(answer, key)
	}
	b, err := json.Marshal(answer)
	d.is.NoErr(err)
	return strings.NewReplacer(place, "PLACE", "--"+kind+" ", "--KIND ").Replace(string(b))
}

// tools: every tool of the MCP server with root takes image.
func (d *disks) tools(source string) {
	session, err := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil).
		Connect(d.t.Context(), &mcp.CommandTransport{Command: d.Command("mcp")}, nil)
	d.is.NoErr(err)
	defer session.Close()
	all, err := session.ListTools(d.t.Context(), nil)
	d.is.NoErr(err)
	given := map[string]any{"target": "debian-13", "source": source, "preflight": true}
	compared := 0
	for _, tool := range all.Tools {
		var schema struct {
			Properties map[string]any
			Required   []string
		}
		b, err := json.Marshal(tool.InputSchema)
		d.is.NoErr(err)
		d.is.NoErr(json.Unmarshal(b, &schema))
		if schema.Properties["root"] == nil || tool.Name == "svc_data_plan" { // which takes no disk without a confirmation
			continue
		}
		answers := map[string]string{}
		for kind, place := range d.places() {
			arguments := map[string]any{kind: place}
			for name, value := range given {
				if slices.Contains(schema.Required, name) || name != "target" && schema.Properties[name] != nil {
					arguments[name] = value
				}
			}
			r, err := session.CallTool(d.t.Context(), &mcp.CallToolParams{Name: tool.Name, Arguments: arguments})
			d.is.NoErr(err)
			answers[kind] = d.unsigned(d.placed(r.StructuredContent.(map[string]any)), kind, place)
		}
		d.is.Equal(answers["image"], answers["root"])
		compared++
	}
	d.is.True(compared >= 3)
}

// placed is an answer whose places are without the devices that they are on.
func (d *disks) placed(answer map[string]any) map[string]any {
	places, ok := answer["places"].([]any)
	if !ok {
		return answer
	}
	var without []any
	for _, p := range places {
		p := p.(map[string]any)
		without = append(without, []any{p["path"], p["kind"], p["files"], p["bytes"]})
	}
	return map[string]any{"places": without}
}

// TestEconomy: of an image at most twice the bytes are read that the root folder needs.
func TestEconomy(t *testing.T) {
	d := newDisks(t)
	// An inode of 256 bytes for each name.
	used := d.bytes("read,pread64,getdents64,openat2", `/(read|pread64|getdents64)[( ].*= [0-9]+$/ { n += $NF } /openat2[( ].*= [0-9]+$/ { n += 256 } END { print n }`,
		"--root", d.machine("gpt"))
	for _, name := range []string{"gpt.qcow2", "xfs.qcow2", "btrfs.qcow2", "lvm.qcow2"} {
		read := d.bytes("read,pread64", `/= [0-9]+$/ { n += $NF } END { print n }`, "--image", d.image(name))
		t.Logf("%s: %d bytes read, of %d", name, read, used)
		d.is.True(read <= 2*used)
	}
}

// bytes are what an assessment reads, as awk counts it of its calls of the kernel.
func (d *disks) bytes(calls, count string, options ...string) int {
	d.t.Helper()
	said := d.Shell(0, `trace=$1 calls=$2 count=$3; shift 3
		strace -f -qq -e trace="$calls" -o "$trace" "$@" >/dev/null
		awk "$count" "$trace"`, append([]string{d.Path("trace"), calls, count, d.at("svc"), "assess", "--json"}, options...)...)
	n, err := strconv.Atoi(said.Line())
	d.is.NoErr(err)
	d.is.True(n > 0)
	return n
}
