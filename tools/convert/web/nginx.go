// Package web converts nginx and PHP, and has what all web servers share of PHP behind them.
package web

import (
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/release"
	"svc/tools/convert"
)

// nginxPackages are packages of Debian with modules that the rpm families have
// in others, by a part of the module's file.
var nginxPackages = []struct{ part, name string }{
	{"ngx_http_headers_more", "libnginx-mod-http-headers-more-filter"},
	{"ngx_http_geoip2", "libnginx-mod-http-geoip2"},
	{"ngx_http_geoip", "libnginx-mod-http-geoip"},
	{"ngx_http_image_filter", "libnginx-mod-http-image-filter"},
	{"ngx_http_perl", "libnginx-mod-http-perl"},
	{"ngx_http_xslt_filter", "libnginx-mod-http-xslt-filter"},
	{"ngx_mail", "libnginx-mod-mail"},
	{"ngx_stream_geoip2", "libnginx-mod-stream-geoip2"},
	{"ngx_stream_geoip", "libnginx-mod-stream-geoip"},
	{"ngx_stream", "libnginx-mod-stream"},
	{"ngx_http_brotli", "libnginx-mod-http-brotli-filter"},
	{"ngx_http_auth_pam", "libnginx-mod-http-auth-pam"},
	{"ngx_http_echo", "libnginx-mod-http-echo"},
	{"ngx_http_fancyindex", "libnginx-mod-http-fancyindex"},
	{"ngx_http_lua", "libnginx-mod-http-lua"},
	{"ngx_http_modsecurity", "libnginx-mod-http-modsecurity"},
}

// nginxRules are the lines that are another on Debian; the first that matches
// counts. An empty now drops the line, one without a why too refuses it.
var nginxRules = []struct {
	line     *lazyregexp.Regexp
	now, why string
}{
	{lazyregexp.New(`^user\s+nginx(\s+nginx)?\s*;`), "user www-data;", "Debian's account of web servers is www-data."},
	{lazyregexp.New(`^include\s+"?/usr/share/nginx/modules/\*\.conf"?\s*;`), "include /etc/nginx/modules-enabled/*.conf;", "Debian's packages enable their modules here."},
	{lazyregexp.New(`^(ssl|spdy_\w+|http2_max_field_size|http2_max_header_size|http2_max_requests|http2_push\w*|http2_idle_timeout)\s+\S+\s*;`), "", ""},
	{lazyregexp.New(`^listen\s.*\bspdy\b`), "", ""},
	{lazyregexp.New(`^(limit_zone|perl_modules|geoip_org)\s`), "", ""},
}

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
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		for i := range p.Active() {
			nginxLine(&r, p, i, moved)
		}
		r.Close(p, f.Path)
	}
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
	for _, rule := range nginxRules {
		if !rule.line.MatchString(line) {
			continue
		}
		if rule.now == "" {
			p.Refuse(i, "The target's nginx has this no more: ssl is a word of listen, and SPDY and push are gone.")
		} else {
			p.Replace(i, rule.line.ReplaceAllString(line, rule.now), rule.why)
		}
		return
	}
	p.Replace(i, moved.Move(line), "Debian keeps it in another place.")
}

// nginxModule has the package installed that enables a module itself.
func nginxModule(r *convert.Result, p *convert.Page, i int, line string) {
	for _, known := range nginxPackages {
		if strings.Contains(line, known.part) {
			r.Packages = append(r.Packages, known.name)
			p.Drop(i, known.name+" enables its module itself.")
			return
		}
	}
	p.Refuse(i, "No package of Debian is known to have this module.")
}
