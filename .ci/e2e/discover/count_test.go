package discover_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"svc/tools/data"
)

// counts are those of a place that the kernel can tell too.
type counts struct {
	Files, Folders, Links, Others, Sockets, Setuid, ACLs, Attributes, Labels, Privileged int64
	Bytes, Sparse, Allocated, HardLinks, Unread                                          int64
	Mounts                                                                               int
	Newest                                                                               string
	Users                                                                                map[int]int64 // files by who has them
}

// key is a place's path, in bytes.
func key(p data.Place) string {
	if p.RawPath != nil {
		return string(p.RawPath)
	}
	return p.Path
}

// stated is what svc says of a place.
func stated(p data.Place) counts {
	c := counts{
		Files: p.Files, Folders: p.Folders, Links: p.Links, Others: p.Others, Sockets: p.Sockets, Setuid: p.Setuid, ACLs: p.ACLs, Attributes: p.Attributes,
		Labels: p.Labels, Privileged: p.Privileged, Bytes: p.Bytes, Sparse: p.Sparse, Allocated: p.Allocated, HardLinks: p.HardLinks, Unread: p.Unread,
		Mounts: len(p.Mounts), Users: map[int]int64{},
	}
	c.at(p.Newest)
	for _, u := range p.Users {
		c.Users[u.ID] = u.Files
	}
	return c
}

// at notes a time, by its day.
func (c *counts) at(t time.Time) {
	if !t.IsZero() {
		c.Newest = max(c.Newest, t.UTC().Format(time.DateOnly))
	}
}

func (c counts) String() string {
	type plain counts
	return fmt.Sprintf("%+v", plain(c))
}

// compare holds all places against the tree that they are of.
func (m *machine) compare(way string, d data.Discovery) {
	m.t.Helper()
	image := strings.HasSuffix(way, "image")
	places := map[string]data.Place{}
	for _, p := range d.Places {
		places[key(p)] = p
	}
	least := 8
	if image {
		least = 5 // what is mounted is not on it
	}
	m.is.True(len(places) > least)
	want := m.count(places)
	for path, p := range places {
		got := stated(p)
		if p.Kind == data.Remote {
			m.is.Equal(got.HardLinks, int64(0))
			continue
		}
		if image { // another file system takes other blocks
			got.Allocated, want[path].Allocated = 0, 0
		}
		m.is.Equal(way+" "+path+": "+got.String(), way+" "+path+": "+want[path].String())
	}
}

// inode is a file, whatever its names.
type inode struct{ device, number uint64 }

// count counts places by what the kernel says of each file. What is below another place
// counts there alone, and a file with all its names in the place that is first by path.
func (m *machine) count(places map[string]data.Place) map[string]*counts {
	m.t.Helper()
	all, first := map[string]*counts{}, map[inode]*counts{}
	for _, top := range slices.Sorted(maps.Keys(places)) {
		if places[top].Kind == data.Remote {
			continue
		}
		c := &counts{Users: map[int]int64{}}
		all[top] = c
		device := m.lstat(top).Dev
		for _, path := range m.below(top, places) {
			c.add(m, path, device, first)
		}
	}
	return all
}

func (m *machine) lstat(path string) (st unix.Stat_t) {
	m.t.Helper()
	m.is.NoErr(unix.Lstat(m.at(path), &st))
	return st
}

// below are the files and folders of a place, itself too, and what is mounted in it.
func (m *machine) below(top string, places map[string]data.Place) (paths []string) {
	m.t.Helper()
	if names := places[top].Names; names != nil {
		for _, name := range names {
			paths = append(paths, filepath.Join(top, name))
		}
		return paths
	}
	device := m.lstat(top).Dev
	m.is.NoErr(filepath.WalkDir(m.at(top), func(path string, entry os.DirEntry, err error) error {
		path = strings.TrimPrefix(path, m.root)
		if _, other := places[path]; err != nil || other && path != top {
			if entry.IsDir() && err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		paths = append(paths, path)
		if entry.IsDir() && m.lstat(path).Dev != device {
			return filepath.SkipDir
		}
		return nil
	}))
	return paths
}

// add counts a file.
func (c *counts) add(m *machine, path string, device uint64, first map[inode]*counts) {
	st := m.lstat(path)
	if st.Dev != device {
		c.Mounts++
		return
	}
	kind := st.Mode & unix.S_IFMT
	switch kind {
	case unix.S_IFREG:
		c.Files++
	case unix.S_IFDIR:
		c.Folders++
	case unix.S_IFLNK:
		c.Links++
	default:
		c.Others++
	}
	if kind == unix.S_IFSOCK {
		c.Sockets++
	}
	if kind != unix.S_IFLNK {
		c.attributes(m, path)
	}
	if kind == unix.S_IFREG && !c.content(st, first) {
		return // a further name
	}
	c.Allocated += st.Blocks * 512
	c.Users[int(st.Uid)]++
}

// content counts what a file has, and reports whether this is the first of its names.
func (c *counts) content(st unix.Stat_t, first map[inode]*counts) bool {
	c.at(time.Unix(st.Mtim.Unix()))
	if st.Mode&(unix.S_ISUID|unix.S_ISGID) != 0 {
		c.Setuid++
	}
	if id := (inode{st.Dev, st.Ino}); st.Nlink > 1 {
		if owner := first[id]; owner != nil {
			owner.HardLinks++
			return false
		}
		first[id] = c
	}
	c.Bytes += st.Size
	if st.Blocks*512 < st.Size {
		c.Sparse++
	}
	return true
}

// attributes counts the extended attributes of a file by their kinds.
func (c *counts) attributes(m *machine, path string) {
	list := make([]byte, 64<<10)
	n, err := unix.Llistxattr(m.at(path), list)
	m.is.NoErr(err)
	kinds := map[*int64]bool{}
	for name := range bytes.SplitSeq(list[:n], []byte{0}) {
		switch name := string(name); {
		case strings.HasPrefix(name, "system.posix_acl_"):
			kinds[&c.ACLs] = true
		case strings.HasPrefix(name, "user."):
			kinds[&c.Attributes] = true
		case name == "security.selinux":
			kinds[&c.Labels] = true
		case name == "security.capability":
			kinds[&c.Privileged] = true
		}
	}
	for kind := range kinds {
		*kind++
	}
}
