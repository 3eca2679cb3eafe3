package repositories

import (
	"errors"
	"io"
	"path"
	"strings"

	"svc/assess"
	"svc/backend/deb822"
	"svc/backend/lazyregexp"
)

// ownHost tells the distributions' own archives by where they are known to be, and ownPath
// mirrors of them by the paths they use.
var (
	ownHost = lazyregexp.New(`^(https?|ftp|tor\+https?|mirror\+https?)://[^/]*(debian\.org|ubuntu\.com)(/|$)`)
	ownPath = lazyregexp.New(`/(debian|debian-security|ubuntu|ubuntu-ports)/?$`)
)

// ownKey reports whether an archive is signed as a mirror is: by what apt trusts anyway, or
// by the file that a distribution's package of keys has. Another's archive at such a path
// has a key of its own.
func ownKey(signedBy string) bool {
	return !path.IsAbs(signedBy) || strings.HasSuffix(strings.TrimSuffix(path.Base(signedBy), path.Ext(signedBy)), "-archive-keyring")
}

// AptOrigins reads the archives that apt is set up to use.
func AptOrigins(m *assess.Machine) {
	if text, ok := m.Text("origins.sources-list", "etc/apt/sources.list"); ok {
		oneLineSources(m, "/etc/apt/sources.list", text)
	}
	names, err := m.Files("etc/apt/sources.list.d")
	m.Outcome("origins.sources-list-d", "etc/apt/sources.list.d", err)
	for _, name := range names {
		file := path.Join("etc/apt/sources.list.d", name)
		switch path.Ext(name) {
		case ".list":
			if text, ok := m.Text("origins."+name, file); ok {
				oneLineSources(m, "/"+file, text)
			}
		case ".sources":
			if text, ok := m.Text("origins."+name, file); ok {
				deb822Sources(m, "/"+file, text)
			}
		}
	}
}

// oneLineSources reads lines such as
// "deb [arch=amd64 signed-by=KEY] URI suite component…".
func oneLineSources(m *assess.Machine, file, text string) {
	for n, line := range assess.NumberedLines(text) {
		if o, ok := ParseSourceLine(line); ok {
			o.Evidence = assess.Evidence{Path: file, Line: n}
			addOrigin(m, o)
		}
	}
}

// ParseSourceLine reads a line of sources.list.
func ParseSourceLine(line string) (o assess.Origin, ok bool) {
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
	o.URI, o.Suite, o.Components = fields[0], fields[1], assess.List(fields[2:])
	return o, true
}

// deb822Sources reads paragraphs of .sources files; each URI and suite is an
// origin of its own.
func deb822Sources(m *assess.Machine, file, text string) {
	for r := deb822.NewReader(strings.NewReader(text)); ; {
		p, err := r.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				m.Source("origins."+path.Base(file), assess.SourceCorrupt, assess.Quoted(err))
			}
			return
		}
		for _, uri := range strings.Fields(p.Get("URIs")) {
			for _, suite := range strings.Fields(p.Get("Suites")) {
				addOrigin(m, assess.Origin{
					URI: uri, Suite: suite, Components: assess.List(strings.Fields(p.Get("Components"))), Types: assess.List(strings.Fields(p.Get("Types"))),
					SignedBy: assess.FirstLine(p.Get("Signed-By")), Enabled: !strings.EqualFold(p.Get("Enabled"), "no"), Evidence: assess.Evidence{Path: file, Line: p.Line},
					Unchecked: isYes(p.Get("Trusted")) || isYes(p.Get("Allow-Insecure")),
				})
			}
		}
	}
}

// others reports whether an archive is no distribution's own.
func others(uri, signedBy string) bool {
	return !ownHost.MatchString(uri) && (!ownPath.MatchString(uri) || !ownKey(signedBy))
}

func addOrigin(m *assess.Machine, o assess.Origin) {
	o.ThirdParty = others(o.URI, o.SignedBy)
	assess.Grow(m, "origins", &m.A.Origins, o)
}
