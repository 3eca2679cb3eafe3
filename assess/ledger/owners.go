package ledger

import (
	"bytes"
	"cmp"
	"context"
	"crypto"
	_ "crypto/md5" // of dpkg and old rpms
	_ "crypto/sha1"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"svc/assess"
	"svc/assess/host"
	"svc/assess/packages"
	"svc/assess/packages/rpm"
)

// ErrNoOwners means that the machine has no package database that says whose files
// are.
var ErrNoOwners = errors.New("no dpkg and no rpm that says whose the files are")

// ownership is whose the files of a machine are. Paths are kept by a keyed hash of
// 64 bits, so that a disk of any size fits.
type ownership struct {
	fs       host.FS
	rpm      bool
	packages []owner
	files    map[uint64]uint32
	above    map[uint64]bool   // folders that no package has, with packages' files below
	links    map[string]string // folders of the first two levels that are links: lib to usr/lib
	diverted map[string]diversion
}

// owner is a package.
type owner struct {
	name      string
	list      string // dpkg's name of its files of lists
	installed int64  // seconds since 1970
}

// diversion has dpkg put a file of all packages but one to another place.
type diversion struct{ to, by string }

// Bounds of what is read of package databases, in bytes, and of files.
const (
	maxList32  = 32 << 20
	maxPaths   = 8_000_000
	maxContent = 64 << 20
)

func owners(ctx context.Context, h host.Host) (*ownership, error) {
	o := &ownership{fs: h.FS(), files: map[uint64]uint32{}, above: map[uint64]bool{}, links: map[string]string{}, diverted: map[string]diversion{}}
	o.readLinks()
	err := o.readDpkg(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		o.rpm = true
		err = o.readRPM()
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNoOwners
	}
	return o, errors.Join(err, ctx.Err())
}

// of is the package of a path.
func (o *ownership) of(name string) (uint32, bool) {
	pkg, ok := o.files[maphash.String(seed, name)]
	return pkg, ok
}

// own notes a path of a package, as its list has it.
func (o *ownership) own(file string, pkg uint32) {
	if len(o.files) >= maxPaths {
		return
	}
	name := o.real(file, o.packages[pkg].name)
	o.files[maphash.String(seed, name)] = pkg
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		at := maphash.String(seed, dir)
		if _, owned := o.files[at]; owned || o.above[at] {
			return
		}
		o.above[at] = true
	}
}

// below reports whether packages have files below a folder.
func (o *ownership) below(dir string) bool { return o.above[maphash.String(seed, dir)] }

// readLinks notes the folders that lead to others.
func (o *ownership) readLinks() {
	for _, dir := range []string{".", "usr", "etc", "var"} {
		entries, _ := o.fs.ReadDir(dir) // what can't be listed, the walk says
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			if e.Type()&fs.ModeSymlink == 0 {
				continue
			}
			to, err := o.fs.ReadLink(name)
			if err != nil {
				continue
			}
			o.links[name] = strings.TrimPrefix(assess.LeadsTo("/"+name, to), "/")
		}
	}
}

// real is where a file of a package's list stands: diverted, and in a folder that
// is no link.
func (o *ownership) real(file, pkg string) string {
	if d, ok := o.diverted[file]; ok && d.by != pkg {
		file = d.to
	}
	name := strings.TrimPrefix(file, "/")
	for range 3 { // sbin may lead to usr/sbin, and that to usr/bin
		top, rest, nested := strings.Cut(name, "/")
		second, below, deeper := strings.Cut(rest, "/")
		switch {
		case nested && o.links[top] != "":
			name = o.links[top] + "/" + rest
		case deeper && o.links[top+"/"+second] != "":
			name = o.links[top+"/"+second] + "/" + below
		default:
			return name
		}
	}
	return name
}

// readDpkg reads dpkg's lists.
func (o *ownership) readDpkg(ctx context.Context) error {
	const info = "var/lib/dpkg/info"
	entries, err := o.fs.ReadDir(info)
	if err != nil {
		return err
	}
	b, err := host.ReadFile(o.fs, "var/lib/dpkg/diversions", maxList32)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lines := strings.Split(string(b), "\n")
	for i := 0; i+2 < len(lines); i += 3 {
		o.diverted[lines[i]] = diversion{lines[i+1], lines[i+2]}
	}
	var numbers []uint32
	for _, e := range entries {
		if list, ok := strings.CutSuffix(e.Name(), ".list"); ok {
			name, _, _ := strings.Cut(list, ":")
			numbers = append(numbers, uint32(len(o.packages)))
			o.packages = append(o.packages, owner{name: name, list: list})
		}
	}
	var mu sync.Mutex
	var failed error
	assess.InParallel(ctx, numbers, func(n uint32) {
		file := path.Join(info, o.packages[n].list+".list")
		b, err := host.ReadFile(o.fs, file, maxList32)
		when := int64(0)
		if err == nil {
			if info, statErr := o.fs.Stat(file); statErr == nil {
				when = info.ModTime().Unix()
			}
		}
		mu.Lock()
		defer mu.Unlock()
		failed = errors.Join(failed, err)
		o.packages[n].installed = when
		for line := range bytes.Lines(b) {
			if line = bytes.TrimSuffix(line, []byte("\n")); len(line) > 1 && line[0] == '/' && !bytes.Equal(line, []byte("/.")) {
				o.own(string(line), n)
			}
		}
	})
	return failed
}

// readRPM reads the paths of rpm's database.
func (o *ownership) readRPM() error {
	return packages.EachRPM(o.fs, func(p *rpm.Package) error {
		n := uint32(len(o.packages))
		o.packages = append(o.packages, owner{name: p.Name, installed: p.Installed.Unix()})
		return p.Paths(func([]byte) bool { return true }, func(_ int, file string) { o.own(file, n) })
	})
}

// digest is what a file's content was when its package brought it.
type digest struct {
	hash crypto.Hash
	hex  string
}

// digests are those of the wanted files, by package.
func (o *ownership) digests(wanted map[uint32]map[string]bool) (map[string]digest, error) {
	found := map[string]digest{}
	if o.rpm {
		return found, o.digestsOfRPM(wanted, found)
	}
	for pkg, files := range wanted {
		b, err := host.ReadFile(o.fs, path.Join("var/lib/dpkg/info", o.packages[pkg].list+".md5sums"), maxList32)
		if errors.Is(err, fs.ErrNotExist) {
			continue // some packages have none
		}
		if err != nil {
			return found, err
		}
		for line := range strings.Lines(string(b)) {
			sum, file, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
			if name := o.real("/"+file, o.packages[pkg].name); ok && files[name] {
				found[name] = digest{crypto.MD5, sum}
			}
		}
	}
	return found, nil
}

func (o *ownership) digestsOfRPM(wanted map[uint32]map[string]bool, found map[string]digest) error {
	n := uint32(0)
	return packages.EachRPM(o.fs, func(p *rpm.Package) error {
		files := wanted[n]
		n++
		if len(files) == 0 {
			return nil
		}
		places := map[int]string{}
		err := p.Paths(func([]byte) bool { return true }, func(i int, file string) {
			if name := o.real(file, p.Name); files[name] {
				places[i] = name
			}
		})
		if err != nil {
			return err
		}
		all, err := p.Files(places)
		for _, f := range all {
			// What rpm itself does not compare, its package expects to change.
			if f.Digest != "" && f.Flags&rpm.Ghost == 0 && f.Verify&rpm.VerifyDigest != 0 && !f.Absent && !f.Shared {
				found[f.Path] = digest{f.Hash, f.Digest}
			}
		}
		return err
	})
}

// compare reads the suspects, and keeps those that are not as they were.
func (b *book) compare(ctx context.Context) error {
	wanted, all := map[uint32]map[string]bool{}, []suspect{}
	for _, w := range b.workers {
		for _, s := range w.suspects {
			pkg, _ := b.owners.of(s.path)
			if s.size < 0 { // the assessment compared it
				b.changed = append(b.changed, Path{Path: "/" + s.path, Package: b.owners.packages[pkg].name, Count: Count{1, s.bytes}})
				continue
			}
			if wanted[pkg] == nil {
				wanted[pkg] = map[string]bool{}
			}
			wanted[pkg][s.path] = true
			all = append(all, s)
		}
	}
	digests, err := b.owners.digests(wanted)
	if err != nil {
		return fmt.Errorf("the packages' digests: %w", err)
	}
	slices.SortStableFunc(all, func(a, b suspect) int { return cmp.Compare(b.size, a.size) }) // else a large one is waited for in the end
	var mu sync.Mutex
	assess.InParallel(ctx, all, func(s suspect) {
		want, known := digests[s.path]
		is, err := "", error(nil)
		if known {
			is, err = digestOf(b.host.FS(), s, want.hash)
		}
		mu.Lock()
		defer mu.Unlock()
		if !known || err != nil {
			b.looked.Unknown++
			return
		}
		b.looked.Compared++
		b.looked.Bytes += s.size
		if is != want.hex {
			pkg, _ := b.owners.of(s.path)
			b.changed = append(b.changed, Path{Path: "/" + s.path, Package: b.owners.packages[pkg].name, Count: Count{1, s.size}})
		}
	})
	return errors.Join(ctx.Err(), host.Lost(b.host))
}

// buffers are what files are read into, one for each that is read at a time.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

const bufferSize = 128 << 10

func digestOf(fsys host.FS, s suspect, hash crypto.Hash) (string, error) {
	if s.size > maxContent || !hash.Available() {
		return "", host.ErrTooBig
	}
	f, err := fsys.Open(s.path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum, buffer := hash.New(), buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buffer)
	if _, err := io.CopyBuffer(sum, io.LimitReader(f, maxContent+1), buffer[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
