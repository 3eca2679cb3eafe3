package rehearsal

import (
	"cmp"
	"maps"
	"slices"

	"svc/assess"
	"svc/backend/sliced"
	"svc/tools/rehearsal/sites"
)

// sites are virtual hosts, asked for their first page, and for what that links to and their
// configuration names.
func (j judge) sites() (all []Check) {
	all = sliced.Map(sites.Requests(j.Before), j.first)
	return append(all, j.furtherPages()...)
}

// first is the first page of a site.
func (j judge) first(r sites.Request) Check {
	now := j.Target.Pages[r]
	c := Check{Subject: r.String(), Verdict: Runs, Target: now.String()}
	before, asked := sites.Page{}, j.Source != nil
	if asked {
		before = j.Source.Pages[r]
		c.Source = before.String()
	}
	switch {
	case asked && before.Status == 0:
		c.Verdict, c.Why = Untried, notOnSource
	case asked && before.Status >= 500 && now.Status >= 500:
		c.Verdict, c.Why = Untried, notOnSource
	case now.Status == 0:
		c.Verdict, c.Why = Fails, "The target does not answer."
	case !asked && now.Status < 500:
	case now.Status == before.Status && now.Title == before.Title:
	case !j.WithData && j.siteNeedsData(r):
		c.Verdict, c.Why = Untried, needsData
	case now.Status != before.Status:
		c.Verdict, c.Why = Fails, "The target answers with another status than the source."
	default:
		c.Verdict, c.Why = Fails, "The target has another page than the source."
	}
	if c.Verdict == Fails {
		c.Log = j.webLogs()
	}
	return c
}

// furtherPages are pages beside the first that the source has. One that the target's first
// page links to no more may be of a newer version of what the site shows.
func (j judge) furtherPages() (all []Check) {
	if j.Source == nil {
		return nil
	}
	for _, r := range slices.SortedFunc(maps.Keys(j.Source.Pages), func(a, b sites.Request) int { return cmp.Compare(a.String(), b.String()) }) {
		before := j.Source.Pages[r]
		now, asked := j.Target.Pages[r]
		if r.Path == "" || !before.Works() || !asked {
			continue
		}
		first := r
		first.Path = ""
		c := Check{Subject: r.String(), Verdict: Runs, Source: before.String(), Target: now.String()}
		linked := func(p sites.Page) bool { return slices.Contains(p.Links, r.Path) }
		switch {
		case now.Works():
		case !j.WithData && j.siteNeedsData(r):
			c.Verdict, c.Why = Untried, needsData
		case linked(j.Source.Pages[first]) && !linked(j.Target.Pages[first]) && j.Target.Pages[first].Works():
			c.Verdict, c.Why = Untried, "The first page of the target does not link to it."
		default:
			c.Verdict, c.Why, c.Log = Fails, "People get this page of the source, and not of the target.", j.webLogs()
		}
		all = append(all, c)
	}
	return all
}

// siteNeedsData reports whether files of a site are not there yet, or what it
// passes requests on to is not.
func (j judge) siteNeedsData(r sites.Request) bool {
	return slices.ContainsFunc(j.Before.Sites(), func(s assess.Site) bool {
		return sites.Plain(s.Name) == r.Name && (s.Root != "" && j.lacks(s.Root) || s.Proxy != "")
	})
}

// lacks reports whether a path is on the source and not on the target.
func (j judge) lacks(name string) bool { return j.OnSource(name) && !j.OnTarget(name) }

// webUnits are the services of web servers.
var webUnits = []string{"apache2.service", "httpd.service", "nginx.service", "lighttpd.service", "caddy.service"}

func (j judge) webLogs() []string {
	return sliced.FlatMap(webUnits, func(unit string) []string { return j.Target.Logs[unit] })
}
