// Package sites says which pages of a machine's web servers are asked for: the first of
// each site, what its configuration names, and what the first page links to. It is pure.
package sites

import (
	"cmp"
	"fmt"
	"html"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/backend/sliced"
)

// Request asks a web server for a page of a site.
type Request struct {
	Name string // of the site
	Port int
	TLS  bool
	Path string // empty for its first page
}

// Page is what a web server answers.
type Page struct {
	Status int // 0 where there was no answer
	Title  string
	Error  string
	Links  []string // paths of the same site that it links to
}

// Bounds of the sites of a machine that are asked, and of the pages of each.
const (
	maxRequests = 500
	maxPages    = 20
)

// Requests are the first pages of a machine's sites, each once.
func Requests(a *assess.Assessment) (all []Request) {
	seen := map[Request]bool{}
	for _, r := range sliced.FlatMap(a.Sites(), of) {
		if !seen[r] && len(all) < maxRequests {
			seen[r] = true
			all = append(all, r)
		}
	}
	return all
}

// of are the first pages of a site, by its ports.
func of(s assess.Site) []Request {
	return sliced.Map(ports(s), func(port int) Request { return Request{Plain(s.Name), port, s.TLS && port != 80, ""} })
}

// Plain is a name as a request may carry it; another is left out.
func Plain(name string) string {
	if name == "_" || strings.ContainsFunc(name, func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return ""
	}
	return name
}

// ports are those of what a site listens on: *:80, [::]:443 ssl, 8080.
func ports(s assess.Site) (all []int) {
	for _, l := range s.Listen {
		first, _, _ := strings.Cut(strings.TrimSpace(l), " ")
		n, err := strconv.Atoi(first[strings.LastIndex(first, ":")+1:])
		if err == nil && n > 0 && n < 1<<16 && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	if all == nil {
		all = []int{80}
	}
	return all
}

func (r Request) String() string {
	scheme := "http"
	if r.TLS {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s:%d%s", scheme, cmp.Or(r.Name, "*"), r.Port, cmp.Or(r.Path, "/"))
}

func (p Page) String() string {
	switch {
	case p.Status == 0:
		return "no answer: " + p.Error
	case p.Title != "":
		return fmt.Sprintf("%d %q", p.Status, p.Title)
	}
	return strconv.Itoa(p.Status)
}

// Works reports whether a page is one that people get, or may get by their password.
func (p Page) Works() bool { return p.Status >= 200 && p.Status < 400 || p.Status == 401 }

// place is where a configuration names a path of a site.
var place = lazyregexp.New(`(?im)^\s*(?:(?:(?:Script|WSGIScript)?Alias|ProxyPass|Redirect(?:\s+(?:permanent|temp|\d+))?)\s+"?(/[^\s"]*)|<Location\s+"?(/[^\s">]*)|location\s+(?:\^~\s+|=\s+)?(/[^\s{~*^]*)\s*\{)`)

// Configured are paths that lines of a web server's configuration name for a site: of the
// files of its sites, by that which read reads.
func Configured(a *assess.Assessment, read func(file string) string) (all []Request) {
	for _, w := range a.WebServers {
		for n, s := range w.Sites[:min(len(w.Sites), maxRequests)] { // no more are asked
			if s.Evidence.Path == "" {
				continue
			}
			end := 0 // the line of the next site of this file
			for _, other := range w.Sites[n+1:] {
				if at := other.Evidence; at.Path == s.Evidence.Path && at.Line > s.Evidence.Line && (end == 0 || at.Line < end) {
					end = at.Line
				}
			}
			paths := named(lines(read(s.Evidence.Path), s.Evidence.Line, end))
			for _, first := range of(s) {
				all = append(all, below(first, paths)...)
			}
		}
	}
	return all
}

// lines are those of a text from one to before another; 0 is its end.
func lines(text string, from, to int) string {
	all := strings.Split(text, "\n")
	from = min(max(from-1, 0), len(all))
	if to == 0 || to > len(all) {
		to = len(all) + 1
	}
	return strings.Join(all[from:max(to-1, from)], "\n")
}

// named are the paths that a part of a configuration names.
func named(text string) []string {
	return sliced.Map(place.FindAllStringSubmatch(text, -1), func(m []string) string { return cmp.Or(m[1], m[2], m[3]) })
}

// below are requests for paths of a site, each once, but its first page.
func below(first Request, paths []string) (all []Request) {
	for _, p := range paths {
		first.Path = p
		if p != "/" && p != "" && asked(p) && !slices.Contains(all, first) && len(all) < maxPages {
			all = append(all, first)
		}
	}
	return all
}

// ending are words of links that one does not follow: they end something.
var ending = []string{"logout", "logoff", "signout", "abmeld", "delete", "remove", "loesch", "unsubscribe", "shutdown", "reset"}

// asked reports whether a path may be asked for: it is plain, and ends nothing.
func asked(p string) bool {
	low := strings.ToLower(p)
	return len(p) < 200 && !strings.ContainsFunc(p, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"'<>\^`+"`{|}$*()", r) }) &&
		!slices.ContainsFunc(ending, func(word string) bool { return strings.Contains(low, word) })
}

var anchor = lazyregexp.New(`(?is)<a\s[^>]*?href\s*=\s*["']([^"'#?]+)["'#]`)

// Links are the paths of the same site that a page links to without a question, which may
// change something.
func Links(r Request, page string) (paths []string) {
	base := &url.URL{Path: cmp.Or(r.Path, "/")}
	for _, m := range anchor.FindAllStringSubmatch(page, -1) {
		u, err := url.Parse(strings.TrimSpace(html.UnescapeString(m[1])))
		if err != nil || u.Opaque != "" || u.Host != "" && u.Hostname() != r.Name || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
			continue
		}
		to := base.ResolveReference(&url.URL{Path: u.Path}).EscapedPath()
		if to != "/" && asked(to) && path.Clean(to) != "/" && !slices.Contains(paths, to) && len(paths) < maxPages {
			paths = append(paths, to)
		}
	}
	return paths
}

// Linked are requests for what the first pages of sites link to.
func Linked(pages map[Request]Page) (all []Request) {
	for r, page := range pages {
		if r.Path == "" {
			all = append(all, below(r, page.Links)...)
		}
	}
	return all
}
