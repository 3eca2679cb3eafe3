package apache

import (
	"path"
	"slices"
	"strings"

	"svc/assess/conf"
	"svc/backend/lazyregexp"
	"svc/tools/convert"
	"svc/tools/convert/web"
)

// httpdRPMPackage is the package of the rpm families with a module that httpd's own
// package has not; what else Debian has is loaded by itself there.
func httpdRPMPackage(module string) string { return convert.WordsOf("httpd-packages-rpm")[module].Now }

// httpdRPMPlaces are where the rpm families keep what Debian's configuration of
// httpd names.
var httpdRPMPlaces = convert.HomesOf("httpd-from-debian").FromDebian()

// httpdVariables are those of Debian's envvars, with what the target has for them.
func httpdVariables(in convert.Input) *strings.Replacer {
	web, there := in.Target.Family.Conventions().Web, httpdHomes.Of(in).Move
	return strings.NewReplacer("${APACHE_LOG_DIR}", there("/var/log/httpd"), "${APACHE_RUN_DIR}", there("/run/httpd"), "${APACHE_LOCK_DIR}", there("/run/httpd"), "${APACHE_RUN_USER}", web.Account, "${APACHE_RUN_GROUP}", web.Group)
}

// httpdDebians are directives by which Debian's apache2.conf says what the
// target's httpd.conf says itself.
var httpdDebians = lazyregexp.Whole(`serverroot|pidfile|mutex|defaultruntimedir|user|group`)

// httpdDebianOwn are what Debian's apache2.conf includes as a whole.
var httpdDebianOwn = lazyregexp.New(`^"?(/etc/apache2/)?((mods|sites|conf)-enabled/\*(\.\w+)?|ports\.conf)"?$`)

// httpdFromDebian makes httpd of the rpm families of Debian's apache2: what is
// enabled goes to conf.d by the name by which it is, what is not stands in a
// folder that nothing reads; modules come with their packages.
func httpdFromDebian(in convert.Input) convert.Result {
	h := &httpdRun{in: in, modules: map[string][]string{}, places: httpdRPMPlaces.Then(httpdHomes.Of(in)), variables: httpdVariables(in)}
	enabled := in.Enabled()
	for _, f := range in.Files {
		if file, ok := in.Links[f.Path]; ok {
			h.link(f.Path, file)
			continue
		}
		p := convert.Open(f, "#")
		h.debianLines(p, enabled)
		h.Close(p, fileThere(in, httpdRPMPlace(f.Path, enabled[f.Path]), p.Text()))
	}
	h.packages()
	return h.Result
}

// packages are those that have the modules which are needed.
func (h *httpdRun) packages() {
	if convert.ToSUSE(h.in) {
		h.loadModules()
		return
	}
	for module, files := range h.modules {
		written := slices.ContainsFunc(files, func(f string) bool { return len(h.Refusals[f]) == 0 })
		if name := httpdRPMPackage(module); name != "" && written {
			h.Packages = append(h.Packages, name)
		}
	}
}

// httpdRPMPlace is where a file stands in the rpm families; enabled is the name
// by which it is enabled, or empty.
func httpdRPMPlace(file, enabled string) string {
	kind, name := path.Base(path.Dir(file)), path.Base(file)
	switch {
	case kind == "apache2":
		return "/etc/httpd/conf.d/00-" + name
	case kind == "mods-available" && enabled != "":
		return "/etc/httpd/conf.d/00-" + enabled
	case strings.HasSuffix(kind, "-enabled"):
		return "/etc/httpd/conf.d/" + name
	case strings.HasSuffix(kind, "-available") && enabled != "":
		return "/etc/httpd/conf.d/" + enabled
	}
	return httpdRPMPlaces.Move(file)
}

// link says of what enables a file or a module what becomes of that.
func (h *httpdRun) link(link, file string) {
	why := "What it enables goes to " + confFolder(h.in) + " where a person wrote it; the target's own package has the rest."
	module, isModule := strings.CutSuffix(path.Base(link), ".load")
	switch {
	case !isModule:
	case strings.HasPrefix(module, "php"):
		h.Packages = append(h.Packages, web.FPMPackage(h.in))
		why = convert.Whose(h.in.Target) + " httpd has PHP run by php-fpm."
	case strings.HasPrefix(module, "mpm_") && convert.ToSUSE(h.in):
		why = "A package of SUSE's has each MPM, prefork by default; APACHE_MPM of /etc/sysconfig/apache2 says which of several runs."
	case module == "mpm_prefork" || module == "mpm_worker":
		text := "LoadModule " + module + "_module modules/mod_" + module + ".so\n"
		h.Files = append(h.Files, convert.File{Path: "/etc/httpd/conf.modules.d/00-mpm.conf", Text: text, From: link})
		why = "The target loads its MPM here."
	default:
		h.need(module, link)
		why = convert.Whose(h.in.Target) + " packages load their modules themselves."
		if name := httpdRPMPackage(module); name != "" && !convert.ToSUSE(h.in) {
			why = name + " loads its module itself."
		}
	}
	h.Note(link, convert.Change{Line: 0, Was: link + " -> " + file, Now: "", Why: why})
}

func (h *httpdRun) debianLines(p *convert.Page, enabled map[string]string) {
	ofPHP := false // in a section that holds where httpd itself runs PHP
	for i := 0; i < len(p.Lines); i++ {
		if p.Idle(i) {
			continue
		}
		name, value := conf.Directive(p.Lines[i])
		switch {
		case name == "ifmodule" && strings.Contains(value, "php"):
			ofPHP = true
		case name == "/ifmodule":
			ofPHP = false
		}
		if strings.HasPrefix(name, "php_") && !ofPHP {
			p.Refuse(i, "The target's php-fpm runs PHP: it takes this from a pool, or from .user.ini.")
			continue
		}
		i = h.debianLine(p, i, name, value, enabled)
	}
}

// debianLine converts the directive that begins at line i, and gives the last
// line of it.
func (h *httpdRun) debianLine(p *convert.Page, i int, name, value string, enabled map[string]string) int {
	last := p.Last(i)
	switch gone := convert.WordsOf("httpd-gone")[name]; {
	case httpdDebians.MatchString(name) && (strings.Contains(value, "${APACHE_") || name == "serverroot"):
		p.Drop(i, convert.Whose(h.in.Target)+" httpd.conf says it.")
	case name == "user" || name == "group":
		p.Refuse(i, "The server runs as an account of its own: set it in /etc/httpd/conf/httpd.conf.")
	case gone.Why != "" && name != "serverroot" && name != "pidfile":
		p.Put(i, gone, value)
	case name == "listen":
		h.listen(p, i, value)
	case name == "loadmodule":
		h.debianModule(p, i, value)
	case strings.HasPrefix(name, "include"):
		h.debianInclude(p, i, value, enabled)
	case strings.HasPrefix(name, "/"), httpdDirectives()[name] != nil, strings.HasPrefix(name, "php_"):
		for n := i; n <= last; n++ {
			line := strings.TrimSpace(p.Lines[n])
			p.Replace(n, h.places.Move(web.PHPBack(h.variables.Replace(line))), "The target keeps it in another place, or by another name.")
		}
		h.needs(p, name, strings.Join(p.Lines[i:last+1], " "))
	default:
		p.Refuse(i, "No module of httpd is known to have this directive.")
	}
	return last
}

func (h *httpdRun) debianModule(p *convert.Page, i int, value string) {
	name := strings.TrimSuffix(strings.Fields(value + " ?")[0], "_module")
	_, known := httpdModules()[name]
	if !known && httpdRPMPackage(name) == "" {
		p.Refuse(i, "No package of the target is known to have this module.")
		return
	}
	h.need(name, p.From)
	p.Drop(i, convert.Whose(h.in.Target)+" packages load their modules themselves.")
}

// debianInclude has a file included from where it stands now.
func (h *httpdRun) debianInclude(p *convert.Page, i int, value string, enabled map[string]string) {
	file := strings.Trim(value, `"`)
	if !path.IsAbs(file) {
		file = "/etc/apache2/" + file
	}
	written := slices.ContainsFunc(h.in.Files, func(f convert.File) bool { return f.Path == file })
	name := strings.Fields(p.Lines[i])[0]
	switch {
	case httpdDebianOwn.MatchString(value):
		p.Drop(i, convert.Whose(h.in.Target)+" httpd.conf includes "+confFolder(h.in)+"/*.conf.")
	case written:
		p.Replace(i, name+" "+h.places.Move(httpdRPMPlace(file, enabled[file])), convert.Elsewhere(h.in))
	case strings.HasPrefix(file, "/etc/apache2/") && path.Dir(path.Dir(file)) == "/etc/apache2" && !strings.Contains(file, "*"):
		p.Refuse(i, "It is a file of Debian's package, which the target has not: say what of it is wanted.")
	default:
		p.Replace(i, name+" "+h.places.Move(file), convert.Elsewhere(h.in))
	}
}

// httpdWithin carries a server of the rpm families to a later release, where it
// has the same places.
func httpdWithin(in convert.Input) convert.Result {
	h := &httpdRun{in: in, modules: map[string][]string{}, places: httpdHomes.Of(in)}
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		for i := 0; i < len(p.Lines); i++ {
			if !p.Idle(i) {
				h.laterLine(p, i)
			}
			for i < len(p.Lines)-1 && strings.HasSuffix(p.Lines[i], `\`) {
				i++
				h.moved(p, i)
			}
		}
		if strings.HasPrefix(in.VersionOf("httpd"), "2.2") {
			h.access(p)
		}
		h.Close(p, fileThere(in, f.Path, p.Text()))
	}
	h.packages()
	return h.Result
}

// httpdStays are directives that httpdGone has for Debian's sake alone, and
// those of the rpm families' own modules.
var httpdStays = lazyregexp.Whole(`serverroot|pidfile|selinuxservertrail|selinuxserverdomain|user|group|listen|includeoptional|include`)

func (h *httpdRun) laterLine(p *convert.Page, i int) {
	name, value := conf.Directive(p.Lines[i])
	switch gone := convert.WordsOf("httpd-gone")[name]; {
	case convert.ToSUSE(h.in) && h.ownLine(p, i, name, value):
	case httpdStays.MatchString(name), strings.HasPrefix(name, "/"):
	case gone.Why != "":
		p.Put(i, gone, value)
	case name == "loadmodule":
		h.laterModule(p, i, value)
	case strings.HasPrefix(name, "php_"):
		p.Refuse(i, "The target's php-fpm runs PHP: it takes this from a pool, or from .user.ini.")
	case httpdDirectives()[name] == nil:
		p.Refuse(i, "No module of httpd is known to have this directive.")
	case name == "ifmodule":
		p.Replace(i, oldMPM.Replace(strings.TrimSpace(p.Lines[i])), "The module has another name.")
	default:
		h.needs(p, name, p.Lines[i])
		h.paths(p, i)
	}
}

// ownLine takes a directive by which httpd.conf says what SUSE's own files say.
func (h *httpdRun) ownLine(p *convert.Page, i int, name, value string) bool {
	switch {
	case name == "serverroot", name == "pidfile", (name == "user" || name == "group") && value == "apache":
		p.Drop(i, "SUSE's own files say it.")
	case name == "user" || name == "group":
		p.Refuse(i, "The server runs as an account of its own: set it in /etc/apache2/uid.conf.")
	case name == "listen":
		h.listen(p, i, value)
	case strings.HasPrefix(name, "include") && httpdOwn.MatchString(value):
		p.Drop(i, "SUSE's own files include what stands in conf.d and vhosts.d.")
	case strings.HasPrefix(name, "include"):
		h.moved(p, i)
	default:
		return false
	}
	return true
}

// moved rewrites the places of a line that a later release of the family takes as it is.
func (h *httpdRun) moved(p *convert.Page, i int) {
	if !p.Idle(i) {
		p.Replace(i, h.places.Move(strings.TrimSpace(p.Lines[i])), convert.Elsewhere(h.in))
	}
}

// laterModule leaves out modules that httpd has no more.
func (h *httpdRun) laterModule(p *convert.Page, i int, value string) {
	name := strings.TrimSuffix(strings.Fields(value + " ?")[0], "_module")
	_, known := httpdModules()[name]
	switch {
	case name == "systemd" || name == "cgi" || known && !generalModules.MatchString(p.From):
		h.need(name, p.From)
	case known && convert.ToSUSE(h.in):
		p.Drop(i, "It is loaded where a directive needs it.")
	case known:
	case strings.HasPrefix(name, "php"):
		h.Packages = append(h.Packages, web.FPMPackage(h.in))
		p.Drop(i, convert.Whose(h.in.Target)+" httpd has PHP run by php-fpm.")
	case httpdRPMPackage(name) != "":
		h.need(name, p.From)
		p.Drop(i, httpdRPMPackage(name)+" loads its module itself.")
	case convert.Lists("httpd-modules-gone", name):
		p.Drop(i, "httpd 2.4 has no such module.")
	default:
		p.Refuse(i, "No package of the target is known to have this module.")
	}
}
