package system

import (
	"strings"

	"svc/backend/sliced"
	"svc/tools/convert"
)

// sssdPlaces are where the families keep what sssd.conf names.
var sssdPlaces = convert.HomesOf("sssd").Debian()

// SSSD drops options that SSSD has no more and refuses those that it would not
// take: it does not start with one that it does not know.
func SSSD(in convert.Input) (r convert.Result) {
	for _, f := range in.Files {
		s := convert.Settings{Comment: "#", Equals: true, Places: sssdPlaces}.Towards(in)
		s.Own = func(p *convert.Page, i int, name, value string) bool { return sssdSetting(&s, p, i, name, value) }
		r.Close(s.Convert(f), f.Path)
	}
	return r
}

func sssdSetting(s *convert.Settings, p *convert.Page, i int, name, value string) bool {
	switch section, ok := strings.CutPrefix(name, "["); {
	case ok:
		s.Program = sssdProgram(strings.TrimSuffix(section, "]"))
		if convert.Known()[s.Program] == nil {
			p.Refuse(i, "SSSD 2.10 has no such section: its options would be read by nobody.")
		}
		return true
	case strings.HasPrefix(name, ";"):
		return true
	case s.Program == "":
		p.Refuse(i, "It stands in no section.")
		return true
	case name == "services" && s.Program == "sssd/sssd":
		sssdServiceList(p, i, value)
		return true
	case name == "id_provider" && value == "local":
		p.Refuse(i, "SSSD 2.9 has no local users of its own: sss_override and sssctl show them, the system's own files take them.")
		return true
	}
	return convert.Known()[s.Program] == nil
}

// sssdProgram is the name under which the options of a section are known.
func sssdProgram(section string) string {
	parts := strings.Split(section, "/")
	switch {
	case (parts[0] == "domain" || parts[0] == "application") && len(parts) == 2:
		return "sssd/domain"
	case parts[0] == "domain" && len(parts) == 3:
		return "sssd/subdomain"
	case parts[0] == "certmap" && len(parts) == 3:
		return "sssd/certmap"
	case parts[0] == "prompting" && len(parts) == 2:
		return "sssd/prompting_" + parts[1]
	case parts[0] == "prompting" && len(parts) == 3:
		return "sssd/prompting_" + parts[1] + "_subsec"
	}
	return "sssd/" + section
}

// sssdServiceList leaves out services that SSSD has no more.
func sssdServiceList(p *convert.Page, i int, value string) {
	words := sliced.Map(strings.Split(value, ","), strings.TrimSpace)
	kept := sliced.Filter(words, func(w string) bool { return convert.Lists("sssd-services", w) })
	if len(kept) == 0 {
		p.Drop(i, "SSSD 2.10 starts its parts by sockets.")
		return
	}
	if len(kept) < len(words) {
		p.Replace(i, "services = "+strings.Join(kept, ", "), "SSSD 2.10 has the others no more, or starts them by sockets.")
	}
}
