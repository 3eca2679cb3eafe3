package judge

import (
	_ "embed"
	"sync"

	"svc/assess"
)

// findingRows are what findings have in common, by key.
//
//go:embed findings.tsv
var findingRows string

var told = sync.OnceValue(func() assess.Told { return assess.ReadTold(findingRows) })

// gather begins the finding of a key, of all that a check comes upon.
func gather(key string) *assess.Gathering { return told().Gather(key) }

// found is the finding of a key, with what was found.
func found(key, summary string, related []assess.Resource, evidence ...assess.Evidence) assess.Finding {
	return told().Found(key, summary, related, evidence...)
}
