// Package ledger puts everything on a machine's disk into exactly one row: what a
// package shipped, what of that was changed, configuration, data, a person's
// software, what the system makes anew by a rule with a name, and what is nobody's,
// which is listed. It reads names and descriptions; contents only of what may have
// been changed.
package ledger

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/host"
)

// Row is where a path of the disk belongs. Each belongs to one.
type Row string

// The rows.
const (
	Shipped       Row = "shipped"       // of a package, as far as was looked
	Changed       Row = "changed"       // of a package, and not as it shipped it
	Configuration Row = "configuration" // what people wrote below /etc, and crontabs
	Data          Row = "data"          // in a place of data
	Software      Row = "software"      // of a person, beside packages
	State         Row = "state"         // made anew by the system, by a rule
	Nobody        Row = "nobody"        // nothing accounts for it
)

// Rows are all of them, in the order of a table.
var Rows = []Row{Shipped, Changed, Configuration, Data, Software, State, Nobody}

// Place is a folder or file with data, without a leading slash.
type Place struct {
	Path, What string
	Software   bool // a person's software rather than data
}

// Count counts paths: files, folders, links and all else.
type Count struct {
	Paths int64 `json:"paths"`
	Bytes int64 `json:"bytes"` // of files, as they say
}

func (c *Count) add(o Count) {
	c.Paths += o.Paths
	c.Bytes += o.Bytes
}

// Sum is a machine's disk by rows. The rows add up to the total, and so do the
// folders. No list is ever null.
type Sum struct {
	Total     Count         `json:"total"`
	Rows      map[Row]Count `json:"rows"`
	Folders   []Folder      `json:"folders"`
	Rules     []Rule        `json:"rules"`   // by which what is state, software or data is that
	Changed   []Path        `json:"changed"` // packages' files
	Nobody    []Path        `json:"nobody"`  // the topmost folder of each counts for all in it
	Noticed   []Notice      `json:"noticed"` // what a move would lose without a word
	Looked    Looked        `json:"looked"`
	Elsewhere []string      `json:"elsewhere"`     // other file systems that were not counted
	Unread    []string      `json:"unread"`        // folders that could not be listed; what is in them is not counted
	More      int           `json:"more,omitzero"` // entries that were left out of the lists
}

// Choosing is a sum whose commands choose the target's programs as alternatives: php8.4,
// where a person chose php8.2.
func (s *Sum) Choosing(called func(command string) string) *Sum {
	if s == nil {
		return nil
	}
	changed := *s
	changed.Noticed = slices.Clone(s.Noticed)
	for i, n := range changed.Noticed {
		if n.Kind == "alternative" {
			changed.Noticed[i].Command = called(n.Command)
		}
	}
	return &changed
}

// Folder is a folder of the first or second level, with what stands in it.
type Folder struct {
	Path string        `json:"path"`
	Rows map[Row]Count `json:"rows"`
}

// Rule accounts for what stands in some places.
type Rule struct {
	Row    Row    `json:"row"`
	Place  string `json:"place"`
	What   string `json:"what"`
	Origin string `json:"origin"`
	Count
}

// Path is one path of a list.
type Path struct {
	Path    string `json:"path"`
	Package string `json:"package,omitempty"`
	Why     string `json:"why,omitempty"`
	Count
	mode     fs.FileMode
	alias    alias
	programs []Path // of a folder, those in it
}

// Notice is a thing that stands in no package and no file that is carried.
type Notice struct {
	Kind string `json:"kind"`
	Path string `json:"path"`
	What string `json:"what"`
	Do   string `json:"do"` // what a person does about it on the target
	// Command does it, for root in bash on the target; none where a person has to choose.
	Command string `json:"command,omitempty"`
}

// Looked says of how many files of packages the contents were compared.
type Looked struct {
	Compared int64  `json:"compared"` // with the packages' digests
	Bytes    int64  `json:"bytes"`
	Assumed  int64  `json:"assumed"` // not read: they are older than their package's installation
	Unknown  int64  `json:"unknown"` // their packages have no digest of them, or they could not be read
	Why      string `json:"why"`
}

// What is said of the files that were not read.
const (
	whyNear = "Read and compared were units, programs that a bare name runs or that run with more rights, and files that are newer than their package's installation. The others were not read: one that was changed and dated back is not seen."
	whyFar  = "Read and compared were files that are newer than their package's installation. The others were not read: one that was changed and dated back is not seen. Of a disk or a folder, svc reads all units and programs too."
)

// Input is what a ledger needs beside the machine.
type Input struct {
	Assessment *assess.Assessment
	Places     []Place
	// Across is a move to another line of families, whose packages' units have programs,
	// accounts and files of their own.
	Across bool
	// Far leaves the contents of programs unread that are older than their
	// package's installation: over ssh each would have to be fetched.
	Far bool
}

// maxList bounds each list.
const maxList = 1000

// Of makes the ledger of a machine.
func Of(ctx context.Context, h host.Host, in Input) (*Sum, error) {
	o, err := owners(ctx, h)
	if err != nil {
		return nil, fmt.Errorf("the packages' files: %w", err)
	}
	b := newBook(h, in, o)
	tops := []string{"."}
	if err := host.Walk(ctx, h, tops, b); err != nil {
		return nil, fmt.Errorf("counting the disk: %w", err)
	}
	if tops = b.further(in.Assessment); len(tops) > 0 {
		if err := host.Walk(ctx, h, tops, b); err != nil {
			return nil, fmt.Errorf("counting the disk: %w", err)
		}
	}
	if err := b.compare(ctx); err != nil {
		return nil, err
	}
	s := b.sum()
	scripts(h.FS(), s.Nobody)
	s.Noticed = slices.Concat(notices(h.FS(), in.Assessment), profiles(h.FS(), s.Nobody), edited(h.FS(), s.Changed, in.Across))
	return s, host.Lost(h)
}

// remote are file systems that stand elsewhere, or nowhere.
var remote = []string{"nfs", "nfs4", "cifs", "smb3", "ceph", "glusterfs", "fuse.sshfs", "tmpfs", "ramfs", "overlay", "squashfs", "iso9660", "9p", "virtiofs"}

// further are the other file systems that belong to the machine's own disks. On a
// machine that is off, fstab says so.
func (b *book) further(a *assess.Assessment) (tops []string) {
	mounts := a.Mounts
	if a.Running != nil {
		mounts = a.Running.Mounts
	}
	for _, at := range b.boundaries() {
		own := slices.ContainsFunc(mounts, func(m assess.Mount) bool { return m.Path == "/"+at && !slices.Contains(remote, m.Type) })
		if own {
			tops = append(tops, at)
		} else {
			b.elsewhere = append(b.elsewhere, "/"+at)
		}
	}
	return tops
}

// sum puts the workers' counts together.
func (b *book) sum() *Sum {
	s := &Sum{Rows: map[Row]Count{}, Looked: b.looked, Elsewhere: b.elsewhere, Folders: []Folder{}, Rules: []Rule{}}
	s.Looked.Why = b.why
	folders, rules, linked := map[string]map[Row]Count{}, map[int]Count{}, map[alias]bool{}
	for _, w := range b.workers {
		for dir, rows := range w.folders {
			if folders[dir] == nil {
				folders[dir] = map[Row]Count{}
			}
			for row, c := range rows {
				folders[dir][row] = plus(folders[dir][row], c)
			}
		}
		for n, c := range w.rules {
			rules[n] = plus(rules[n], c)
		}
		s.Looked.Assumed += w.assumed
		s.Unread = append(s.Unread, w.unread...)
		s.Nobody = append(s.Nobody, w.nobody...)
		s.More += w.more
		maps.Copy(linked, w.linked)
	}
	var other []Path
	s.Nobody, other = b.named(s.Nobody, linked)
	for _, p := range other {
		rows := folders[folderOf(p.Path[1:])]
		rows[Nobody], rows[Shipped] = plus(rows[Nobody], Count{-p.Paths, -p.Bytes}), plus(rows[Shipped], p.Count)
	}
	for _, f := range b.changed { // they were counted as shipped until their contents were read
		rows := folders[folderOf(f.Path[1:])]
		one := Count{1, f.Bytes}
		rows[Shipped], rows[Changed] = plus(rows[Shipped], Count{-1, -f.Bytes}), plus(rows[Changed], one)
	}
	s.Changed = b.changed
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		for row, c := range folders[dir] {
			s.Rows[row] = plus(s.Rows[row], c)
			s.Total.add(c)
		}
		s.Folders = append(s.Folders, Folder{path.Join("/", dir), folders[dir]})
	}
	for _, n := range slices.Sorted(maps.Keys(rules)) {
		r := b.rule(n)
		r.Count = rules[n]
		s.Rules = append(s.Rules, r)
	}
	s.Nobody = topmost(s.Nobody)
	s.bound()
	return s
}

func plus(a, b Count) Count { return Count{a.Paths + b.Paths, a.Bytes + b.Bytes} }

// bound sorts the lists and cuts them.
func (s *Sum) bound() {
	slices.SortFunc(s.Changed, func(a, b Path) int { return cmp.Compare(a.Path, b.Path) })
	slices.Sort(s.Unread)
	slices.Sort(s.Elsewhere)
	for _, l := range []*[]Path{&s.Changed, &s.Nobody} {
		s.More += max(0, len(*l)-maxList)
		*l = append([]Path{}, (*l)[:min(len(*l), maxList)]...)
	}
	for _, l := range []*[]string{&s.Unread, &s.Elsewhere} {
		s.More += max(0, len(*l)-maxList)
		*l = append([]string{}, (*l)[:min(len(*l), maxList)]...)
	}
}

// Script is why a path of Nobody is a person's: a script that stands among the programs
// of packages, as do CGI programs, backends and plugins.
const Script = "a script among the programs of packages"

// Bounds of how many programs are looked at for what runs them, and of a script's size.
const (
	maxProgram = 200
	maxScript  = 64 << 10
)

// scripts tells scripts of what a compiler made, which fits no other release for sure. A
// folder is as its programs are.
func scripts(fsys host.FS, nobody []Path) {
	looked := 0
	compiled := func(p Path) bool {
		if looked++; looked > maxProgram || p.Bytes > maxScript {
			return true
		}
		b, err := host.ReadFile(fsys, strings.TrimPrefix(p.Path, "/"), maxScript)
		return err != nil || !strings.HasPrefix(string(b), "#!")
	}
	for i, p := range nobody {
		nobody[i].Why, nobody[i].programs = "", nil
		if p.Why == program {
			p.programs = []Path{p}
		}
		if len(p.programs) > 0 && !slices.ContainsFunc(p.programs, compiled) {
			nobody[i].Why = Script
		}
	}
}

// topmost has the paths below one of the others count there.
func topmost(all []Path) (kept []Path) {
	slices.SortFunc(all, func(a, b Path) int {
		return cmp.Compare(strings.ReplaceAll(a.Path, "/", "\x00"), strings.ReplaceAll(b.Path, "/", "\x00"))
	})
	for _, p := range all {
		if n := len(kept) - 1; n >= 0 && strings.HasPrefix(p.Path, kept[n].Path+"/") {
			kept[n].add(p.Count)
			if p.Why == program {
				kept[n].programs = append(kept[n].programs, p)
			}
		} else {
			kept = append(kept, p)
		}
	}
	return kept
}

// isProgram reports whether a bare name runs a file, or systemd reads it: it is
// compared whatever its date.
func isProgram(n *host.Node) bool {
	switch n.Dir {
	case "usr/bin", "usr/sbin", "bin", "sbin":
		return n.Mode&0o111 != 0
	}
	return strings.HasPrefix(n.Dir, "usr/lib/systemd/system") || strings.HasPrefix(n.Dir, "lib/systemd/system") || n.Mode&(fs.ModeSetuid|fs.ModeSetgid) != 0
}
