package tools

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/tools/assessment"
	"svc/tools/machine"
	"svc/tools/move"
	"svc/tools/tool"
)

// shelf keeps documents as the MCP server does.
type shelf struct {
	mu        sync.Mutex
	documents map[string][]byte
}

func (k *shelf) Put(name string, document []byte) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.documents == nil {
		k.documents = map[string][]byte{}
	}
	k.documents[name] = document
	return "svc://document/" + name
}

// TestWhatIsFreshIsFresh asks the same again after the seat was claimed.
func TestWhatIsFreshIsFresh(t *testing.T) {
	is := is.New(t)
	env, in := newEnv(t), confirmed(t)
	preflight := in
	preflight.Preflight = true
	before := migrate(t, env, preflight)
	is.True(!before.Licensed && strings.Contains(before.Cost, "claims one licence seat"))
	in.PlanDigest = before.PlanDigest
	first := migrate(t, env, in)
	is.True(first.Licensed && first.SeatClaimed)
	after := migrate(t, env, preflight)
	is.True(after.Licensed && strings.Contains(after.Cost, "costs nothing"))
}

func TestOnlyThePlanThatWasShownIsConfirmed(t *testing.T) {
	is := is.New(t)
	in := confirmed(t)
	in.PlanDigest = strings.Repeat("0", 64)
	_, err := move.Migrate(t.Context(), newEnv(t), in)
	is.True(err != nil && strings.Contains(err.Error(), "nothing was written"))
}

// TestNoAddressIsFetchedUnasked listens where a machine would have words carried to.
func TestNoAddressIsFetchedUnasked(t *testing.T) {
	is := is.New(t)
	asked := 0
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { asked++; w.WriteHeader(http.StatusNotFound) }))
	defer listener.Close()
	env, in := newEnv(t), confirmed(t)
	env.ForAgent, env.Cache = true, t.TempDir()
	in.TargetArchives = []string{listener.URL + "/leak?secret=hunter2"}
	in.Confirm, in.Preflight = false, true
	_, err := move.Migrate(t.Context(), env, in)
	var unconfirmed *tool.NeedsConfirm
	is.True(errors.As(err, &unconfirmed))
	is.True(strings.Contains(err.Error(), listener.URL))
	is.Equal(asked, 0)
	in.Confirm = true // preflight wins: it is fetched, and nothing written
	_, err = move.Migrate(t.Context(), env, in)
	is.True(err != nil && !errors.As(err, &unconfirmed))
	is.True(asked > 0)
	in.Confirm, in.TargetArchives = false, []string{t.TempDir()} // a folder is not fetched
	_, err = move.Migrate(t.Context(), env, in)
	is.True(!errors.As(err, &unconfirmed))
}

// TestAPreflightSaysWhatAPersonAsks has names and sentences, within the budget.
func TestAPreflightSaysWhatAPersonAsks(t *testing.T) {
	is := is.New(t)
	env, in := newEnv(t), confirmed(t)
	documents := &shelf{}
	env.Resources, in.Preflight = documents, true
	r := migrate(t, env, in)
	is.Equal(len(r.Removed), r.Sum.Removed)
	is.Equal(len(r.Replaced), r.Sum.Replaced)
	is.Equal(r.Next[0].Tool, "svc_migrate")
	is.Equal(r.Next[0].Input["plan_digest"], r.PlanDigest)
	for _, f := range r.Findings {
		if f.Severity == assess.High && f.Summary == "" {
			t.Errorf("%s says nothing", f.Key)
		}
	}
	is.True(len(tool.Encoded(r)) <= tool.SummaryBudget)
	in.Preflight = false
	written := migrate(t, env, in)
	is.True(strings.Contains(written.Next[0].Command, filepath.Join(in.Out, "site.yml")))
	is.Equal(written.Next[1].Input["source"], in.Out)
}

func TestHeadlinesAreSaidOnce(t *testing.T) {
	is := is.New(t)
	is.Equal(tool.Headlines([]assess.Finding{
		{Key: "k", Severity: assess.Low, Title: "a: is old", Summary: "s", Remediations: []assess.Remediation{{Text: "do"}}},
		{Key: "k", Severity: assess.Low, Title: "b: is old", Summary: "s"},
		{Key: "k", Severity: assess.High, Title: "c: is old", Summary: "other"},
	}), []tool.Headline{
		{Key: "k", Severity: assess.High, Title: "c: is old", Summary: "other"},
		{Key: "k", Severity: assess.Low, Title: "a, b: is old", Summary: "s", Do: []string{"do"}},
	})
}

// TestACutListIsNotEmpty reads a summary as a model does.
func TestACutListIsNotEmpty(t *testing.T) {
	is := is.New(t)
	env := newEnv(t)
	env.Resources = &shelf{}
	r, err := assessment.Assess(t.Context(), env, assessment.Input{Machine: machine.Machine{Root: fixture}})
	is.NoErr(err)
	text := string(tool.Encoded(r))
	is.True(r.Total["packages"] > 0 && len(r.Packages) == 0)
	var members map[string]json.RawMessage
	is.NoErr(json.Unmarshal([]byte(text), &members))
	empty := 0
	for name, value := range members {
		if string(value) != "[]" {
			continue
		}
		empty++
		if r.Total[name] > 0 {
			t.Errorf("%s looks like none", name)
		}
	}
	is.True(empty > 0) // what is none is none
	whole, err := assessment.Assess(t.Context(), env, assessment.Input{Machine: machine.Machine{Root: fixture}, Detail: tool.DetailFull})
	is.NoErr(err)
	is.True(strings.Contains(string(tool.Encoded(whole)), `"packages":[{`))
}

func TestToolsThatOpenConnectionsSaySo(t *testing.T) {
	for _, tool := range All() {
		if _, ssh := tool.Input.Properties["ssh"]; ssh && !tool.Hints.OpenWorld {
			t.Errorf("%s takes ssh", tool.Name)
		}
	}
}
