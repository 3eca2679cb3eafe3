package assess

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"svc/assess/hazards"
	"svc/assess/host"
	"svc/backend/release"
	"svc/backend/visible"
)

// ErrCorrupt means that the package database can't be read to its end, or not
// at all. The assessment that comes with it has what could be read.
var ErrCorrupt = errors.New("the package database can't be read whole")

// ErrNoSystem means that there is no Linux system at the place read.
var ErrNoSystem = errors.New("this is not the root of a Linux system: it has no etc/os-release. Check the path, and that the disk is mounted")

// ErrNoConfiguration means that there is a system, but none of what people set
// up on it can be found.
var ErrNoConfiguration = errors.New("the system's /etc can't be listed, so nothing is known of what was set up on it: mount it, or read the machine as root")

// ErrNoFingerprint means that a machine has no identity of its own.
var ErrNoFingerprint = errors.New("the machine has no machine-id, so no fingerprint can be made: " +
	"run systemd-machine-id-setup on it (or `systemd-machine-id-setup --root=DIR` on its disk), then repeat")

// Options are what an assessment takes beside the machine.
type Options struct {
	// Now is the day on which support ends are judged.
	Now time.Time
	// Target is the release that the machine is to move to; empty where none is named.
	Target string
	// Hazards are the tables to look by, the program's own among them; nil is these alone.
	Hazards hazards.Table
	// Progress is told what is being read, and how far it is; may be nil.
	Progress func(what string, done, total int)
}

// machine is an assessment in the making.
type machine struct {
	fs         host.FS
	ctx        context.Context // of the one call that this is for
	o          Options
	a          *Assessment
	release    release.Release
	known      bool     // release is in the table
	ids        []string // ID and ID_LIKE of os-release
	dpkg       dpkg
	reaccessed reaccessed
	secrets    secrets
	versioned  []string // folders of version control below /etc
	users      map[int]string
	groups     map[int]string
	people     people          // where their ids begin
	shadowed   map[string]bool // users whose password is locked; nil where shadow is unreadable
	included   map[string]bool // files that sshd's configuration includes
	followed   int             // files that those of databases name
	listings   sync.Map        // of folders, by their names
	listed     atomic.Int64    // bytes of the names in these
	small      atomic.Int64    // bytes read of files that people write by hand
	room       room
	host       host.Host
	programs   candidates
}

// Assess reads the machine. On ErrCorrupt the assessment is there too.
func Assess(ctx context.Context, h host.Host, o Options) (*Assessment, error) {
	m := &machine{fs: watched{h.FS(), ctx}, ctx: ctx, o: o, a: &Assessment{Schema: Schema}, host: h}
	if err := m.readSystem(); err != nil {
		return nil, cmp.Or(ctx.Err(), host.Lost(h), err)
	}
	if _, err := m.files("etc"); err != nil {
		return nil, cmp.Or(ctx.Err(), host.Lost(h), fmt.Errorf("%w: %w", ErrNoConfiguration, err))
	}
	steps := []struct {
		what string
		read func()
	}{
		{"identity", m.readFingerprint},
		{"programs", m.findPrograms},
		{"packages", m.readPackages},
		{"package origins", m.readOrigins},
		{"accounts", m.readAccounts},
		{"services", m.readServices},
		{"jobs", m.readCron},
		{"programs' digests", m.readPrograms},
		{"configuration", m.readConfiguration},
		{"folders", m.readFolders},
		{"mounts", m.readMounts},
		{"network", m.readNetworks},
		{"kernel settings", m.readSysctl},
		{"ssh", m.readSSH},
		{"firewall", m.readFirewalls},
		{"databases", m.readDatabases},
		{"web servers", m.readWebServers},
		{"settings", m.readFacts},
		{"storage", m.readStorage},
		{"runtimes", m.readRuntimes},
		{"software", m.readSoftware},
		{"containers", m.readContainers},
		{"certificates", m.readCertificates},
		{"findings", m.find},
		{"what runs", func() { m.readRunning(ctx, h) }},
	}
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	for i, s := range steps {
		o.Progress(s.what, i, len(steps))
		s.read()
		m.bound()
		if err := cmp.Or(ctx.Err(), host.Lost(h)); err != nil {
			return nil, fmt.Errorf("assessing: %w", err)
		}
	}
	o.Progress(steps[len(steps)-1].what, len(steps), len(steps))
	m.order()
	m.maskSecrets()
	return m.a, m.corrupt()
}

// corrupt is the error of a package database that could not be read whole.
func (m *machine) corrupt() error {
	for _, s := range m.a.Sources {
		if s.State != SourceOK && s.What == m.dpkg.source {
			return fmt.Errorf("%w: %s", ErrCorrupt, m.reason(s))
		}
	}
	return nil
}

// reason says why the package database could not be read.
func (m *machine) reason(s Source) string {
	if s.State == SourceAbsent {
		return "there is no /" + strings.Join(m.ownManager().database, ", /")
	}
	return s.Detail
}

// maxSources bounds the places whose state is told.
const maxSources = 20_000

// source notes how the reading of one place ended.
func (m *machine) source(what string, state SourceState, detail string) {
	switch n := len(m.a.Sources); {
	case n < maxSources:
		m.a.Sources = append(m.a.Sources, Source{what, state, detail})
	case n == maxSources:
		m.a.Sources = append(m.a.Sources, Source{"assessment.sources", SourceUnreadable, "more than any real machine has are left out"})
	}
}

// outcome notes how the reading of a file or folder ended.
func (m *machine) outcome(what, name string, err error) {
	detail := "/" + name
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		detail = quoted(err)
	}
	m.source(what, stateOf(err), detail)
}

// quoted is an error in words, in which the name of a file is told apart from ours.
func quoted(err error) string {
	words := err.Error()
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		words = strings.ReplaceAll(words, at.Path, visible.Name(at.Path))
	}
	return words
}

// stateOf is the state that an error stands for.
func stateOf(err error) SourceState {
	switch {
	case err == nil:
		return SourceOK
	case errors.Is(err, fs.ErrNotExist):
		return SourceAbsent
	case errors.Is(err, fs.ErrPermission), errors.Is(err, host.ErrNotRegular), errors.Is(err, host.ErrTooBig):
		return SourceUnreadable
	}
	return SourceCorrupt
}

// Bounds of files that people write by hand: the bytes and lines of one, and the
// bytes of all.
const (
	maxFile  = 2 << 20
	maxLines = 20_000
	maxSmall = 32 << 20
)

// readSmall reads a file that people write by hand.
func (m *machine) readSmall(name string) ([]byte, error) {
	if m.small.Load() > maxSmall {
		return nil, fmt.Errorf("/%s: %w: the machine's files before it have %d bytes", name, host.ErrTooBig, maxSmall)
	}
	b, err := host.ReadFile(m.fs, name, maxFile)
	m.small.Add(int64(len(b)))
	if err == nil && bytes.Count(b, []byte("\n")) > maxLines {
		return nil, fmt.Errorf("/%s: %w: over %d lines", name, host.ErrTooBig, maxLines)
	}
	return b, err
}

// text reads a small file and notes how that ended under what.
func (m *machine) text(what, name string) (string, bool) {
	b, err := m.readSmall(name)
	m.outcome(what, name, err)
	return string(b), err == nil
}

// peek reads a small file of which it matters only what it says, if anything.
func (m *machine) peek(name string) string {
	b, err := m.readSmall(name)
	if err != nil {
		return ""
	}
	return string(b)
}

// exists reports whether something stands at name.
func (m *machine) exists(name string) bool {
	_, err := m.fs.Stat(name)
	return err == nil
}

// listing is what a folder was found to hold.
type listing struct {
	names []string
	err   error
}

// maxListed bounds the names that are kept, in bytes.
const maxListed = 2 << 20

// files are the names in a folder, and how the reading of it ended. A folder is
// read once, however many patterns look into it, as long as there is room.
func (m *machine) files(dir string) ([]string, error) {
	if l, ok := m.listings.Load(dir); ok {
		l := l.(listing)
		return l.names, l.err
	}
	entries, err := m.fs.ReadDir(dir)
	names, size := make([]string, 0, len(entries)), len(dir)
	for _, e := range entries {
		names = append(names, e.Name())
		size += len(e.Name())
	}
	if m.listed.Add(int64(size)) <= maxListed {
		m.listings.Store(dir, listing{names, err})
	}
	return names, err
}

// order sorts every list that is not sorted by how it was made, and leaves no
// list null.
func (m *machine) order() {
	a := m.a
	slices.SortFunc(a.Packages, func(x, y Package) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Arch, y.Arch), compareNatural(x.Version, y.Version))
	})
	a.Sources = tidy(a.Sources)
	slices.SortStableFunc(a.Facts, func(x, y Fact) int { return cmp.Or(cmp.Compare(x.Area, y.Area), cmp.Compare(x.Key, y.Key)) })
	slices.SortStableFunc(a.Findings, func(x, y Finding) int {
		return cmp.Or(compareBool(y.Inhibitor, x.Inhibitor), cmp.Compare(x.Severity.rank(), y.Severity.rank()), cmp.Compare(x.Key, y.Key))
	})
	for i := range a.Findings {
		f := &a.Findings[i]
		f.Remediations, f.Related, f.Evidence = list(f.Remediations), list(f.Related), list(f.Evidence)
	}
	a.Packages, a.Origins, a.Services, a.Timers, a.Cron = list(a.Packages), list(a.Origins), list(a.Services), list(a.Timers), list(a.Cron)
	a.Users, a.Groups, a.Configuration, a.Mounts = list(a.Users), list(a.Groups), list(a.Configuration), list(a.Mounts)
	a.Folders, a.Disabled = list(a.Folders), list(a.Disabled)
	a.Networks, a.Sysctl, a.SSH, a.Firewalls = list(a.Networks), list(a.Sysctl), list(a.SSH), list(a.Firewalls)
	a.Certificates, a.Runtimes, a.Software, a.Containers, a.Facts = list(a.Certificates), list(a.Runtimes), list(a.Software), list(a.Containers), list(a.Facts)
	a.Programs = list(a.Programs)
	a.Databases, a.WebServers, a.Findings, a.Sources = list(a.Databases), list(a.WebServers), list(a.Findings), list(a.Sources)
}

// tidy sorts the sources. What can stand in several places is absent only where
// it is in none of them.
func tidy(sources []Source) (tidied []Source) {
	there, absent := map[string]bool{}, map[string]bool{}
	for _, s := range sources {
		there[s.What] = there[s.What] || s.State != SourceAbsent
	}
	for _, s := range sources {
		if s.State == SourceAbsent && (there[s.What] || absent[s.What]) {
			continue
		}
		absent[s.What] = s.State == SourceAbsent
		tidied = append(tidied, s)
	}
	slices.SortFunc(tidied, func(x, y Source) int { return cmp.Or(cmp.Compare(x.What, y.What), cmp.Compare(x.Detail, y.Detail)) })
	return slices.Compact(tidied)
}

// list is s, but never nil.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// rank orders the severities, worst first.
func (s FindingSeverity) rank() int {
	return slices.Index([]FindingSeverity{High, Medium, Low, Info}, s)
}
