package system

import (
	"maps"
	"slices"
	"strings"

	"svc/backend/release"
	"svc/tools/convert"
)

// pamStacks are what a line of distributions calls the stacks that all services share, by what
// they decide; none where each has its own.
var pamStacks = map[release.Line]map[string]string{
	release.LineDebian: {"auth": "common-auth", "account": "common-account", "password": "common-password", "session": "common-session"},
	release.LineSUSE:   {"auth": "common-auth", "account": "common-account", "password": "common-password", "session": "common-session"},
	release.LineEL:     {"auth": "system-auth", "account": "system-auth", "password": "system-auth", "session": "system-auth"},
}

// ofLimits has limits.conf read, as EL's stack does: in Debian each service says so itself.
const ofLimits = "\nsession required pam_limits.so"

// PAM has a service's own rules include the target's stacks: one that is not there lets nobody
// in.
func PAM(in convert.Input) (r convert.Result) {
	for _, f := range in.Files {
		p, stacks := convert.Open(f, "#"), maps.Clone(pamStacks[in.Target.Family.Conventions().Line])
		if convert.FromEL(in) && convert.DebianFamily(in.Target) && !strings.Contains(f.Text, "pam_limits.so") {
			stacks["session"] += ofLimits
		}
		for i, line := range p.Active() {
			pamLine(p, i, strings.Fields(line), stacks)
		}
		r.Close(p, f.Path)
	}
	return r
}

func pamLine(p *convert.Page, i int, c []string, stacks map[string]string) {
	whole := len(c) > 1 && c[0] == "@include" // Debian's own
	if whole {
		c = []string{strings.TrimPrefix(strings.TrimSuffix(c[1], "-noninteractive"), "common-"), "include", c[1]}
	}
	if len(c) < 3 {
		return
	}
	kind := strings.TrimPrefix(c[0], "-")
	switch now := stacks[kind]; {
	case slices.ContainsFunc(c, func(word string) bool { return convert.Lists("pam-el", word) }):
		p.Drop(i, "EL alone has this module.")
	case slices.ContainsFunc(c, func(word string) bool { return convert.Lists("pam-gone", word) }):
		p.Refuse(i, "Linux-PAM 1.5 has no such module, and it decides who may log in.")
	case c[1] != "include" && c[1] != "substack" || now == "" || c[2] == now && !whole || !convert.Lists("pam-stacks", c[2]):
	case strings.HasPrefix(c[2], "postlogin"):
		p.Drop(i, "The target has what follows a login in its other stacks.")
	default:
		p.Replace(i, kind+" "+c[1]+" "+now, "The target's stack has another name.")
	}
}
