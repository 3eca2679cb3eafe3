package data

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"svc/assess/host"
)

// Bounds of what is remembered of a walk, so that its memory does not grow with
// the machine: hard links, and entries of lists of a place.
const (
	maxShared  = 1 << 18
	maxOwners  = 4096
	maxListed  = 100
	maxUnreads = 20
)

// progressStep is how many files pass between two reports.
const progressStep = 1 << 14

// tallies are a walk's counts: a row for each worker, a column for each place.
type tallies struct {
	columns  []int           // of the tops: several may be of one place
	places   map[string]bool // that are counted for themselves
	mounts   map[string]bool // where other file systems are known to stand
	rows     []row
	seen     atomic.Int64
	progress func(files int64)
}

// row is what one worker counts. Workers never share one.
type row struct {
	places []*counting
	shared map[inode]sighting
	many   bool // there were more hard links than are remembered
	files  int64
	_      [64]byte // rows are written all the time: keep them apart
}

type inode struct{ device, number uint64 }

// sighting is a file with several names: counted when the walk is over, as its
// names may be met by several workers.
type sighting struct {
	top, uid, gid int
	size, blocks  int64
	names         int64
	isSparse      bool
}

// counting is a tally in the making.
type counting struct {
	Tally
	newest        int64
	users, groups map[int]*Owner
	marks         map[string]marks // of folders that may be repositories
	unknown       bool             // attributes of a file are not known
}

// marks are the names by which a repository is known.
type marks uint8

const (
	markHead marks = 1 << iota
	markObjects
	markRefs
	markFormat
	markDB
	markHooks
)

var markNames = map[string]marks{"HEAD": markHead, "objects": markObjects, "refs": markRefs, "format": markFormat, "db": markDB, "hooks": markHooks}

// newTallies counts tops, each for the place of that number; what is below one of
// stops is counted for that.
func newTallies(columns []int, stops []string, progress func(int64)) *tallies {
	n := 0
	for _, column := range columns {
		n = max(n, column+1)
	}
	t := &tallies{columns: columns, places: map[string]bool{}, mounts: map[string]bool{}, rows: make([]row, host.Workers()), progress: progress}
	for _, stop := range stops {
		t.places[stop] = true
	}
	for i := range t.rows {
		t.rows[i] = row{places: make([]*counting, n), shared: map[inode]sighting{}}
	}
	return t
}

// of is where a worker counts for a place.
func (r *row) of(top int) *counting {
	if r.places[top] == nil {
		r.places[top] = newCounting()
	}
	return r.places[top]
}

func newCounting() *counting {
	return &counting{users: map[int]*Owner{}, groups: map[int]*Owner{}, marks: map[string]marks{}}
}

// Visit counts a file. A place in another is counted for itself.
func (t *tallies) Visit(worker int, n *host.Node) bool {
	r := &t.rows[worker]
	if n.Mode.IsDir() && n.Name != "." && t.places[n.Path()] {
		return false
	}
	t.tick(r)
	column := t.columns[n.Top]
	c := r.of(column)
	if n.Mode.IsDir() && (n.Boundary || n.Name != "." && len(t.mounts) > 0 && t.mounts[n.Path()]) {
		c.Mounts = appendFew(c.Mounts, "/"+n.Path())
		return false
	}
	c.look(n)
	if n.Mode.IsRegular() && n.Inode && n.Links > 1 && r.share(n, column) {
		return false
	}
	c.weigh(n)
	return true
}

// Unread notes what could not be read.
func (t *tallies) Unread(worker, top int, name string, err error) {
	c := t.rows[worker].of(t.columns[top])
	if c.Unread++; len(c.UnreadPaths) < maxUnreads {
		c.UnreadPaths = append(c.UnreadPaths, Note{What: "/" + name, Why: reason(err)})
	}
}

func (t *tallies) tick(r *row) {
	if r.files++; r.files%progressStep == 0 && t.progress != nil {
		t.progress(t.seen.Add(progressStep))
	}
}

// share remembers a file with several names; it says no where there are too
// many, and each name then counts as a file of its own.
func (r *row) share(n *host.Node, column int) bool {
	key := inode{n.Device, n.Number}
	s, met := r.shared[key]
	if !met && len(r.shared) >= maxShared {
		r.many = true
		return false
	}
	if !met || column < s.top {
		s.top = column
	}
	s.uid, s.gid, s.size, s.blocks, s.isSparse = n.UID, n.GID, n.Size, n.Blocks, isSparse(n)
	s.names++
	r.shared[key] = s
	return true
}

func isSparse(n *host.Node) bool { return n.Inode && n.Mode.IsRegular() && n.Blocks*512 < n.Size }

// look notes what each name of a file says.
func (c *counting) look(n *host.Node) {
	switch {
	case n.Mode.IsRegular():
		c.Files++
		c.newest = max(c.newest, n.Modified)
	case n.Mode.IsDir():
		c.Folders++
	case n.Mode&fs.ModeSymlink != 0:
		c.Links++
	default:
		c.Others++
	}
	if n.Mode&fs.ModeSocket != 0 {
		c.Sockets++
	}
	if n.Mode&(fs.ModeSetuid|fs.ModeSetgid) != 0 && n.Mode.IsRegular() {
		c.Setuid++
	}
	if isOdd(n.Name) {
		c.OddNames++
	}
	c.attribute(n)
	if m := markNames[n.Name]; m != 0 {
		c.mark(n.Dir, m)
	}
	c.Known.Inodes = c.Known.Inodes || n.Inode
}

func (c *counting) attribute(n *host.Node) {
	a := n.Attributes
	c.unknown = c.unknown || a&host.AttributesKnown == 0 && n.Mode&fs.ModeSymlink == 0
	if a <= host.AttributesKnown {
		return
	}
	for _, counted := range []struct {
		bit host.Attributes
		n   *int64
	}{{host.ACL, &c.ACLs}, {host.UserAttributes, &c.Attributes}, {host.SELinux, &c.Labels}, {host.Capabilities, &c.Privileged}} {
		if a&counted.bit != 0 {
			*counted.n++
		}
	}
}

// mark notes a name by which a repository may be known.
func (c *counting) mark(dir string, m marks) {
	if old, met := c.marks[dir]; met || len(c.marks) < maxOwners {
		c.marks[dir] = old | m
	}
}

// weigh counts a file once, whatever names it has.
func (c *counting) weigh(n *host.Node) {
	size := int64(0)
	if n.Mode.IsRegular() {
		size = n.Size
	}
	c.add(n.UID, n.GID, size, n.Blocks)
	if isSparse(n) {
		c.Sparse++
	}
}

func (c *counting) add(uid, gid int, size, blocks int64) {
	c.Bytes += size
	c.Allocated += blocks * 512
	own(c.users, uid, size)
	own(c.groups, gid, size)
}

func own(owners map[int]*Owner, id int, size int64) {
	o := owners[id]
	if o == nil {
		if len(owners) >= maxOwners {
			return
		}
		o = &Owner{ID: id}
		owners[id] = o
	}
	o.Files++
	o.Bytes += size
}

// isOdd tells names that programs stumble over.
func isOdd(name string) bool {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c >= 0x7f {
			return !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl)
		}
	}
	return false
}

// sum puts the rows together, a tally for each place.
func (t *tallies) sum(names accounts) []Tally {
	whole := t.rows[0]
	for _, r := range t.rows[1:] {
		whole.many = whole.many || r.many
		for key, s := range r.shared {
			whole.join(key, s)
		}
		for top, c := range r.places {
			if c != nil {
				whole.of(top).merge(c)
			}
		}
	}
	for _, s := range whole.shared {
		c := whole.of(s.top)
		c.add(s.uid, s.gid, s.size, s.blocks)
		c.HardLinks += s.names - 1
		if s.isSparse {
			c.Sparse++
		}
	}
	var all []Tally
	for top := range whole.places {
		c := whole.of(top)
		c.Known.Shared = !whole.many
		all = append(all, c.finish(names))
	}
	return all
}

func (r *row) join(key inode, s sighting) {
	old, met := r.shared[key]
	if met {
		s.names += old.names
		s.top = min(s.top, old.top)
	}
	r.shared[key] = s
}

// merge adds what another worker counted for the same place.
func (c *counting) merge(o *counting) {
	for _, n := range []struct{ to, from *int64 }{
		{&c.Files, &o.Files},
		{&c.Folders, &o.Folders},
		{&c.Links, &o.Links},
		{&c.Others, &o.Others},
		{&c.Bytes, &o.Bytes},
		{&c.Allocated, &o.Allocated},
		{&c.Sparse, &o.Sparse},
		{&c.Setuid, &o.Setuid},
		{&c.ACLs, &o.ACLs},
		{&c.Attributes, &o.Attributes},
		{&c.Labels, &o.Labels},
		{&c.Privileged, &o.Privileged},
		{&c.OddNames, &o.OddNames},
		{&c.Sockets, &o.Sockets},
		{&c.Unread, &o.Unread},
	} {
		*n.to += *n.from
	}
	c.newest, c.unknown, c.Known.Inodes = max(c.newest, o.newest), c.unknown || o.unknown, c.Known.Inodes || o.Known.Inodes
	c.Mounts, c.UnreadPaths = append(c.Mounts, o.Mounts...), append(c.UnreadPaths, o.UnreadPaths...)
	for dir, m := range o.marks {
		c.mark(dir, m)
	}
	mergeOwners(c.users, o.users)
	mergeOwners(c.groups, o.groups)
}

func mergeOwners(to, from map[int]*Owner) {
	for id, o := range from {
		if to[id] == nil {
			to[id] = &Owner{ID: id}
		}
		to[id].Files += o.Files
		to[id].Bytes += o.Bytes
	}
}

// finish gives the tally as it is shown.
func (c *counting) finish(names accounts) Tally {
	t := c.Tally
	if c.newest > 0 {
		t.Newest = time.Unix(c.newest, 0).UTC()
	}
	t.Known.Attributes = !c.unknown
	t.Users, t.Groups = owners(c.users, names.users), owners(c.groups, names.groups)
	t.Repositories = repositories(c.marks)
	slices.Sort(t.Mounts)
	slices.SortFunc(t.UnreadPaths, func(a, b Note) int { return cmp.Compare(a.What, b.What) })
	t.Mounts, t.UnreadPaths = first(t.Mounts, maxListed), first(t.UnreadPaths, maxUnreads)
	t.OpenBy = []string{}
	return t
}

// owners are sorted by id.
func owners(found map[int]*Owner, names map[int]string) []Owner {
	all := []Owner{}
	for id, o := range found {
		o.Name = names[id]
		all = append(all, *o)
	}
	slices.SortFunc(all, func(a, b Owner) int { return cmp.Compare(a.ID, b.ID) })
	return first(all, maxListed)
}

// repositories are the folders that have all names of one.
func repositories(found map[string]marks) []Checkout {
	const git, svn = markHead | markObjects | markRefs, markFormat | markDB | markHooks
	all := []Checkout{}
	for dir, m := range found {
		switch {
		case m&git == git:
			all = append(all, Checkout{"/" + strings.TrimSuffix(dir, "/.git"), "git"})
		case m&svn == svn:
			all = append(all, Checkout{"/" + dir, "svn"})
		}
	}
	slices.SortFunc(all, func(a, b Checkout) int { return cmp.Compare(a.Path, b.Path) })
	return first(all, maxListed)
}

// first is at most n of a list, which is never null.
func first[T any](list []T, n int) []T {
	if list == nil {
		return []T{}
	}
	return list[:min(n, len(list))]
}

func appendFew(list []string, s string) []string {
	if len(list) < maxListed {
		list = append(list, s)
	}
	return list
}

// below reports whether a path is in a folder, or is it.
func below(name, dir string) bool {
	return name == dir || dir == "/" || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}
