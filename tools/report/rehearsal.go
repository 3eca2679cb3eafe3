package report

import (
	"svc/assess"
	"svc/tools/exposure"
	"svc/tools/migration"
	"svc/tools/rehearsal"
)

// RenderRehearsal makes the page of a plan with what came of trying it on top.
func RenderRehearsal(d *rehearsal.Document, p *migration.Plan, a *assess.Assessment, e *exposure.Document, tool string) []byte {
	return render(content{Rehearsal: d}, p, a, e, tool)
}
