package migration

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/backend/release"
	"svc/tools/migration/naming"
)

// System is what the role sets of the system as a whole; what is empty stays as
// the target has it.
type System struct {
	HostName   string   `json:"host_name"`
	TimeZone   string   `json:"time_zone"`
	Locale     string   `json:"locale"`
	Locales    []string `json:"locales,omitempty"` // that are made beside it, where the target makes them by their names
	Recommends bool     `json:"recommends"`        // packages that others recommend are installed too
}

// Folder is a folder that the role makes.
type Folder struct {
	Path  string `json:"path"`
	Mode  string `json:"mode"` // octal: 0755
	Owner string `json:"owner"`
	Group string `json:"group"`
	// Own is a folder that no package brings: where it is there, it gets this
	// owner and mode.
	Own bool `json:"own"`
}

// What a system takes. A machine may say anything; what none would take is left
// out, and said.
var (
	zoneName    = lazyregexp.New(`^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$`)
	localeName  = lazyregexp.New(`^[A-Za-z]+(_[A-Za-z0-9]+)?([.][A-Za-z0-9-]+)?(@[A-Za-z]+)?$`)
	hostName    = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,62}[A-Za-z0-9])?$`)
	accountName = lazyregexp.New(`^[A-Za-z0-9_.][A-Za-z0-9_.@-]{0,31}[$]?$`)
	unitName    = lazyregexp.New(`^[A-Za-z0-9:_.@\\-]{1,255}$`)
	field       = lazyregexp.New(`^[^:\x00-\x1f\x7f\x{85}\x{2028}\x{2029}]*$`) // of /etc/passwd
	modeOctal   = lazyregexp.New(`^[0-7]{3,4}$`)
)

// invalid collects what a machine says that no system takes.
type invalid struct{ values []string }

// take is a value, or nothing where it does not fit.
func (v *invalid) take(what, value string, fits *lazyregexp.Regexp) string {
	if value == "" || fits.MatchString(value) {
		return value
	}
	v.add(what, value)
	return ""
}

func (v *invalid) add(what, value string) {
	v.values = append(v.values, fmt.Sprintf("%s %.60q", what, value))
}

// system decides what the role sets of the system as a whole.
func system(in Input, bad *invalid) System {
	s := in.Assessment.System
	return System{HostName: bad.take("host name", s.Hostname, hostName), TimeZone: bad.take("time zone", s.TimeZone, zoneName), Locale: bad.take("locale", s.Locale, localeName), Locales: otherLocales(in), Recommends: recommends(in)}
}

// Where Debian's family has the locales that are made, and how many of them a
// machine may name.
const (
	madeLocales = "/etc/locale.gen"
	maxLocales  = 100
)

// otherLocales are those that a person had made beside the one that is set.
func otherLocales(in Input) (all []string) {
	if in.Read == nil || in.Target.Family.Conventions().Line != release.LineDebian {
		return nil
	}
	text, err := in.Read(madeLocales)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		name := strings.Fields(line + " #")[0]
		if localeName.MatchString(name) && name != in.Assessment.System.Locale && !slices.Contains(all, name) && len(all) < maxLocales {
			all = append(all, name)
		}
	}
	return all
}

// recommendSettings are the settings of package managers that say whether
// recommended packages are installed, and the values with which they are not.
var recommendSettings = map[string][]string{
	"apt::install-recommends": {"false", "0", "no", "off", "without", "disable"},
	"install_weak_deps":       {"false", "0", "no", "off"},
	"solver.onlyrequires":     {"true", "1", "yes", "on"},
}

// recommends reports whether recommended packages are installed: unless a person
// chose otherwise.
func recommends(in Input) bool {
	return !slices.ContainsFunc(in.Assessment.Facts, func(f assess.Fact) bool {
		return f.Area == "packages" && slices.Contains(recommendSettings[strings.ToLower(f.Key)], strings.ToLower(f.Value))
	})
}

// folders decides about the folders that no package brings: those that go along
// stand where their files go.
func folders(in Input, where naming.Places) []Folder {
	all := []Folder{}
	for _, f := range in.Assessment.Folders {
		r, to, moved := where.File(f.Path)
		unsure := moved && r.To == nil || !moved && versionDiffers(in, f.Path+"/")
		if to == "" || unsure || where.Gone(f.Package) || f.Owner == "" || f.Group == "" || !modeOctal.MatchString(f.Mode) || !utf8.ValidString(f.Path) {
			continue
		}
		all = append(all, Folder{Path: to, Mode: f.Mode, Owner: where.Account(f.Owner), Group: where.Group(f.Group), Own: f.Package == "" && strings.HasPrefix(f.Path, "/etc/")})
	}
	slices.SortFunc(all, func(a, b Folder) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(all, func(a, b Folder) bool { return a.Path == b.Path })
}

// disabled are the links that would enable what the source has available, and
// does not enable: packages of the target may make them.
func disabled(in Input, where naming.Places, files []Config) []string {
	all := []string{}
	if source, _ := release.Lookup(in.Assessment.Release); source.Family.Conventions().Line != in.Target.Family.Conventions().Line {
		return all // these links are of Debian's family alone
	}
	written := map[string]bool{}
	for _, c := range files {
		written[c.To] = true
	}
	for _, link := range in.Assessment.Disabled {
		if _, to, _ := where.File(link); to != "" && path.Base(to) == path.Base(link) && !written[to] && utf8.ValidString(to) {
			all = append(all, to)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// finding says what was left out because no system takes it.
func (v *invalid) finding() []assess.Finding {
	if len(v.values) == 0 {
		return nil
	}
	return []assess.Finding{{
		Key: "source.invalid-values", Severity: assess.Medium, Title: "The machine says things that no system takes",
		Summary:      fmt.Sprintf("%d values can't be what they are said to be, and are left out: %s.", len(v.values), strings.Join(v.values[:min(5, len(v.values))], ", ")),
		Remediations: hint("Look who put them there. What is left out stays as the target has it."),
	}}
}
