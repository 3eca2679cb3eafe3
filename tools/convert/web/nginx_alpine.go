package web

import (
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// nginxToAlpine are lines of Debian's nginx that say something else on Alpine; without a
// now they are dropped.
var nginxToAlpine = []convert.Rewording{
	{Line: lazyregexp.New(`^user\s+www-data(\s+www-data)?\s*;`), Now: "user nginx;", Why: "The account of nginx is nginx."},
	{Line: lazyregexp.New(`^pid\s`), Now: "", Why: "Alpine's service looks for it where its package has it."},
	{Line: lazyregexp.New(`^include\s+"?(/etc/nginx/)?modules-enabled/\*\.conf"?\s*;`), Now: "include /etc/nginx/modules/*.conf;", Why: "Alpine's packages enable their modules here."},
	{Line: lazyregexp.New(`^include\s+"?(/etc/nginx/)?sites-enabled/\*(\.\w+)?"?\s*;`), Now: "include /etc/nginx/http.d/*.conf;", Why: "What is enabled stands in http.d."},
	{Line: lazyregexp.New(`^include\s+"?(/etc/nginx/)?conf\.d/\*(\.\w+)?"?\s*;`), Now: "", Why: "It stands in http.d, which is included with the sites."},
	{Line: lazyregexp.New(`^fastcgi_pass\s+"?unix:(/var)?/run/php/php[0-9.]*-fpm\.sock"?\s*;`), Now: "fastcgi_pass 127.0.0.1:9000;", Why: "Alpine's own pool of PHP listens there."},
}

// nginxFromAlpine are those of Alpine's nginx on Debian.
var nginxFromAlpine = []convert.Rewording{
	{Line: lazyregexp.New(`^user\s+nginx(\s+nginx)?\s*;`), Now: "user www-data;", Why: "Debian's account of web servers is www-data."},
	{Line: lazyregexp.New(`^pid\s`), Now: "pid /run/nginx.pid;", Why: "Debian's unit looks for it there."},
	{Line: lazyregexp.New(`^include\s+"?(/etc/nginx/)?modules/\*\.conf"?\s*;`), Now: "include /etc/nginx/modules-enabled/*.conf;", Why: "Debian's packages enable their modules here."},
	{Line: lazyregexp.New(`^include\s+"?(/etc/nginx/)?http\.d/\*(\.\w+)?"?\s*;`), Now: "include /etc/nginx/conf.d/*.conf;", Why: "What stands in http.d goes to conf.d."},
	{Line: lazyregexp.New(`^include\s+"?(/etc/nginx/)?conf\.d/\*(\.\w+)?"?\s*;`), Now: "", Why: "Alpine reads it beside http; on Debian the folder is for what stands within."},
}

// nginxSnippetsAlpine are without the certificate of the rpm families' packages.
var nginxSnippetsAlpine = slices.DeleteFunc(slices.Clone(nginxSnippets), func(s snippet) bool { return strings.Contains(s.now, "/etc/pki/") })

// nginxAlpine carries nginx from Debian's family to Alpine, and back.
func nginxAlpine(in convert.Input) (r convert.Result) {
	enabled := map[string]string{}
	for link, file := range in.Links {
		enabled[file] = path.Base(link)
	}
	for _, f := range in.Files {
		if file, ok := in.Links[f.Path]; ok {
			r.Note(f.Path, convert.Change{Line: 0, Was: f.Path + " -> " + file, Now: "", Why: "What it enables goes to http.d where a person wrote it; the target's own package has the rest."})
			continue
		}
		p := convert.Open(f, "#")
		for i, line := range p.Active() {
			nginxLineAlpine(p, i, line, in)
		}
		r.Close(p, nginxPlaceAlpine(in, f.Path, enabled[f.Path]))
	}
	return r
}

func nginxLineAlpine(p *convert.Page, i int, line string, in convert.Input) {
	switch {
	case nginxRefused(p, i, line, in):
	case convert.FromApart(in):
		p.Reword(i, line, nginxFromAlpine)
	case p.Reword(i, line, nginxToAlpine), nginxIncluded(p, i, line, nginxSnippetsAlpine, nil), nginxOfDebian(p, i, line, in):
	case strings.Contains(line, "ssl-cert-snakeoil"):
		p.Refuse(i, "It is a certificate that Debian's package ssl-cert makes, which the target has not.")
	}
}

// nginxPlaceAlpine is where a file stands; enabled is the name by which it is.
func nginxPlaceAlpine(in convert.Input, file, enabled string) string {
	folder, name := path.Split(file)
	switch {
	case convert.FromApart(in) && folder == "/etc/nginx/http.d/":
		return "/etc/nginx/conf.d/" + name
	case convert.FromApart(in):
	case folder == "/etc/nginx/sites-available/" && enabled != "":
		return "/etc/nginx/http.d/" + ConfName(enabled)
	case folder == "/etc/nginx/sites-enabled/", folder == "/etc/nginx/conf.d/":
		return "/etc/nginx/http.d/" + ConfName(name)
	}
	return file
}
