package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"svc/assess"
	"svc/assess/disk/lvm"
	"svc/assess/host"
	"svc/backend/sliced"
)

// maxPlaces is more than any real machine has.
const maxPlaces = 2000

// finder is a discovery in the making.
type finder struct {
	fs host.FS
	a  *assess.Assessment
	d  *Discovery

	people []string // empty folders below /var that no package made
}

// Discover finds the data of a machine that was assessed. Progress, which may be
// nil, is told how many files were met.
func Discover(ctx context.Context, h host.Host, a *assess.Assessment, progress func(files int64)) (*Discovery, error) {
	f := &finder{fs: h.FS(), a: a, d: &Discovery{Schema: Schema, Release: a.Release, Fingerprint: a.Fingerprint, Live: h.Live(), Places: []Place{}, Notes: []Note{}}}
	f.choose()
	f.unlisted()
	f.nest()
	if err := f.count(ctx, h, progress); err != nil {
		return nil, fmt.Errorf("looking for data: %w", err)
	}
	if h.Live() {
		f.countOpen()
	}
	f.people = unclaimed(ctx, f.fs, f.d.Places)
	f.finish()
	return f.d, nil
}

// Places are the places of a machine's data, without what is in them.
func Places(h host.Host, a *assess.Assessment) []Place {
	f := &finder{fs: h.FS(), a: a, d: &Discovery{}}
	f.choose()
	return f.d.Places
}

// choose keeps the candidates that are there, each path once.
func (f *finder) choose() {
	chosen, views := map[string]Kind{}, f.views()
	for _, c := range f.keysOfConfiguration(candidates(f.a, f.fs)) {
		full, err := realPath(f.fs, c.path)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				f.note(c.path, reason(err))
			}
			continue
		}
		if c.names != nil {
			c.names = f.bounded(full, f.there(full, c.names))
			if len(c.names) == 0 {
				continue
			}
		}
		kind, twice := chosen[full]
		twice = twice && (kind != Logs || c.names == nil) // of a folder that stays behind, files move
		if full == "/" || twice || c.names == nil && isSystem(full) {
			continue
		}
		if view := shown(views, full); view != "" {
			f.note(full, "what is mounted at "+view+" stands elsewhere on the machine: it moves from there")
			continue
		}
		if len(chosen) >= maxPlaces {
			f.note("more places", fmt.Sprintf("there are more than %d", maxPlaces))
			break
		}
		chosen[full] = c.kind
		f.d.Places = append(f.d.Places, f.place(c, full))
	}
}

// there are the names that a folder has.
func (f *finder) there(dir string, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, err := f.fs.Lstat(strings.TrimPrefix(path.Join(dir, name), "/"))
		return err != nil
	})
}

// keysOfConfiguration puts in place of folders below /etc the secret files in
// them, a place for each folder that has some. What else is there the migration's
// role brings, converted where it must be, or leaves for a reason: a copy of the
// source's would undo that, and parts a key that belongs to this very machine from
// the target's own certificate.
func (f *finder) keysOfConfiguration(all []candidate) (kept []candidate) {
	for _, c := range all {
		full, err := realPath(f.fs, c.path)
		if err != nil || !below(full, "/etc/") || c.names != nil || slices.Contains([]Kind{Database, Disk, Remote}, c.kind) {
			kept = append(kept, c)
			continue
		}
		kept = append(kept, secretsIn(f.a, full, c)...)
	}
	return kept
}

// secretsIn are the places of the secret files below a folder of configuration.
func secretsIn(a *assess.Assessment, dir string, c candidate) (places []candidate) {
	for _, file := range a.Configuration { // sorted by path, but not by folder
		if !file.Secret || file.Machine || file.State == assess.ConfigMissing || !below(file.Path, dir) {
			continue
		}
		at, name := path.Dir(file.Path), path.Base(file.Path)
		i := slices.IndexFunc(places, func(p candidate) bool { return p.path == at })
		if i < 0 {
			i = len(places)
			places = append(places, candidate{path: at, kind: c.kind, what: c.what, evidence: cmp.Or(c.evidence, c.path)})
		}
		places[i].names = append(places[i].names, name)
	}
	return places
}

// unlisted notes the folders of whose entries places would be, where these can't be
// had.
func (f *finder) unlisted() {
	for _, e := range parents() {
		if _, err := entriesOf(f.fs, e.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.note(e.dir, "what stands in it is in no place: it could not be listed: "+reason(err))
		}
	}
}

// maxLoose is as many files as a folder may have beside its folders.
const maxLoose = 200

// bounded are the files of a folder that are moved. Those of the root are named
// alone: it is no place.
func (f *finder) bounded(dir string, names []string) []string {
	if dir == "/" {
		for _, name := range first(names, maxLoose) {
			f.note("/"+name, "a file in the root itself, which is no place of data: move it by hand")
		}
	}
	if len(names) > maxLoose {
		f.note(dir, fmt.Sprintf("there are more than %d files beside its folders: move them by hand", maxLoose))
	}
	return first(names, maxLoose)
}

func (f *finder) place(c candidate, full string) Place {
	p := Place{Path: full, Names: c.names, Kind: c.kind, What: c.what, Name: c.name, Version: c.version, Evidence: cmp.Or(c.evidence, c.path)}
	if !utf8.ValidString(full) {
		p.RawPath = []byte(full)
	}
	p.Services = calledAfter(f.a.Services, c.what)
	p.Device, p.Type = deviceOf(f.a, full)
	p.Snapshot = f.snapshotOf(p.Device, p.Type)
	return p
}

// calledAfter are the services that start with a machine and are called after one whose
// data are there: php7.4-fpm.service after php, redis-server@queue.service after redis.
func calledAfter(all []assess.Unit, what string) (names []string) {
	for _, u := range all {
		rest, called := strings.CutPrefix(u.Name, what)
		if what != "" && called && u.Manager == "systemd" && u.State == "enabled" && strings.HasSuffix(rest, ".service") && strings.ContainsAny(rest[:1], "-@.0123456789") {
			names = append(names, u.Name)
		}
	}
	return names
}

func (f *finder) note(what, why string) { f.d.Notes = append(f.d.Notes, Note{what, why}) }

// isSystem tells folders that a setting may name, but that are the system's.
func isSystem(full string) bool {
	dir, name := path.Split(full)
	return dir == "/" && lists("system-folders", name) && name != "srv" && name != "opt" && name != "root"
}

// maxLinks is as many symlinks as Linux follows.
const maxLinks = 40

// realPath is a folder's path without symlinks, absolute.
func realPath(fsys host.FS, name string) (string, error) {
	full, rest := "/", strings.Split(path.Clean("/"+name), "/")
	for links := 0; len(rest) > 0; {
		next := path.Join(full, rest[0])
		if rest = rest[1:]; next == "/" {
			full = next
			continue
		}
		info, err := fsys.Lstat(next[1:])
		switch {
		case err != nil:
			return "", err
		case info.IsDir():
			full = next
			continue
		case info.Mode()&fs.ModeSymlink == 0:
			return "", fs.ErrNotExist // a file is no place
		}
		target, err := fsys.ReadLink(next[1:])
		if links++; err != nil || links > maxLinks {
			return "", cmp.Or(err, fs.ErrNotExist)
		}
		if strings.HasPrefix(target, "/") {
			full = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return full, nil
}

// nest says of each place in which other one it stands.
func (f *finder) nest() {
	slices.SortFunc(f.d.Places, func(a, b Place) int { return cmp.Compare(a.Path, b.Path) })
	for i := range f.d.Places {
		p := &f.d.Places[i]
		for j := range f.d.Places {
			o := &f.d.Places[j]
			if o.Path != p.Path && o.Names == nil && below(p.Path, o.Path) && len(o.Path) > len(p.Within) {
				p.Within = o.Path
			}
		}
	}
}

// count walks all places that hold their data themselves.
func (f *finder) count(ctx context.Context, h host.Host, progress func(int64)) error {
	var own []*Place
	var walked, all []string
	var places []int // of walked
	for i := range f.d.Places {
		p := &f.d.Places[i]
		p.Tally = newCounting().finish(accounts{})
		if p.Names == nil {
			all = append(all, p.Path[1:])
		}
		if p.Kind == Remote {
			continue
		}
		for _, top := range topsOf(p.Path[1:], p.Names) {
			walked, places = append(walked, top), append(places, len(own))
		}
		own = append(own, p)
	}
	t := newTallies(places, all, progress)
	for _, view := range f.views() {
		t.mounts[strings.TrimPrefix(view, "/")] = true
	}
	if f.a.Running != nil { // a walk by listings does not see where one begins
		for _, m := range f.a.Running.Mounts {
			t.mounts[strings.TrimPrefix(path.Clean(m.Path), "/")] = true
		}
	}
	if err := host.Walk(ctx, h, walked, t); err != nil {
		return err
	}
	for i, tally := range t.sum(accountsOf(f.a)) {
		own[i].Tally = tally
	}
	return nil
}

// topsOf are what of a place is walked.
func topsOf(dir string, names []string) []string {
	if names == nil {
		return []string{dir}
	}
	return append([]string{}, sliced.Map(names, func(name string) string { return path.Join(dir, name) })...)
}

// accounts are the names of a machine's ids.
type accounts struct{ users, groups map[int]string }

func accountsOf(a *assess.Assessment) accounts {
	names := accounts{map[int]string{}, map[int]string{}}
	for _, u := range a.Users {
		names.users[u.UID] = cmp.Or(names.users[u.UID], u.Name)
	}
	for _, g := range a.Groups {
		names.groups[g.GID] = cmp.Or(names.groups[g.GID], g.Name)
	}
	return names
}

// Bounds of what is asked of the processes of a machine.
const (
	maxProcesses = 20_000
	maxOpen      = 200_000
)

// countOpen says of each place how many files of it processes have open.
func (f *finder) countOpen() {
	folders := f.processes()
	host.Expect(f.fs, host.Folders, folders)
	hidden, links := false, []string{}
	for _, dir := range folders {
		entries, err := f.fs.ReadDir(dir)
		hidden = hidden || errors.Is(err, fs.ErrPermission)
		for _, e := range entries[:min(len(entries), maxOpen-len(links))] {
			links = append(links, path.Join(dir, e.Name()))
		}
	}
	host.Expect(f.fs, host.Links, links)
	for _, link := range links {
		if target, err := f.fs.ReadLink(link); err == nil {
			f.open(target, path.Dir(path.Dir(link)))
		}
	}
	if hidden {
		f.note("open files", "the kernel hides the processes of other users from this one")
	}
	for i := range f.d.Places {
		p := &f.d.Places[i]
		p.Known.OpenFiles = !hidden
		slices.Sort(p.OpenBy)
	}
}

func (f *finder) processes() (folders []string) {
	entries, err := f.fs.ReadDir("proc")
	if err != nil {
		f.note("open files", reason(err))
	}
	for _, e := range entries {
		if _, err := strconv.ParseUint(e.Name(), 10, 32); err == nil && len(folders) < maxProcesses {
			folders = append(folders, path.Join("proc", e.Name(), "fd"))
		}
	}
	return folders
}

// open notes that a process has a file open.
func (f *finder) open(file, process string) {
	p := f.placeOf(file)
	if p == nil {
		return
	}
	p.OpenFiles++
	b, err := host.ReadFile(f.fs, path.Join(process, "comm"), 4096)
	name := strings.TrimSpace(string(b))
	if err == nil && len(p.OpenBy) < maxListed && !slices.Contains(p.OpenBy, name) {
		p.OpenBy = append(p.OpenBy, name)
	}
}

// placeOf is the innermost place that a file is in, or nil.
func (f *finder) placeOf(file string) (found *Place) {
	for i := range f.d.Places {
		p := &f.d.Places[i]
		if p.has(file) && (found == nil || len(p.Path) > len(found.Path)) {
			found = p
		}
	}
	return found
}

// has reports whether a file belongs to a place, or to one that stands in it.
func (p *Place) has(file string) bool {
	name, below := strings.CutPrefix(file, p.Path+"/")
	return below && (p.Names == nil || slices.Contains(p.Names, name))
}

// finish leaves out what holds nothing, adds up and sorts.
func (f *finder) finish() {
	all := f.d.Places
	f.d.Places = slices.DeleteFunc(slices.Clone(all), func(p Place) bool {
		return p.nothing() && !f.holds(p.Path) && !f.awaits(p, all)
	})
	for _, p := range f.d.Places {
		f.d.Sum.Places++
		f.d.Sum.Files += p.Files
		f.d.Sum.Bytes += p.Bytes
		f.d.Sum.Unread += p.Unread
	}
	slices.SortStableFunc(f.d.Places, func(a, b Place) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Path, b.Path)) })
	slices.SortFunc(f.d.Notes, func(a, b Note) int { return cmp.Or(cmp.Compare(a.What, b.What), cmp.Compare(a.Why, b.Why)) })
	f.d.Notes = slices.Compact(f.d.Notes)
}

// holds reports whether a place is the database of an engine, which matters
// even where it is empty.
func (f *finder) holds(name string) bool {
	return slices.ContainsFunc(f.a.Databases, func(d assess.Database) bool { return d.Directory == name })
}

// awaits reports whether a place is an empty folder that people made, for what is put
// there: no package brings it. Where other places stand in it, it is one for the empty
// folders beside them, and for who may write there.
func (f *finder) awaits(p Place, all []Place) bool {
	if slices.ContainsFunc(f.people, func(name string) bool { return below(name, p.Path) }) {
		return true
	}
	if p.Kind == Home { // what others put into its folders is awaited there
		return p.Folders > 1
	}
	if p.Kind != Served && (p.Kind != Other || path.Dir(p.Path) != "/") || p.Names != nil {
		return false
	}
	leading := map[string]bool{}
	for _, q := range all {
		for dir := q.Path; q.Path != p.Path && below(q.Path, p.Path) && dir != p.Path; {
			dir = path.Dir(dir)
			leading[dir] = true
		}
	}
	if len(leading) == 0 || p.Folders > int64(len(leading)) {
		return true
	}
	return apart(f.fs, p.Path)
}

// deviceOf is what is mounted at a path, or nearest above it.
func deviceOf(a *assess.Assessment, full string) (device, kind string) {
	best := ""
	for _, m := range mounts(a) {
		if at := path.Clean(m.Path); strings.HasPrefix(at, "/") && below(full, at) && len(at) > len(best) {
			best, device, kind = at, m.Device, m.Type
		}
	}
	return device, kind
}

// snapshotOf says whether a snapshot can be taken of a device.
func (f *finder) snapshotOf(device, kind string) Snapshot {
	switch {
	case kind == "btrfs" || kind == "zfs":
		return Snapshot{kind, device, 0, "the file system takes snapshots of itself"}
	case device == "":
		return Snapshot{Kind: "none", Why: "nothing says what is mounted here"}
	}
	for _, fact := range f.a.Facts {
		if fact.Area != "storage" || fact.Key != "lvm" {
			continue
		}
		group, volume, _ := strings.Cut(fact.Value, "/")
		if device == "/dev/"+fact.Value || device == "/dev/mapper/"+mapped(group)+"-"+mapped(volume) {
			return f.snapshotOfVolume(fact, volume)
		}
	}
	return Snapshot{Kind: "none", Why: "neither the file system nor a volume manager below it takes any"}
}

// snapshotOfVolume looks whether the volume's group has room for one.
func (f *finder) snapshotOfVolume(fact assess.Fact, volume string) Snapshot {
	const most = 4 << 20
	var room lvm.Room
	b, err := host.ReadFile(f.fs, strings.TrimPrefix(fact.Evidence.Path, "/"), most)
	if err == nil {
		room, err = lvm.RoomOf(string(b))
	}
	switch {
	case err != nil:
		return Snapshot{"none", fact.Value, 0, "a volume of LVM, but what is free in its group can't be read: " + reason(err)}
	case room.Thin[volume]:
		return Snapshot{"lvm", fact.Value, 0, "a thin volume of LVM, whose pool must have room for what changes meanwhile"}
	case room.Free == 0:
		return Snapshot{"none", fact.Value, 0, "a volume of LVM, but nothing is free in the group " + room.Group}
	}
	return Snapshot{"lvm", fact.Value, room.Free, fmt.Sprintf("a volume of LVM, and %d MiB are free in the group %s for what changes meanwhile", room.Free>>20, room.Group)}
}

// mapped is a name as the device mapper writes it.
func mapped(name string) string { return strings.ReplaceAll(name, "-", "--") }

// reason is an error without the name of what it is about.
func reason(err error) string {
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		err = named.Err
	}
	return err.Error()
}
