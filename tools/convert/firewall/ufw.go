package firewall

import (
	"path"
	"strings"

	"svc/tools/convert"
)

// UFW carries ufw's rules, policies and applications over: its files have kept
// their form. They wait, and come together or not at all: switched on with
// default rules, ufw would close the machine.
func UFW(in convert.Input) (r convert.Result) {
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		switch {
		case strings.HasSuffix(f.Path, ".rules"):
			xtRules(p, ufwChain)
		case path.Base(f.Path) == "ufw.conf", f.Path == "/etc/default/ufw":
			ufwSettings(p)
		}
		r.Close(p, convert.Waiting+f.Path)
	}
	r.Packages = []string{"ufw"}
	if len(r.Refusals) == 0 {
		return r
	}
	for _, f := range in.Files {
		if len(r.Refusals[f.Path]) == 0 {
			r.Refuse(f.Path, convert.Refusal{Why: "Another file of ufw is left to a person, and without that one this would open or close other ports."})
		}
	}
	return r
}

// ufwChain tells the chains that ufw makes by itself.
func ufwChain(name string) bool {
	return strings.HasPrefix(name, "ufw-") || strings.HasPrefix(name, "ufw6-")
}

func ufwSettings(p *convert.Page) {
	for i, line := range p.Active() {
		if name, _, _ := strings.Cut(line, "="); !convert.Lists("ufw.conf", name) {
			p.Refuse(i, "ufw has no such setting.")
		}
	}
}
