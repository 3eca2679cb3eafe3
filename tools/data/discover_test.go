package data

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/assess"
	"svc/assess/host"
	"svc/assess/inspect"
	"svc/backend/tsv"
)

// machine is a root with the files given; a name that ends in a slash is a folder.
func machine(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	base := map[string]string{
		"etc/os-release": "ID=debian\nVERSION_ID=12\n", "var/lib/dpkg/status": "Package: base-files\nStatus: install ok installed\nVersion: 12\nArchitecture: amd64\n", "etc/machine-id": "0123456789abcdef0123456789abcdef\n",
		"etc/passwd": "root:x:0:0::/root:/bin/sh\nanna:x:1000:1000::/home/anna:/bin/sh\n", "etc/group": "root:x:0:\nanna:x:1000:\n",
	}
	for _, set := range []map[string]string{base, files} {
		for name, content := range set {
			write(t, filepath.Join(root, name), content)
		}
	}
	return root
}

func write(t testing.TB, name, content string) {
	t.Helper()
	is := is.New(t)
	if filepath.Base(name) == "." {
		is.NoErr(os.MkdirAll(filepath.Dir(name), 0o755))
		return
	}
	is.NoErr(os.MkdirAll(filepath.Dir(name), 0o755))
	is.NoErr(os.WriteFile(name, []byte(content), 0o644))
}

func discovered(t testing.TB, root string) *Discovery {
	t.Helper()
	is := is.New(t)
	h, err := host.OpenRoot(root)
	is.NoErr(err)
	defer h.Close()
	a, err := inspect.Assess(t.Context(), h, assess.Options{Now: time.Unix(0, 0)})
	is.NoErr(err)
	d, err := Discover(t.Context(), h, a, nil)
	is.NoErr(err)
	return d
}

func placeAt(t testing.TB, d *Discovery, path string) Place {
	t.Helper()
	i := slices.IndexFunc(d.Places, func(p Place) bool { return p.Path == path })
	if i < 0 {
		t.Fatalf("%s is not found", path)
	}
	return d.Places[i]
}

// TestNoFolderOrFileIsForgotten: data stand beside the folders of programs, too.
func TestNoFolderOrFileIsForgotten(t *testing.T) {
	is := is.New(t)
	root := machine(t, map[string]string{
		"srv/dump.sql": "x", "srv/app/a": "x", "var/lib/loose.db": "x", "var/lib/dpkg/available": "x", "home/key": "x", "home/anna/a": "x", "mnt/data/a": "x", "var/data/a": "x", "var/cache/a": "x",
		"var/spool/fax/a": "x", "var/spool/cron/root": "x", "big.img": "x", "swapfile": "x", "u01/a": "x",
	})
	is.NoErr(os.Symlink("app/a", filepath.Join(root, "srv/link")))
	d := discovered(t, root)
	found := []string{}
	for _, p := range d.Places {
		found = append(found, fmt.Sprint(p.Path, p.Names, p.Files, p.Links, p.Within))
	}
	slices.Sort(found)
	is.Equal(found, []string{
		"/home/anna[] 1 0", "/home[key] 1 0", "/mnt/data[] 1 0", "/srv/app[] 1 0", "/srv[dump.sql link] 1 1", "/u01[] 1 0", "/var/data[] 1 0", "/var/lib[loose.db] 1 0", "/var/spool/fax[] 1 0",
	})
	is.Equal(len(d.Notes), 1)
	is.Equal(d.Notes[0].What, "/big.img") // of the root itself
}

// TestAnEmptyFolderOfPeopleMoves: something is put there later. What systems make by
// themselves needs no place.
func TestAnEmptyFolderOfPeopleMoves(t *testing.T) {
	is := is.New(t)
	root := machine(t, map[string]string{"srv/full/a": "x"})
	for _, name := range []string{"srv/in", "srv/tree/a/b", "outbox", "var/lib/empty", "var/spool/none", "mnt/disk", "home/anna", "opt/tool", "media/cdrom", "root"} {
		is.NoErr(os.MkdirAll(filepath.Join(root, name), 0o755))
	}
	found := []string{}
	for _, p := range discovered(t, root).Places {
		found = append(found, p.Path)
	}
	slices.Sort(found)
	is.Equal(found, []string{"/outbox", "/srv/full", "/srv/in", "/srv/tree"})

	passwd := filepath.Join(root, "etc/passwd")
	text, err := os.ReadFile(passwd)
	is.NoErr(err)
	is.NoErr(os.WriteFile(passwd, append(text, "drop:x:1500:1500::/srv/sftp/drop:/sbin/nologin\n"...), 0o644))
	is.NoErr(os.MkdirAll(filepath.Join(root, "srv/sftp/drop/in"), 0o755)) // a home of folders alone
	is.True(slices.ContainsFunc(discovered(t, root).Places, func(p Place) bool { return p.Path == "/srv/sftp/drop" && p.Kind == Home }))
}

// TestAnEmptyFolderThatWasGivenAwayMoves: programs of people write there, below /var too.
// What a package names is its own.
func TestAnEmptyFolderThatWasGivenAwayMoves(t *testing.T) {
	is := is.New(t)
	root := machine(t, map[string]string{
		"var/lib/dpkg/info/base-files.list": "/var\n/var/lib/shipped\n/var/backups\n", "var/lib/dpkg/info/base-files.postinst": "install -d -m 0700 /var/lib/made\ninstall_directory var/mail 2775 mail\n", "usr/lib/tmpfiles.d/c.conf": "d /var/lib/ruled 1777\n",
	})
	for _, name := range []string{"var/lib/shipped", "var/lib/made", "var/mail", "var/lib/ruled", "var/spool/alert", "var/backups/nightly", "var/lib/running/body"} {
		is.NoErr(os.MkdirAll(filepath.Join(root, name), 0o755))
		is.NoErr(os.Chmod(filepath.Join(root, name), 0o770))
	}
	is.NoErr(os.MkdirAll(filepath.Join(root, "var/spool/plain"), 0o755))
	found := []string{}
	for _, p := range discovered(t, root).Places {
		found = append(found, p.Path)
	}
	slices.Sort(found)
	is.Equal(found, []string{"/var/backups", "/var/spool/alert"})
}

// TestAFolderAroundPlacesMoves where it has more than they: empty folders beside them, or
// rights that the target would not give it.
func TestAFolderAroundPlacesMoves(t *testing.T) {
	is := is.New(t)
	root := machine(t, map[string]string{
		"etc/rsyncd.conf":   "[a]\npath = /srv/beside/done\n[b]\npath = /srv/shared/done\n[c]\npath = /srv/only/deep/done\n",
		"srv/beside/done/a": "x", "srv/shared/done/a": "x", "srv/only/deep/done/a": "x",
	})
	is.NoErr(os.MkdirAll(filepath.Join(root, "srv/beside/incoming"), 0o755))
	is.NoErr(os.Chmod(filepath.Join(root, "srv/shared"), 0o1777))
	if os.Getuid() == 0 {
		is.NoErr(os.Chown(filepath.Join(root, "srv/only"), 0, 0))
	}
	found := []string{}
	for _, p := range discovered(t, root).Places {
		found = append(found, p.Path)
	}
	slices.Sort(found)
	is.True(slices.Contains(found, "/srv/beside") && slices.Contains(found, "/srv/shared"))
	is.True(os.Getuid() != 0 || !slices.Contains(found, "/srv/only"))
}

// TestLeasesMoveAlone: what a server of addresses gave out goes along, and nothing else
// of a folder that every system has.
func TestLeasesMoveAlone(t *testing.T) {
	is := is.New(t)
	d := discovered(t, machine(t, map[string]string{"var/lib/dhcp/dhcpd.leases": "x", "var/lib/dhcp/dhclient.eth0.leases": "x", "var/lib/misc/other": "x"}))
	is.Equal(len(d.Places), 1)
	is.Equal(d.Places[0].Path, "/var/lib/dhcp")
	is.Equal(d.Places[0].Names, []string{"dhcpd.leases"})
}

// TestAPersonsSoftwareIsAPlace: what the closed sum calls a person's software moves, but
// for folders that hold files of packages, and snaps, which snapd brings.
func TestAPersonsSoftwareIsAPlace(t *testing.T) {
	is := is.New(t)
	rules, err := os.ReadFile("../../assess/ledger/rules.tsv")
	is.NoErr(err)
	files, folders := map[string]string{}, []string{}
	for row := range tsv.Rows(string(rules), 4) {
		folder, all := strings.CutSuffix(row[0], "/**")
		if row[1] == "software" && all && (!strings.HasPrefix(folder, "/usr/") || folder == "/usr/local") && folder != "/snap" {
			folders = append(folders, folder)
			files[folder[1:]+"/one/file"] = "x"
		}
	}
	is.True(len(folders) > 3)
	d := discovered(t, machine(t, files))
	for _, folder := range folders {
		if !slices.ContainsFunc(d.Places, func(p Place) bool { return below(folder+"/one", p.Path) }) {
			t.Errorf("%s is in no place", folder)
		}
	}
}

// volumeGroup is a description as LVM writes one: of 123 extents of 4 MiB, 25
// and 24 are in use.
const volumeGroup = `contents = "Text Format Volume Group"
version = 1
vg {
	id = "ep61Lp-O00H-D01e-IiYK-uEHs-ZJ7t-3nomSK"
	seqno = 3
	extent_size = 8192		# 4 Megabytes
	physical_volumes {
		pv0 {
			id = "Jk3S20-SdiJ-zU16-f61t-SbYg-km0A-wnsYGw"
			pe_start = 2048
			pe_count = 74	# 296 Megabytes
		}
		pv1 {
			id = "ELpxzL-pTYd-h1fo-aHx3-F5Nt-mf2h-ZVfJNa"
			pe_start = 2048
			pe_count = 49	# 196 Megabytes
		}
	}
	logical_volumes {
		data {
			status = ["READ", "WRITE", "VISIBLE"]
			segment1 {
				start_extent = 0
				extent_count = 25	# 100 Megabytes
				type = "striped"
				stripes = [
					"pv0", 0
				]
			}
		}
		striped {
			segment1 {
				start_extent = 0
				extent_count = 24	# 96 Megabytes
				type = "striped"
				stripe_count = 2
				stripes = [
					"pv0", 25,
					"pv1", 0
				]
			}
		}
	}
}
`

func TestSnapshotsNeedRoom(t *testing.T) {
	is := is.New(t)
	for _, c := range []struct{ old, new, kind, why string }{
		{"", "", "lvm", "296 MiB are free in the group vg"},
		{"pe_count = 74", "pe_count = 0", "none", "nothing is free in the group vg"},
		{`extent_count = 25	# 100 Megabytes
				type = "striped"`, `extent_count = 25
				type = "thin"`, "lvm", "a thin volume"},
		{"extent_size = 8192", "extent_size = x", "none", "can't be read"},
	} {
		d := discovered(t, machine(t, map[string]string{
			"data/f": "x", "etc/fstab": "/dev/mapper/vg-data /data xfs defaults 0 0\n", "etc/lvm/backup/vg": strings.Replace(volumeGroup, c.old, c.new, 1),
		}))
		snapshot := placeAt(t, d, "/data").Snapshot
		is.Equal([]string{snapshot.Kind, snapshot.Volume}, []string{c.kind, "vg/data"})
		is.True(strings.Contains(snapshot.Why, c.why))
	}
}

func TestDiscoverFindsPlacesAndCountsEachFileOnce(t *testing.T) {
	is := is.New(t)
	root := machine(t, map[string]string{
		"home/anna/notes":            "12345",
		"home/anna/new\nline":        "x",
		"home/anna/repo/.git/HEAD":   "ref",
		"home/anna/repo/.git/refs/x": "", "home/anna/repo/.git/objects/x": "",
		"srv/shop/index.html":              "html",
		"srv/shop/upload/a":                "22",
		"data/big":                         "0123456789",
		"var/lib/docker/volumes/v/_data/f": "volume",
		"var/lib/docker/image/x":           "im",
		"var/lib/dpkg/info/x":              "", // the system's own
		"etc/exports":                      "/srv/shop/upload *(rw)\n",
		"etc/fstab":                        "nas:/pool /mnt/pool nfs defaults 0 0\n/dev/mapper/vg-data /data xfs defaults 0 0\n",
		"mnt/pool/not-mounted":             "here",
		"etc/lvm/backup/vg":                volumeGroup,
	})
	is.NoErr(os.Link(filepath.Join(root, "home/anna/notes"), filepath.Join(root, "home/anna/again")))
	is.NoErr(os.Symlink("/data", filepath.Join(root, "var/www")))
	is.NoErr(os.Symlink("/etc", filepath.Join(root, "srv/out")))
	is.NoErr(os.Chmod(filepath.Join(root, "home/anna/notes"), 0o755|os.ModeSetuid))
	d := discovered(t, root)

	home := placeAt(t, d, "/home/anna")
	is.Equal(home.Kind, Home)
	is.Equal([]int64{home.Files, home.Bytes, home.HardLinks, home.OddNames, home.Setuid}, []int64{6, 9, 1, 1, 2})
	is.Equal(home.Repositories, []Checkout{{"/home/anna/repo", "git"}})
	is.True(home.Known.Inodes && home.Known.Attributes && home.Known.Shared && !home.Known.OpenFiles)

	shop, upload := placeAt(t, d, "/srv/shop"), placeAt(t, d, "/srv/shop/upload")
	is.Equal([]int64{shop.Bytes, upload.Bytes}, []int64{4, 2}) // a place in a place counts for itself
	is.Equal(upload.Within, "/srv/shop")
	is.Equal(upload.What, "exported by NFS")

	pool := placeAt(t, d, "/mnt/pool")
	is.Equal([]any{pool.Kind, pool.Files}, []any{Remote, int64(0)}) // its data stay where they are
	disk := placeAt(t, d, "/data")                                  // /var/www leads there: one place
	is.Equal([]any{disk.Kind, disk.Snapshot.Kind, disk.Snapshot.Volume}, []any{Disk, "lvm", "vg/data"})
	is.Equal(placeAt(t, d, "/var/lib/docker/volumes").Within, "/var/lib/docker")
	for _, p := range d.Places {
		is.True(p.Path != "/etc" && p.Path != "/var/lib/dpkg" && p.Path != "/var/www")
	}
	total := int64(0)
	for _, p := range d.Places {
		total += p.Bytes
	}
	is.Equal(d.Sum.Bytes, total)
	is.True(slices.IsSortedFunc(d.Places, func(a, b Place) int { return int(b.Bytes - a.Bytes) }))
}

func TestDiscoverSaysWhatItCouldNotRead(t *testing.T) {
	is := is.New(t)
	d := discovered(t, machine(t, map[string]string{"srv/a/f": "x", "opt": "no folder"}))
	is.True(slices.ContainsFunc(d.Notes, func(n Note) bool { return n.What == "/opt" && strings.Contains(n.Why, "could not be listed") }))
	c := newCounting()
	tt := newTallies([]int{0}, nil, nil)
	tt.rows[0].places[0] = c
	for range maxUnreads + 5 {
		tt.Unread(0, 0, "srv/a/closed", &os.PathError{Op: "open", Path: "x", Err: os.ErrPermission})
	}
	sum := tt.sum(accounts{})[0]
	is.Equal([]int64{sum.Unread, int64(len(sum.UnreadPaths))}, []int64{maxUnreads + 5, maxUnreads})
	is.Equal(sum.UnreadPaths[0], Note{"/srv/a/closed", "permission denied"})
	is.Equal(d.Sum.Unread, int64(0))
}

// TestViewsOfOtherFolders are neither places nor in one: they are mounted on the target as
// well, and a copy of the empty folder would delete there what was copied.
func TestViewsOfOtherFolders(t *testing.T) {
	is := is.New(t)
	root := machine(t, map[string]string{
		"etc/fstab": "/srv/data /srv/ftp/data none bind,nofail 0 0\n/dev/sdb1 /srv/disk ext4 defaults 0 2\n/home/anna/shown /opt/shown none rbind 0 0\n",
		"etc/systemd/system/srv-all\\x2dof.mount": "[Mount]\nWhat=/srv/data\nWhere=/srv/all-of\nType=none\nOptions=bind,ro\n[Install]\nWantedBy=multi-user.target\n",
		"etc/systemd/system/srv-own.mount":        "[Mount]\nWhat=/dev/sdc1\nWhere=/srv/own\n[Install]\nWantedBy=multi-user.target\n",
		"srv/data/one":                            "1", "srv/ftp/two": "2", "srv/own/three": "3", "opt/shown/sub/four": "4",
	})
	wants := filepath.Join(root, "etc/systemd/system/multi-user.target.wants")
	for _, dir := range []string{wants, filepath.Join(root, "srv/ftp/data"), filepath.Join(root, "srv/all-of")} {
		is.NoErr(os.MkdirAll(dir, 0o755))
	}
	for _, unit := range []string{"srv-all\\x2dof.mount", "srv-own.mount"} {
		is.NoErr(os.Symlink("../"+unit, filepath.Join(wants, unit)))
	}
	places := map[string]Place{}
	d := discovered(t, root)
	for _, p := range d.Places {
		places[p.Path] = p
	}
	for _, path := range []string{"/srv/data", "/srv/ftp", "/srv/own"} {
		is.Equal(places[path].Path, path)
	}
	for _, path := range []string{"/srv/ftp/data", "/srv/all-of", "/opt/shown"} {
		is.Equal(places[path].Path, "")
	}
	is.Equal(places["/srv/ftp"].Mounts, []string{"/srv/ftp/data"})
	is.True(slices.ContainsFunc(d.Notes, func(n Note) bool { return n.What == "/srv/all-of" }))
}

// TestMountsThatAreKnownAreNotEntered where a walk can't see them itself.
func TestMountsThatAreKnownAreNotEntered(t *testing.T) {
	is := is.New(t)
	tt := newTallies([]int{0}, nil, nil)
	tt.mounts["srv/a/nas"] = true
	is.True(tt.Visit(0, &host.Node{Dir: "srv/a", Name: ".", Mode: fs.ModeDir}))
	is.True(!tt.Visit(0, &host.Node{Dir: "srv/a", Name: "nas", Mode: fs.ModeDir}))
	is.Equal(tt.sum(accounts{})[0].Mounts, []string{"/srv/a/nas"})
}

// TestTalliesDoNotDependOnWhoCounts holds a walk's sum against that of one
// worker who meets everything.
func TestTalliesDoNotDependOnWhoCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) host.Node {
			n := host.Node{
				Top: rapid.IntRange(0, 2).Draw(t, "top"), Dir: "srv", Name: rapid.StringN(1, 5, -1).Draw(t, "name"), Size: rapid.Int64Range(0, 1000).Draw(t, "size"),
				UID: rapid.IntRange(0, 3).Draw(t, "uid"), Inode: true, Links: 1,
			}
			if number := rapid.Uint64Range(0, 5).Draw(t, "number"); number > 0 {
				n.Number, n.Links, n.Size = number, 2, int64(number)*10 // one inode has one size
				n.UID = int(number)
			}
			return n
		}), 0, 50).Draw(t, "nodes")
		one, many := newTallies([]int{0, 1, 2}, nil, nil), newTallies([]int{0, 1, 2}, nil, nil)
		for i := range nodes {
			one.Visit(0, &nodes[i])
			many.Visit(rapid.IntRange(0, host.Workers()-1).Draw(t, "worker"), &nodes[i])
		}
		a, b := one.sum(accounts{}), many.sum(accounts{})
		is.NewRelaxed(t).Equal(a, b)
	})
}

func TestOddNames(t *testing.T) {
	is := is.New(t)
	for name, odd := range map[string]bool{"plain": false, "größe": false, "new\nline": true, "\xff": true, "esc\x1b[1m": true, "-rf": false, "": false} {
		is.Equal(isOdd(name), odd)
	}
}

// BenchmarkDiscover looks at a machine's 50,000 files, attributes included, and
// beside it du and find look at the same.
func BenchmarkDiscover(b *testing.B) {
	is := is.New(b)
	root := machine(b, nil)
	for d := range 500 {
		in := filepath.Join(root, "srv", fmt.Sprint(d%20), fmt.Sprint(d))
		is.NoErr(os.MkdirAll(in, 0o755))
		for f := range 100 {
			is.NoErr(os.WriteFile(filepath.Join(in, fmt.Sprintf("file-%d.data", f)), nil, 0o644))
		}
	}
	h, err := host.OpenRoot(root)
	is.NoErr(err)
	defer h.Close()
	a, err := inspect.Assess(b.Context(), h, assess.Options{Now: time.Unix(0, 0)})
	is.NoErr(err)
	b.Run("svc", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d, err := Discover(b.Context(), h, a, nil)
			is.NoErr(err)
			is.Equal(d.Sum.Files, int64(50_000))
		}
	})
	for name, argv := range map[string][]string{"du": {"du", "-xs"}, "find": {"find", "-xdev", "-printf", "%s %b"}} {
		b.Run(name, func(b *testing.B) {
			cmd := append([]string{argv[0], filepath.Join(root, "srv")}, argv[1:]...)
			for b.Loop() {
				is.NoErr(exec.Command(cmd[0], cmd[1:]...).Run())
			}
		})
	}
}
