package assess

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"svc/assess/host"
	"svc/backend/lazyregexp"
	"svc/backend/release"
)

// manager is a package manager.
type manager struct {
	name     string   // its source is packages.NAME
	database []string // where its database is; a machine has one of these
	// read lists the packages and what belongs to whom. What stands before a
	// fault is kept.
	read func(*machine) error
	// origins lists the repositories.
	origins func(*machine)
}

// managers are those whose databases svc reads.
var managers = []manager{
	{"dpkg", []string{"var/lib/dpkg/status"}, (*machine).readDpkg, (*machine).aptOrigins},
	{"rpm", rpmDatabases, (*machine).readRPM, (*machine).rpmOrigins},
	{"apk", apkDatabases, (*machine).readAPK, (*machine).apkOrigins},
}

// family is the family of the machine's system, or "".
func (m *machine) family() release.Family {
	if m.known {
		return m.release.Family
	}
	for _, id := range m.ids {
		if f := release.FamilyOf(id); f != "" {
			return f
		}
	}
	return ""
}

// readPackages reads the database of the machine's own package manager.
func (m *machine) readPackages() {
	own := m.ownManager()
	m.dpkg = dpkg{source: "packages." + own.name, database: "/" + own.database[0], conffiles: map[string]conffile{}, owned: map[string]string{}, named: map[string]bool{}, needed: map[string]bool{}}
	err := own.read(m)
	m.outcome(m.dpkg.source, m.dpkg.database[1:], err)
	if m.dpkg.full() {
		m.source(m.dpkg.source, SourceCorrupt, fmt.Sprintf("%s has more than any real one: only %d packages were taken", m.dpkg.database, len(m.a.Packages)))
	}
	m.a.System.Architecture = m.architecture()
}

// readOrigins reads the repositories that the machine is set up to use.
func (m *machine) readOrigins() { m.ownManager().origins(m) }

// ownManager is the manager that the machine's system comes with; where nothing
// says which, one whose database is there.
func (m *machine) ownManager() manager {
	name := m.family().Conventions().Database
	i := slices.IndexFunc(managers, func(o manager) bool { return o.name == name || name == "" && m.databaseOf(o) != "" })
	return managers[max(i, 0)]
}

// databaseOf is where a manager's database is, or "".
func (m *machine) databaseOf(o manager) string {
	i := slices.IndexFunc(o.database, m.exists)
	if i < 0 {
		return ""
	}
	return o.database[i]
}

// findOtherManagers says that more than one manager keeps book here: what the
// others have is not among the packages.
func (m *machine) findOtherManagers() {
	own := m.ownManager()
	for _, o := range managers {
		file := m.databaseOf(o)
		if o.name == own.name || file == "" {
			continue
		}
		if info, err := m.fs.Stat(file); err == nil && info.Size() > 0 {
			m.finding(Finding{
				Key: "packages.other-manager", Severity: Low, Title: "Another package manager has a database here",
				Summary:      fmt.Sprintf("/%s is a database of %s on a machine of %s: what it lists is not among the packages.", file, o.name, own.name),
				Remediations: hints("See whether somebody installed software that way."), Related: []Resource{{"file", "/" + file}}, Evidence: []Evidence{{"/" + file, 0}},
			})
		}
	}
}

// architecture is that of most packages, where dpkg's own note is missing.
func (m *machine) architecture() string {
	if m.dpkg.arch != "" {
		return m.dpkg.arch
	}
	count, best := map[string]int{}, ""
	for _, p := range m.a.Packages {
		if !anyArch(p.Arch) {
			count[p.Arch]++
		}
	}
	for arch, n := range count {
		if n > count[best] || n == count[best] && arch < best {
			best = arch
		}
	}
	return best
}

// anyArch reports whether packages of the architecture run on all.
func anyArch(arch string) bool { return arch == "all" || arch == "noarch" || arch == "" }

// ownVendor tells a distribution's packages by the vendor that rpm notes. EL's
// are each other's: machines are converted from one to another.
var ownVendor = map[release.Family]*lazyregexp.Regexp{
	release.EL:     lazyregexp.New(`^(CentOS|Red Hat, Inc|AlmaLinux|Rocky|Oracle America|CloudLinux|Scientific Linux)`),
	release.Fedora: lazyregexp.New(`^Fedora Project`),
	release.SUSE:   lazyregexp.New(`^(SUSE LLC|SUSE LINUX|openSUSE$|Novell)`),
	release.Amazon: lazyregexp.New(`^Amazon`),
}

// fromOutside reports whether a package says, or its silence lets expect, that
// it is not the distribution's.
func (m *machine) fromOutside(p Package) bool {
	if own := ownVendor[m.family()]; own != nil {
		return !own.MatchString(p.Origin)
	}
	return m.dpkg.source == "packages.dpkg" && m.debFromOutside(p)
}

// openLogged opens a file of SQLite and the write-ahead log beside it; the log
// is nil where there is none.
func (m *machine) openLogged(name string) (l logged, err error) {
	if l.file, l.size, l.closers[0], err = m.openAt(name); err != nil {
		return l, err
	}
	if l.log, l.logSize, l.closers[1], err = m.openAt(name + "-wal"); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if head, _ := m.head(name+"-journal", int64(len(hotJournal))); err == nil && string(head) == hotJournal {
		err = fmt.Errorf("/%s-journal: a change was cut short, and what undoes it was not applied", name)
	}
	if err != nil {
		l.Close()
	}
	return l, err
}

// hotJournal begins the journal of a change that was not finished.
const hotJournal = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"

// logged is an open file and its log.
type logged struct {
	file, log     io.ReaderAt
	size, logSize int64
	closers       [2]io.Closer
}

// Close closes both. They were only read: there is nothing to lose.
func (l logged) Close() {
	for _, c := range l.closers {
		if c != nil {
			c.Close()
		}
	}
}

// maxCopied bounds a file that is copied to memory, because it can't be read at
// a place.
const maxCopied = 256 << 20

// openAt opens a file to be read at places: through itself where it can do
// that, else from a copy in memory.
func (m *machine) openAt(name string) (at io.ReaderAt, size int64, closer io.Closer, err error) {
	f, err := m.fs.Open(name)
	if err != nil {
		return nil, 0, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, nil, errors.Join(err, f.Close())
	}
	if at, ok := f.(io.ReaderAt); ok {
		if _, err := at.ReadAt(make([]byte, 1), 0); !errors.Is(err, errors.ErrUnsupported) {
			return at, info.Size(), f, nil
		}
	}
	if info.Size() > maxCopied {
		return nil, 0, nil, errors.Join(&fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("%w: over %d bytes", host.ErrTooBig, maxCopied)}, f.Close())
	}
	b := make([]byte, info.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, 0, nil, errors.Join(err, f.Close())
	}
	return bytes.NewReader(b), info.Size(), f, nil
}
