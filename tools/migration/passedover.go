package migration

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/visible"
)

// passedOver says which init scripts of packages people edited where the target's package
// has a unit: systemd starts that, and what was written into the script is not done.
func passedOver(_ Input, p *Plan) []assess.Finding {
	g := gather("software.init-scripts")
	for _, c := range p.Configuration {
		name := path.Base(c.From)
		if path.Dir(c.From) != "/etc/init.d" || c.Package == "" || c.Link != "" {
			continue
		}
		i := slices.IndexFunc(p.Services, func(s Service) bool {
			return strings.TrimSuffix(s.Unit, ".service") == name && strings.HasSuffix(s.To, ".service") && !s.Local
		})
		if i >= 0 {
			g.AddFile(fmt.Sprintf("%s is started by %s", visible.Name(c.From), visible.Name(p.Services[i].To)), assess.Evidence{Path: c.From})
		}
	}
	return g.Tell(fmt.Sprintf("Units of the target's packages take the place of these scripts, which are not called: %s.", strings.Join(g.Said, "; ")))
}
