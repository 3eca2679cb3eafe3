// Package inits knows what becomes of services and their files where the target starts
// services by another init than the source; pure.
package inits

import (
	_ "embed" // the rows
	"fmt"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/release"
	"svc/backend/tsv"
	"svc/tools/migration/naming"
)

//go:embed inits.tsv
var rows string

// row is what one init reads, or comes with it.
type row struct {
	path string // a folder where it ends in a slash
	init release.Init
	do   string
}

var all = tsv.List(rows, 3, func(c []string) row { return row{c[0], release.Init(c[1]), c[2]} })

// Move is from one release to another.
type Move struct {
	Source, Target release.Release
	Ships          map[string][]string               // units of the target's packages, by canonical; nil where they are not known
	Read           func(file string) ([]byte, error) // a file of the source; nil where there is none to read
}

// Same reports whether both start services by one init; so it is taken to be of a source
// that is not known.
func (m Move) Same() bool {
	return m.Source.Slug == "" || m.Source.Family.Conventions().Init == m.Target.Family.Conventions().Init
}

// ByHand says what a person does with a file that the source's init alone reads, or that
// starts a unit in its way; empty where the target's is the same, or the file is nobody's of them.
func (m Move) ByHand(file string, where naming.Places) string {
	if m.Same() {
		return m.startsOtherwise(file, where)
	}
	for _, r := range all() {
		if r.init == m.Source.Family.Conventions().Init && (file == r.path || strings.HasSuffix(r.path, "/") && strings.HasPrefix(file, r.path)) {
			return r.do
		}
	}
	return ""
}

// Service is what the target calls a service of the source, if the role sets it there,
// and why. to is where a row leads; known reports whether there is a row, and gone
// whether the service's package has nothing on the target.
func (m Move) Service(u assess.Unit, to string, known, gone bool) (name string, apply bool, why string) {
	switch openrc := m.Target.Family.Conventions().Init == release.OpenRC; {
	case m.Same() && u.Local && u.Manager != assess.ManagerOpenRC:
		return "", false, "It is no service of OpenRC: " + u.Path + " goes along as a file, where it has a place."
	case m.Same() && u.Local:
		return u.Name, true, "It was written on the source."
	case u.Local:
		return "", false, fmt.Sprintf("It was written on the source for %s: write a service of %s for it.", m.Source.Family.Conventions().Init, m.Target.Name)
	case known && to != "":
		if openrc {
			to = strings.TrimSuffix(to, ".service")
		}
		if u.State == "static" {
			return to, false, "Its package sets this state by itself."
		}
		return to, true, fmt.Sprintf("%s calls it so.", m.Target.Slug)
	case known:
		return "", false, fmt.Sprintf("%s does not have this service.", m.Target.Slug)
	case openrc && path.Ext(u.Name) == ".timer":
		return "", false, "OpenRC has no timers: a line in /etc/crontabs/root, or a script in /etc/periodic, does its work."
	case gone:
		return "", false, fmt.Sprintf("Its package %s has no sure counterpart in %s.", u.Package, m.Target.Slug)
	case m.Same():
		return u.Name, true, "It was set so on the source."
	}
	return "", false, fmt.Sprintf("Which service of %s does its work is not known.", m.Target.Slug)
}

// Packages are those that a machine needs where the system begins with Busybox alone: the
// shells of its people, and the zones of the clock.
func (m Move) Packages(a *assess.Assessment) (names []string) {
	if m.Target.Family.Conventions().Userland != release.Busybox {
		return nil
	}
	for _, u := range a.Users {
		if shell := path.Base(u.Shell); slices.Contains([]string{"bash", "zsh", "fish"}, shell) && u.Name != "root" {
			names = append(names, shell)
		}
	}
	if a.System.TimeZone != "" {
		names = append(names, "tzdata")
	}
	return names
}

// Shell is a user's shell as the target has it.
func (m Move) Shell(shell string) string {
	was, is := m.Source.Family.Conventions().Userland, m.Target.Family.Conventions().Userland
	switch {
	case is == release.Busybox && shell == "/usr/sbin/nologin":
		return "/sbin/nologin"
	case is == release.Busybox && slices.Contains([]string{"/usr/bin/bash", "/usr/bin/zsh", "/usr/bin/sh"}, shell):
		return strings.TrimPrefix(shell, "/usr")
	case was == release.Busybox && is != release.Busybox && shell == "/bin/ash":
		return "/bin/sh"
	}
	return shell
}

// Finding tells of the services that the role does not set, as the target starts services
// otherwise: those that a person wrote or enabled, and all timers. taken are those that it
// sets.
func (m Move) Finding(units []assess.Unit, taken func(unit string) bool) []assess.Finding {
	var names []string
	for _, u := range units {
		if u.State == "enabled" && !taken(u.Name) && (u.Local || !u.Preset || path.Ext(u.Name) == ".timer") {
			names = append(names, u.Name)
		}
	}
	if m.Same() || len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return []assess.Finding{{
		Key: "services.no-counterpart", Severity: assess.Medium, Title: "Services that the target has to be given by a person",
		Summary: fmt.Sprintf("%s starts services by %s, the source by %s. For %d that run on the source no service of the target is known: %s. The role sets none of them.",
			m.Target.Slug, m.Target.Family.Conventions().Init, m.Source.Family.Conventions().Init, len(names), strings.Join(names[:min(20, len(names))], ", ")),
		Remediations: assess.Hints("Look in plan.json, services, why each is left, and write or enable what is still wanted."), Related: assess.Resources("service", names),
	}}
}
