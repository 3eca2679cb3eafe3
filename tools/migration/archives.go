package migration

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/lazyregexp"
	"svc/backend/pkgversion"
	"svc/backend/release"
	"svc/backend/tsv"
	"svc/backend/visible"
)

//go:embed streams.tsv
var streamRows string

// module is a module of a release that has several versions of its software.
type module struct {
	release, name string
	known         string // the package by which it is known
	plain         string // the version without a stream
	streams       []string
}

var modules = tsv.List(streamRows, 5, func(c []string) module { return module{c[0], c[1], c[2], c[3], strings.Fields(c[4])} })

// addition is how a distribution of EL has EPEL, and the archive of packages for
// developers, on which those of EPEL depend; {n} is the major version.
type addition struct{ epel, builder string }

var additions = map[string]addition{
	"almalinux": {"epel-release", "crb"},
	"rocky":     {"epel-release", "crb"},
	"centos":    {"epel-release", "crb"},
	"ol":        {"oracle-epel-release-el{n}", "ol{n}_codeready_builder"},
	"rhel":      {"", "codeready-builder-for-rhel-{n}-x86_64-rpms"}, // EPEL's package is at no archive of Red Hat's
}

// archives are what a target has to enable for the packages of a plan.
func archives(in Input, p *Plan) *Archives {
	a := &Archives{Packages: []string{}, Enable: []string{}, Streams: []string{}}
	if in.Target.Family != release.EL {
		return nil
	}
	add, known := additions[in.Target.ID]
	n, _, _ := strings.Cut(in.Target.Version, ".")
	number := strings.NewReplacer("{n}", n)
	if known && n == "8" && add.builder == "crb" {
		add.builder = "powertools"
	}
	if extra := ofEPEL(in, p); known && (len(extra) > 0 || slices.ContainsFunc(p.Install, develops)) {
		a.Packages, a.Enable = append(a.Packages, "dnf-plugins-core"), append(a.Enable, number.Replace(add.builder))
		if len(extra) > 0 && add.epel != "" {
			a.Packages = append(a.Packages, number.Replace(add.epel))
		}
	}
	for _, m := range modules() {
		if version := m.wanted(in, p); slices.Contains(m.streams, version) {
			a.Streams = append(a.Streams, m.name+":"+version)
		}
	}
	return a
}

// ofEPEL are the packages to install that the target has in EPEL alone.
func ofEPEL(in Input, p *Plan) []string {
	extra := map[string]bool{}
	for _, t := range in.Translations {
		for _, offer := range t.Packages {
			extra[offer.Name] = extra[offer.Name] || offer.Repository == api.EPEL
		}
	}
	return slices.DeleteFunc(slices.Clone(p.Install), func(name string) bool { return !extra[name] })
}

func develops(name string) bool { return strings.HasSuffix(name, "-devel") }

// wanted is the version that the source has of a module's software, as the
// streams of the target name it, or empty where the target has no such module or
// the source none of its packages.
func (m module) wanted(in Input, p *Plan) string {
	n, _, _ := strings.Cut(in.Target.Version, ".")
	if in.Target.Family != release.EL || m.release != "el-"+n {
		return ""
	}
	numbers := strings.Count(m.plain, ".") + 1
	for _, row := range p.Packages {
		has := slices.ContainsFunc(row.Targets, func(t Target) bool {
			return t.Name == m.known || strings.HasPrefix(t.Name, m.name+"-") && slices.Contains(p.Install, t.Name)
		})
		if !has || row.Confidence < Sure {
			continue
		}
		if parts := strings.Split(dotted.FindString(pkgversion.WithoutEpoch(row.Version)), "."); len(parts) >= numbers {
			return strings.Join(parts[:numbers], ".")
		}
	}
	return ""
}

// dotted is the number with which a version begins.
var dotted = lazyregexp.New(`^[0-9]+(\.[0-9]+)*`)

// additional says what the plan could not enable by itself, and what may be
// chosen.
func additional(in Input, p *Plan) (all []assess.Finding) {
	if extra := ofEPEL(in, p); len(extra) > 0 && in.Target.Family == release.EL {
		f := found("target.epel", "EPEL, a project beside the distribution, has these: "+visible.Names(extra)+". The role enables it first.",
			assess.Resources("package", extra))
		if additions[in.Target.ID].epel == "" {
			f.Severity, f.Summary = assess.Medium, "EPEL, a project beside the distribution, has these: "+visible.Names(extra)+". No archive of the target has the package that enables it."
			f.Remediations = assess.Hints("Before the role: dnf install https://dl.fedoraproject.org/pub/epel/epel-release-latest-" + in.Target.Version + ".noarch.rpm")
		}
		all = append(all, f)
	}
	for _, m := range modules() {
		version := m.wanted(in, p)
		if version == "" || version == m.plain || slices.Contains(m.streams, version) {
			continue
		}
		all = append(all, assess.Finding{
			Key: "target.stream." + m.name, Severity: assess.Medium, Title: fmt.Sprintf("The version of %s has to be chosen", m.name),
			Summary:      fmt.Sprintf("The source has %s %s. %s has %s by default, and as streams of its module: %s.", m.name, visible.Name(version), in.Target.Slug, m.plain, strings.Join(m.streams, ", ")),
			Remediations: assess.Hints(fmt.Sprintf("Where the default will not do, add for instance %s:%s to role_module_streams.", m.name, m.streams[len(m.streams)-1])),
		})
	}
	return all
}

// unlisted counts the packages whose names no list of the target confirms: where the
// role installs one that the target lacks, the whole transaction stops.
func unlisted(in Input, p *Plan) []assess.Finding {
	var installed []string
	rows := 0
	for _, r := range p.Packages {
		if !slices.ContainsFunc(r.Caveats, func(c api.Caveat) bool { return c.Code == "EXISTENCE_UNKNOWN" }) {
			continue
		}
		rows++
		if r.Install && len(r.Targets) > 0 {
			installed = append(installed, r.Targets[0].Name)
		}
	}
	if rows == 0 {
		return nil
	}
	slices.Sort(installed)
	installed = slices.Compact(installed)
	f := found("packages.unlisted", fmt.Sprintf("%d of %d answers are names that no list of %s confirms; the role installs none of them.", rows, len(p.Packages), in.Target.Slug), nil)
	if len(installed) > 0 {
		f.Summary = fmt.Sprintf("%d of %d answers are names that no list of %s confirms. The role installs %d of them, and one that the target lacks stops it: %s.", rows, len(p.Packages), in.Target.Slug, len(installed), visible.Names(installed))
		f.Remediations = assess.Hints("On the target: " + in.Target.Family.Conventions().Ask + " " + strings.Join(installed[:min(20, len(installed))], " "))
		f.Related = assess.Resources("package", installed)
	}
	return []assess.Finding{f}
}

// language is the language of a locale's name.
var language = lazyregexp.New(`^([a-z]{2,3})_[A-Z]{2}`)

// locales is the package of a family that has the locale of the source.
func locales(in Input) []string {
	m := language.FindStringSubmatch(in.Assessment.System.Locale)
	switch line := in.Target.Family.Conventions().Line; {
	case m == nil, !in.Target.HasManager(): // glibc has all languages in one package then
		return nil
	case line == release.LineEL:
		return []string{"glibc-langpack-" + m[1]}
	case line == release.LineSUSE:
		return []string{"glibc-locale"}
	}
	return nil
}
