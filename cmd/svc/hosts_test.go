package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/cmd/svc/exit"
	"svc/cmd/svc/many"
)

// TestAStoppedFleetNamesEveryMachine interrupts a command on many machines: each
// has its line, and none is looked at any more.
func TestAStoppedFleetNamesEveryMachine(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	var list strings.Builder
	for n := range 50 {
		fmt.Fprintf(&list, "%s/m%d\n", dir, n)
	}
	hosts := filepath.Join(dir, "list")
	is.NoErr(os.WriteFile(hosts, []byte(list.String()), 0o644))
	env := func(name string) string { return map[string]string{"HOME": dir}[name] }
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"drift", "--hosts", hosts, "--parallel", "8", "--source", dir, "--json"}, env, strings.NewReader(""), &stdout, &stderr)
	is.Equal(code, exit.Interrupted)
	seen := map[string]bool{}
	for line := range strings.Lines(stdout.String()) {
		var machine many.HostLine[struct{}]
		is.NoErr(json.Unmarshal([]byte(line), &machine))
		is.Equal(machine.Error, many.ErrNotReached.Error())
		seen[machine.Machine] = true
	}
	is.Equal(len(seen), 50)
	is.True(strings.Contains(stderr.String(), "50 machines: 0 without findings, 0 with, 0 failed, 50 not reached"))
	is.True(strings.Contains(stderr.String(), "The same call looks at all machines again"))

	// People get the numbers, and no row for each.
	stdout.Reset()
	is.Equal(run(ctx, []string{"drift", "--hosts", hosts, "--source", dir}, env, strings.NewReader(""), &stdout, &stderr), exit.Interrupted)
	is.Equal(stdout.String(), "")
}
