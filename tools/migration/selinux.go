package migration

import (
	"fmt"
	"slices"

	"svc/assess"
	"svc/backend/sliced"
	"svc/tools/migration/selinux"
)

// enforced says what SELinux, which the rpm families have on, would keep services
// from doing that their configuration asks for: the commands that allow it.
func enforced(in Input, p *Plan) []assess.Finding {
	if !in.Target.Family.Conventions().SELinux {
		return nil
	}
	commands := sliced.FlatMap(p.Configuration, func(c Config) []string { return selinux.Commands(c.To, textOf(in, c)) })
	slices.Sort(commands)
	commands = slices.Compact(commands)
	if len(commands) == 0 {
		return nil
	}
	f := found("target.selinux", fmt.Sprintf("%s has SELinux on. What the configuration of services needs beside the policy's defaults takes %d commands; what applications do themselves may need others.", in.Target.Slug, len(commands)), nil)
	f.Remediations = append(f.Remediations, sliced.Map(commands, assess.Command)...)
	return []assess.Finding{f}
}

// textOf is what the role writes, or nothing.
func textOf(in Input, c Config) string {
	if c.Link != "" || c.Action != Copy && c.Action != Convert {
		return ""
	}
	text, _ := c.carried(in) // what can't be read stops the role later
	return text
}
