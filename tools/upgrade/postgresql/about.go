package postgresql

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"svc/tools/database"
	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/postgresql/session"
)

// About says what will be done.
func (p *Upgrade) About() engine.About {
	if p.Distribution != nil {
		return p.Distribution.About()
	}
	before, downtime := p.estimate()
	a := engine.About{
		From:     database.Place{Engine: "postgresql", Version: database.Version(p.Old.Version)},
		To:       database.Place{Engine: "postgresql", Version: database.Version(p.New.Version)},
		Instance: p.called(p.Old), Directory: p.Old.Data, Method: pgMethod, Needs: p.needs(),
		Preparation: before, Waiting: downtime,
		Downtime: fmt.Sprintf("about %s, from step close to step open; before that about %s while they are served", engine.Lasts(downtime), engine.Lasts(before)),
		Notes: []string{
			"every connection is cut when the step close begins, and not before all has been rehearsed on a copy",
			fmt.Sprintf("%s stays as it is, stopped; %s gets its configuration, its port %d and its way to start; its data will be in %s", p.called(p.Old), p.called(p.New), p.Port, p.New.Data),
			fmt.Sprintf("times are estimates, from %s of data and a sample of this host's disks; the rehearsal measures them, and large objects, or indexes to make again, make them longer", engine.Size(p.Bytes)),
		},
	}
	if !p.Online {
		a.Downtime = fmt.Sprintf("about %s, from step close to step open, with the rehearsal, as the server gives no copy while it serves", engine.Lasts(before+downtime))
		a.Waiting, a.Preparation = before+downtime, 0
		a.Notes[0] = "every connection is cut before the rehearsal. With this it would be after it: " + p.Offline
	}
	if p.LogBefore != "" {
		a.Notes = append(a.Notes, fmt.Sprintf("%s is there, of an earlier cluster: it is kept as %s", p.Log, p.LogBefore))
	}
	if usual := p.New.Data + ".rolled-back"; p.Aside != usual && p.Aside != "" {
		a.Notes = append(a.Notes, usual+" is there, of an earlier upgrade that was rolled back: what was written to it then is served by nobody; it stays")
	}
	if p.Archives {
		a.Notes = append(a.Notes, archiving)
	}
	a.Notes = append(a.Notes, p.sortingNotes()...)
	return a
}

// needs is the room that is wanted.
func (p *Upgrade) needs() []engine.Need {
	const fresh = 300 << 20 // an empty cluster with its log
	rehearsed, made := p.Bytes, p.Bytes
	if p.CloneBackup {
		rehearsed = p.Bytes / 20 // catalogs, and what is indexed again
	}
	if p.Clone {
		made = p.Bytes / 20
	}
	return []engine.Need{{Directory: "", Bytes: p.Bytes + rehearsed + 2*fresh, For: "a copy and its rehearsal"}, {Directory: engine.Existing(p.New.Data), Bytes: made + fresh, For: "the new cluster"}}
}

// What steps take that do not depend on the data: servers that start and stop,
// catalogs that are dumped and loaded, settings that are asked for.
const (
	pgFixedRehearsal = 15
	pgFixedUpgrade   = 12
	// pgDigests is how fast rows become digests, by processor, in bytes of data per
	// second: slow ones do this; disks are often slower.
	pgDigests = 60 << 20
	// pgDefinitions is how many relations a second have their definition dumped, loaded
	// and linked to their file: by 20,000 of them, on two processors that were busy.
	pgDefinitions = 150
)

// estimate says for how long a cluster is prepared and for how long clients wait, in
// seconds.
func (p *Upgrade) estimate() (before, downtime float64) {
	data := float64(p.Bytes)
	reading := data / engine.Slowest(p.ReadPace, pgDigests*float64(min(session.MaxReaders, runtime.NumCPU())))
	copying := func(clone bool, pace float64) float64 {
		if clone {
			return 0
		}
		return data / engine.Slowest(p.ReadPace, pace)
	}
	defining := float64(p.Relations) / pgDefinitions
	before = pgFixedRehearsal + defining + copying(false, p.BackupPace) + copying(p.CloneBackup, p.BackupPace) + 2*reading
	return before, pgFixedUpgrade + defining + copying(p.Clone, p.WritePace) + 2*reading
}

// sortingNotes say which databases' indexes are made again, a line a reason.
func (p *Upgrade) sortingNotes() (notes []string) {
	names := map[string][]string{}
	for _, d := range p.Databases {
		if d.Sorting != "" {
			names[d.Sorting] = append(names[d.Sorting], d.Name)
		}
	}
	for why, of := range names {
		notes = append(notes, fmt.Sprintf("indexes on text in %s: %s", strings.Join(of, ", "), why))
	}
	slices.Sort(notes)
	return notes
}
