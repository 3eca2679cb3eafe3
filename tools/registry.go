// Package tools is what agents and people can do with svc. Each tool is a function of
// an environment and an input, in a room of its subject; the command line and the MCP
// server call the same functions. Here stands which tools there are.
package tools

import (
	"context"
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"svc/backend/tsv"
	"svc/tools/account"
	"svc/tools/assessment"
	"svc/tools/collaboration"
	"svc/tools/dataplan"
	"svc/tools/dbplan"
	"svc/tools/move"
	"svc/tools/readiness"
	"svc/tools/tool"
	"svc/tools/verification"
)

// All lists every tool in the order of documentation.
func All() []tool.Tool {
	return []tool.Tool{
		tool.Define(told("svc_whoami"), account.Whoami),
		tool.DefineForms[assessment.Input, assessment.Result](told("svc_assess"), assessment.AssessPart),
		tool.Requiring("target", tool.DefineForms[move.Input, anyMigration](told("svc_migrate"), migrateAny)),
		tool.DefineForms[verification.Call, verification.AnyResult](told("svc_verify"), verification.VerifyAny),
		tool.DefineForms[dbplan.PlanInput, dbplan.PlanResult](told("svc_db_plan"), dbplan.PlanPart),
		tool.Define(told("svc_db_upgrade_path"), dbplan.UpgradePath),
		tool.DefineForms[dataplan.DiscoverInput, dataplan.DiscoverResult](told("svc_data_discover"), dataplan.DiscoverPart),
		tool.Define(told("svc_data_plan"), dataplan.Plan),
		tool.Define(told("svc_get_status"), collaboration.GetStatus),
		tool.Define(told("svc_whats_new"), collaboration.WhatsNew),
		tool.Define(told("svc_export_collaboration"), collaboration.ExportCollaboration),
		tool.Define(told("svc_updates"), collaboration.Updates),
		tool.Define(told("svc_ask_question"), collaboration.AskQuestion),
		tool.Define(told("svc_list_questions"), collaboration.ListQuestions),
		tool.Define(told("svc_get_question"), collaboration.GetQuestion),
		tool.Define(told("svc_report_finding"), collaboration.ReportFinding),
		tool.Define(told("svc_list_findings"), collaboration.ListFindings),
		tool.Define(told("svc_get_finding"), collaboration.GetFinding),
	}
}

// toolsTSV is what clients are told of the tools.
//
//go:embed tools.tsv
var toolsTSV string

// enums are the values of types that single tools have.
var enums = tool.Enums{
	reflect.TypeFor[account.AccountDetail]():       {account.DetailAccount, account.DetailVMs, account.DetailStatement},
	reflect.TypeFor[verification.ComparisonKind](): {verification.KindParity, verification.KindDrift},
	reflect.TypeFor[collaboration.FindingKind]():   {collaboration.FindingKind("bug"), collaboration.FindingKind("coverage"), collaboration.FindingKind("measurement")},
}

// told is a tool as the table has it.
func told(name string) tool.Tool {
	for row := range tsv.Rows(toolsTSV, 4) {
		if row[0] == name {
			is := func(hint string) bool { return slices.Contains(strings.Fields(row[2]), hint) }
			hints := tool.Hints{ReadOnly: is("read-only"), Idempotent: is("idempotent"), OpenWorld: is("open-world"), Seats: is("seats")}
			return tool.Tool{Name: name, Title: row[1], Hints: hints, Description: row[3], Enums: enums}
		}
	}
	panic(fmt.Sprintf("nothing is told of the tool %s", name)) // seen by every test
}

// anyMigration is every form that the result of svc_migrate has.
type anyMigration struct {
	move.Result
	Machines int              `json:"machines,omitempty"`
	Targets  []map[string]any `json:"targets,omitempty"` // of TargetPreview or FleetTarget
}

// migrateAny is a move, a part of its plan, or the survey of several.
func migrateAny(ctx context.Context, env *tool.Env, in move.Input) (any, error) {
	if readiness.Several(in) {
		return readiness.Survey(ctx, env, in)
	}
	if in.Aimed() {
		return move.Part(ctx, env, in)
	}
	return move.Migrate(ctx, env, in)
}
