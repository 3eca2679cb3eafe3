package assess

import (
	"errors"
	"io"
	"path"
	"strings"

	"svc/backend/deb822"
	"svc/backend/lazyregexp"
)

// ownArchive tells the distributions' own archives, by where they are known to
// be, and mirrors of them, by the paths they use.
var ownArchive = lazyregexp.New(`^(https?|ftp|tor\+https?|mirror\+https?)://[^/]*(debian\.org|ubuntu\.com)(/|$)|/(debian|debian-security|ubuntu|ubuntu-ports)/?$`)

// aptOrigins reads the archives that apt is set up to use.
func (m *machine) aptOrigins() {
	if text, ok := m.text("origins.sources-list", "etc/apt/sources.list"); ok {
		m.oneLineSources("/etc/apt/sources.list", text)
	}
	names, err := m.files("etc/apt/sources.list.d")
	m.outcome("origins.sources-list-d", "etc/apt/sources.list.d", err)
	for _, name := range names {
		file := path.Join("etc/apt/sources.list.d", name)
		switch path.Ext(name) {
		case ".list":
			if text, ok := m.text("origins."+name, file); ok {
				m.oneLineSources("/"+file, text)
			}
		case ".sources":
			if text, ok := m.text("origins."+name, file); ok {
				m.deb822Sources("/"+file, text)
			}
		}
	}
}

// oneLineSources reads lines such as
// "deb [arch=amd64 signed-by=KEY] URI suite component…".
func (m *machine) oneLineSources(file, text string) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if o, ok := parseSourceLine(line); ok {
			o.Evidence = Evidence{file, n}
			m.addOrigin(o)
		}
	}
}

func parseSourceLine(line string) (o Origin, ok bool) {
	line, _, _ = strings.Cut(line, "#")
	fields := strings.Fields(line)
	if len(fields) < 3 || fields[0] != "deb" && fields[0] != "deb-src" {
		return o, false
	}
	o.Types, o.Enabled = []string{fields[0]}, true
	fields = fields[1:]
	if strings.HasPrefix(fields[0], "[") {
		for len(fields) > 0 {
			option := strings.Trim(fields[0], "[]")
			key, value, _ := strings.Cut(option, "=")
			switch {
			case key == "signed-by":
				o.SignedBy = value
			case key == "trusted", key == "allow-insecure":
				o.Unchecked = o.Unchecked || isYes(value)
			}
			last := strings.HasSuffix(fields[0], "]")
			fields = fields[1:]
			if last {
				break
			}
		}
	}
	if len(fields) < 2 {
		return o, false
	}
	o.URI, o.Suite, o.Components = fields[0], fields[1], list(fields[2:])
	return o, true
}

// deb822Sources reads paragraphs of .sources files; each URI and suite is an
// origin of its own.
func (m *machine) deb822Sources(file, text string) {
	for r := deb822.NewReader(strings.NewReader(text)); ; {
		p, err := r.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				m.source("origins."+path.Base(file), SourceCorrupt, quoted(err))
			}
			return
		}
		for _, uri := range strings.Fields(p.Get("URIs")) {
			for _, suite := range strings.Fields(p.Get("Suites")) {
				m.addOrigin(Origin{
					URI: uri, Suite: suite, Components: list(strings.Fields(p.Get("Components"))), Types: list(strings.Fields(p.Get("Types"))),
					SignedBy: firstLine(p.Get("Signed-By")), Enabled: !strings.EqualFold(p.Get("Enabled"), "no"), Evidence: Evidence{file, p.Line},
					Unchecked: isYes(p.Get("Trusted")) || isYes(p.Get("Allow-Insecure")),
				})
			}
		}
	}
}

func (m *machine) addOrigin(o Origin) {
	o.ThirdParty = !ownArchive.MatchString(o.URI)
	grow(m, "origins", &m.a.Origins, o)
}
