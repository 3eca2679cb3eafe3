package report

import (
	"embed"
	"strings"

	"svc/assess"
	"svc/assess/ledger"
	"svc/backend/api"
	"svc/tools/convert"
	"svc/tools/exposure"
	"svc/tools/migration"
	"svc/tools/migration/edits"
	"svc/tools/page"
	"svc/tools/rehearsal"
)

// static are the styles of the pages of a plan and of a comparison.
//
//go:embed look.css parity.css
var static embed.FS

// folded is what a reader opens.
func folded(summary page.Node, within ...page.Node) page.Node {
	return page.El("details", page.El("summary", summary), page.Group(within...))
}

// orElse are all that there are, or what is said where there are none.
func orElse[T any](all []T, of func(T) page.Node, none page.Node) page.Node {
	return page.Group(page.Each(all, of), page.If(len(all) == 0, none))
}

// named are names one after the other.
func named(names []string) page.Node {
	return page.Each(names, func(name string) page.Node { return page.Group(page.Code(name), page.Textf(" ")) })
}

// enough of a list shows what is meant.
func enough[T any](all []T) []T { return all[:min(len(all), 5)] }

// choice is one of two texts.
func choice(holds bool, yes, no string) string {
	if holds {
		return yes
	}
	return no
}

// whole is the page of a plan.
func (c *content) whole() []byte {
	title := c.System.Hostname + ": " + c.Plan.Source + " to " + c.Plan.Target
	return page.Whole(title, page.Group(page.Sealed(), page.Look(static, "look.css")),
		page.El("h1", page.Text(title)),
		page.P(page.Soft(), page.Textf("%s, %s · fingerprint ", c.System.Name, c.System.Architecture), page.Code(c.Plan.Fingerprint)),
		tried(c.Rehearsal),
		page.Div(page.Attr("class", "facts"), page.Each(c.Tiles, tile.node)),
		c.links(),
		steps(c.Steps),
		picture(c.Slices),
		page.Heading("stops", "What stops the move"), orElse(c.Plan.Inhibitors, finding, page.P(page.Textf("Nothing was found that stops it."))),
		page.Heading("findings", "What to know"), orElse(c.Findings, finding, page.P(page.Textf("Nothing else."))),
		questions(c.Questions),
		page.Heading("advisories", "What advisories say"), c.advisories(),
		page.Heading("configuration", "Configuration"), page.Each(c.Groups, group.node),
		c.disk(c.Plan.Files),
		services(c.Plan.Services),
		page.Heading("accounts", "Accounts"), accounts(c.Plan.Accounts.Users),
		page.Heading("every", "Every package"), packages(c.Plan),
		page.Heading("unread", "What was not looked at"), unread(c.Unread),
		page.P(page.Soft(), page.Textf("The data of databases, homes and web sites are not part of this plan: svc data plan has them. svc attest verify says who signed this folder. Made by %s with index %s.", c.Tool, c.Plan.IndexVersion)),
	)
}

// tried is what came of a rehearsal, where there was one.
func tried(d *rehearsal.Document) page.Node {
	if d == nil {
		return nil
	}
	return page.Group(
		page.El("h2", page.Textf("Tried on a throw-away target")),
		page.P(page.Textf("%d functions run, %d do not, %d could not be tried; %sthe target was compared with %s%s. Its root: %s. The role %s (%d tasks, %d changes).",
			d.Sum.Runs, d.Sum.Fails, d.Sum.Untried, choice(d.Level == rehearsal.Chroot, "programs of the target were called, but nothing was started (chroot); ", ""), d.Compared, choice(d.WithData, "", ", without its data"), d.Base, choice(d.Role.Applied, "came to its end", "failed"), d.Role.OK, d.Role.Changed)),
		page.Each(d.Role.Failures, func(line string) page.Node {
			return page.Div(page.Attr("class", "finding stop"), page.P(page.Text(line)))
		}),
		page.Each(d.Checks, failure),
		page.Each(d.Fixes, func(f rehearsal.Fix) page.Node {
			mended := page.Textf("nothing that an earlier rehearsal had fail")
			if len(f.Mended) > 0 {
				mended = page.Text(strings.Join(f.Mended, ", "))
			}
			return page.P(page.Textf("The fix %s mended: ", f.Name), mended, page.Textf("."))
		}),
		folded(page.Textf("All functions"), page.Table(page.Heads("verdict", "function", "on the source", "on the target", "why"),
			page.Each(d.Checks, func(c rehearsal.Check) page.Node {
				return page.Tr(page.Td(page.Text(c.Verdict)), page.Td(page.Textf("%s %s", c.Kind, c.Subject)), page.Td(page.Text(c.Source)), page.Td(page.Text(c.Target)), page.Td(page.Text(c.Why)))
			}))),
		page.Each(d.Remarks, func(line string) page.Node { return page.P(page.Soft(), page.Text(line)) }),
	)
}

// failure is a function that does not run.
func failure(c rehearsal.Check) page.Node {
	if c.Verdict != rehearsal.Fails {
		return nil
	}
	var cause page.Node
	if at := c.Cause; at != nil {
		cause = page.P(page.Textf("Likely cause: %s ", at.Kind), page.Code(at.Name), page.If(at.Line > 0, page.Textf(", line %d", at.Line)), page.Textf(": %s", at.Text))
	}
	return page.Div(page.Attr("class", "finding stop"), page.El("h3", page.Textf("%s %s", c.Kind, c.Subject)),
		page.P(page.Textf("%s ", c.Why), page.If(c.Source != "", page.Textf("On the source: %s.", c.Source))),
		cause, page.If(len(c.Log) > 0, page.Pre(strings.Join(c.Log, "\n"))))
}

func (t tile) node() page.Node {
	return page.Group(page.El("a", page.To(t.At), page.Class(t.Class), page.El("b", page.Text(t.Count)), page.Text(t.Text)), page.Textf("\n"))
}

// links lead to the parts of the page.
func (c *content) links() page.Node {
	var all []page.Node
	for _, part := range []struct {
		id, title string
		there     bool
	}{
		{"steps", "Next steps", true},
		{"stops", "What stops it", true},
		{"findings", "Findings", true},
		{"packages", "Packages", true},
		{"decide", "Decisions", len(c.Questions) > 0},
		{"advisories", "Advisories", true},
		{"configuration", "Configuration", true},
		{"disk", "Disk", c.Plan.Files != nil},
		{"services", "Services", true},
		{"accounts", "Accounts", true},
		{"every", "Every package", true},
		{"unread", "Not looked at", true},
		{"back", "The way back", true},
	} {
		all = append(all, page.If(part.there, page.El("a", page.To(part.id), page.Text(part.title)), page.Textf(" ")))
	}
	return page.El("nav", page.Attr("aria-label", "Contents"), page.Group(all...))
}

func steps(all []Step) page.Node {
	return page.Group(page.Heading("steps", "What to do, in this order"),
		page.El("ol", page.Each(all, func(s Step) page.Node {
			return page.El("li", page.If(s.Back, page.Attr("id", "back")),
				folded(page.Text(s.Title), page.Pre(s.Why), page.Each(s.Commands, func(command string) page.Node { return page.P(page.Textf("→ "), page.Code(command)) })),
				page.If(s.Down != "", page.P(page.Soft(), page.Textf("Until then: %s", s.Down))))
		})),
		page.P(page.Soft(), page.Textf("NEXT.md has the same. "), page.El("a", page.To("back"), page.Textf("The way back")), page.Textf(" is the last step: nothing of this changes the source.")))
}

// picture is the sum of the packages, drawn and told.
func picture(all []slice) page.Node {
	return page.Group(page.Heading("packages", "What becomes of the packages"),
		page.El("svg", page.Attr("role", "img"), page.Attr("aria-label", "Packages by what becomes of them"), page.Attr("preserveAspectRatio", "none"), page.Attr("viewBox", "0 0 100 10"),
			page.Each(all, func(s slice) page.Node {
				return page.El("rect", page.Class(s.Relation), page.Number("x", s.X), page.Attr("y", "0"), page.Number("width", s.Width), page.Attr("height", "10"), page.El("title", page.Textf("%d %s", s.Count, s.Text)))
			})),
		page.El("ul", page.Attr("class", "legend"), page.Each(all, func(s slice) page.Node {
			return page.El("li", page.El("span", page.Class(s.Relation)), page.Textf("%d %s (%.2f%%)", s.Count, s.Text, s.Width))
		})))
}

func finding(f assess.Finding) page.Node {
	return page.Div(page.Class("finding", string(f.Severity), choice(f.Inhibitor, "stop", "")),
		page.El("h3", page.Textf("%s ", f.Title), page.El("span", page.Soft(), page.Textf("(%s)", f.Severity))),
		page.P(page.Text(f.Summary)),
		page.Each(f.Remediations, func(r assess.Remediation) page.Node {
			if r.Type == "command" {
				return page.P(page.Textf("→ "), page.Code(r.Text))
			}
			return page.P(page.Textf("→ %s", r.Text))
		}),
		page.If(len(f.Evidence) > 0, page.P(page.Soft(), page.Each(enough(f.Evidence), func(e assess.Evidence) page.Node { return page.Group(place(e), page.Textf(" ")) }))))
}

// place is where something was read.
func place(e assess.Evidence) page.Node {
	return page.El("code", page.Text(e.Path), page.If(e.Line > 0, page.Textf(":%d", e.Line)))
}

// questions are the packages that a person decides on.
func questions(all []migration.Package) page.Node {
	return page.If(len(all) > 0, page.Heading("decide", "Packages that need a decision"),
		page.Table(page.Heads("Package", "Candidates", "Confidence", "Why"), page.Each(all, func(p migration.Package) page.Node {
			return page.Tr(page.Td(page.Code(p.Name)), page.Td(page.Each(p.Targets, func(t migration.Target) page.Node { return page.Group(page.Code(t.Name), page.Textf(" ")) })), page.Td(page.Textf("%.2f", p.Confidence)), page.Td(page.Text(p.Why)))
		})))
}

func (c *content) advisories() page.Node {
	d := c.Exposure
	if d == nil {
		return nil
	}
	if !d.Compared {
		return page.P(page.Textf("Nothing is known of what the move fixes: %s.", d.Why))
	}
	return page.Group(
		page.P(page.Textf("%d advisories apply to the machine (%d critical, %d high, %d medium, %d low, %d unknown). By CVE:", d.Before.Total, d.Before.Critical, d.Before.High, d.Before.Medium, d.Before.Low, d.Before.Unknown)),
		page.Each(c.Changes, func(c change) page.Node {
			return folded(page.Textf("%s: %d", c.Title, c.Total),
				page.Table(page.Heads("Severity", "Vulnerability", "Packages"), page.Each(c.Worst, func(v exposure.Vulnerability) page.Node {
					return page.Tr(page.Td(page.Text(v.Severity)), page.Td(page.Code(v.ID)), page.Td(named(enough(v.Packages))))
				})),
				page.If(c.Total > len(c.Worst), page.P(page.Soft(), page.Textf("The worst are shown; all are in exposure.json."))))
		}),
		page.P(page.Soft(), page.Textf("Advisories of %s for %s, of %s for %s. %d planned packages were compared; of %d packages of the machine the counterparts could not all be.",
			dated(d.SourceFeed), d.Source, dated(d.TargetFeed), d.Target, d.Planned, len(d.Unsure))))
}

// dated is by which day a feed was made.
func dated(f api.Feed) string {
	if f.UpdatedAt == nil {
		return "a day that is not known"
	}
	return *f.UpdatedAt
}

func (g group) node() page.Node {
	return page.El("details", page.If(g.Open, page.Flag("open")), page.El("summary", page.Textf("%s: %d", g.Title, len(g.Files))),
		page.Table(page.Attr("class", "paths"), page.Heads("File", "On the target", "Why"), page.Each(g.Files, func(f migration.Config) page.Node {
			return page.Tr(page.Td(page.Code(f.From)), page.Td(page.Code(f.To)), page.Td(page.Text(f.Reason), refused(f.Refusals), altered("changed", f.Changes), joined(f.Merge)))
		})))
}

// refused are lines for which a file was left to a person.
func refused(all []convert.Refusal) page.Node {
	return page.If(len(all) > 0, folded(page.Textf("%d not understood", len(all)), page.Each(all, func(r convert.Refusal) page.Node {
		return page.Group(line(r.Line), page.P(page.Code(r.Text), page.Textf(" %s", r.Why)))
	})))
}

// altered are the lines of a file that are not as they were.
func altered(what string, all []convert.Change) page.Node {
	return page.If(len(all) > 0, folded(page.Textf("%d %s", len(all), what), page.Each(all, func(c convert.Change) page.Node {
		return page.Div(page.Attr("class", "diff"), line(c.Line), page.If(c.Was != "", page.El("del", page.Text(c.Was))), page.If(c.Now != "", page.El("ins", page.Text(c.Now))), page.If(c.Why != "", page.P(page.Text(c.Why))))
	})))
}

// line is the number of a line, where it is about one.
func line(n int) page.Node { return page.If(n > 0, page.P(page.Soft(), page.Textf("line %d", n))) }

// joined is what came of joining a person's file with the target's own.
func joined(m *migration.Merged) page.Node {
	if m == nil {
		return nil
	}
	clashes := page.El("details", page.Flag("open"), page.El("summary", page.Textf("%d clash with the target's own file", len(m.Clashes))),
		page.Table(page.Attr("class", "clash"), page.Heads("The package had", "The person has", "The target's package has"), page.Each(m.Clashes, clash)))
	return page.Group(altered("not as the target's package has them", m.Changes), page.If(len(m.Clashes) > 0, clashes),
		page.P(page.Soft(), page.Textf("What a person changed was found by "), page.Code(m.Base.Path), origin(m.Base), page.Textf("; the target's own file is "), page.Code(m.Target.Path), origin(m.Target), page.Textf(".")))
}

func clash(c edits.Clash) page.Node {
	return page.Group(
		page.Tr(page.Td(texts(c.Base)), page.Td(page.Soft(), page.Textf("line %d", c.Line), texts(c.Text)), page.Td(page.Soft(), page.Textf("line %d", c.TargetLine), texts(c.Target))),
		page.Tr(page.Td(page.Attr("colspan", "3"), page.Soft(), page.Text(c.Why))))
}

// texts are lines as they stand.
func texts(all []string) page.Node { return orElse(all, page.Pre, page.Textf(" (nothing)")) }

// origin is where a file was found.
func origin(o migration.Origin) page.Node {
	if o.Package == "" {
		return page.Textf(" on the machine")
	}
	return page.Textf(" of %s %s", o.Package, o.Version)
}

// disk is the sum of everything on it, where it was counted.
func (c *content) disk(s *ledger.Sum) page.Node {
	if s == nil {
		return nil
	}
	return page.Group(page.Heading("disk", "Everything on the disk"),
		page.Table(page.Heads("Row", "Paths", "Bytes"), page.Each(c.FileRows, func(r fileRow) page.Node {
			return page.Tr(page.Td(page.Text(r.Row)), page.Td(page.Text(r.Paths)), page.Td(page.Text(r.Bytes)))
		}),
			page.Tr(page.El("th", page.Textf("all")), page.El("th", page.Text(s.Total.Paths)), page.El("th", page.Text(s.Total.Bytes)))),
		page.P(page.Soft(), page.Textf("Each path is in one row. %d files of packages were compared with their packages' digests, %d were not read, %d have none or could not be read. %s", s.Looked.Compared, s.Looked.Assumed, s.Looked.Unknown, s.Looked.Why),
			page.If(len(s.Elsewhere) > 0, page.Textf(" Other file systems were not counted:"), page.Each(s.Elsewhere, func(path string) page.Node { return page.Group(page.Textf(" "), page.Code(path)) }), page.Textf(".")),
			page.If(len(s.Unread) > 0, page.Textf(" %d folders could not be listed.", len(s.Unread))),
			page.If(s.More > 0, page.Textf(" %d entries of the lists are left out.", s.More))),
		page.If(len(s.Noticed) > 0, page.El("details", page.Flag("open"), page.El("summary", page.Textf("%d things that no package and no file brings", len(s.Noticed))),
			page.Table(page.Heads("What", "Where", "As it is", "What to do"), page.Each(s.Noticed, func(n ledger.Notice) page.Node {
				return page.Tr(page.Td(page.Text(n.Kind)), page.Td(page.Code(n.Path)), page.Td(page.Text(n.What)), page.Td(page.Text(n.Do)))
			})))),
		page.If(len(s.Changed) > 0, folded(page.Textf("%d files of packages that were changed", len(s.Changed)),
			page.Table(page.Each(s.Changed, func(p ledger.Path) page.Node {
				return page.Tr(page.Td(page.Code(p.Path)), page.Td(page.Text(p.Package)))
			})))),
		page.If(len(s.Nobody) > 0, folded(page.Textf("Nobody's: %d files and folders", len(s.Nobody)),
			page.Table(page.Each(s.Nobody, func(p ledger.Path) page.Node {
				return page.Tr(page.Td(page.Code(p.Path)), page.Td(page.Textf("%d paths, %d bytes", p.Paths, p.Bytes)))
			})))),
		folded(page.Textf("%d rules account for the rest", len(s.Rules)), page.Table(page.Each(s.Rules, func(r ledger.Rule) page.Node {
			return page.Tr(page.Td(page.Code(r.Place)), page.Td(page.Text(r.Row)), page.Td(page.Text(r.What)), page.Td(page.Text(r.Origin)), page.Td(page.Text(r.Paths)))
		}))))
}

func services(all []migration.Service) page.Node {
	return page.Group(page.Heading("services", "Services"), folded(page.Textf("%d units", len(all)),
		page.Table(page.Heads("Unit", "On the target", "State", "Why"), page.Each(all, func(s migration.Service) page.Node {
			return page.Tr(page.Td(page.Code(s.Unit)), page.Td(page.Code(s.To)), page.Td(page.Text(s.State)), page.Td(page.Text(s.Reason)))
		}))))
}

func accounts(users []assess.User) page.Node {
	return page.Table(page.Heads("User", "Id", "Groups", "Keys", "sudo"), orElse(users, func(u assess.User) page.Node {
		return page.Tr(page.Td(page.Code(u.Name)), page.Td(page.Text(u.UID)), page.Td(page.Text(strings.Join(u.Groups, " "))), page.Td(page.Text(len(u.AuthorizedKeys))), page.Td(page.Text(choice(u.Sudo, "yes", "no"))))
	}, page.Tr(page.Td(page.Attr("colspan", "5"), page.Textf("No person has an account.")))))
}

func packages(p *migration.Plan) page.Node {
	return folded(page.Textf("%d packages", p.Sum.Total),
		page.Table(page.Heads("Package", "Version", "Becomes", "Confidence", "Installed", "Why"), page.Each(p.Packages, func(r migration.Package) page.Node {
			return page.Tr(page.Td(page.Code(r.Name)), page.Td(page.Code(r.Version)),
				page.Td(page.Textf("%s ", r.Relation), page.Each(r.Targets, func(t migration.Target) page.Node {
					return page.Group(page.El("code", page.Textf("%s %s", t.Name, t.Version)), page.Textf(" "))
				})),
				page.Td(page.Textf("%.2f", r.Confidence)), page.Td(page.Text(choice(r.Install, "yes", "no"))),
				page.Td(page.Text(r.Why), page.Each(r.Caveats, func(c api.Caveat) page.Node { return page.Textf(" %s", c.Text) })))
		})))
}

func unread(all []assess.Source) page.Node {
	if len(all) == 0 {
		return page.P(page.Textf("Every source that is there was read."))
	}
	return page.Table(page.Each(all, func(s assess.Source) page.Node {
		return page.Tr(page.Td(page.Code(s.What)), page.Td(page.Text(s.State)), page.Td(page.Text(s.Detail)))
	}))
}
