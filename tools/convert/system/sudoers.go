package system

import (
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// foreignTools are the package managers of the other family, as rules of sudo
// name them.
var (
	rpmTools    = lazyregexp.New(`/(usr/)?s?bin/(yum|dnf|rpm)\b`)
	debianTools = lazyregexp.New(`/(usr/)?s?bin/(apt|apt-get|aptitude|dpkg|a2en\w+|a2dis\w+|service)\b`)
)

// A remark of sudo's begins with a hash, unless a user's number follows. Groups
// stand at the beginning of rules and in lists.
var (
	sudoRemark = lazyregexp.New(`^#([^0-9]|$)`)
	sudoGroup  = lazyregexp.New(`%[\w.-]+`)
)

// Sudoers carries rules over: Debian's group of administrators is sudo, that of
// the rpm families wheel.
func Sudoers(in convert.Input) (r convert.Result) {
	was, now, why := "wheel", "sudo", "Debian's group of administrators is sudo."
	tools, refusal := rpmTools, "It names a command that Debian has not: say which of apt's are meant."
	if !convert.DebianFamily(in.Target) {
		was, now, why = "sudo", "wheel", "The group of administrators is wheel."
		refusal = "It names a command that the target has not: say which of its own is meant."
	}
	if convert.FromDebian(in) {
		tools = debianTools
	}
	certificates := convert.Homes{}.Between(in)
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		for i := range p.Lines {
			line := strings.TrimSpace(p.Lines[i])
			switch {
			case sudoRemark.MatchString(line):
			case tools.MatchString(line):
				p.Refuse(i, refusal)
			default:
				p.Replace(i, sudoGroup.ReplaceAllStringFunc(line, func(group string) string {
					if group == "%"+was {
						return "%" + now
					}
					return group
				}), why)
				p.Replace(i, certificates.Move(strings.TrimSpace(p.Lines[i])), convert.Elsewhere(in))
			}
		}
		r.Close(p, f.Path)
	}
	return r
}
