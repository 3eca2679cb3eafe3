// Package apache converts Apache: its sites, modules and directives, and who may see what.
package apache

import (
	"cmp"
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"

	"svc/assess/conf"
	"svc/backend/lazyregexp"
	"svc/backend/sliced"
	"svc/backend/tsv"
	"svc/tools/convert"
	"svc/tools/convert/web"
)

//go:embed httpd_directives.tsv
var httpdDirectiveRows string

//go:embed httpd_modules.tsv
var httpdModuleRows string

var (
	httpdDirectives = sync.OnceValue(func() map[string][]string { return tsv.Words(httpdDirectiveRows) }) // name in lower case → modules that have it
	httpdModules    = sync.OnceValue(func() map[string][]string { return tsv.Words(httpdModuleRows) })    // module → what it needs first
)

// httpdPlaces are where the families keep what httpd's configuration names.
var httpdPlaces = httpdHomes.Debian()

// httpdRelative are the folders below ServerRoot that relative names begin with.
var httpdRelative = lazyregexp.New(`(^|["\s|])(conf\.d|conf|logs|run|modules)/`)

// httpdRun is the conversion of one server.
type httpdRun struct {
	convert.Result
	in      convert.Input
	modules map[string][]string // what has to be enabled → the files that need it
	places  convert.Places
	// variables are those of Debian's envvars, towards others.
	variables *strings.Replacer

	defaultSite, ownSecurity bool // Debian's default site, and its security.conf, are removed
	ownPorts                 bool // Debian's ports.conf gives way, which opens port 80 on every address
	ofPHP                    bool // the line is in a section that holds where the server itself runs PHP
	rest                     int  // the line of httpd.conf from which on it is read after conf.d; 0 where none is
}

// HTTPD makes Debian's apache2 of a server of the rpm families: conf.d is
// sites-available and conf-available with the links that enable them, LoadModule
// is the link of a2enmod, the rules of access are those of httpd 2.4. What the
// server served as a whole goes on in conf-available/000-httpd.conf, and what comes after
// conf.d in sites-available/zzz-httpd.conf.
func HTTPD(in convert.Input) convert.Result {
	switch {
	case convert.FromDebian(in):
		return httpdFromDebian(in)
	case convert.WithinRPM(in):
		return httpdWithin(in)
	}
	h := &httpdRun{in: in, modules: map[string][]string{}, places: slices.Concat(web.SettingPlaces(in), httpdPlaces)}
	h.ports()
	for _, f := range in.Files {
		h.file(f)
	}
	h.pages()
	h.enable()
	return h.Result
}

// htaccess is what the file is called by which people set how a folder of pages is served.
const htaccess = ".htaccess"

// pages notes the modules that folders of pages need by their .htaccess: the rpm families
// load all that they have, and a directive that no module has fails every page below it.
func (h *httpdRun) pages() {
	for _, f := range h.in.Pages {
		if path.Base(f.Path) != htaccess {
			continue
		}
		p := convert.Open(f, "#")
		for i := range p.Active() {
			name, _ := conf.Directive(p.Lines[i])
			if strings.HasPrefix(name, "php_") { // of a module that brings itself
				continue
			}
			h.needs(p, name, p.Lines[i])
		}
	}
}

func (h *httpdRun) file(f convert.File) {
	p := convert.Open(f, "#")
	h.ofPHP, h.rest = false, 0
	for i := 0; i < len(p.Lines); i++ {
		if !p.Idle(i) {
			i = h.line(p, i)
		}
	}
	h.access(p)
	last := h.cut(p)
	to, link := httpdPlace(f.Path, p.Text())
	h.security(p, link)
	h.Close(p, to)
	if link != "" {
		h.enables(f.Path, to, link)
	}
	if last != "" {
		h.Files = append(h.Files, convert.File{Path: "/etc/apache2/sites-available/zzz-httpd.conf", Text: last, From: f.Path})
		h.enables(f.Path, "/etc/apache2/sites-available/zzz-httpd.conf", "/etc/apache2/sites-enabled/zzz-httpd.conf")
	}
	if len(p.Refused) == 0 && !h.defaultSite {
		h.defaultSite = true
		h.Removed = append(h.Removed, convert.Link{Path: "/etc/apache2/sites-enabled/000-default.conf", Target: "", From: f.Path, Why: "The source has no such site: it would answer before the others."})
	}
}

// cut takes from httpd.conf what it says after conf.d, which Debian has to read after all that
// is enabled: the last line counts, and what people include there names what conf.d has.
// A section that conf.d is read in stays whole.
func (h *httpdRun) cut(p *convert.Page) string {
	open, says := 0, false
	for i, line := range p.Lines {
		line = strings.TrimSpace(line)
		switch {
		case i >= h.rest:
			says = says || line != "" && line[0] != '#'
		case strings.HasPrefix(line, "</"):
			open--
		case strings.HasPrefix(line, "<"):
			open++
		}
	}
	if h.rest == 0 || open != 0 || !says {
		return ""
	}
	last := strings.Join(p.Lines[h.rest:], "\n")
	p.Lines = append(p.Lines[:h.rest:h.rest], "")
	return last
}

// enables has a file read by a link.
func (h *httpdRun) enables(from, file, link string) {
	h.Links = append(h.Links, convert.Link{Path: link, Target: "../" + path.Base(path.Dir(file)) + "/" + path.Base(file), From: from, Why: "It is enabled, as a2ensite and a2enconf do it."})
}

// security removes the link to Debian's own security.conf where it would be read after a
// file that says for the whole server what it says too: the last one counts.
func (h *httpdRun) security(p *convert.Page, link string) {
	const debians = "/etc/apache2/conf-enabled/security.conf"
	depth := 0
	for i := range p.Lines {
		name, _ := conf.Directive(p.Lines[i])
		section := strings.HasPrefix(strings.TrimSpace(p.Lines[i]), "<")
		switch {
		case section && strings.Contains(name, "if"): // it is of where it stands
		case section && strings.HasPrefix(name, "/"):
			depth--
		case section:
			depth++
		case depth == 0 && link < debians && strings.HasPrefix(link, path.Dir(debians)) && !h.ownSecurity && len(p.Refused) == 0 && convert.Lists("httpd-security-debian", name):
			h.ownSecurity = true
			h.Removed = append(h.Removed, convert.Link{Path: debians, From: p.From, Why: "It is read after this file, and says anew what this file says: " + strings.TrimSpace(p.Lines[i]) + "."})
		}
	}
}

// httpdMain is the file that is read first, and includes others.
const httpdMain = "/etc/httpd/conf/httpd.conf"

// httpdPlace is where a file stands on Debian, with the link that enables it.
func httpdPlace(file, text string) (to, link string) {
	name := path.Base(file)
	switch path.Dir(file) {
	case "/etc/httpd/conf", "/etc/httpd/conf.d":
	case "/etc/httpd/conf.modules.d":
		name = "modules-" + name
	default: // included by name
		return httpdPlaces.Move(file), ""
	}
	if file == httpdMain {
		name = "000-" + name // conf.d has the last word
	}
	kind := "conf"
	if VirtualHost.MatchString(text) {
		kind = "sites"
	}
	return "/etc/apache2/" + kind + "-available/" + name, "/etc/apache2/" + kind + "-enabled/" + name
}

var VirtualHost = lazyregexp.New(`(?im)^\s*<VirtualHost\b`)

// line converts the directive that begins at line i, and gives the last line of
// it.
func (h *httpdRun) line(p *convert.Page, i int) int {
	last := p.Last(i)
	name, value := conf.Directive(p.Lines[i])
	switch {
	case name == "ifmodule" && strings.Contains(value, "php") && !strings.HasPrefix(value, "!"):
		h.ofPHP = true
	case name == "/ifmodule":
		h.ofPHP = false
	}
	switch gone, known := convert.WordsOf("httpd-gone")[name], httpdDirectives()[name]; {
	case gone.Why != "":
		p.Put(i, gone, value)
	case name == "user" || name == "group":
		h.account(p, i, value)
	case name == "listen":
		h.listen(p, i, value)
	case name == "loadmodule":
		h.loadModule(p, i, value)
	case strings.HasPrefix(name, "include") && httpdOwn.MatchString(value):
		if p.From == httpdMain && !strings.Contains(value, "modules") {
			h.rest = i + 1
		}
		p.Drop(i, "Debian's apache2.conf includes what is enabled.")
	case strings.HasPrefix(name, "/"), known != nil, strings.HasPrefix(name, "php_"):
		for n := i; n <= last; n++ {
			h.paths(p, n)
		}
		h.needs(p, name, strings.Join(p.Lines[i:last+1], " "))
	default:
		p.Refuse(i, "No module of Debian's apache2 has this directive.")
	}
	return last
}

// httpdOwn are the folders that httpd.conf includes as a whole.
var httpdOwn = lazyregexp.New(`^"?(/etc/httpd/)?conf(\.modules)?\.d/\*\.conf"?$`)

func (h *httpdRun) account(p *convert.Page, i int, value string) {
	if value != "apache" {
		p.Refuse(i, "The server runs as an account of its own: set it in /etc/apache2/envvars.")
		return
	}
	p.Drop(i, "Debian's account is www-data; /etc/apache2/envvars sets it.")
}

// portsOfTLS is what is left of Debian's ports.conf where the source says on which addresses it
// answers without TLS.
const portsOfTLS = "<IfModule ssl_module>\n\tListen 443\n</IfModule>\n"

// ports puts another ports.conf in the place of Debian's where nothing of the source listens on
// port 80 of every address: what does, may be another server.
func (h *httpdRun) ports() {
	first, tls := "", portsOfTLS
	for _, f := range h.in.Files {
		p := convert.Open(f, "#")
		for i := range p.Active() {
			name, value := conf.Directive(p.Lines[i])
			port, everywhere := listens(value)
			switch {
			case name != "listen" || port == "":
				continue
			case port == "80" && everywhere:
				return
			case port == "443" && !everywhere:
				tls = ""
			}
			first = cmp.Or(first, f.Path)
		}
	}
	if first != "" && convert.DebianFamily(h.in.Target) {
		h.ownPorts = true
		h.Files = append(h.Files, convert.File{Path: "/etc/apache2/ports.conf", Text: "# Where to listen besides, the converted files say.\n" + tls, From: first})
	}
}

// listen leaves out the ports that the target's own files open.
func (h *httpdRun) listen(p *convert.Page, i int, value string) {
	server, file, debian := "The target's httpd", convert.Whose(h.in.Target)+" httpd.conf", convert.DebianFamily(h.in.Target)
	if debian {
		server, file = "Debian's ports.conf", "Debian's ports.conf"
	}
	switch port, everywhere := listens(value); {
	case port == "":
		p.Refuse(i, "It has no port.")
	case port != "80" && port != "443", h.ownPorts && !everywhere:
	case !everywhere:
		p.Refuse(i, server+" opens port "+port+oneAddress)
	case port == "80":
		p.Drop(i, file+" opens port 80.")
	case debian:
		h.need("ssl", p.From)
		p.Drop(i, "Debian's ports.conf opens port 443 where mod_ssl is enabled.")
	case convert.ToSUSE(h.in):
		p.Replace(i, "<IfDefine !SSL>\n    Listen 443\n</IfDefine>", "SUSE's listen.conf opens port 443 where APACHE_SERVER_FLAGS has SSL.")
	default:
		p.Drop(i, "mod_ssl's ssl.conf opens port 443.")
	}
}

// oneAddress is why a Listen can't stand beside that of the target's own files.
const oneAddress = " on every address; httpd does not start with another Listen for one of them: say there which is meant."

// listens is the port of a Listen, and whether it is that of every address.
func listens(value string) (port string, everywhere bool) {
	port = strings.Fields(value + " ?")[0]
	host := port[:strings.LastIndexByte(port, ':')+1]
	return strings.Trim(port[len(host):], "?"), slices.Contains([]string{"", "*:", "0.0.0.0:", "[::]:"}, host)
}

// loadModule enables a module where it is loaded on purpose: the rpm families
// load all that they have, so what Debian leaves out is enabled by need.
func (h *httpdRun) loadModule(p *convert.Page, i int, value string) {
	name := strings.TrimSuffix(strings.Fields(value + " ?")[0], "_module")
	_, known := httpdModules()[name]
	brings := convert.WordsOf("httpd-packages-debian")[name].Now
	switch {
	case convert.Lists("httpd-modules-debian", name):
		p.Drop(i, "Debian's apache2 has it enabled, or built in.")
	case strings.HasPrefix(name, "mpm_") && known:
		h.need(name, p.From)
		for _, ext := range []string{".load", ".conf"} {
			h.Removed = append(h.Removed, convert.Link{Path: "/etc/apache2/mods-enabled/mpm_event" + ext, Target: "", From: p.From, Why: "One MPM can run."})
		}
		p.Drop(i, "It is enabled, as a2enmod does it.")
	case known && generalModules.MatchString(p.From):
		p.Drop(i, "It is enabled where a directive needs it.")
	case known:
		h.need(name, p.From)
		p.Drop(i, "It is enabled, as a2enmod does it.")
	case strings.HasPrefix(name, "php"):
		h.Packages = append(h.Packages, "libapache2-mod-php")
		p.Drop(i, "libapache2-mod-php enables its module itself.")
	case brings != "":
		h.Packages = append(h.Packages, brings)
		p.Drop(i, brings+" enables its module itself.")
	case convert.Lists("httpd-modules-gone", name):
		p.Drop(i, "httpd 2.4 has no such module.")
	default:
		p.Refuse(i, "Debian's apache2 does not ship this module.")
	}
}

// generalModules are the files in which the rpm families load what they have.
var generalModules = lazyregexp.New(`/conf/httpd\.conf$|/conf\.modules\.d/00-[a-z]+\.conf$`)

// paths rewrites the places that a line names.
func (h *httpdRun) paths(p *convert.Page, i int) {
	line := strings.TrimSpace(p.Lines[i])
	absolute := httpdRelative.ReplaceAllString(line, "${1}/etc/httpd/${2}/")
	if name, _ := conf.Directive(line); !takesFile(name) {
		absolute = line
	}
	now := h.places.Move(absolute)
	if strings.HasPrefix(strings.ToLower(now), "<ifmodule") {
		now = oldMPM.Replace(now)
	}
	if now != absolute {
		p.Replace(i, now, h.elsewhere())
	}
}

// elsewhere says why a place is another.
func (h *httpdRun) elsewhere() string {
	if convert.WithinRPM(h.in) {
		return "The target keeps it in another place."
	}
	return convert.Elsewhere(h.in)
}

// oldMPM are the source files by which httpd 2.2 named its MPMs.
var oldMPM = strings.NewReplacer("prefork.c>", "mpm_prefork_module>", "worker.c>", "mpm_worker_module>", "mod_mpm_mpm_", "mpm_")

// takesFile reports whether relative names of a directive are below ServerRoot.
func takesFile(name string) bool {
	return strings.HasSuffix(name, "log") || strings.HasSuffix(name, "file") || strings.HasPrefix(name, "include") || strings.HasSuffix(name, "path") || name == "sslsessioncache" || name == "mimemagicfile"
}

// needs notes the modules that a directive is of, or that its argument names.
func (h *httpdRun) needs(p *convert.Page, name, line string) {
	if modules := httpdDirectives()[name]; len(modules) == 1 && name != "ifmodule" {
		h.need(modules[0], p.From)
	}
	if strings.HasPrefix(name, "php_") && !h.ofPHP {
		h.Packages = append(h.Packages, "libapache2-mod-php")
	}
	for _, hint := range convert.RewordingsOf("httpd-hints") {
		if hint.Line.MatchString(line) {
			for m := range strings.FieldsSeq(hint.Now) {
				h.need(m, p.From)
			}
		}
	}
}

func (h *httpdRun) need(module, file string) {
	there := convert.ListOf("httpd-modules-debian")
	if convert.ToSUSE(h.in) {
		there = convert.ListOf("httpd-modules-suse")
	}
	if slices.Contains(h.modules[module], file) || slices.Contains(there, module) {
		return
	}
	h.modules[module] = append(h.modules[module], file)
	for _, first := range httpdModules()[module] {
		h.need(first, file)
	}
}

// enable links what has to be enabled.
func (h *httpdRun) enable() {
	converted := sliced.First(h.in.Files, func(f convert.File) bool { return len(h.Refusals[f.Path]) == 0 }).Path
	for module, files := range h.modules {
		i := slices.IndexFunc(files, func(f string) bool { return len(h.Refusals[f]) == 0 })
		if i < 0 {
			continue
		}
		if brings := convert.WordsOf("httpd-packages-debian")[module].Now; brings != "" {
			h.Packages = append(h.Packages, brings) // it enables its module itself
			continue
		}
		from := files[i]
		if path.Base(from) == htaccess { // the link comes with a file of the server's
			from = converted
		}
		for _, ext := range []string{".load", ".conf"} {
			name := module + ext
			h.Links = append(h.Links, convert.Link{Path: "/etc/apache2/mods-enabled/" + name, Target: "../mods-available/" + name, From: from, Why: "A directive needs the module: it is enabled, as a2enmod does it."})
		}
	}
	slices.SortFunc(h.Links, func(a, b convert.Link) int { return strings.Compare(a.Path, b.Path) })
}
