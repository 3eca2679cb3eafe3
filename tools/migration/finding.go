package migration

import (
	"fmt"

	"svc/assess"
	"svc/backend/visible"
)

func hint(text string) []assess.Remediation { return []assess.Remediation{{Type: "hint", Text: text}} }

// complete leaves no list of a finding null.
func complete(all []assess.Finding) []assess.Finding {
	for i := range all {
		f := &all[i]
		if f.Remediations == nil {
			f.Remediations = []assess.Remediation{}
		}
		if f.Related == nil {
			f.Related = []assess.Resource{}
		}
		if f.Evidence == nil {
			f.Evidence = []assess.Evidence{}
		}
	}
	return all
}

func packageResources(names []string) (r []assess.Resource) {
	for _, n := range names {
		r = append(r, assess.Resource{Scheme: "package", Name: n})
	}
	return r
}

// aboutPackages is a finding about packages, or none where there are none.
func aboutPackages(names []string, f assess.Finding) []assess.Finding {
	if len(names) == 0 {
		return nil
	}
	f.Related = packageResources(names)
	return []assess.Finding{f}
}

// files is a finding about the files that match, or none.
func files(p *Plan, match func(Config) bool, f assess.Finding) []assess.Finding {
	var names []string
	for _, c := range p.Configuration {
		if match(c) {
			names = append(names, c.From)
			f.Related = append(f.Related, assess.Resource{Scheme: "file", Name: c.From})
		}
	}
	if len(names) == 0 {
		return nil
	}
	f.Summary = fmt.Sprintf(f.Summary, len(names), visible.Names(names[:min(5, len(names))]))
	return []assess.Finding{f}
}
