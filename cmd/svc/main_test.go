package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"svc/cmd/svc/program"
)

func TestMain(m *testing.M) {
	program.Patience = time.Hour // what is printed does not depend on how busy the machine is
	testscript.Main(m, map[string]func(){"svc": main})
}

// TestScripts runs the program as people do. $FIXTURES is the project's folder
// of machines.
func TestScripts(t *testing.T) {
	fixtures, err := filepath.Abs("../../fixtures/hosts")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("FIXTURES", fixtures)
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(e.WorkDir, "no-bus"))
			for _, name := range []string{"SVC_API_KEY", "SVC_SERVER", "SVC_CONFIG", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
				e.Setenv(name, "")
			}
			return os.MkdirAll(filepath.Join(e.WorkDir, "tmp"), 0o755)
		},
	})
}
