package apache

import (
	"path"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/release"
	"svc/tools/convert"
	"svc/tools/convert/web"
)

// alpineModulePackages are those of Alpine that load modules, by how these begin. Origin:
// the APKBUILD of apache2 in aports.
var alpineModulePackages = []struct{ begins, name string }{
	{"ssl", "apache2-ssl"}, {"proxy", "apache2-proxy"}, {"lbmethod_", "apache2-proxy"}, {"http2", "apache2-http2"}, {"ldap", "apache2-ldap"}, {"authnz_ldap", "apache2-ldap"},
}

// apacheOnlyDebian are lines that name what Debian's package alone has.
var apacheOnlyDebian = lazyregexp.New(`(?i)\$\{APACHE_|^include(optional)?\s+"?(/etc/apache2/)?(conf|mods|sites)-(available|enabled)/|ssl-cert-snakeoil|^(user|group|assignuserid)\s.*www-data`)

// apart carry Debian's Apache to lines that stand apart.
var apart = convert.ByLine{release.LineAlpine: alpine}

// Apart carries what Debian's Apache has enabled to a line that stands apart.
func Apart(in convert.Input) convert.Result { return apart.Convert(in) }

// alpine carries the sites and settings that Debian's Apache has enabled to conf.d,
// and says which modules it had.
func alpine(in convert.Input) (r convert.Result) {
	enabled, modules, from := map[string]string{}, []string{}, ""
	for link, file := range in.Links {
		if folder := path.Base(path.Dir(link)); strings.HasSuffix(folder, "-enabled") {
			enabled[file] = path.Base(link)
		}
	}
	for _, f := range in.Files {
		file, linked := in.Links[f.Path]
		if module, ok := strings.CutSuffix(path.Base(f.Path), ".load"); ok && path.Dir(f.Path) == "/etc/apache2/mods-enabled" {
			modules, from = apacheModule(&r, f.Path, module, modules), f.Path
			continue
		}
		if linked {
			r.Note(f.Path, convert.Change{Line: 0, Was: f.Path + " -> " + file, Now: "", Why: "What it enables goes to conf.d where a person wrote it; the target's own package has the rest."})
			continue
		}
		p := convert.Open(f, "#")
		for i, line := range p.Active() {
			apacheLineAlpine(p, i, line)
		}
		r.Close(p, apachePlaceAlpine(f.Path, enabled[f.Path]))
	}
	if len(modules) > 0 {
		r.Files = append(r.Files, convert.File{Path: "/etc/apache2/conf.d/00-modules.conf", Text: loadModules(modules), From: from, Mode: "0644"})
	}
	return r
}

// apacheModule adds a module that was enabled: to those that are loaded, or the package
// that loads it.
func apacheModule(r *convert.Result, link, module string, modules []string) []string {
	for _, p := range alpineModulePackages {
		if strings.HasPrefix(module, p.begins) {
			r.Packages = append(r.Packages, p.name)
			r.Note(link, convert.Change{Line: 0, Was: module, Now: "", Why: p.name + " has the module, and loads it."})
			return modules
		}
	}
	switch {
	case convert.Lists("httpd-modules-alpine", module):
		r.Note(link, convert.Change{Line: 0, Was: module, Now: "LoadModule " + module + "_module", Why: "Alpine loads modules by lines of its configuration."})
		return append(modules, module)
	case strings.HasPrefix(module, "mpm_"):
		r.Note(link, convert.Change{Line: 0, Was: module, Now: "", Why: "Which of the MPMs is loaded, Alpine's httpd.conf says: prefork, if nobody changes it."})
		return modules
	}
	r.Refuse(link, convert.Refusal{Line: 0, Text: module, Why: "Whether a package of Alpine has this module is not known."})
	return modules
}

// loadModules are the lines that load modules which Alpine's httpd.conf does not.
func loadModules(modules []string) string {
	var b strings.Builder
	b.WriteString("# Modules that were enabled on the source.\n")
	for _, m := range modules {
		b.WriteString("<IfModule !" + m + "_module>\n    LoadModule " + m + "_module /usr/lib/apache2/mod_" + m + ".so\n</IfModule>\n")
	}
	return b.String()
}

func apacheLineAlpine(p *convert.Page, i int, line string) {
	for _, rule := range convert.RewordingsOf("apache-to-alpine") {
		if now := rule.Line.ReplaceAllString(line, rule.Now); now != line {
			p.Replace(i, now, rule.Why)
			line = now
		}
	}
	if apacheOnlyDebian.MatchString(line) {
		p.Refuse(i, "It names what Debian's package alone has: say what of it is wanted.")
	}
}

// apachePlaceAlpine is where a file stands: what is not enabled, where nothing reads it.
func apachePlaceAlpine(file, enabled string) string {
	switch folder, name := path.Split(file); {
	case enabled != "":
		return "/etc/apache2/conf.d/" + web.ConfName(enabled)
	case strings.HasSuffix(folder, "-enabled/"):
		return "/etc/apache2/conf.d/" + web.ConfName(name)
	}
	return file
}
