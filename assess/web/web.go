// Package web reads the sites of web servers, and the certificates of a machine.
package web

import (
	"encoding/xml"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/conf"
)

// ReadWebServers finds web servers and proxies, and the sites that they serve.
func ReadWebServers(m *assess.Machine) {
	apache(m)
	nginx(m)
	lighttpd(m)
	inOneFile(m, "caddy", "etc/caddy/Caddyfile", parseCaddy)
	inOneFile(m, "haproxy", "etc/haproxy/haproxy.cfg", parseHAProxy)
	tomcat(m)
}

// webServer is a server without anything yet.
func webServer(kind, pkg string) assess.WebServer {
	return assess.WebServer{Kind: kind, Package: pkg, Modules: []string{}, Sites: []assess.Site{}}
}

// addWebServer adds a server; no list of a site is null.
func addWebServer(m *assess.Machine, w assess.WebServer) {
	for i := range w.Sites {
		w.Sites[i].Listen, w.Sites[i].Aliases = assess.List(w.Sites[i].Listen), assess.List(w.Sites[i].Aliases)
	}
	m.A.WebServers = append(m.A.WebServers, w)
}

// apacheLayout is where a family keeps Apache's configuration.
type apacheLayout struct {
	main, pkg string
	sites     []string // patterns of files that have virtual hosts
	modules   string   // pattern of files that load modules
}

// apacheLayouts are Debian's, SUSE's and EL's; Alpine's is EL's in another
// folder.
var apacheLayouts = []apacheLayout{
	{"etc/apache2/apache2.conf", "apache2", []string{"/etc/apache2/sites-enabled/*"}, "/etc/apache2/mods-enabled/*.load"},
	{"etc/apache2/sites-enabled", "apache2", []string{"/etc/apache2/sites-enabled/*"}, "/etc/apache2/mods-enabled/*.load"},
	{"etc/httpd/conf/httpd.conf", "httpd", []string{"/etc/httpd/conf/httpd.conf", "/etc/httpd/conf.d/*.conf", "/etc/httpd/vhosts.d/*.conf", "/etc/httpd/sites-enabled/*"}, "/etc/httpd/conf.modules.d/*.conf"},
	{"etc/apache2/httpd.conf", "apache2", []string{"/etc/apache2/httpd.conf", "/etc/apache2/vhosts.d/*.conf", "/etc/apache2/conf.d/*.conf"}, ""},
	{"opt/rh/httpd24/root/etc/httpd/conf/httpd.conf", "httpd24-httpd", []string{"/opt/rh/httpd24/root/etc/httpd/conf/httpd.conf", "/opt/rh/httpd24/root/etc/httpd/conf.d/*.conf"}, "/opt/rh/httpd24/root/etc/httpd/conf.modules.d/*.conf"},
	{"usr/local/apache2/conf/httpd.conf", "", []string{"/usr/local/apache2/conf/httpd.conf", "/usr/local/apache2/conf/extra/*.conf"}, ""},
}

// apache reads every Apache: a machine may have one of its own beside the
// distribution's.
func apache(m *assess.Machine) {
	seen := map[string]bool{}
	for _, l := range apacheLayouts {
		if seen[l.sites[0]] || !m.Exists(l.main) {
			continue
		}
		seen[l.sites[0]] = true
		m.Source("web.apache", assess.SourceOK, "/"+l.main)
		w := webServer("apache", l.pkg)
		for _, file := range m.Glob(l.sites...) {
			if text, ok := m.Text("web.apache."+path.Base(file), file[1:]); ok && !assess.Leftover(file) {
				w.Sites = append(w.Sites, parseApache(file, text)...)
				w.Modules = append(w.Modules, apacheModules(text)...)
			}
		}
		w.Modules = assess.List(append(w.Modules, modulesOf(m, l)...))
		slices.Sort(w.Modules)
		w.Modules = slices.Compact(w.Modules)
		addWebServer(m, w)
	}
	if len(seen) == 0 {
		m.Source("web.apache", assess.SourceAbsent, "")
	}
}

// modulesOf are the modules that are switched on apart from the main file.
func modulesOf(m *assess.Machine, l apacheLayout) (modules []string) {
	for _, file := range m.Glob(l.modules) {
		if module, ok := strings.CutSuffix(path.Base(file), ".load"); ok {
			modules = append(modules, module)
			continue
		}
		modules = append(modules, apacheModules(m.Peek(file[1:]))...)
	}
	if strings.HasPrefix(l.main, "etc/apache2/httpd") {
		modules = append(modules, strings.Fields(assess.ParseAssignments(m.Peek("etc/sysconfig/apache2"))["APACHE_MODULES"])...)
	}
	return modules
}

// apacheModules are the modules that a file loads: "LoadModule ssl_module …".
func apacheModules(text string) (modules []string) {
	for l := range conf.Apache(text) {
		if f := strings.Fields(l.Value); len(f) == 2 && l.Key == "loadmodule" {
			modules = append(modules, strings.TrimSuffix(f[0], "_module"))
		}
	}
	return modules
}

// parseApache reads the virtual hosts of a file.
func parseApache(file, text string) (sites []assess.Site) {
	inside := false
	for l := range conf.Apache(text) {
		switch {
		case l.Key == "virtualhost" && l.Heading:
			inside = true
			sites = append(sites, assess.Site{Listen: strings.Fields(l.Value), Evidence: assess.Evidence{Path: file, Line: l.N}})
		case l.Key == "/virtualhost":
			inside = false
		case inside && l.Set && !l.Heading:
			setDirective(&sites[len(sites)-1], l.Key, strings.Fields(l.Value))
		}
	}
	return sites
}

func setDirective(s *assess.Site, key string, values []string) {
	value := strings.Trim(values[0], `"`)
	switch key {
	case "servername":
		s.Name = value
	case "serveralias":
		s.Aliases = append(s.Aliases, values...)
	case "documentroot":
		s.Root = value
	case "sslengine":
		s.TLS = strings.EqualFold(value, "on")
	case "proxypass":
		if len(values) > 1 {
			s.Proxy = values[1]
		}
	}
}

// nginxSites are the files that have server blocks, on every family.
var nginxSites = []string{"/etc/nginx/nginx.conf", "/etc/nginx/sites-enabled/*", "/etc/nginx/conf.d/*.conf", "/etc/nginx/http.d/*.conf", "/etc/nginx/vhosts.d/*.conf"}

func nginx(m *assess.Machine) {
	if !m.Exists("etc/nginx/nginx.conf") {
		m.Source("web.nginx", assess.SourceAbsent, "")
		return
	}
	m.Source("web.nginx", assess.SourceOK, "/etc/nginx/nginx.conf")
	w := webServer("nginx", "nginx")
	for _, file := range m.Glob(nginxSites...) {
		text, _ := m.Text("web.nginx."+path.Base(file), file[1:])
		w.Sites = append(w.Sites, parseNginx(file, text)...)
	}
	for _, file := range m.Glob("/etc/nginx/modules-enabled/*") {
		w.Modules = append(w.Modules, strings.TrimSuffix(path.Base(file), ".conf"))
	}
	addWebServer(m, w)
}

// parseNginx reads the server blocks of a file: directives end in a semicolon,
// blocks stand in braces.
func parseNginx(file, text string) (sites []assess.Site) {
	depth, server := 0, 0 // server is the depth of the block we are in, or 0
	for n, line := range assess.NumberedLines(text) {
		line, _, _ = strings.Cut(line, "#")
		for _, statement := range assess.SplitStatements(line) {
			switch f := strings.Fields(statement); {
			case strings.HasSuffix(statement, "{"):
				depth++
				if server == 0 && strings.TrimRight(f[0], "{") == "server" {
					server = depth
					sites = append(sites, assess.Site{Evidence: assess.Evidence{Path: file, Line: n}})
				}
			case statement == "}":
				if depth == server {
					server = 0
				}
				depth = max(0, depth-1)
			case server > 0 && depth == server && len(f) > 1:
				setNginx(&sites[len(sites)-1], f[0], f[1:])
			case server > 0 && len(f) > 1 && f[0] == "proxy_pass" && sites[len(sites)-1].Proxy == "":
				sites[len(sites)-1].Proxy = f[1]
			}
		}
	}
	return sites
}

func setNginx(s *assess.Site, key string, values []string) {
	switch key {
	case "server_name":
		s.Name, s.Aliases = values[0], values[1:]
	case "root":
		s.Root = values[0]
	case "listen":
		s.Listen = append(s.Listen, values[0])
		s.TLS = s.TLS || slices.Contains(values, "ssl")
	case "ssl":
		s.TLS = values[0] == "on"
	}
}

// lighttpd has one configuration, in which conditions make sites.
func lighttpd(m *assess.Machine) {
	text, ok := m.Text("web.lighttpd", "etc/lighttpd/lighttpd.conf")
	if !ok {
		return
	}
	w := webServer("lighttpd", "lighttpd")
	w.Sites = append(w.Sites, parseLighttpd("/etc/lighttpd/lighttpd.conf", text))
	for _, file := range m.Glob("/etc/lighttpd/conf-enabled/*.conf", "/etc/lighttpd/vhosts.d/*.conf") {
		w.Modules = append(w.Modules, strings.TrimSuffix(path.Base(file), ".conf"))
	}
	addWebServer(m, w)
}

func parseLighttpd(file, text string) assess.Site {
	s := assess.Site{Evidence: assess.Evidence{Path: file, Line: 0}}
	for setting := range assess.ParseSettings(file, text, "=") {
		value := strings.Trim(setting.Value, `" `)
		switch setting.Key {
		case "server.port":
			s.Listen = []string{value}
		case "server.document-root":
			s.Root = value
		case "server.name":
			s.Name = value
		case "ssl.engine":
			s.TLS = value == "enable"
		}
	}
	return s
}

// inOneFile reads a server whose sites stand in one file.
func inOneFile(m *assess.Machine, kind, file string, parse func(file, text string) []assess.Site) {
	if text, ok := m.Text("web."+kind, file); ok {
		w := webServer(kind, kind)
		w.Sites = parse("/"+file, text)
		addWebServer(m, w)
	}
}

// parseCaddy reads the site addresses of a Caddyfile; but for plain http and ports
// other than https's, Caddy gives each a certificate.
func parseCaddy(file, text string) (sites []assess.Site) {
	depth := 0
	for n, line := range assess.NumberedLines(text) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0][0] == '#' {
			continue
		}
		opens := f[len(f)-1] == "{"
		switch {
		case opens && depth == 0 && len(f) > 1 && f[0][0] != '(':
			name := strings.TrimRight(f[0], ",")
			plain := strings.HasPrefix(name, "http://") || strings.HasPrefix(name, ":")
			sites = append(sites, assess.Site{Name: name, Aliases: f[1 : len(f)-1], TLS: !plain, Evidence: assess.Evidence{Path: file, Line: n}})
		case len(sites) > 0 && f[0] == "root":
			sites[len(sites)-1].Root = f[len(f)-1]
		case len(sites) > 0 && f[0] == "reverse_proxy" && len(f) > 1:
			sites[len(sites)-1].Proxy = f[1]
		}
		switch {
		case opens:
			depth++
		case f[0] == "}":
			depth = max(0, depth-1)
		}
	}
	return sites
}

// haproxySections are the words that begin a part of the file.
var haproxySections = []string{"global", "defaults", "frontend", "backend", "listen", "peers", "userlist", "resolvers", "mailers", "program", "cache"}

// parseHAProxy reads the frontends: what listens for others.
func parseHAProxy(file, text string) (sites []assess.Site) {
	inside := false
	for n, line := range assess.NumberedLines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case slices.Contains(haproxySections, f[0]):
			if inside = (f[0] == "frontend" || f[0] == "listen") && len(f) > 1; inside {
				sites = append(sites, assess.Site{Name: f[1], Evidence: assess.Evidence{Path: file, Line: n}})
			}
		case inside && f[0] == "bind" && len(f) > 1:
			s := &sites[len(sites)-1]
			s.Listen, s.TLS = append(s.Listen, f[1]), s.TLS || slices.Contains(f, "ssl")
		case inside && (f[0] == "default_backend" || f[0] == "server") && len(f) > 1:
			sites[len(sites)-1].Proxy = f[len(f)-1]
			if f[0] == "server" && len(f) > 2 {
				sites[len(sites)-1].Proxy = f[2]
			}
		}
	}
	return sites
}

// tomcats are where Tomcat's configuration stands: of packages, and of what
// people unpacked.
var tomcats = []string{"/etc/tomcat/server.xml", "/etc/tomcat*/server.xml", "/opt/*tomcat*/conf/server.xml", "/usr/local/*tomcat*/conf/server.xml", "/usr/share/tomcat*/conf/server.xml", "/srv/*tomcat*/conf/server.xml"}

func tomcat(m *assess.Machine) {
	seen := map[string]bool{}
	for _, file := range m.Glob(tomcats...) {
		if seen[file] || !m.Exists(file[1:]) {
			continue
		}
		seen[file] = true
		text, _ := m.Text("web.tomcat", file[1:])
		w := webServer("tomcat", m.Owner(file[1:]))
		w.Sites = parseTomcat(file, text)
		addWebServer(m, w)
	}
}

// parseTomcat reads connectors and hosts of a server.xml; what is no XML ends it.
func parseTomcat(file, text string) (sites []assess.Site) {
	d := xml.NewDecoder(strings.NewReader(text))
	var listen []string
	tls := false
	for {
		token, err := d.RawToken()
		if err != nil {
			return sites
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attribute := func(name string) string {
			for _, a := range start.Attr {
				if a.Name.Local == name {
					return a.Value
				}
			}
			return ""
		}
		line, _ := d.InputPos()
		switch start.Name.Local {
		case "Connector":
			listen, tls = append(listen, attribute("port")), tls || attribute("SSLEnabled") == "true"
		case "Host":
			sites = append(sites, assess.Site{Name: attribute("name"), Root: attribute("appBase"), Listen: listen, TLS: tls, Evidence: assess.Evidence{Path: file, Line: line}})
		case "Context":
			if len(sites) > 0 {
				sites[len(sites)-1].Aliases = append(sites[len(sites)-1].Aliases, attribute("path")+" in "+attribute("docBase"))
			}
		}
	}
}
