// Package remote reads a running machine over ssh, by a POSIX shell and the programs
// that every system has.
package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"svc/assess/host"
	"svc/backend/sliced"
)

// Bounds of answers, in bytes: of a folder's listing, of the description of a
// file, and of all listings that are kept.
const (
	maxListing = 32 << 20
	maxStat    = 64 << 10
	maxKept    = 48 << 20
	maxTarget  = 4096 // of a link, as Linux has it
)

// remote is the file system of a machine behind a shell. It describes files by
// the listings of their folders where it has them, so that most questions go
// over the line once for a whole folder. It is safe for concurrent use.
type remote struct {
	shell *shell
	dest  string

	mu     sync.Mutex
	dirs   map[string]*listing
	single map[string]*description
	links  map[string]known // that no listing has
	kept   int              // bytes of listings
	order  []string         // the files of the trees that are read whole, sorted

	storeMu sync.Mutex
	store   map[string]*content
	stored  []string // oldest first
	weight  int      // bytes of stored files
}

func newRemote(s *shell, dest string) *remote {
	return &remote{shell: s, dest: dest, dirs: map[string]*listing{}, single: map[string]*description{}, links: map[string]known{}, store: map[string]*content{}}
}

// hello checks that the machine's programs speak the language that is read here.
func (r *remote) hello() error {
	answer, err := r.shell.ask(line("h"), maxStat)
	if err != nil {
		return err
	}
	uid, mode, _ := strings.Cut(strings.TrimSpace(string(answer[0].body)), "\n")
	_, err1 := strconv.ParseUint(uid, 10, 32)
	_, err2 := strconv.ParseUint(mode, 16, 32)
	if errors.Join(err1, err2) != nil {
		return fmt.Errorf("reading %s over ssh: it needs the programs id, stat, head, cat and dd, as coreutils or busybox have them", r.dest)
	}
	return nil
}

// whole are the trees of which an assessment reads every file.
var whole = []string{"etc", "usr/lib/systemd/system", "lib/systemd/system", "var/lib/systemd/deb-systemd-helper-enabled", "var/spool/cron"}

// usual are what else an assessment looks into, or for. Whatever is not here is
// asked for when it is needed.
var usual = map[host.Expected][]string{
	host.Folders: {
		"usr", "usr/lib", "usr/lib/systemd", "usr/lib/sysimage", "usr/lib/sysimage/rpm", "usr/lib/modules", "usr/share", "usr/local", "usr/local/bin",
		"usr/local/sbin", "usr/local/lib", "usr/local/share", "usr/src", "lib/systemd", "lib/modules", "opt", "srv", "home", "boot",
		"var", "var/lib", "var/lib/dpkg", "var/lib/dpkg/info", "var/lib/apt", "var/lib/systemd", "var/lib/ucf", "var/lib/rpm", "var/lib/dnf",
		"var/lib/yum", "var/lib/mysql", "var/lib/postgresql", "var/lib/docker", "var/spool", "var/spool/at",
	},
	host.Files: {
		"etc/os-release", "etc/localtime", "etc/mysql/my.cnf", "var/lib/dpkg/status", "var/lib/apt/extended_states", "var/lib/ucf/registry", "var/lib/ucf/hashfile",
		"usr/share/adduser/adduser.conf", "usr/share/readline/inputrc", "usr/share/base-files/motd", "usr/share/base-files/profile", "usr/share/libc-bin/nsswitch.conf",
	},
}

// Bounds of the trees that are listed at the beginning, and of the files of them
// that are fetched then.
const (
	maxTreeDirs = 3000
	maxTree     = maxStored / 2
	maxFollowed = 20_000 // names that are expected at once
)

// prefetch asks for what an assessment needs, level by level, with all questions
// of a level under way at once. What fails is asked for again where it is needed.
func (r *remote) prefetch() {
	r.listAll([]string{"."})
	for level, n := r.trees(), 0; len(level) > 0 && n < maxTreeDirs; level = r.below(level) {
		n += len(level)
		r.listAll(level)
	}
	slices.Sort(r.order)
	r.Expect(host.Folders, usual[host.Folders])
	r.Expect(host.Files, usual[host.Files])
	r.Expect(host.Files, r.order)
}

// maxQuestions bounds the questions for single files that are under way at once.
const maxQuestions = 500

// Expect asks for what is about to be read, with all questions under way at
// once.
func (r *remote) Expect(what host.Expected, names []string) {
	names = slices.DeleteFunc(slices.Clone(names[:min(len(names), maxFollowed)]), func(name string) bool { return !host.Valid(name) })
	switch what {
	case host.Folders:
		r.listAll(names)
	case host.Links:
		r.describeAll(names)
	case host.Files:
		r.expectFiles(names)
	}
}

func (r *remote) expectFiles(names []string) {
	parents := map[string]bool{}
	for _, name := range names {
		if !host.MadeUp(name) {
			parents[path.Dir(name)] = true
		}
	}
	r.listAll(slices.Sorted(maps.Keys(parents)))
	var together, alone []string
	for _, name := range names {
		switch k, found, err := r.known("open", name); {
		case found && k.isSmall(name):
			together = append(together, name)
		case err == nil && (!found || !k.info.IsDir()):
			alone = append(alone, name)
		}
	}
	var wg sync.WaitGroup
	for size := 0; len(together) > 0 && size < maxTree; size += maxBatch {
		var batch []string
		batch, together = r.claim(together)
		wg.Go(func() { r.fetch(batch) })
	}
	for _, name := range alone[:min(len(alone), maxQuestions)] {
		wg.Go(func() { r.lookAt(name) })
	}
	wg.Wait()
}

// describeAll asks for the descriptions of files, some with each question.
func (r *remote) describeAll(names []string) {
	var wg sync.WaitGroup
	for some := range slices.Chunk(names, batchFiles) {
		wg.Go(func() {
			if answer, err := r.shell.ask(line("n", sliced.Map(some, absolute)...), maxListing); err == nil {
				r.keepLinks(some, answer[0].body)
			}
		})
	}
	wg.Wait()
}

// keepLinks keeps descriptions for ReadLink.
func (r *remote) keepLinks(names []string, b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		k, rest, ok := parseKnown(b, absolute(name))
		if ok && k.info.Base == "" {
			b, r.links[name] = rest, k
			r.kept += 300
		}
	}
}

// lookAt follows a link and fetches what it leads to, if that is a file.
func (r *remote) lookAt(name string) {
	if f, err := r.Open(name); err == nil {
		_ = f.Close() // nothing was written
	}
}

// trees are the trees that are read whole. A machine whose lib is a link has two
// ways to the same units: one will do.
func (r *remote) trees() []string {
	lib, _, _ := r.known("stat", "lib")
	return slices.DeleteFunc(slices.Clone(whole), func(dir string) bool { return lib.isLink() && strings.HasPrefix(dir, "lib/") })
}

// below are the folders in these folders; the files in them join the order.
func (r *remote) below(dirs []string) (folders []string) {
	for _, dir := range dirs {
		l := r.ready(dir)
		if l == nil || l.err != nil {
			continue
		}
		for _, name := range l.names {
			switch k := l.files[name]; {
			case k.info.IsDir():
				folders = append(folders, path.Join(dir, name))
			case k.isSmall(path.Join(dir, name)):
				r.order = append(r.order, path.Join(dir, name))
			}
		}
	}
	return folders
}

func (r *remote) FS() host.FS    { return r }
func (r *remote) Live() bool     { return true }
func (r *remote) String() string { return r.dest }
func (r *remote) Close() error   { return r.shell.Close() }

// Lost is why the machine can't be read any more, or nil.
func (r *remote) Lost() error { return r.shell.lost() }

// listing is a folder as the machine described it.
type listing struct {
	dir    string
	ready  chan struct{} // closed when the rest is set
	names  []string      // sorted
	files  map[string]known
	err    error
	absent bool // there is no such folder
}

// description is a file, and what it leads to, as the machine described it.
type description struct {
	self, target       host.Entry
	selfErr, targetErr error
}

// absolute is a name as the machine's shell takes it.
func absolute(name string) string {
	if name == "." {
		return "/"
	}
	return "/" + name
}

// folder is the same for a name that read.sh puts a slash behind.
func folder(name string) string { return strings.TrimSuffix(absolute(name), "/") }

// list gives the listing of a folder; each is asked for once.
func (r *remote) list(name string) (*listing, error) {
	if claimed := r.claimFolders([]string{name}); len(claimed) > 0 {
		return claimed[0], r.fetchListing(claimed[0])
	}
	l := r.ready(name)
	if l == nil {
		return r.list(name) // it was forgotten meanwhile
	}
	return l, nil
}

// claimFolders gives new listings for those of the folders that nobody has asked
// for: whoever calls fetches them.
func (r *remote) claimFolders(names []string) (claimed []*listing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		if r.dirs[name] == nil {
			r.dirs[name] = &listing{dir: name, ready: make(chan struct{}), files: map[string]known{}}
			claimed = append(claimed, r.dirs[name])
		}
	}
	return claimed
}

// listAll lists folders, some with each question, all questions under way at once.
func (r *remote) listAll(names []string) {
	var wg sync.WaitGroup
	for some := range slices.Chunk(r.claimFolders(names), 64) {
		wg.Go(func() { r.fetchListings(some) })
	}
	wg.Wait()
}

// fetchListings fetches the listings of several folders. Those about which the
// answer says nothing are asked for one by one.
func (r *remote) fetchListings(some []*listing) {
	said := map[*listing]bool{}
	if answer, err := r.shell.ask(line("m", sliced.Map(some, func(l *listing) string { return folder(l.dir) })...), maxListing); err == nil {
		said = parseListings(some, answer[0].body)
	}
	var wg sync.WaitGroup
	for _, l := range some {
		if !said[l] {
			wg.Go(func() { _ = r.fetchListing(l) }) // whoever needs it sees the error
			continue
		}
		l.names = slices.Sorted(maps.Keys(l.files))
		r.keep(l.dir, len(l.names)*200)
		close(l.ready)
	}
	wg.Wait()
}

// parseListings fills listings from an answer that names the folders it is
// about, and then describes their files in that order.
func parseListings(some []*listing, b []byte) (said map[*listing]bool) {
	said = map[*listing]bool{}
	for _, l := range some {
		rest, ok := bytes.CutPrefix(b, []byte("+"+folder(l.dir)+"//\n"))
		if !ok {
			rest, ok = bytes.CutPrefix(b, []byte("+"+folder(l.dir)+"//")) // the end of the frame
		}
		if ok {
			b, said[l] = rest, true
		}
	}
	for _, l := range some {
		for said[l] && len(b) > 0 && len(l.files) <= host.MaxEntries {
			k, rest, ok := parseKnown(b, folder(l.dir)+"/")
			if !ok {
				break
			}
			l.files[k.info.Base], b = k, rest
		}
	}
	if len(b) > 0 { // some of it is not understood: take none of it
		for _, l := range some {
			clear(l.files)
		}
		return nil
	}
	return said
}

// fetchListing asks for the full form, and where a link's words upset that for
// the plain one.
func (r *remote) fetchListing(l *listing) error {
	defer close(l.ready)
	ask := line("d", folder(l.dir))
	for _, question := range []string{ask, "F=$PLAIN; " + ask + "; F=$FULL"} {
		answer, err := r.shell.ask(question, maxListing)
		if err != nil {
			l.err = err
			return err
		}
		if l.err = answer[0].err("readdir", l.dir); l.err != nil {
			l.absent = errors.Is(l.err, fs.ErrNotExist) || errors.Is(l.err, syscall.ENOTDIR)
			return nil
		}
		if l.files, l.err = parseListing(l.dir, answer[0].body); l.err == nil {
			r.keep(l.dir, len(answer[0].body))
			break
		}
	}
	l.names = slices.Sorted(maps.Keys(l.files))
	return nil
}

// keep counts what is kept, and forgets all that is older where it is too much.
func (r *remote) keep(name string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept += n; r.kept > maxKept {
		r.dirs, r.single, r.links, r.kept = map[string]*listing{name: r.dirs[name]}, map[string]*description{}, map[string]known{}, n
	}
}

// ready is a listing that is there already, or nil.
func (r *remote) ready(name string) *listing {
	r.mu.Lock()
	l := r.dirs[name]
	r.mu.Unlock()
	if l == nil {
		return nil
	}
	<-l.ready
	return l
}

// known is what the listings say of name: found, or an error where they say
// that it is not there, or neither. What is no name of a file is refused.
func (r *remote) known(op, name string) (k known, found bool, err error) {
	switch {
	case !host.Valid(name):
		return k, false, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	case name == ".":
		return k, false, nil
	}
	dir := path.Dir(name)
	l := r.ready(dir)
	switch {
	case l == nil:
		return k, false, r.impossible(op, dir, name)
	case l.absent:
		return k, false, host.PathError(op, name, l.err)
	case l.err != nil:
		return k, false, nil
	}
	k, found = l.files[path.Base(name)]
	if !found {
		return k, false, &fs.PathError{Op: op, Path: name, Err: syscall.ENOENT}
	}
	return k, !k.bare, nil
}

// impossible is an error where what is known of a folder that was not listed
// leaves no place for name in it.
func (r *remote) impossible(op, dir, name string) error {
	k, found, err := r.known(op, dir)
	if err == nil && found && !k.isLink() && !k.info.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return host.PathError(op, name, err)
	}
	return nil
}

// describe asks for one file's description.
func (r *remote) describe(name string) (*description, error) {
	r.mu.Lock()
	d := r.single[name]
	r.mu.Unlock()
	if d != nil {
		return d, nil
	}
	answer, err := r.shell.ask(line("i", absolute(name)), maxStat, maxStat)
	if err != nil {
		return nil, err
	}
	d = &description{}
	d.self, d.selfErr = described(answer[0], "lstat", name)
	d.target, d.targetErr = d.self, d.selfErr
	if d.selfErr == nil && d.self.Mode()&fs.ModeSymlink != 0 {
		d.target, d.targetErr = described(answer[1], "stat", name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.single[name] = d
	r.kept += 512
	return d, nil
}

// described takes the one description that a frame holds.
func described(f frame, op, name string) (host.Entry, error) {
	if err := f.err(op, name); err != nil {
		return host.Entry{}, err
	}
	k, _, ok := parseKnown(f.body, absolute(name))
	if !ok {
		return host.Entry{}, &fs.PathError{Op: op, Path: name, Err: errDescription}
	}
	k.info.Base = path.Base(name)
	return k.info, nil
}

// Lstat describes name itself, a symlink too.
func (r *remote) Lstat(name string) (fs.FileInfo, error) {
	k, found, err := r.known("lstat", name)
	if found || err != nil {
		return info(k.info, err)
	}
	d, err := r.describe(name)
	if err != nil {
		return nil, err
	}
	return info(d.self, d.selfErr)
}

// info keeps an error from becoming a file that is not nil.
func info(e host.Entry, err error) (fs.FileInfo, error) {
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Stat describes what name leads to.
func (r *remote) Stat(name string) (fs.FileInfo, error) {
	k, found, err := r.known("stat", name)
	if err != nil || found && !k.isLink() {
		return info(k.info, err)
	}
	d, err := r.describe(name)
	if err != nil {
		return nil, err
	}
	if d.targetErr != nil {
		return nil, host.PathError("stat", name, d.targetErr)
	}
	return d.target, nil
}

// ReadLink reads a symlink.
func (r *remote) ReadLink(name string) (string, error) {
	k, found, err := r.known("readlink", name)
	if !found {
		r.mu.Lock()
		k, found = r.links[name]
		r.mu.Unlock()
	}
	switch {
	case err != nil:
		return "", err
	case found && !k.isLink():
		return "", &fs.PathError{Op: "readlink", Path: name, Err: syscall.EINVAL}
	case k.link != "":
		return k.link, nil
	case k.denied:
		return "", &fs.PathError{Op: "readlink", Path: name, Err: syscall.EACCES}
	}
	answer, err := r.shell.ask(line("l", absolute(name)), maxTarget)
	if err != nil {
		return "", err
	}
	return string(answer[0].body), answer[0].err("readlink", name)
}

// ReadDir lists a folder, sorted by name.
func (r *remote) ReadDir(name string) ([]fs.DirEntry, error) {
	if _, _, err := r.known("readdir", name); err != nil {
		return nil, err
	}
	l, err := r.list(name)
	if err := cmp.Or(err, l.err); err != nil {
		return nil, err
	}
	entries := make([]fs.DirEntry, len(l.names))
	for i, n := range l.names {
		entries[i] = remoteEntry{n, r, path.Join(name, n), l.files[n].kind()}
	}
	return entries, nil
}

// remoteEntry is an entry of a folder. One of which only the name is known, in
// a folder that may not be searched, counts as a file: it can't be read.
type remoteEntry struct {
	name   string
	remote *remote
	path   string
	kind   fs.FileMode
}

func (e remoteEntry) Name() string               { return e.name }
func (e remoteEntry) IsDir() bool                { return e.kind.IsDir() }
func (e remoteEntry) Type() fs.FileMode          { return e.kind }
func (e remoteEntry) Info() (fs.FileInfo, error) { return e.remote.Lstat(e.path) }

func (k known) kind() fs.FileMode {
	if k.bare {
		return 0
	}
	return k.info.Mode().Type()
}

// Run runs a program of the machine.
func (r *remote) Run(_ context.Context, c host.Command) ([]byte, error) {
	answer, err := r.shell.ask(line("r", c.Words()...), host.MaxOutput)
	if err != nil {
		return nil, err
	}
	return answer[0].body, answer[0].err("run", c.Words()[0])
}

// Ask has the shell run a program of the machine.
func (r *remote) Ask(_ context.Context, q host.Question) (host.Answer, error) {
	answer, err := r.shell.ask(line("a "+map[bool]string{true: "e", false: "b"}[q.ErrorsAlone], q.Words...), host.MaxAnswer)
	if err != nil {
		return host.Answer{}, err
	}
	if err := answer[0].err("run", q.Words[0]); err != nil {
		return host.Answer{}, err
	}
	status, err := strconv.Atoi(strings.TrimSpace(answer[0].reason))
	if err != nil {
		return host.Answer{}, &fs.PathError{Op: "run", Path: q.Words[0], Err: errFrame}
	}
	return host.Answer{Status: status, Text: answer[0].body}, nil
}
