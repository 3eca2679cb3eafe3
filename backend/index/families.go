package index

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"svc/backend/api"
	"svc/backend/api/release"
)

// families are the rows of families.tsv: where what stands in one place with
// the rpm families stands on Debian and Ubuntu. They are part of the program,
// not of an index file: no archive says them.
var families = sync.OnceValues(readFamilies)

// familyRows are relocations by software, and the names that software has
// besides.
type familyRows struct {
	relocations map[string][]api.Relocation
	names       map[string]string
}

func readFamilies() (familyRows, error) {
	all := familyRows{map[string][]api.Relocation{}, map[string]string{}}
	dir, err := curatedLayers("")
	if err != nil {
		return all, err
	}
	relocations, err := rows(dir, "families.tsv", 8)
	if err != nil {
		return all, err
	}
	for _, c := range relocations {
		r := api.Relocation{From: c[2], Kind: api.RelocationKind(c[4]), Action: api.RelocationAction(c[5]), Note: c[6]}
		if c[1] != "rpm" || !slices.Contains(relocationKinds, r.Kind) || !slices.Contains(relocationActions, r.Action) {
			return all, fmt.Errorf("families.tsv: the row of %q has families %q, kind %q and action %q", c[2], c[1], c[4], c[5])
		}
		if c[3] != "" {
			r.To = &c[3]
		}
		all.relocations[c[0]] = append(all.relocations[c[0]], r)
	}
	names, err := rows(dir, "family_names.tsv", 2)
	for _, c := range names {
		all.names[c[0]] = c[1]
	}
	return all, err
}

var (
	relocationKinds   = []api.RelocationKind{api.RelocateFile, api.RelocateDir, api.RelocateService, api.RelocateUser}
	relocationActions = []api.RelocationAction{api.ActionCopy, api.ActionConvert, api.ActionManual, api.ActionDrop}
)

// familySuffix is what the index adds to the name of software to tell packages
// of it apart.
var familySuffix = regexp.MustCompile(`--.*$|-(rpm|defaults|dfsg|server)$`)

// software is the name under which rows of a canonical stand.
func (f familyRows) software(canonical string) string {
	for name := canonical; ; {
		if known, ok := f.names[name]; ok {
			return known
		}
		if len(f.relocations[name]) > 0 {
			return name
		}
		shorter := familySuffix.ReplaceAllString(name, "")
		if shorter == name {
			return ""
		}
		name = shorter
	}
}

// acrossFamilies are the rows of a canonical between the rpm families and
// Debian's, with the versions of both sides filled in. A row whose version is
// not known is left out.
func (h *hops) acrossFamilies(canonical string, m *move) ([]api.Relocation, error) {
	source, _ := release.Lookup(h.source.slug)
	target, _ := release.Lookup(h.target.slug)
	if h.source.rpm == nil || target.Family != release.Debian && target.Family != release.Ubuntu || source.Family == release.SUSE {
		return nil, nil
	}
	all, err := families()
	if err != nil {
		return nil, err
	}
	software := all.software(canonical)
	next, err := h.versionOf(software, m.nextVersion)
	if err != nil {
		return nil, err
	}
	versions := strings.NewReplacer("{source}", m.version, "{target}", next)
	found := []api.Relocation{}
	for _, r := range all.relocations[software] {
		text := r.From + deref(r.To)
		if m.version == "" && strings.Contains(text, "{source}") || next == "" && strings.Contains(text, "{target}") {
			continue
		}
		r.From, r.Note = versions.Replace(r.From), versions.Replace(r.Note)
		if r.To != nil {
			to := versions.Replace(*r.To)
			r.To = &to
		}
		found = append(found, r)
	}
	return found, nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// majorMinor is a version as the paths of software have it: 8.4 of PHP, 17 of
// PostgreSQL.
var majorMinor = map[string]*regexp.Regexp{"php": regexp.MustCompile(`^(?:[0-9]+:)?([0-9]+\.[0-9]+)`), "postgresql": regexp.MustCompile(`^(?:[0-9]+:)?([0-9]+)`)}

// versionOf is the version of software in the target's paths: that which its
// general package has, where the canonical's own does not say.
func (h *hops) versionOf(software, own string) (string, error) {
	form := majorMinor[software]
	if form == nil {
		return own, nil
	}
	r, ok, err := h.target.find(software)
	if err != nil || !ok {
		return own, err
	}
	if m := form.FindStringSubmatch(r.Version); m != nil {
		return m[1], nil
	}
	return own, nil
}
