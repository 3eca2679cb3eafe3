package migration

import (
	_ "embed"
	"fmt"
	"sync"

	"svc/assess"
	"svc/backend/visible"
)

// findingRows are what findings of a plan have in common, by key.
//
//go:embed findings.tsv
var findingRows string

var toldOf = sync.OnceValue(func() assess.Told { return assess.ReadTold(findingRows) })

// found is the finding of a key, with what was found.
func found(key, summary string, related []assess.Resource) assess.Finding {
	return toldOf().Found(key, summary, related)
}

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

// aboutPackages is a finding about packages, or none where there are none.
func aboutPackages(names []string, f assess.Finding) []assess.Finding {
	if len(names) == 0 {
		return nil
	}
	f.Related = assess.Resources("package", names)
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
