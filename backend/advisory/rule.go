package advisory

import (
	"encoding/binary"
	"slices"

	"svc/backend/pkgversion"
	"svc/backend/wire"
)

// rule says which versions of a package an advisory is about, in one release.
type rule struct {
	id     string // of the advisory
	offset uint64 // of the advisory's record in the feed
	length uint64
	// update is true for a bug fix or an enhancement: no vulnerability.
	update bool
	// over is true where the distribution has given the package up.
	over    bool
	modular bool // the fix is a module's build
	// severity and cvss are those of this package; unknown and "" where they are
	// the advisory's.
	severity severity
	cvss     string
	line     string   // of updates, as in place
	streams  []string // name:stream of the modules; none where unknown
	spans    []span
	versions []string // affected ones by name, where there are no spans
}

// span is a range of affected versions: from introduced on ("" is the first),
// before fixed, up to and with last; "" where there is no such bound.
type span struct{ introduced, fixed, last string }

const (
	flagUpdate = 1 << iota
	flagOver
	flagModular
)

func (r *rule) append(b []byte) []byte {
	flags := uint64(0)
	for i, set := range []bool{r.update, r.over, r.modular} {
		if set {
			flags |= 1 << i
		}
	}
	b = wire.AppendText(b, r.id)
	for _, n := range []uint64{r.offset, r.length, flags, uint64(r.severity)} {
		b = binary.AppendUvarint(b, n)
	}
	b = wire.AppendTexts(wire.AppendText(wire.AppendText(b, r.cvss), r.line), r.streams)
	b = binary.AppendUvarint(b, uint64(len(r.spans)))
	for _, s := range r.spans {
		b = wire.AppendText(wire.AppendText(wire.AppendText(b, s.introduced), s.fixed), s.last)
	}
	return wire.AppendTexts(b, r.versions)
}

// read takes a rule off in, into r, whose lists it uses again.
func (r *rule) read(in *wire.Input) {
	r.id, r.offset, r.length = in.Text(), in.Number(), in.Number()
	flags := in.Number()
	r.update, r.over, r.modular = flags&flagUpdate != 0, flags&flagOver != 0, flags&flagModular != 0
	r.severity = min(severity(in.Number()), critical)
	r.cvss, r.line = in.Text(), in.Text()
	r.streams, r.spans = in.Texts(r.streams[:0]), r.spans[:0]
	for range in.Count() {
		r.spans = append(r.spans, span{in.Text(), in.Text(), in.Text()})
	}
	r.versions = in.Texts(r.versions[:0])
}

// affects finds the span that a version lies in.
func (r *rule) affects(kind pkgversion.Kind, version string) (span, bool) {
	for _, s := range r.spans {
		if s.holds(kind, version) {
			return s, true
		}
	}
	return span{}, slices.Contains(r.versions, version)
}

func (s span) holds(kind pkgversion.Kind, version string) bool {
	return (s.fixed == "" || pkgversion.Compare(kind, version, s.fixed) < 0) &&
		(s.last == "" || pkgversion.Compare(kind, version, s.last) <= 0) &&
		(s.introduced == "" || pkgversion.Compare(kind, version, s.introduced) >= 0)
}

// tags are the module builds of a rule's fixes.
func (r *rule) tags() (tags []string) {
	for _, s := range r.spans {
		if tag := tagOf(s.fixed); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

// record is what a feed keeps of an advisory.
type record struct {
	id       string
	severity severity
	cvss     string
	summary  string
	url      string
	aliases  []string // other names, CVEs first
}

func (r *record) append(b []byte) []byte {
	b = binary.AppendUvarint(wire.AppendText(b, r.id), uint64(r.severity))
	b = wire.AppendText(wire.AppendText(wire.AppendText(b, r.cvss), r.summary), r.url)
	return wire.AppendTexts(b, r.aliases)
}

func (r *record) read(in *wire.Input) {
	r.id, r.severity = in.Text(), min(severity(in.Number()), critical)
	r.cvss, r.summary, r.url = in.Text(), in.Text(), in.Text()
	r.aliases = in.Texts(nil)
}
