package index

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/api/release"
	"svc/backend/index/repomd"
	"svc/backend/index/table"
)

// The tables of a release whose rpm repositories were imported.
const (
	rpmsTable      = "/rpms"      // name → version, repository, source, streams, whether they must be enabled
	obsoletesTable = "/obsoletes" // obsoleted name → by whom, of which versions
)

// What leads from a package to its successor by the target's own metadata.
const (
	obsoletesConfidence = 0.95
	providerConfidence  = 0.85
	obsoleted           = "obsoletes" // the method
)

// rpmImport is the list of a release.
type rpmImport struct {
	slug     string
	packages repomd.Release
}

// importRPMs reads every repository of a folder, <release>/<name>/repodata.
func importRPMs(ctx context.Context, root fs.FS, log func(string)) ([]rpmImport, error) {
	dirs, err := repomd.Repositories(root)
	if err != nil {
		return nil, err
	}
	var all []rpmImport
	for _, dir := range dirs {
		slug, name, _ := strings.Cut(dir, "/")
		i := slices.IndexFunc(all, func(r rpmImport) bool { return r.slug == slug })
		if i < 0 {
			i, all = len(all), append(all, rpmImport{slug, repomd.Release{}})
		}
		if err := all[i].packages.Add(ctx, root, dir, name, log); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// repositoryName is the folder of a repository without what only says of which
// release and architecture it is.
func repositoryName(dir, above, slug string) string {
	parts := slices.DeleteFunc(strings.Split(dir, "/"), func(s string) bool {
		r, ok := release.Lookup(s)
		return ok && r.Slug == slug || slices.Contains([]string{".", "os", "x86_64", "aarch64", "noarch", "kickstart"}, s)
	})
	return cmp.Or(path.Join(parts...), above)
}

// put stores the tables of the release.
func (r rpmImport) put(w *table.Writer) error {
	if f, ok := release.Lookup(r.slug); !ok || !isRPM(f) {
		return fmt.Errorf("release %q has no rpms", r.slug)
	}
	if len(r.packages) == 0 {
		return fmt.Errorf("release %s has no packages", r.slug)
	}
	rpms, files, owners, obsoletes := map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}
	for _, name := range r.packages.Names() {
		p := r.packages[name]
		rpms[name] = listed{p.Version, p.Repository, p.Source, p.Streams, p.Hidden}.encode()
		if len(p.Shipped) > 0 {
			files[name] = strings.Join(p.Shipped, "\t")
		}
		for _, file := range p.Shipped {
			owners[file] = strings.TrimSpace(owners[file] + " " + name)
		}
		for _, o := range p.Obsoletes {
			if o.Name != name && !strings.ContainsAny(o.Name+o.Version, " \t\n|") {
				obsoletes[o.Name] = strings.TrimSpace(obsoletes[o.Name] + " " + strings.Join([]string{name, o.Flags, o.Version}, "|"))
			}
		}
	}
	return putAll(w, map[string]map[string]string{
		r.slug + rpmsTable: rpms, r.slug + filesTable: files, r.slug + ownersTable: owners,
		r.slug + obsoletesTable: obsoletes, r.slug + providesTable: r.providers(),
	})
}

// providers are the names that one package provides and none has.
func (r rpmImport) providers() map[string]string {
	found := map[string]string{}
	for _, name := range r.packages.Names() {
		for _, virtual := range r.packages[name].Provides {
			if r.packages[virtual] != nil || strings.ContainsAny(virtual, "() \t\n/") {
				continue
			}
			if old, ok := found[virtual]; ok && old != name {
				found[virtual] = "" // several do
				continue
			}
			found[virtual] = name
		}
	}
	for virtual, name := range found {
		if name == "" {
			delete(found, virtual)
		}
	}
	return found
}

func isRPM(r release.Release) bool {
	line, _, _ := level(r)
	return line != ""
}

// listed is what a release's own list says of a package.
type listed struct {
	version, repository, source string
	streams                     []string
	hidden                      bool // one of the streams must be enabled
}

func (l listed) encode() string {
	hidden := ""
	if l.hidden {
		hidden = "hidden"
	}
	return strings.Join([]string{l.version, l.repository, l.source, strings.Join(l.streams, " "), hidden}, "\t")
}

func decodeListed(value string) listed {
	c := append(strings.Split(value, "\t"), "", "", "", "", "")
	return listed{c[0], c[1], c[2], strings.Fields(c[3]), c[4] != ""}
}

// lists reports whether the release's own list is known.
func (l *rpmLine) lists() bool { return l.rpms.Len() > 0 }

// own is what the release's list says of a package.
func (l *rpmLine) own(name string) (listed, bool, error) {
	value, ok, err := l.rpms.Get(name)
	if !ok {
		return listed{}, false, err
	}
	return decodeListed(value), true, err
}

// arriveListed takes the names of a course to what the target's list has:
// themselves, what obsoletes them, or what alone provides them.
func (h *hops) arriveListed(p course) (course, error) {
	next := p
	next.names = nil
	for _, name := range p.names {
		_, there, err := h.target.rpm.own(name)
		if err != nil {
			return p, err
		}
		if there {
			next = next.with([]string{name})
			continue
		}
		if next, err = h.succeeded(next, name); err != nil {
			return p, err
		}
	}
	if len(next.names) > 0 {
		return next.settledAmong(p), nil
	}
	_, there, err := h.target.rpm.own(p.source.Name)
	if there {
		next.relation, next.confidence, next.names = api.RelationSame, returnedConfidence, []string{p.source.Name}
		return next, err
	}
	if next.relation != api.RelationRemoved {
		next.relation, next.confidence = api.RelationRemoved, goneConfidence
	}
	return next, err
}

// settledAmong gives the relation of a course that went on from another.
func (p course) settledAmong(before course) course {
	if slices.Equal(p.names, before.names) {
		return p
	}
	p.relation = compose(before.relation, p.relation, len(p.names), api.RelationRemoved)
	if len(p.names) == 1 && p.names[0] == p.source.Name {
		p.relation = api.RelationSame
	}
	return p
}

// succeeded adds the packages of the target that come in the place of one.
func (h *hops) succeeded(p course, name string) (course, error) {
	by, err := h.obsoleters(name)
	if err != nil {
		return p, err
	}
	provider, _, err := h.target.provides.Get(name)
	if err != nil {
		return p, err
	}
	switch {
	case len(by) > 0:
		relation, err := h.succession(name, by, provider)
		p.relation, p.confidence = stronger(p.relation, relation), p.confidence*obsoletesConfidence
		p.methods = append(slices.Clip(p.methods), obsoleted)
		return p.with(by), err
	case provider != "":
		p.relation, p.confidence = stronger(p.relation, api.RelationRenamed), p.confidence*providerConfidence
		return p.with([]string{provider}), nil
	}
	return p, nil
}

// obsoleters are the packages of the target that obsolete the source's version
// of a package.
func (h *hops) obsoleters(name string) ([]string, error) {
	value, _, err := h.target.rpm.obsoletes.Get(name)
	if err != nil {
		return nil, err
	}
	version := ""
	if h.source.rpm != nil {
		own, _, err := h.source.rpm.own(name)
		if err != nil {
			return nil, err
		}
		version = own.version
	}
	var names []string
	for text := range strings.FieldsSeq(value) {
		c := append(strings.Split(text, "|"), "", "")
		if o := (repomd.Obsolete{Name: name, Flags: c[1], Version: c[2]}); o.Covers(version) && !slices.Contains(names, c[0]) {
			names = append(names, c[0])
		}
	}
	return names, nil
}

// succession is the relation of a package to those that obsolete it: it was
// renamed where one provides its name or is of its source, else it went into
// one that was there before, or another took its place.
func (h *hops) succession(name string, by []string, provider string) (api.Relation, error) {
	if len(by) > 1 {
		return api.RelationSplit, nil
	}
	if by[0] == provider || h.source.rpm == nil {
		return api.RelationRenamed, nil
	}
	old, _, err := h.source.rpm.own(name)
	if err != nil {
		return "", err
	}
	successor, _, err := h.target.rpm.own(by[0])
	if err != nil || old.source != "" && old.source == successor.source {
		return api.RelationRenamed, err
	}
	if _, before, err := h.source.rpm.own(by[0]); before || err != nil {
		return api.RelationMerged, err
	}
	return api.RelationReplaced, nil
}

// streamCaveat tells which module streams have a package that none has by default.
func (h *hops) streamCaveat(name string, l listed) api.Caveat {
	return caveat(CaveatStream, api.SeverityWarning, "%s is in module streams of %s alone: enable one of %s before it is installed.",
		name, h.target.slug, strings.Join(l.streams, ", "))
}
