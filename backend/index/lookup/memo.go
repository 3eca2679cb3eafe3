package lookup

import (
	"cmp"
	"strings"

	"svc/backend/index/record"
)

// Memo is what one call has looked up of rpms: a name is asked for more than once on its
// way, of both releases. It is nobody else's meanwhile.
type Memo struct {
	rpms            []RPM
	debian, reverse string // the package of Debian whose rpms were asked for last, and these
}

// kept is how many rpms most names ask for, and more.
const kept = 16

// Forget makes room for the next name: what was found for the one before is overwritten.
func (m *Memo) Forget() { m.rpms = m.rpms[:0] }

// Find finds an rpm of a release by its name or its key.
func (m *Memo) Find(t *Release, name string) (*RPM, bool) {
	r, ok := m.of(t, name)
	if r.isOther(t.RPM) {
		return m.of(t, record.SuseKey+name)
	}
	if key := r.keyAt(t.RPM); key != r.Key {
		return m.of(t, key)
	}
	return r, ok
}

// of is the rpm of a key, which all releases of rpms share.
func (m *Memo) of(t *Release, key string) (*RPM, bool) {
	for i := range m.rpms {
		if r := &m.rpms[i]; r.Key == key {
			return r, r.there
		}
	}
	value, there := t.Names.Get(key)
	if len(m.rpms) == cap(m.rpms) {
		m.rpms = make([]RPM, 0, kept) // others may still look at those before
	}
	m.rpms = m.rpms[:len(m.rpms)+1]
	r := &m.rpms[len(m.rpms)-1]
	r.decode(key, value)
	r.there = there
	return r, there
}

// Reverse are the rpms that are a package of Debian, behind a tab those that have a part of it.
func (m *Memo) Reverse(ix *Tables, deb string) string {
	if deb != m.debian {
		m.debian, m.reverse = deb, ix.rpmReverse.Value(deb)
	}
	return m.reverse
}

// By finds the rpm that a canonical of a release names; of several the nearest,
// nil where there is none.
func (m *Memo) By(t *Release, canonical string) (nearest *RPM, found bool) {
	for name, rest := "", cmp.Or(t.canonicals.Value(canonical), canonical); rest != ""; {
		name, rest = record.Cut(rest, ' ')
		r, ok := m.Find(t, name)
		if ok && r.Canonical == canonical && r.Of(t.RPM) && (!found || r.nearness(t.RPM) > nearest.nearness(t.RPM)) {
			nearest, found = r, true
		}
	}
	return nearest, found
}

// Presence says how the index knows that a release has an rpm.
type Presence string

const (
	InList  Presence = "in its list"     // that of the release, or of its level, or EPEL's
	InNear  Presence = "in a list near"  // of another release of its line
	InLater Presence = "in a later list" // of EL two levels after its own or more, and of none before
	Nowhere Presence = "in no list near" // of none
)

// Presence is how the index knows that a release has an rpm of a name.
func (m *Memo) Presence(t *Release, name string) Presence {
	r, _ := m.Find(t, name)
	if r.presentIn != t {
		r.presentIn, r.presence = t, r.known(t.RPM)
	}
	return r.presence
}

// known is how the index knows that a release has the rpm.
func (r *RPM) known(l *Line) Presence {
	switch {
	case l.Lists():
		if l.rpms.Has(r.Name) {
			return InList
		}
		return Nowhere
	case r.Has(l), l.FromEPEL(r):
		return InList
	case l.Line == "suse" && (r.Suse != "" || strings.Contains(r.inLists(l), "suse-")):
		return InNear
	case l.Line == "el" && r.Levels != "":
		return InNear
	}
	if lists := r.inLists(l); l.Line == "el" && (strings.Contains(lists, "fedora") || strings.Contains(lists, "amzn-")) {
		return InNear
	}
	return Nowhere
}
