package assess

import (
	"path"
	"strings"
)

// readWebServers finds Apache and nginx, and the sites that they serve.
func (m *machine) readWebServers() {
	m.apache()
	m.nginx()
}

func (m *machine) apache() {
	names, err := m.files("etc/apache2/sites-enabled")
	m.outcome("web.apache", "etc/apache2/sites-enabled", err)
	if err != nil {
		return
	}
	w := WebServer{Kind: "apache", Package: "apache2", Modules: []string{}, Sites: []Site{}}
	modules, _ := m.files("etc/apache2/mods-enabled") // beside sites-enabled in the same package
	for _, name := range modules {
		if module, ok := strings.CutSuffix(name, ".load"); ok {
			w.Modules = append(w.Modules, module)
		}
	}
	for _, name := range names {
		file := path.Join("etc/apache2/sites-enabled", name)
		if text, ok := m.text("web.apache."+name, file); ok {
			w.Sites = append(w.Sites, parseApache("/"+file, text)...)
		}
	}
	m.a.WebServers = append(m.a.WebServers, w)
}

// parseApache reads the virtual hosts of a file.
func parseApache(file, text string) (sites []Site) {
	n, inside := 0, false
	for line := range strings.Lines(text) {
		n++
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		switch key := strings.ToLower(f[0]); {
		case key == "<virtualhost":
			inside = true
			sites = append(sites, Site{Listen: strings.Fields(strings.TrimRight(strings.Join(f[1:], " "), ">")), Evidence: Evidence{file, n}})
		case key == "</virtualhost>":
			inside = false
		case inside && len(f) > 1:
			setDirective(&sites[len(sites)-1], key, strings.Trim(f[1], `"`))
		}
	}
	for i := range sites {
		sites[i].Listen = list(sites[i].Listen)
	}
	return sites
}

func setDirective(s *Site, key, value string) {
	switch key {
	case "servername":
		s.Name = value
	case "documentroot":
		s.Root = value
	case "sslengine":
		s.TLS = strings.EqualFold(value, "on")
	}
}

func (m *machine) nginx() {
	dirs := []string{"etc/nginx/sites-enabled", "etc/nginx/conf.d"}
	if !m.exists("etc/nginx/nginx.conf") {
		m.source("web.nginx", SourceAbsent, "")
		return
	}
	m.source("web.nginx", SourceOK, "/etc/nginx/nginx.conf")
	w := WebServer{Kind: "nginx", Package: "nginx", Modules: []string{}, Sites: []Site{}}
	for _, dir := range dirs {
		m.eachFile("web.nginx."+path.Base(dir), dir, "", func(file string) {
			text, _ := m.text("web.nginx."+path.Base(file), file)
			w.Sites = append(w.Sites, parseNginx("/"+file, text)...)
		})
	}
	m.a.WebServers = append(m.a.WebServers, w)
}

// parseNginx reads the server blocks of a file: directives end in a semicolon,
// blocks stand in braces.
func parseNginx(file, text string) (sites []Site) {
	depth, server, n := 0, 0, 0 // server is the depth of the block we are in, or 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		for _, statement := range splitStatements(line) {
			switch f := strings.Fields(statement); {
			case strings.HasSuffix(statement, "{"):
				depth++
				if server == 0 && strings.TrimRight(f[0], "{") == "server" {
					server = depth
					sites = append(sites, Site{Listen: []string{}, Evidence: Evidence{file, n}})
				}
			case statement == "}":
				if depth == server {
					server = 0
				}
				depth = max(0, depth-1)
			case server > 0 && depth == server && len(f) > 1:
				setNginx(&sites[len(sites)-1], f[0], f[1:])
			}
		}
	}
	return sites
}

// splitStatements cuts a line after each ; and { and }.
func splitStatements(line string) (statements []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		i := strings.IndexAny(line, ";{}")
		if i < 0 {
			return append(statements, line)
		}
		if s := strings.TrimSpace(line[:i]); line[i] == '}' && s != "" {
			statements = append(statements, s)
		}
		switch line[i] {
		case ';':
			statements = append(statements, strings.TrimSpace(line[:i]))
		case '{':
			statements = append(statements, line[:i+1])
		case '}':
			statements = append(statements, "}")
		}
		line = line[i+1:]
	}
	return statements
}

func setNginx(s *Site, key string, values []string) {
	switch key {
	case "server_name":
		s.Name = values[0]
	case "root":
		s.Root = values[0]
	case "listen":
		s.Listen = append(s.Listen, values[0])
		s.TLS = s.TLS || strings.Contains(strings.Join(values, " "), "ssl")
	}
}
