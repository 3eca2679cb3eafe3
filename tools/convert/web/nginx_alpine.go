package web

import (
	"path"
	"slices"
	"strings"

	"svc/tools/convert"
)

// nginxAlpine carries nginx from Debian's family to Alpine, and back.
func nginxAlpine(in convert.Input) (r convert.Result) {
	enabled := in.Enabled()
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
	// Without the certificate of the rpm families' packages.
	snippets := slices.DeleteFunc(slices.Clone(convert.RewordingsOf("nginx-snippets")), func(s convert.Rewording) bool { return strings.Contains(s.Now, "/etc/pki/") })
	switch {
	case nginxRefused(p, i, line, in):
	case convert.FromApart(in):
		p.Reword(i, line, convert.RewordingsOf("nginx-from-alpine"))
	case p.Reword(i, line, convert.RewordingsOf("nginx-to-alpine")), nginxIncluded(p, i, line, snippets, nil), nginxOfDebian(p, i, line, in):
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
