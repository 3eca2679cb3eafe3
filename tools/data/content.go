package data

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"svc/assess/host"
	"svc/backend/sliced"
	"svc/tools/artifact"
)

// Content is what a place holds, as the scripts of a plan count it before and
// after a move: every name counts, further names of a file too.
type Content struct {
	Files   int64  `json:"files"`
	Folders int64  `json:"folders"` // the place itself is one
	Links   int64  `json:"links"`   // symbolic
	Others  int64  `json:"others"`  // sockets, pipes, devices
	Bytes   int64  `json:"bytes"`   // of files, as they say
	SHA256  string `json:"sha256"`  // of names and contents of all files; empty where nobody took it
}

// Entries are all names.
func (c Content) Entries() int64 { return c.Files + c.Folders + c.Links + c.Others }

// String is the content in a line.
func (c Content) String() string {
	line := fmt.Sprintf("files=%d folders=%d links=%d others=%d bytes=%d", c.Files, c.Folders, c.Links, c.Others, c.Bytes)
	if c.SHA256 != "" {
		line += " contents=sha256:" + c.SHA256
	}
	return line
}

// moveState is where the scripts of a plan remember on the target what they
// counted on the source.
const moveState = "var/lib/svc/data-move"

// maxManifest bounds what is read of one of those files, in bytes.
const maxManifest = 8 << 20

// Counted is what 30-before.sh counted of a place on the quiet source, and the
// file on the target that says so; the error is fs.ErrNotExist where it did not.
func Counted(fsys host.FS, i Item) (c Content, file string, err error) {
	file = path.Join(moveState, strings.TrimSuffix(path.Base(i.Script), ".sh")+".before")
	b, err := host.ReadFile(fsys, file, maxManifest)
	if err != nil {
		return c, "/" + file, err
	}
	c, err = parseManifest(string(b))
	return c, "/" + file, err
}

// maxPackaged bounds what is read of the names of the target's packages, in bytes: more
// than packages.sh writes.
const maxPackaged = 1 << 20

// packaged are the names that the scripts left out of a place, as they are those of the
// target's packages; none where they left out none.
func packaged(fsys host.FS, i Item) ([]string, error) {
	if i.Script == "" {
		return nil, nil
	}
	file := path.Join(moveState, strings.TrimSuffix(path.Base(i.Script), ".sh")+".packaged")
	b, err := host.ReadFile(fsys, file, maxPackaged)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("/%s: %w", file, err)
	}
	return strings.FieldsFunc(string(b), func(r rune) bool { return r == 0 }), nil
}

// maxCount is more than any file system has, in files or in bytes.
const maxCount = 1 << 60 / maxManifest

// parseManifest reads what the function manifest of lib.sh writes: a kind, a
// name and a value in each line.
func parseManifest(text string) (c Content, err error) {
	counts := map[string]*int64{"type f": &c.Files, "type d": &c.Folders, "type l": &c.Links, "bytes all": &c.Bytes}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		kind, rest, _ := strings.Cut(lines.Text(), " ")
		name, value, ok := strings.Cut(rest, " ")
		switch {
		case !ok:
			return Content{}, fmt.Errorf("%.80q is no line of a manifest", lines.Text())
		case kind == "contents":
			c.SHA256 = value
			continue
		case kind != "type" && kind != "bytes":
			continue // owners, modes and links are compared by 50-after.sh
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 || n > maxCount {
			return Content{}, fmt.Errorf("%.80q is no line of a manifest", lines.Text())
		}
		*cmp.Or(counts[kind+" "+name], &c.Others) += n
	}
	return c, lines.Err()
}

// contents are the counts of a walk: a row for each worker, a column for each
// place.
type contents struct {
	items    []int // of the tops: several may be of one place
	excluded map[string]bool
	digests  bool
	rows     [][]Content
	names    [][][]string // of files, where digests are taken
	unread   [][]error
}

// maxDigested bounds the files of a place whose contents are read.
const maxDigested = 4_000_000

// Measure counts what places hold on a machine, in their order; what a plan excludes is
// left out, and what its scripts left to the machine's packages. With digests the contents
// of all files are read. The error of a place stands at its number: fs.ErrNotExist where
// it is not there.
func Measure(ctx context.Context, h host.Host, items []Item, digests bool) ([]Content, []error, error) {
	c := &contents{excluded: map[string]bool{}, digests: digests}
	found, errs := make([]Content, len(items)), make([]error, len(items))
	tops := []string{}
	for n, i := range items {
		dir := strings.TrimPrefix(i.place(), "/")
		for _, top := range topsOf(dir, exactly(i.Names, i.RawNames)) {
			tops, c.items = append(tops, top), append(c.items, n)
		}
		shipped, err := packaged(h.FS(), i)
		errs[n] = err
		for _, name := range slices.Concat(exactly(i.Excludes, i.RawExcludes), shipped) {
			c.excluded[path.Join(dir, name)] = true
		}
	}
	for range host.Workers() {
		c.rows, c.names, c.unread = append(c.rows, make([]Content, len(items))), append(c.names, make([][]string, len(items))), append(c.unread, make([]error, len(items)))
	}
	if err := host.Walk(ctx, h, tops, c); err != nil {
		return nil, nil, fmt.Errorf("counting data: %w", err)
	}
	for i := range items {
		all, err := c.sum(i)
		found[i], errs[i] = all, cmp.Or(errs[i], err)
		if errs[i] == nil && digests {
			found[i].SHA256, errs[i] = c.digest(ctx, h.FS(), strings.TrimPrefix(items[i].place(), "/"), i)
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, fmt.Errorf("counting data: %w", err)
		}
	}
	return found, errs, host.Lost(h)
}

// place is the item's path on the target, byte by byte.
func (i Item) place() string {
	if i.Target != "" {
		return i.Target
	}
	if i.RawPath != nil {
		return string(i.RawPath)
	}
	return i.Path
}

// exactly are names byte by byte.
func exactly(names []string, raw [][]byte) []string {
	if raw == nil {
		return names
	}
	return append([]string{}, sliced.Map(raw, func(name []byte) string { return string(name) })...)
}

// Visit counts a file.
func (c *contents) Visit(worker int, n *host.Node) bool {
	if n.Name != "." && (c.excluded[n.Path()] || n.Boundary) {
		return false
	}
	item := c.items[n.Top]
	at := &c.rows[worker][item]
	switch {
	case n.Mode.IsRegular():
		at.Files++
		at.Bytes += n.Size
		if c.digests && len(c.names[worker][item]) < maxDigested {
			c.names[worker][item] = append(c.names[worker][item], n.Path())
		}
	case n.Mode.IsDir():
		at.Folders++
	case n.Mode&fs.ModeSymlink != 0:
		at.Links++
	default:
		at.Others++
	}
	return true
}

// Unread keeps the first reason why a place is not known whole.
func (c *contents) Unread(worker, top int, name string, err error) {
	if item := c.items[top]; c.unread[worker][item] == nil {
		c.unread[worker][item] = fmt.Errorf("/%s: %w", name, err)
	}
}

// sum puts the rows of a place together.
func (c *contents) sum(top int) (all Content, err error) {
	for worker, row := range c.rows {
		r := row[top]
		all.Files, all.Folders, all.Links, all.Others, all.Bytes = all.Files+r.Files, all.Folders+r.Folders, all.Links+r.Links, all.Others+r.Others, all.Bytes+r.Bytes
		err = cmp.Or(err, c.unread[worker][top])
	}
	if err == nil && all.Entries() == 0 {
		err = fs.ErrNotExist
	}
	return all, err
}

// digest is that of lib.sh: of a line for each file, by name, as sha256sum -z
// writes it.
func (c *contents) digest(ctx context.Context, fsys host.FS, top string, place int) (string, error) {
	names := []string{}
	for _, row := range c.names {
		names = append(names, row[place]...)
	}
	if len(names) >= maxDigested {
		return "", errors.New("there are too many files for a digest of their contents")
	}
	slices.Sort(names)
	all := sha256.New()
	for _, name := range names {
		sum, err := artifact.DigestIn(fsys, name)
		if err != nil {
			return "", fmt.Errorf("/%s: %w", name, err)
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		fmt.Fprintf(all, "%s  ./%s\x00", sum, strings.TrimPrefix(name, top+"/"))
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}
