package main

import (
	"bufio"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

// stdio is `svc mcp` as an agent starts it, with pipes of the system.
func stdio(t *testing.T) (cmd *exec.Cmd, say func(string), hear *bufio.Scanner, hangUp func(unfinished ...string)) {
	t.Helper()
	is := is.New(t)
	cmd = exec.Command("svc", "mcp")
	cmd.Env = append(cmd.Environ(), "HOME="+t.TempDir(), "SVC_API_KEY=", "SVC_SERVER=", "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_STATE_HOME=")
	in, err := cmd.StdinPipe()
	is.NoErr(err)
	out, err := cmd.StdoutPipe()
	is.NoErr(err)
	is.NoErr(cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	hear = bufio.NewScanner(out)
	hear.Buffer(nil, 16<<20)
	return cmd, func(s string) { fmt.Fprintln(in, s) }, hear, func(unfinished ...string) {
		fmt.Fprint(in, strings.Join(unfinished, ""))
		in.Close()
	}
}

// ends waits for a program's good end.
func ends(t *testing.T, cmd *exec.Cmd, within time.Duration) {
	t.Helper()
	timer := time.AfterFunc(within, func() { cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("svc mcp did not end by itself: %v", err)
	}
}

const greeting = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}`

func TestMCPAnswersOrRefusesAnIdThatIsInUse(t *testing.T) {
	is := is.New(t)
	cmd, say, hear, hangUp := stdio(t)
	say(greeting)
	for range 2 {
		say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"svc_assess","arguments":{"root":"../../fixtures/hosts/debian-11-web"}}}`)
	}
	hangUp() // in the middle of the call
	var heard []string
	for hear.Scan() {
		heard = append(heard, hear.Text())
	}
	ends(t, cmd, time.Minute)
	is.Equal(len(heard), 3) // the greeting's, and one for each
	is.True(strings.Contains(strings.Join(heard, ""), "debian-11"))
}

func TestMCPEndsThoughNobodyReads(t *testing.T) {
	cmd, say, _, hangUp := stdio(t)
	say(greeting)
	for i := range 100 { // answers fill the pipe
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, i+1))
	}
	hangUp()
	ended := make(chan struct{})
	go func() { defer close(ended); cmd.Process.Wait() }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("svc mcp is alive")
	}
}

// TestMCPEndsInTheMiddleOfALine has input end within a message: what came whole is
// answered, the rest refused, and the process ends.
func TestMCPEndsInTheMiddleOfALine(t *testing.T) {
	whole := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"svc_whoami","arguments":{}}}`
	for rest, want := range map[string]string{whole: `"id":2`, whole[:len(whole)/2]: `"code":-32700`, "": ""} {
		is := is.New(t)
		cmd, say, hear, hangUp := stdio(t)
		say(greeting)
		say(strings.Replace(whole, `"id":2`, `"id":1`, 1))
		hangUp(rest)
		var heard []string
		for hear.Scan() {
			heard = append(heard, hear.Text())
		}
		ends(t, cmd, time.Minute)
		all := strings.Join(heard, "\n")
		is.True(strings.Contains(all, `"id":1`)) // it came whole
		is.True(strings.Contains(all, want))
	}
}
