package agent

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func environment(k string) string {
	return map[string]string{"SVC_API_KEY": "svc_secret", "SVC_SERVER": "https://example.org", "SSH_AUTH_SOCK": "/run/user/1000/a b.sock"}[k]
}

// TestConfigurations compares every client's form with its golden file.
func TestConfigurations(t *testing.T) {
	for _, client := range append(Clients(), "") {
		t.Run(client, func(t *testing.T) {
			is := is.New(t)
			c, err := Configure(client, NewServerEntry("/opt/it's svc/svc", Options{}, environment))
			is.NoErr(err)
			is.True(!strings.Contains(c.Entry+c.Command, "svc_secret")) // the token is nowhere
			got := "file: " + c.File + "\ncommand: " + c.Command + "\n" + c.Entry
			golden := filepath.Join("testdata", "clients", client+".txt")
			if client == "" {
				golden = filepath.Join("testdata", "clients", "common.txt")
			}
			if *update {
				is.NoErr(os.MkdirAll(filepath.Dir(golden), 0o755))
				is.NoErr(os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			is.NoErr(err)
			is.Equal(got, string(want))
			if client != "codex" {
				is.True(json.Valid([]byte(c.Entry)))
			}
		})
	}
	is := is.New(t)
	is.Equal(len(Clients()), 10)
	_, err := Configure("emacs", Server{})
	is.True(err != nil && strings.Contains(err.Error(), "claude-code"))
}

func TestOptionsAreCarried(t *testing.T) {
	is := is.New(t)
	s := NewServerEntry("/svc", Options{ReadOnly: true, Tools: []string{"svc_whoami", "svc_assess"}}, func(string) string { return "" })
	is.Equal(s.Args, []string{"mcp", "--read-only", "--tools", "svc_whoami,svc_assess"})
}

// TestShell has a real shell read what was quoted.
func TestShell(t *testing.T) {
	is := is.New(t)
	words := []string{"a b", "it's", "$HOME", "", "`id`", "x;y", "\"q\"", "plain-1.2/x=y"}
	out, err := exec.Command("sh", "-c", `for w in `+shell(words)+`; do printf '%s\n' "$w"; done`).Output()
	is.NoErr(err)
	is.Equal(strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), words)
}
