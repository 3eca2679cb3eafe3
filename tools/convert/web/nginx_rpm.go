package web

import (
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// nginxGone are directives that nginx has no more, with the version that dropped
// them.
var nginxGone = []struct {
	line  *lazyregexp.Regexp
	since string
}{
	{lazyregexp.New(`^(ssl|http2_push\w*|http2_max_field_size|http2_max_header_size|http2_max_requests|http2_idle_timeout)\s+\S+\s*;`), "1.25"},
	{lazyregexp.New(`^spdy_\w+\s|^listen\s.*\bspdy\b|^(limit_zone|perl_modules)\s`), "1.14"},
}

// nginxModules includes what Debian's packages enable.
var nginxModules = lazyregexp.New(`^include\s+"?(/etc/nginx/)?modules-enabled/\*\.conf"?\s*;`)

// nginxPlacesRPM are where the rpm families keep what Debian's nginx names.
var nginxPlacesRPM = convert.HomesOf("nginx-from-debian").FromDebian()

// nginxRPM carries nginx to the rpm families.
func nginxRPM(in convert.Input) convert.Result {
	return nginxEnabled(in, "/etc/nginx/conf.d", "/etc/nginx/conf.d", nginxLineRPM)
}

// ConfName is a name that conf.d/*.conf matches.
func ConfName(name string) string { return strings.TrimSuffix(name, ".conf") + ".conf" }

func nginxLineRPM(p *convert.Page, i int, in convert.Input) {
	line, own := strings.TrimSpace(p.Lines[i]), convert.Homes{}.Of(in)
	switch {
	case nginxRefused(p, i, line, in):
	case !convert.FromDebian(in):
		p.Replace(i, own.Move(line), convert.Elsewhere(in))
	case nginxModules.MatchString(line):
		p.Replace(i, "include /usr/share/nginx/modules/*.conf;", convert.Whose(in.Target)+" packages enable their modules here.")
	case nginxIncluded(p, i, line, convert.RewordingsOf("nginx-snippets"), own), p.Reword(i, line, convert.RewordingsOf("nginx-from-debian")), nginxOfDebian(p, i, line, in):
	default:
		p.Replace(i, nginxPlacesRPM.Then(own).Move(PHPBack(line)), convert.Elsewhere(in))
	}
}

// nginxRefused reports whether a line is one that the target's nginx takes no more.
func nginxRefused(p *convert.Page, i int, line string, in convert.Input) bool {
	for _, gone := range nginxGone {
		if gone.line.MatchString(line) && convert.HasSince("nginx", gone.since, in.Target) {
			p.Refuse(i, "The target's nginx has this no more: ssl is a word of listen, and SPDY and push are gone.")
			return true
		}
	}
	return false
}

// nginxIncluded writes out what stands in a file of Debian's package, with the target's
// own places.
func nginxIncluded(p *convert.Page, i int, line string, snippets []convert.Rewording, own convert.Places) bool {
	for _, s := range snippets {
		if s.Line.MatchString(line) {
			p.Replace(i, own.Move(s.Now), "Debian's package has these lines in a file of its own.")
			return true
		}
	}
	return false
}

// nginxOfDebian refuses what only Debian's packages bring.
func nginxOfDebian(p *convert.Page, i int, line string, in convert.Input) bool {
	m := nginxSnippet.FindStringSubmatch(line)
	switch {
	case m != nil && !slices.ContainsFunc(in.Files, func(f convert.File) bool { return f.Path == "/etc/nginx/"+m[1] }):
		p.Refuse(i, "It is a file of Debian's package, which the target has not: say what of it is wanted.")
	case strings.HasPrefix(line, "load_module"):
		p.Refuse(i, "The target's packages load their modules themselves: install the one that has it.")
	default:
		return false
	}
	return true
}

var nginxSnippet = lazyregexp.New(`^include\s+"?(?:/etc/nginx/)?(snippets/[\w.-]+)"?\s*;`)
