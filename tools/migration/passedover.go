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
	f := found("software.init-scripts", "", nil)
	var said []string
	for _, c := range p.Configuration {
		name := path.Base(c.From)
		if path.Dir(c.From) != "/etc/init.d" || c.Package == "" || c.Link != "" {
			continue
		}
		i := slices.IndexFunc(p.Services, func(s Service) bool {
			return strings.TrimSuffix(s.Unit, ".service") == name && strings.HasSuffix(s.To, ".service") && !s.Local
		})
		if i < 0 {
			continue
		}
		said = append(said, fmt.Sprintf("%s is started by %s", visible.Name(c.From), visible.Name(p.Services[i].To)))
		f.Evidence = append(f.Evidence, assess.Evidence{Path: c.From})
		f.Related = append(f.Related, assess.Resource{Scheme: "file", Name: c.From})
	}
	if said == nil {
		return nil
	}
	f.Summary = fmt.Sprintf("Units of the target's packages take the place of these scripts, which are not called: %s.", strings.Join(said, "; "))
	f.Remediations = assess.Hints("Compare each with its package's own, and write what was added as a drop-in: systemctl edit NAME, with ExecStartPre= for what ran before.")
	return []assess.Finding{f}
}
