package release_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/.ci/e2e"
)

// agents has each client look at what is made for it.
func (r *release) agents(t *testing.T) {
	w := r.In(t)
	modules := w.Modules()
	// The registry publishes its schema in its own module.
	var registry struct{ Dir string }
	w.Run(0, "go", "mod", "download", "-json", "github.com/modelcontextprotocol/registry@v1.8.9").JSON(&registry)
	w.Run(0, "jsonschema", "-i", r.file("server.json"), filepath.Join(registry.Dir, "docs/reference/server-json/draft/server.schema.json"))

	t.Setenv("HOME", w.Path("home"))
	t.Setenv("PATH", r.svc+":"+os.Getenv("PATH"))
	is.New(t).NoErr(os.Mkdir(w.Path("home"), 0o755))
	w.Run(0, "unzip", "-q", r.file("*_plugin.zip"), "-d", w.Path("agents"))
	w.Run(0, "unzip", "-q", r.file("*.mcpb"), "-d", w.Path("bundle"))
	plugin := w.Path("agents", "svc")
	client := func(words ...string) {
		t.Helper()
		w.Run(0, "timeout", append([]string{"60"}, words...)...)
	}
	client("mcpb", "validate", w.Path("bundle", "manifest.json"))
	r.starts(w)
	client(filepath.Join(modules, "@anthropic-ai/claude-code-linux-x64/claude"), "plugin", "validate", "--strict", plugin)
	client("gemini", "extensions", "validate", plugin)

	w.Files(w.Path("market/.agents/plugins"), map[string]string{"marketplace.json": `{"name": "e2e", "plugins": [{"name": "svc", "source": {"source": "local", "path": "./plugins/svc"},
		"policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}, "category": "Developer Tools"}]}`})
	is.New(t).NoErr(os.CopyFS(w.Path("market/plugins/svc"), os.DirFS(plugin)))
	client("codex", "plugin", "marketplace", "add", w.Path("market"))
	client("codex", "plugin", "add", "svc@e2e")
}

// calls has a server say its tools.
const calls = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// starts: the bundle does, as its manifest says, wherever its client is.
func (r *release) starts(w *e2e.Work) {
	var manifest struct {
		Server struct {
			Config struct {
				Command string
				Args    []string
			} `json:"mcp_config"`
		}
	}
	r.read(w.Path("bundle", "manifest.json"), &manifest)
	server := append([]string{manifest.Server.Config.Command}, manifest.Server.Config.Args...)
	for i, word := range server {
		server[i] = strings.ReplaceAll(word, "${__dirname}", w.Path("bundle"))
	}
	w.Shell(0, `cd / && (printf %s "$1"; sleep 2) | "${@:2}"`, append([]string{calls}, server...)...).Has("svc_migrate")
}
