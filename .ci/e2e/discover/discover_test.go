// Package discover_test finds the data of a machine with hostile names, attributes,
// holes, links and mounts by all three ways to it: its root, a disk image, and a real
// sshd whose machine has the usual programs. What is counted is compared with what the
// kernel says of each file.
package discover_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/.ci/e2e"
	"svc/tools/data"
)

func TestMain(m *testing.M) {
	e2e.Main(m, "sshd:openssh-server", "ssh:openssh-client", "setfacl:acl", "setfattr:attr", "setcap:libcap2-bin", "mke2fs:e2fsprogs", "python3:python3", "mkfs.btrfs:btrfs-progs", "mkfs.xfs:xfsprogs",
		"git:git", "svnadmin:subversion", "lvm:lvm2", "strace:strace")
}

// machine is a folder that is one.
type machine struct {
	*e2e.Work
	t    *testing.T
	is   *is.I
	root string
	free int64 // bytes that LVM says a group has left
}

func TestDiscover(t *testing.T) {
	w := e2e.New(t)
	m := &machine{Work: w, t: t, is: is.New(t), root: w.Path("machine")}
	m.system()
	m.data()
	m.volumes()
	m.images()

	w.Hold(`mount -t proc proc "$1/proc"`, `umount -q -l "$1/proc"`, m.root)
	w.Shell(0, `truncate -s 8M "$1" && mke2fs -q -F -t ext4 "$1"`, w.Path("other.img"))
	unmount := w.Hold(`mount -o loop "$1" "$2" && echo elsewhere >"$2/file"`, `umount -q -l "$2"`, w.Path("other.img"), m.at("srv/shop/mounted"))
	m.places(m.counted("root", "--root", m.root))
	m.opensNone()

	destination := w.Serve("ChrootDirectory " + m.root)
	w.Start("tail", "-f", m.at("srv/shop/dense"))
	m.overSSH(m.counted("ssh", "--ssh", destination))
	w.Run(0, "rm", m.root+w.Run(0, "which", "getfattr").Line())
	shop := m.shop(m.found("--ssh", destination))
	m.is.True(!shop.Known.Attributes) // without getfattr
	m.is.True(shop.Known.Inodes)

	w.Run(0, "rm", m.root+w.Run(0, "which", "xargs").Line())
	unmount()                                                                            // in a chroot the kernel names mounts by the host's paths
	m.is.Equal(listed(m.found("--ssh", destination)), listed(m.found("--root", m.root))) // without xargs, listings have the same files
	w.SVC(0, "data", "plan", "--ssh", destination, "--target", "debian-13", "--out", w.Path("out"), "--source-offline", "--confirm")
	w.Run(0, "grep", "-rqF", `PLACE=$'/srv/\xff place'`, w.Path("out/places")) // names of any bytes
}

func (m *machine) at(name string) string { return filepath.Join(m.root, name) }

// found is what svc finds.
func (m *machine) found(flags ...string) (d data.Discovery) {
	m.t.Helper()
	m.SVC(0, append([]string{"data", "discover", "--json"}, flags...)...).JSON(&d)
	return d
}

// counted is what svc finds by a way, held against the tree.
func (m *machine) counted(way string, flags ...string) data.Discovery {
	m.t.Helper()
	found := m.found(flags...)
	m.compare(way, found)
	return found
}

// place is one by its path.
func (m *machine) place(d data.Discovery, path string) data.Place {
	m.t.Helper()
	for _, p := range d.Places {
		if p.Path == path {
			return p
		}
	}
	m.t.Fatalf("there is no place %s", path)
	return data.Place{}
}

func (m *machine) shop(d data.Discovery) data.Place { m.t.Helper(); return m.place(d, "/srv/shop") }

// images: they have what is on the disk alone.
func (m *machine) images() {
	image := m.Path("disk.img")
	m.Shell(0, `truncate -s 400M "$1" && mke2fs -q -F -t ext4 -d "$2" "$1"`, image, m.root)
	d := m.counted("image", "--image", image)
	said := false
	for _, n := range d.Notes {
		said = said || n.What == "/data" && strings.Contains(n.Why, "not on this image")
	}
	m.is.True(said)
	shop := m.shop(d)
	m.is.True(shop.Known.Attributes)
	m.is.Equal(shop.ACLs, int64(2))
	m.is.Equal(shop.Labels, int64(1))
	for _, kind := range []string{"btrfs", "xfs"} {
		m.Shell(0, `truncate -s 0 "$1" && truncate -s 400M "$1" && "mkfs.$3" -q "$1"
			mkdir -p "$4" && mount -o loop "$1" "$4"
			trap 'umount "$4"' EXIT
			cp -a "$2/." "$4"`, image, m.root, kind, m.Path("mounted"))
		m.counted(kind+" image", "--image", image)
	}
	m.is.NoErr(os.Remove(image))
}

// places: what svc knows of some by configuration.
func (m *machine) places(d data.Discovery) {
	cluster := m.place(d, "/data/cluster") // where its configuration says
	m.is.Equal(cluster.What, "postgresql")
	m.is.Equal(cluster.Version, "15")
	m.is.Equal(m.free, int64(196<<20))
	snapshot := m.place(d, "/data").Snapshot
	m.is.Equal(snapshot.Kind, "lvm")
	m.is.Equal(snapshot.Free, m.free)
	site := m.place(d, "/data/www") // where the web server's says
	m.is.Equal(site.Kind, data.Web)
	m.is.Equal(site.Within, "/data")
	volumes := m.place(d, "/var/lib/docker/volumes")
	m.is.Equal(volumes.Kind, data.Containers)
	m.is.Equal(volumes.Files, int64(1))
	pool := m.place(d, "/mnt/pool") // what is mounted from elsewhere stays there
	m.is.Equal(pool.Kind, data.Remote)
	m.is.Equal(pool.Files, int64(0))
	m.repositories(d)
}

func (m *machine) repositories(d data.Discovery) {
	m.t.Helper()
	kinds := map[string]string{}
	for _, r := range m.place(d, "/home/anna").Repositories {
		kinds[r.Path] = r.Kind
	}
	m.is.Equal(kinds, map[string]string{"/home/anna/code.git": "git", "/home/anna/code.svn": "svn"})
}

// opens is a system call that opens a file below a folder of data.
var opens = regexp.MustCompile(`open(at2?)?\([^"]*"(srv|home|var/mail|var/lib/docker/volumes)`)

// opensNone: folders of data are listed, and none of their files opened.
func (m *machine) opensNone() {
	log := m.Path("opens")
	m.Run(0, "strace", "-f", "-qq", "-e", "trace=openat,openat2,open", "-o", log, m.Command().Path, "data", "discover", "--root", m.root, "--json")
	b, err := os.ReadFile(log)
	m.is.NoErr(err)
	listed := 0
	for line := range strings.Lines(string(b)) {
		if opens.MatchString(line) {
			listed++
			if !strings.Contains(line, "O_DIRECTORY") && !strings.Contains(line, "O_PATH") {
				m.t.Errorf("a file is opened: %s", line)
			}
		}
	}
	m.is.True(listed > 10)
}

func (m *machine) overSSH(d data.Discovery) {
	m.repositories(d)
	names := func(p data.Place) map[string]bool {
		all := map[string]bool{}
		for _, u := range p.Users {
			all[u.Name] = true
		}
		return all
	}
	shop := m.shop(d)
	m.is.True(names(m.place(d, "/home/anna"))["anna"]) // owners have the machine's names
	m.is.Equal(names(shop), map[string]bool{"root": true, "www-data": true})
	m.is.Equal(shop.Mounts, []string{"/srv/shop/mounted"}) // named, and not entered
	m.is.True(shop.Known.OpenFiles)
	m.is.Equal(shop.OpenFiles, int64(1))
	m.is.True(strings.Contains(shop.OpenBy[0], "tail"))
	m.is.True(shop.Known.Attributes) // where getfattr is
	m.is.Equal(shop.ACLs, int64(2))
	m.is.Equal(shop.Labels, int64(1))
	m.is.Equal(shop.Privileged, int64(1))
}

// listed is of each place what a listing of its files says.
func listed(d data.Discovery) map[string]string {
	all := map[string]string{}
	for _, p := range d.Places {
		b, err := json.Marshal(data.Tally{Files: p.Files, Folders: p.Folders, Links: p.Links, Others: p.Others, OddNames: p.OddNames, Sockets: p.Sockets, Unread: p.Unread, Newest: p.Newest})
		all[p.Path] = string(p.Kind) + " " + strconv.Quote(string(b))
		if err != nil {
			all[p.Path] = err.Error()
		}
	}
	return all
}
