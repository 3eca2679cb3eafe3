package parity

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"svc/assess"
	"svc/tools/data"
)

// Place is what a data plan does with a folder, and what of that is seen on the
// migrated machine.
type Place struct {
	Item    data.Item
	Want    *data.Content // that the quiet source had; nil where nobody counted it
	Counted string        // who counted it: a file of the migrated machine, or the plan
	Has     data.Content  // that the migrated machine has
	Err     error         // why that is not known; fs.ErrNotExist where nothing is there
	// Followed is what the plan's own steps changed in it afterwards.
	Followed Followed
}

func (p Place) check() Check {
	c := Check{Dimension: Data, Subject: p.Item.Path, Evidence: in(p.Item.Path), Why: p.Item.Why}
	if p.Counted != "" {
		c.Evidence = append(c.Evidence, assess.Evidence{Path: p.Counted})
	}
	if p.Want != nil {
		c.Before = p.Want.String()
	}
	switch {
	case p.Item.Method == data.DumpAndLoad:
		c.Result, c.Why = Planned, "It is dumped and loaded, so its files are others; what is in it is compared by name."
	case p.Item.Method != data.Rsync:
		c.Result = Planned
	case errors.Is(p.Err, fs.ErrNotExist) && p.Has.Folders == 0:
		c.Result, c.Why = Differs, "It is not there."
	case p.Err != nil:
		c.Result, c.Why = Unknown, p.Err.Error()
	default:
		c.After = p.Has.String()
		c.Result, c.Why = p.compare()
	}
	return c
}

// compare holds what a place has against what it had. Folders that hold nothing are no
// difference: systems and programs make such anew as they start (systemd-tmpfiles, /root/.ssh).
func (p Place) compare() (Result, string) {
	if p.Want == nil {
		return Unknown, "Nobody counted it on the quiet source: 30-before.sh of the data plan does."
	}
	want, with := *p.Want, p.Followed.with()
	switch more := p.Has.Folders - want.Folders; {
	case more == 1:
		with += " It has one folder more, which holds nothing."
	case more > 1:
		with += fmt.Sprintf(" It has %d folders more, which hold nothing.", more)
	}
	want.Folders = max(want.Folders, p.Has.Folders)
	switch {
	case want.Files != p.Has.Files || want.Folders != p.Has.Folders || want.Links != p.Has.Links || want.Others != p.Has.Others:
		return Differs, fmt.Sprintf("It has %d files and folders, not %d.", p.Has.Entries(), p.Want.Entries())
	case want.Bytes+p.Followed.Grown != p.Has.Bytes:
		return Differs, fmt.Sprintf("It has %d bytes, not %d.", p.Has.Bytes, want.Bytes+p.Followed.Grown)
	case p.Followed.Lines != nil:
		return Match, "Count and size are those of the source; contents were not compared." + with
	case want.SHA256 == "" || p.Has.SHA256 == "":
		return Match, "Count and size are those of the source; contents were not read." + with
	case want.SHA256 != p.Has.SHA256:
		return Differs, "Count and size are those of the source; contents are not."
	}
	return Match, "Names, sizes and contents are those of the source." + with
}

// uncounted are the places of data that the source's settings name: nobody
// counted them.
func uncounted(a *assess.Assessment) (all []Check) {
	whose := map[string]string{}
	for _, d := range a.Databases {
		whose[d.Directory] = "The data of " + serverOf(d) + "."
	}
	for _, s := range a.Sites() {
		whose[s.Root] = "The files of the site " + s.Name + "."
	}
	for _, u := range a.Users {
		if !u.System {
			whose[u.Home] = "The files of " + u.Name + "."
		}
	}
	for place, why := range whose {
		if path.IsAbs(place) && place != "/" {
			all = append(all, Check{Dimension: Data, Subject: place, Result: Unknown, Evidence: in(place), Why: why + " Nobody counted them: make a data plan of the source, move them by it, and name its folder with --data."})
		}
	}
	return all
}

// kept are the places of a verification's data, and whether they still hold
// something: what they hold changes while a machine is used.
func kept(places map[string]bool) (before, after []subject) {
	for place, holds := range places {
		data := gathered([]item{{Data, place, "holds data", "", in(place)}})
		before = append(before, data...)
		if holds {
			after = append(after, data...)
		}
	}
	return before, after
}
