package migration

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/judge"
	"svc/backend/api"
	"svc/backend/sliced"
	"svc/backend/visible"
	"svc/tools/convert"
	db "svc/tools/database"
)

// tooManyUnknown is the share of chosen packages without an answer from which
// on a plan is no plan.
const tooManyUnknown = 0.1

// findings judges the pair of releases, and tells of the known troubles on the way.
func findings(in Input, p *Plan, known []assess.Finding) []assess.Finding {
	all := []assess.Finding{}
	for _, find := range []func(Input, *Plan) []assess.Finding{judgedTarget, unknown, removed, uncertain, unlisted, additional, older, caveats, databases, secrets, byHand, withoutInit, takeOver, enforced, clashes, mergeable, waitingUnits, mentions, languages, libraries, passedOver} {
		all = append(all, find(in, p)...)
	}
	all = append(all, told(p, known)...)
	return complete(append(all, orphaned(in, p, all)...))
}

func judgedTarget(in Input, _ *Plan) []assess.Finding {
	return judge.JudgeTarget(in.Assessment.Release, in.Target, in.Day)
}

// chosen are the rows of packages that a person chose, and that match.
func chosen(p *Plan, match func(Package) bool) (names []string) {
	some := sliced.Filter(p.Packages, func(r Package) bool { return r.Chosen() && match(r) })
	return sliced.Map(some, func(r Package) string { return r.Name })
}

func unknown(_ Input, p *Plan) []assess.Finding {
	names := chosen(p, func(r Package) bool { return r.Relation == api.RelationUnknown })
	all := chosen(p, func(Package) bool { return true })
	return aboutPackages(names, assess.Finding{
		Key: "packages.unknown", Severity: assess.Medium, Inhibitor: float64(len(names)) > tooManyUnknown*float64(len(all)),
		Title: "Packages whose counterpart is not known", Summary: fmt.Sprintf("%d of %d chosen packages have no answer: %s.", len(names), len(all), visible.Names(names)),
		Remediations: assess.Hints("Decide for each what takes its place, and install that."),
	})
}

func removed(in Input, p *Plan) []assess.Finding {
	names := chosen(p, func(r Package) bool { return r.Relation == api.RelationRemoved && r.Role != string(api.RoleLib) })
	return aboutPackages(names, found("packages.removed", fmt.Sprintf("%s has nothing in the place of %s.", in.Target.Slug, visible.Names(names)), nil))
}

// orphaned are the services that run here by packages in whose place the target surely has
// nothing, but for what stops the move already, and for the scripts that start a machine.
// They stop no move: many are the distribution's own, such as its updates.
func orphaned(in Input, p *Plan, told []assess.Finding) []assess.Finding {
	var units, names []string
	for _, u := range in.Assessment.Services {
		stopped := slices.ContainsFunc(told, func(f assess.Finding) bool {
			return f.Inhibitor && slices.Contains(f.Related, assess.Resource{Scheme: "package", Name: u.Package})
		})
		if u.State == "enabled" && !u.Local && !stopped && u.Package != "initscripts" && slices.ContainsFunc(p.Packages, func(r Package) bool {
			return r.Name == u.Package && r.Chosen() && r.Relation == api.RelationRemoved && r.Confidence >= Sure
		}) {
			units, names = append(units, u.Name), append(names, u.Package)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return aboutPackages(names, found("services.nothing-runs-them", fmt.Sprintf("%s run here; %s has nothing in the place of %s.", visible.Names(units), in.Target.Slug, visible.Names(names)), nil))
}

func uncertain(_ Input, p *Plan) []assess.Finding {
	names := chosen(p, func(r Package) bool { return len(r.Targets) > 0 && r.Confidence < Sure })
	return aboutPackages(names, found("packages.uncertain", "The plan names candidates for these, and installs none: "+visible.Names(names)+".", nil))
}

// older says which programs are older on the target than on the source.
func older(in Input, p *Plan) []assess.Finding {
	g := gather("target.older-programs")
	for _, o := range convert.OlderPrograms(conversion(in, p)) {
		newer := p.Archives != nil && slices.ContainsFunc(p.Archives.Streams, func(s string) bool { return strings.HasPrefix(s, o.Program+":") })
		if !newer {
			g.Call(fmt.Sprintf("%s %s (the source has %s)", visible.Name(o.Program), visible.Name(o.Is), visible.Name(o.Was)))
		}
	}
	return g.Tell(fmt.Sprintf("%s has by default %s. Settings that came later are not known there, and data seldom go back.", in.Target.Slug, strings.Join(g.Said, ", ")))
}

// caveatTitles say in short what the index has to say of a package, by the code of its
// caveat.
var caveatTitles = map[string]string{
	"DATA_MIGRATION": "its data have to be migrated", "NO_COUNTERPART": "no counterpart on the target", "MAJOR_VERSION": "a new major version", "MODULE_STREAM": "comes from a module stream",
	"ARCHIVE_COMPONENT": "needs another archive component", "CANDIDATES": "several packages may replace it", "THIRD_PARTY": "comes from another vendor", "OTHER_SYSTEM": "part of the old distribution",
	"CONDITION": "needs a further package", "WEAK_KEYS": "old keys are refused", "CONFIG_FORMAT": "configuration in a new format", "CONFIG_OPTIONS": "options were dropped", "CONFIG_PATH": "configuration in another place",
	"CODE_CHECK": "check the programs that use it", "MODULES": "modules have to be installed again", "EXTERNALLY_MANAGED": "pip needs virtual environments", "LOG_FORMAT": "log lines in a new format", "TMPFS": "/tmp is kept in memory", "COMMANDS": "commands moved to other packages",
}

// caveatTitle is that of a code; of one that has none, its own words.
func caveatTitle(code string) string {
	return cmp.Or(caveatTitles[code], strings.ToLower(strings.ReplaceAll(code, "_", " ")))
}

// caveats makes findings of the index's caveats that stop or warn: one of those
// of a package that have a code in common.
func caveats(_ Input, p *Plan) (all []assess.Finding) {
	for _, r := range p.Packages {
		for _, c := range r.Caveats {
			if c.Severity == api.SeverityInfo || c.Severity == api.SeverityWarning && !r.Chosen() {
				continue
			}
			f := assess.Finding{
				Key: "package." + strings.ToLower(strings.ReplaceAll(c.Code, "_", "-")), Severity: assess.Medium, Inhibitor: c.Severity == api.SeverityInhibitor,
				Title: visible.Name(r.Name) + ": " + caveatTitle(c.Code), Summary: c.Text, Related: assess.Resources("package", []string{r.Name}),
			}
			if f.Inhibitor {
				f.Severity = assess.High
			}
			if n := len(all) - 1; n >= 0 && all[n].Key == f.Key && all[n].Title == f.Title && all[n].Inhibitor == f.Inhibitor {
				all[n].Summary += " " + f.Summary
				continue
			}
			all = append(all, f)
		}
	}
	return all
}

// databases says what becomes of each cluster's engine.
func databases(in Input, p *Plan) (all []assess.Finding) {
	for _, d := range in.Assessment.Databases {
		i := slices.IndexFunc(p.Packages, func(r Package) bool { return r.Name == d.Package })
		if i < 0 || d.Directory == "" {
			continue
		}
		all = append(all, database(in, d, p.Packages[i]))
	}
	return all
}

func database(in Input, d assess.Database, row Package) assess.Finding {
	f := assess.Finding{
		Key: "target.database." + d.Engine, Severity: assess.High, Title: fmt.Sprintf("The data of %s %s do not move by themselves", d.Engine, d.Version),
		Related: []assess.Resource{{Scheme: "database", Name: d.Engine + ":" + d.Directory}}, Evidence: []assess.Evidence{d.Evidence},
	}
	if len(row.Targets) == 0 {
		f.Inhibitor, f.Title = true, fmt.Sprintf("%s has no %s", in.Target.Slug, d.Engine)
		f.Summary = fmt.Sprintf("The data in %s would have no server to serve them.", d.Directory)
		f.Remediations = assess.Hints("Choose another engine, or an archive of the vendor.")
		return f
	}
	f.Summary = fmt.Sprintf("The role installs %s with an empty cluster; the data in %s stay on the source.", strings.TrimSpace(row.Targets[0].Name+" "+row.Targets[0].Version), d.Directory)
	if d.Engine == "postgresql" && in.Target.Family.Conventions().SELinux {
		f.Summary += " The target's package makes no cluster by itself: postgresql-setup --initdb."
	}
	f.Remediations = assess.Hints(byWay[db.Recommended(d.Engine)] + " Compare, and keep the source until then. svc db plan ranks all ways; svc data plan writes the scripts.")
	return f
}

// byWay says how a database's data reach a fresh host.
var byWay = map[db.Way]string{
	db.Dump: "Dump on the source with the newer version's tools, and load on the target.",
	db.Copy: "Stop the server cleanly, and copy its files to the target while no server runs there.",
	"":      "By the engine's own export and import: its files fit the same version alone.",
}

func byHand(_ Input, p *Plan) []assess.Finding {
	return files(p, func(c Config) bool { return c.Action == Manual }, found("configuration.by-hand", "%d files have no sure place on the target: %s.", nil))
}

// takeOver says how what waits on the target is put in place.
func takeOver(in Input, p *Plan) []assess.Finding {
	put := "cp -a " + convert.Waiting + "/. /"
	if in.Target.Family.Conventions().SELinux {
		put += " && restorecon -R /etc"
	}
	return files(p, func(c Config) bool { return c.Action == Convert && c.Waits() }, assess.Finding{
		Key: "network.take-over", Severity: assess.Medium, Title: "The network waits until the machine takes over",
		Summary:      "The role lays %d files of the network ready below " + convert.Waiting + ", and puts none in place, so that it can't cut the connection that applies it and no address is there twice: %s.",
		Remediations: assess.Hints("Compare the names and hardware addresses with those of the target (ip -br link). When the source is off, at the target's console: " + put + " and reboot."),
	})
}

func clashes(_ Input, p *Plan) []assess.Finding {
	return files(p, func(c Config) bool { return c.Merge != nil && len(c.Merge.Clashes) > 0 }, found("configuration.merge-clash", "In %d files a person and the target's package changed the same places, each in its own way. They are carried over whole, as the person had them: %s.", nil))
}

// mergeable says how what people changed of packages' own files could be merged
// into the target's, where no packages were named.
func mergeable(in Input, p *Plan) []assess.Finding {
	if in.Read == nil || in.TargetFile != nil {
		return nil
	}
	edited := sliced.Index(in.Assessment.Configuration, func(f assess.ConfigFile) (string, bool) {
		return f.Path, f.State == assess.ConfigChanged && f.Package != ""
	})
	return files(p, func(c Config) bool {
		return edited[c.From] && c.Link == "" && (c.Action == Copy || c.Action == Convert) && !c.Waits()
	}, found("configuration.mergeable", "%d files that people edited take the place of the target's own, with all that the source's version had in them: %s.", nil))
}

// refused says what was left out because no system takes it.
func refused(values []string) []assess.Finding {
	if len(values) == 0 {
		return nil
	}
	return []assess.Finding{found("source.invalid-values", fmt.Sprintf("%d values can't be what they are said to be, and are left out: %s.", len(values), strings.Join(values[:min(5, len(values))], ", ")), nil)}
}
