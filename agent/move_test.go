package agent

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"svc/tools"
)

// A whole move must cost a model no more than this.
const (
	mostCalls       = 8
	mostTokens      = 9000 // of results
	charactersToken = 4
)

// TestAMoveInFewWords makes a move as an agent does: each call follows from what
// was read before.
func TestAMoveInFewWords(t *testing.T) {
	is := is.New(t)
	session := connect(t, newEnv(t), eras["modern"])
	calls, characters := 0, 0
	ask := func(name string, args map[string]any) string {
		r := call(t, session, name, args)
		is.True(!r.IsError)
		calls++
		characters += len(text(r))
		t.Logf("%s: %d tokens", name, len(text(r))/charactersToken)
		return text(r)
	}
	out := filepath.Join(t.TempDir(), "out")
	machine := map[string]any{"root": fixture, "target": "Debian 13"}
	ask("svc_whoami", nil)
	ask("svc_assess", machine)
	machine["preflight"] = true
	var preflight tools.MigrateResult
	is.NoErr(json.Unmarshal([]byte(ask("svc_migrate", machine)), &preflight))
	is.True(preflight.Cost != "" && len(preflight.Removed) == preflight.Sum.Removed)
	next := preflight.Next[0]
	is.Equal(next.Tool, "svc_migrate")
	for name, value := range next.Input {
		machine[name] = value
	}
	machine["out"] = out
	var written tools.MigrateResult
	is.NoErr(json.Unmarshal([]byte(ask(next.Tool, machine)), &written))
	verify := written.Next[1]
	ask(verify.Tool, map[string]any{"root": fixture, "source": verify.Input["source"]})
	t.Logf("%d calls, %d tokens", calls, characters/charactersToken)
	is.True(calls <= mostCalls)
	is.True(characters <= mostTokens*charactersToken)
}
