package migration

import (
	"fmt"
	"slices"

	"svc/backend/release"
	"svc/tools/migration/naming"
	"svc/tools/migration/shipped"
)

// maxTemporary bounds the folders of /run that are looked for.
const maxTemporary = 100

// temporary adds what makes the folders of /run that carried texts name and packages of the
// source make at each start: those of another line may make none of that name. Where one does,
// its own line comes first, by its file's name.
func (p *Plan) temporary(in Input, where naming.Places) {
	if sameLine(in) || in.Target.Family.Conventions().Init != release.Systemd {
		return
	}
	source, seen := shipped.Machine{Assessment: in.Assessment, Read: in.Read}, map[string]bool{}
	for _, c := range p.Configuration {
		text, ok := c.readable(in)
		if !ok {
			continue
		}
		for _, name := range shipped.NamedInRun(text) {
			made, ok := source.Temporary(name, c.Package)
			if !ok || seen[name] || len(seen) == maxTemporary {
				continue
			}
			seen[name] = true
			line := fmt.Sprintf("d /run/%s %s %s %s -\n", name, made.Mode, where.Account(made.User), where.Group(made.Group))
			p.Configuration = append(p.Configuration, Config{
				From: made.File, To: "/etc/tmpfiles.d/zz-source-" + name + ".conf", Action: Convert, Mode: "0644", Owner: "root", Group: "root", Text: &line,
				Reason: fmt.Sprintf("%s names /run/%s, which a package of the source makes at each start; one of the target may not.", c.To, name),
			})
		}
	}
	slices.SortFunc(p.Configuration, compareConfig)
}
