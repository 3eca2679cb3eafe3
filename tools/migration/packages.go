package migration

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/lazyregexp"
	"svc/backend/release"
	"svc/backend/sliced"
)

// bootPackages belong to a machine's hardware and boot, not to what it does.
var bootPackages = lazyregexp.New(`^(linux-(image|headers|modules|kbuild|base)|linux-(lts|virt|edge|stable|rpi|firmware)$|kernel(-(core|modules|default|firmware|uek|lt|ml|rt)(-.*)?)?$|syslinux$|mkinitfs$|grub|shim-|firmware-|efibootmgr|os-prober|initramfs-tools|dracut|.*-microcode$|.*-dkms$)`)

// packages gives each installed package its row, in the assessment's order.
func packages(in Input) []Package {
	rows := make([]Package, len(in.Assessment.Packages))
	for i, p := range in.Assessment.Packages {
		rows[i] = row(in, p, in.Resolutions[i])
	}
	return rows
}

func row(in Input, p assess.Package, r api.Resolution) Package {
	out := Package{
		Name: p.Name, Version: p.Version, Arch: p.Arch, Manual: p.Manual, Base: p.Base, Relation: api.RelationUnknown,
		Targets: []Target{}, Caveats: []api.Caveat{}, Why: "The index does not know this name.",
	}
	if r.Canonical == nil {
		return out
	}
	out.Canonical = *r.Canonical
	if r.Role != nil {
		out.Role = string(*r.Role)
	}
	t, known := in.Translations[out.Canonical]
	if !known || !slices.Contains(api.Relations, t.Relation) {
		out.Why = "The index has no answer for this software."
		return out
	}
	out.Relation, out.Confidence = t.Relation, min(t.Confidence, r.Confidence)
	out.Caveats = append(out.Caveats, t.Caveats...)
	out.Targets = append(out.Targets, sliced.Map(t.Packages, func(target api.TargetPackage) Target { return Target{target.Name, target.Version} })...)
	out.Caveats = append(out.Caveats, conditional(in, out)...)
	out.Why = why(in, out, r)
	if reason := notInstalled(in, p, out); reason != "" {
		out.Why += " " + reason
		return out
	}
	out.Install = true
	return out
}

// because says what a relation means for the targets named.
var because = map[api.Relation]string{
	api.RelationSame:     "%s has %s under the same name.",
	api.RelationRenamed:  "%s has it under the name %s.",
	api.RelationSplit:    "%s has it split into %s.",
	api.RelationMerged:   "%s has it merged into %s.",
	api.RelationReplaced: "%s has %s in its place.",
	api.RelationIncluded: "%s brings it along by itself, in %s.",
	api.RelationRemoved:  "%s has no counterpart.%s",
	api.RelationUnknown:  "The index can't say what it becomes in %s.%s",
}

func why(in Input, p Package, r api.Resolution) string {
	targets := strings.Join(p.TargetNames(), ", ")
	switch {
	case p.Relation == api.RelationIncluded && targets == "":
		targets = "its base system"
	case p.Relation == api.RelationRemoved:
		targets = ""
	case p.Relation == api.RelationUnknown && targets != "":
		targets = " Candidates: " + targets + "."
	}
	text := fmt.Sprintf(because[p.Relation], in.Target.Slug, targets)
	if r.Match != api.MatchExact {
		text += fmt.Sprintf(" The name was resolved by %s.", r.Match)
	}
	return text
}

// isLibrary reports whether a package is there for others: its index or its
// archive says so.
func isLibrary(p assess.Package, row Package) bool {
	return row.Role == string(api.RoleLib) || p.Section == "libs" || p.Section == "oldlibs"
}

// starts reports whether a package has a service that starts with the machine: what
// needs it there may bring another one in the target's release.
func starts(in Input, p assess.Package) bool {
	return slices.ContainsFunc(in.Assessment.Services, func(u assess.Unit) bool {
		return u.Package == p.Name && u.State == "enabled" && (u.Manager != "systemd" || path.Ext(u.Name) == ".service")
	})
}

// notInstalled is the reason why the role does not install a package, or "".
func notInstalled(in Input, p assess.Package, row Package) string {
	switch {
	case !slices.Contains(installable, row.Relation) || len(row.Targets) == 0:
		return "So there is nothing to install by name."
	case !p.Manual && (p.Base || !starts(in, p)) && !linkedHere(in, row):
		return "It was installed as a dependency, so what needs it brings it."
	case row.Confidence < Sure:
		return fmt.Sprintf("At a confidence of %.2f this is a question, not an install.", row.Confidence)
	case p.Essential && in.Target.Family.Conventions().Userland == release.Busybox:
		return "It is part of every system of the source; Alpine begins with Busybox in its place: install it where its own options are needed."
	case p.Essential:
		return "It is part of every system."
	case bootPackages.MatchString(p.Name):
		return "It belongs to the machine's hardware and boot, which the target has its own of."
	case isLibrary(p, row) && (p.Needed || !in.saysNeeded()) && !linkedHere(in, row):
		return "It is a library, so what needs it brings it."
	}
	return ""
}
