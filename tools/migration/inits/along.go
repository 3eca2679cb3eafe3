package inits

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/backend/release"
	"svc/backend/visible"
	"svc/tools/migration/naming"
)

// maxUnit bounds a unit of a package's, in bytes.
const maxUnit = 1 << 20

// starts are the settings by which a timer, a path or a socket says what it starts, and accepts
// that of a socket which starts one for each connection: systemd.timer(5), systemd.socket(5).
var (
	starts  = lazyregexp.New(`(?m)^\s*(?:Unit|Service)\s*=\s*([A-Za-z0-9_.@-]+\.service)\s*$`)
	accepts = lazyregexp.New(`(?mi)^\s*Accept\s*=\s*(?:yes|true|on|1)\s*$`)
)

// started is the unit that a text of another one starts; its own name where that is a service.
func started(unit, text string) string {
	stem := strings.TrimSuffix(unit, path.Ext(unit))
	switch m := starts.FindStringSubmatch(text); {
	case !slices.Contains([]string{".timer", ".path", ".socket"}, path.Ext(unit)):
		return unit
	case m != nil:
		return m[1]
	case accepts.MatchString(text):
		return stem + "@.service"
	}
	return stem + ".service"
}

// Along are the files of a unit that came with a package and which no package of the target
// has, where the target has all that it runs: its own, and that of what it starts.
func (m Move) Along(u assess.Unit, where naming.Places) []string {
	switch {
	case where.Gone(u.Package):
		return m.along(u, naming.IsOwn)
	case m.Unshipped(u, where):
		return m.along(u, where.Comes)
	}
	return nil
}

// along are these files, where every program that they run is one of some.
func (m Move) along(u assess.Unit, has func(program string) bool) []string {
	dir := path.Dir(u.Path)
	if u.Local || u.State != assess.StateEnabled || m.Read == nil || !m.Same() || m.Target.Family.Conventions().Init != release.Systemd || dir != "/usr/lib/systemd/system" && dir != "/lib/systemd/system" {
		return nil
	}
	files := []string{u.Path}
	text, err := m.Read(u.Path)
	if next := path.Join(dir, started(path.Base(u.Path), string(text[:min(len(text), maxUnit)]))); next != u.Path && err == nil {
		files = append(files, next)
		text, err = m.Read(next)
	}
	if err != nil || len(text) > maxUnit || !naming.RunsOnly(string(text), has) {
		return nil
	}
	return files
}

// Unshipped reports whether no package of the target has an enabled unit of a package that has
// its counterpart there. What the source's own installation enables is the system's.
func (m Move) Unshipped(u assess.Unit, where naming.Places) bool {
	row := where.Packages[u.Package]
	if u.Local || u.Manager != "systemd" || u.State != assess.StateEnabled || u.Preset && row.Base || !m.Same() || m.Ships[row.Canonical] == nil || where.Gone(u.Package) {
		return false
	}
	if r, moved := where.Unit(u); moved {
		return r.To == nil
	}
	name := u.Name
	if stem, instance, ok := strings.Cut(name, "@"); ok {
		name = stem + "@" + path.Ext(instance)
	}
	for _, ships := range m.Ships {
		if slices.Contains(ships, name) {
			return false
		}
	}
	return true
}

// Lost tells of such units that do not come along either.
func (m Move) Lost(a *assess.Assessment, where naming.Places) []assess.Finding {
	g := assess.Gathering{Finding: assess.Finding{
		Key: "services.not-shipped", Severity: assess.Medium, Title: "Units that are enabled here come with no package of the target",
		Remediations: assess.Hints("What is still wanted of them, write on the target: systemctl edit --full --force UNIT, by the text of the source's unit with the target's programs; or enable what does the same there."),
	}}
	for _, u := range slices.Concat(a.Services, a.Timers) {
		if m.Unshipped(u, where) && m.Along(u, where) == nil {
			g.Call(fmt.Sprintf("%s (of %s; %s)", visible.Name(u.Name), visible.Name(u.Package), visible.Name(u.Path)), assess.Resource{Scheme: "service", Name: u.Name})
		}
	}
	return g.Tell(fmt.Sprintf("%s has packages in the place of theirs, and none of these has them: %s.", m.Target.Slug, strings.Join(g.Said[:min(20, len(g.Said))], "; ")))
}

// Vendors reports whether a package that the target lacks has a unit that goes along: what a
// person changed of its settings then has what reads them.
func (m Move) Vendors(pkg string, a *assess.Assessment) bool {
	return pkg != "" && slices.ContainsFunc(slices.Concat(a.Services, a.Timers), func(u assess.Unit) bool { return u.Package == pkg && m.along(u, naming.IsOwn) != nil })
}

// Because is why a unit goes along.
func (m Move) Because(u assess.Unit, where naming.Places) string {
	if where.Gone(u.Package) {
		return fmt.Sprintf("It came with %s, which the target lacks; what it runs moves with the data.", u.Package)
	}
	return fmt.Sprintf("It came with %s. What the target has in its place brings no such unit, but what it runs.", u.Package)
}
