package apache

import (
	"strings"

	"svc/assess/conf"
	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// rules are the lines of httpd 2.2 that say who may come in, of one section.
type rules struct {
	order               string
	allow, deny         []string // hosts, addresses, all, env=NAME
	lines               []int
	satisfy, authorized bool // Satisfy any, and a Require beside
}

// access rewrites the rules of access of httpd 2.2 (Order, Allow, Deny) as those
// of 2.4 (Require), section by section.
func (h *httpdRun) access(p *convert.Page) {
	stack := []*rules{{}}
	for i, line := range p.Active() {
		name, value := conf.Directive(line)
		switch {
		case strings.HasPrefix(line, "</"):
			if len(stack) > 1 && !transparent[strings.TrimPrefix(name, "/")] {
				h.rewrite(p, stack[len(stack)-1])
				stack = stack[:len(stack)-1]
			}
		case strings.HasPrefix(line, "<"):
			if !transparent[name] {
				stack = append(stack, &rules{})
			}
		default:
			stack[len(stack)-1].add(i, name, value)
		}
	}
	for _, r := range stack {
		h.rewrite(p, r)
	}
}

// transparent are sections that hold for whole files, not for places.
var transparent = map[string]bool{"ifmodule": true, "ifdefine": true, "ifversion": true}

func (r *rules) add(i int, name, value string) {
	value = strings.ToLower(strings.ReplaceAll(value, `"`, ""))
	switch name {
	case "order":
		r.order = strings.Join(strings.Fields(strings.ReplaceAll(value, ",", " ")), ",")
	case "allow":
		r.allow = append(r.allow, strings.Fields(strings.TrimPrefix(value, "from"))...)
	case "deny":
		r.deny = append(r.deny, strings.Fields(strings.TrimPrefix(value, "from"))...)
	case "satisfy":
		r.satisfy = value == "any"
	case "require":
		r.authorized = true
		return
	default:
		return
	}
	r.lines = append(r.lines, i)
}

// rewrite puts the rules of 2.4 in the place of the last line of the old ones.
func (h *httpdRun) rewrite(p *convert.Page, r *rules) {
	if len(r.lines) == 0 {
		return
	}
	now, ok := r.require()
	if !ok {
		p.Refuse(r.lines[0], "Who may come in here can't be said by Require in a way that is surely the same.")
		return
	}
	last := r.lines[len(r.lines)-1]
	for _, i := range r.lines {
		if i != last || now == "" {
			p.Drop(i, "Require says it in httpd 2.4.")
		}
	}
	if now != "" {
		p.Replace(last, now, "Require says in httpd 2.4 what Order, Allow and Deny said in 2.2.")
	}
}

// require is the rule of 2.4, or false where it is not surely the same. With a
// Require beside, only what lets everybody in can be left out.
func (r *rules) require() (string, bool) {
	allAllowed, allDenied := len(r.allow) == 1 && r.allow[0] == "all", len(r.deny) == 1 && r.deny[0] == "all"
	byDefault := r.order == "allow,deny" || r.order == "mutual-failure"
	switch {
	case r.satisfy:
		return "", false
	case r.authorized:
		return "", allAllowed && len(r.deny) == 0 || len(r.allow) == 0 && len(r.deny) == 0 && !byDefault
	case byDefault && allAllowed && len(r.deny) == 0, !byDefault && allAllowed, !byDefault && len(r.deny) == 0:
		return "Require all granted", true
	case byDefault && (allDenied || len(r.allow) == 0), !byDefault && allDenied && len(r.allow) == 0:
		return "Require all denied", true
	case byDefault && len(r.deny) == 0, !byDefault && allDenied:
		return sources(r.allow, "")
	case byDefault && allAllowed, !byDefault && len(r.allow) == 0:
		not, ok := sources(r.deny, "not ")
		return "<RequireAll>\n\tRequire all granted\n\t" + strings.ReplaceAll(not, "\n", "\n\t") + "\n</RequireAll>", ok
	}
	return "", false
}

var (
	address  = lazyregexp.New(`^[0-9]{1,3}(\.[0-9]{1,3}){0,3}\.?(/[0-9.]+)?$|^[0-9a-f]*:[0-9a-f:]*(/[0-9]+)?$`)
	hostName = lazyregexp.New(`^\.?[a-z0-9-]+(\.[a-z0-9-]+)*$`)
)

// sources is a Require for each kind of source, in their order.
func sources(from []string, not string) (string, bool) {
	var all []string
	for _, s := range from {
		switch name, isEnv := strings.CutPrefix(s, "env="); {
		case isEnv && name != "":
			all = append(all, "Require "+not+"env "+name)
		case address.MatchString(s):
			all = append(all, "Require "+not+"ip "+strings.TrimSuffix(s, "."))
		case s == "localhost":
			all = append(all, "Require "+not+"local")
		case s != "all" && hostName.MatchString(s):
			all = append(all, "Require "+not+"host "+strings.TrimPrefix(s, "."))
		default:
			return "", false
		}
	}
	return strings.Join(all, "\n"), len(all) > 0
}
