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

// gather begins the finding of a key, of all that a check comes upon.
func gather(key string) *assess.Gathering { return toldOf().Gather(key) }

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
	g := &assess.Gathering{Finding: f}
	for _, c := range p.Configuration {
		if match(c) {
			g.Call(c.From, assess.Resource{Scheme: "file", Name: c.From})
		}
	}
	return counted(g)
}

// counted is what was gathered, by a summary that says how many they are and names some.
func counted(g *assess.Gathering) []assess.Finding {
	return g.Tell(fmt.Sprintf(g.Summary, len(g.Said), visible.Names(g.Said[:min(5, len(g.Said))])))
}
