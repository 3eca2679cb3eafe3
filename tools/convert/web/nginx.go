// Package web converts nginx and PHP, and has what all web servers share of PHP behind them.
package web

import (
	"path"
	"slices"
	"strings"

	"svc/backend/release"
	"svc/tools/convert"
)

// nginxApart carry nginx between Debian's line and those that stand apart.
var nginxApart = convert.ByLine{release.LineAlpine: nginxAlpine}

// Nginx keeps the files where they are: both families have nginx.conf and
// conf.d. The account, modules and the sockets of PHP have other names.
func Nginx(in convert.Input) (r convert.Result) {
	switch {
	case convert.Apart(in):
		return nginxApart.Convert(in)
	case convert.ToRPM(in):
		return nginxRPM(in)
	}
	moved := slices.Concat(PHPPlaces(in), convert.Places{{"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/certs/ca-certificates.crt"}, {"/etc/pki/tls/certs", "/etc/ssl/certs"}, {"/etc/pki/tls/private", "/etc/ssl/private"}, {"/usr/lib64/nginx/modules", "/usr/lib/nginx/modules"}})
	r = convert.EachLine(in, convert.Stays, func(r *convert.Result, p *convert.Page, i int) { nginxLine(r, p, i, moved) })
	if len(r.Files) > 0 && len(r.Refusals) == 0 {
		r.Removed = []convert.Link{{Path: "/etc/nginx/sites-enabled/default", Target: "", From: r.Files[0].From, Why: "The source has no such site: it would answer before the others."}}
	}
	return r
}

func nginxLine(r *convert.Result, p *convert.Page, i int, moved convert.Places) {
	line := strings.TrimSpace(p.Lines[i])
	if strings.HasPrefix(line, "load_module") {
		nginxModule(r, p, i, line)
		return
	}
	for _, rule := range convert.RewordingsOf("nginx-to-debian") {
		if !rule.Line.MatchString(line) {
			continue
		}
		if rule.Now == "" {
			p.Refuse(i, "The target's nginx has this no more: ssl is a word of listen, and SPDY and push are gone.")
		} else {
			p.Replace(i, rule.Line.ReplaceAllString(line, rule.Now), rule.Why)
		}
		return
	}
	p.Replace(i, moved.Move(line), "Debian keeps it in another place.")
}

// nginxModule has the package installed that enables a module itself.
func nginxModule(r *convert.Result, p *convert.Page, i int, line string) {
	for _, known := range convert.RewordingsOf("nginx-packages") {
		if known.Line.MatchString(line) {
			r.Packages = append(r.Packages, known.Now)
			p.Drop(i, known.Now+" enables its module itself.")
			return
		}
	}
	p.Refuse(i, "No package of Debian is known to have this module.")
}

// nginxEnabled carries nginx between Debian and families that read one folder: what Debian
// has enabled goes there, and what it has not stands where nothing reads it.
func nginxEnabled(in convert.Input, folder, called string, line func(p *convert.Page, i int, in convert.Input)) (r convert.Result) {
	enabled := in.Enabled()
	for _, f := range in.Files {
		if file, ok := in.Links[f.Path]; ok && (convert.FromDebian(in) || convert.Apart(in)) {
			r.Note(f.Path, convert.Change{Line: 0, Was: f.Path + " -> " + file, Now: "", Why: "What it enables goes to " + called + " where a person wrote it; the target's own package has the rest."})
			continue
		}
		p := convert.Open(f, "#")
		for i := range p.Active() {
			line(p, i, in)
		}
		r.Close(p, nginxPlace(in, f.Path, enabled[f.Path], folder))
	}
	return r
}

// nginxPlace is where a file stands; enabled is the name by which it is, and folder what the
// target reads.
func nginxPlace(in convert.Input, file, enabled, folder string) string {
	switch dir, name := path.Split(file); {
	case convert.FromApart(in) && dir == "/etc/nginx/http.d/":
		return "/etc/nginx/conf.d/" + name
	case !convert.DebianFamily(in.Source):
	case dir == "/etc/nginx/sites-available/" && enabled != "":
		return folder + "/" + ConfName(enabled)
	case dir == "/etc/nginx/sites-enabled/", dir == "/etc/nginx/conf.d/":
		return folder + "/" + ConfName(name)
	}
	return file
}
