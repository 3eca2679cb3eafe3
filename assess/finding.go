package assess

import (
	"fmt"

	"svc/backend/visible"
)

// maxNamed bounds what a finding names; its summary counts all.
const maxNamed = 1000

func (r *Reading) Finding(f Finding) {
	f.Related, f.Evidence = f.Related[:min(len(f.Related), maxNamed)], f.Evidence[:min(len(f.Evidence), maxNamed)]
	r.A.Findings = append(r.A.Findings, f)
}

// Hints and commands make remediations.
func Hints(texts ...string) (r []Remediation) {
	for _, t := range texts {
		r = append(r, Remediation{"hint", t})
	}
	return r
}

func Command(text string) Remediation { return Remediation{"command", text} }

// Resources names things of one scheme.
func Resources(scheme string, names []string) (r []Resource) {
	for _, n := range names {
		r = append(r, Resource{scheme, n})
	}
	return r
}

// Some joins the first few names, and says how many more there are.
func Some(names []string) string {
	const most = 5
	if len(names) <= most {
		return visible.Names(names)
	}
	return fmt.Sprintf("%s and %d more", visible.Names(names[:most]), len(names)-most)
}

// Plural is "1 file" or "2 files".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// ThirdParty are the enabled origins that are not the distribution's.
func (r *Reading) ThirdParty() (origins []Origin) {
	for _, o := range r.A.Origins {
		if o.ThirdParty && o.Enabled {
			origins = append(origins, o)
		}
	}
	return origins
}
