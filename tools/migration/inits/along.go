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
	return !m.ships(u.Name)
}

// ships reports whether a package of the target has a unit, or the template of an instance.
func (m Move) ships(unit string) bool {
	if stem, instance, ok := strings.Cut(unit, "@"); ok {
		unit = stem + "@" + path.Ext(instance)
	}
	for _, ships := range m.Ships {
		if slices.Contains(ships, unit) {
			return true
		}
	}
	return false
}

var (
	dropin = lazyregexp.New(`^/etc/systemd/system/([^/]+\.service)\.d/[^/]+\.conf$`)
	// replaces is the command of a unit that a drop-in has in the place of the package's:
	// systemd.service(5).
	replaces = lazyregexp.New(`(?m)^\s*ExecStart\s*=\s*[^\s]`)
)

// startsOtherwise says of a drop-in that it starts a package's unit by a command of its own. It
// is written for the source's unit: another family's has other variables, another type, or
// another unit starts it. What a vendor has for both families is one unit.
func (m Move) startsOtherwise(file string, where naming.Places) string {
	of := dropin.FindStringSubmatch(file)
	if of == nil || m.Read == nil || m.Source.Family.Conventions().Line == m.Target.Family.Conventions().Line {
		return ""
	}
	unit := assess.Unit{Name: of[1]}
	if r, moved := where.Unit(unit); moved && r.To != nil {
		unit.Name = *r.To
	} else if !m.ships(unit.Name) {
		return ""
	}
	if text, err := m.Read(file); err != nil || !replaces.Match(text[:min(len(text), maxUnit)]) {
		return ""
	}
	return fmt.Sprintf("It starts %s by a command that is written for the unit of %s; that of %s is %s, and starts in its own way. Carry its options and its other settings over by hand: systemctl edit %s.", of[1], m.Source.Slug, m.Target.Slug, unit.Name, unit.Name)
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
