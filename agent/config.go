package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"svc/agent/lineguard"
)

// carried are the settings that a client must hand to the server it starts:
// most clients pass on little of their own environment.
var carried = []string{"SVC_SERVER", "SVC_CONFIG", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK"}

// Server is how a client starts one MCP server.
type Server struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
	Tools   []string          `json:"tools,omitempty"`
}

// NewServerEntry is how the program at executable, an absolute path, is started
// with these options. env looks up a variable; the token is never in it.
func NewServerEntry(executable string, o Options, env func(string) string) Server {
	s := Server{Command: executable, Args: []string{"mcp"}, Env: map[string]string{}}
	if o.ReadOnly {
		s.Args = append(s.Args, "--read-only")
	}
	if len(o.Tools) > 0 {
		s.Args = append(s.Args, "--tools", strings.Join(o.Tools, ","))
	}
	for _, name := range carried {
		if v := env(name); v != "" {
			s.Env[name] = v
		}
	}
	return s
}

// Configuration is the entry for one client.
type Configuration struct {
	Client  string `json:"client"`
	File    string `json:"file"`              // where the entry belongs
	Command string `json:"command,omitempty"` // puts it there, where the client has such a command
	Entry   string `json:"entry"`             // JSON, or TOML
}

// form is how a client takes the entry.
type form struct {
	file  string
	entry func(Server) (string, error)
	// install is the client's own command, where it has one.
	install func(Server) []string
}

// forms are those of the clients, by name.
var forms = map[string]form{
	"claude-code": {".mcp.json of a project, or the user's by the command", under("mcpServers", stdio), func(s Server) []string {
		return slices.Concat([]string{"claude", "mcp", "add", "--scope", "user", "svc"}, pairs("--env", s.Env), []string{"--", s.Command}, s.Args)
	}},
	"claude-desktop": {"claude_desktop_config.json: ~/.config/Claude, ~/Library/Application Support/Claude or %APPDATA%\\Claude; restart it then", under("mcpServers", plain), nil},
	"vscode": {".vscode/mcp.json, or the user's mcp.json", under("servers", stdio), func(s Server) []string {
		return []string{"code", "--add-mcp", lineguard.Line(struct {
			Name string `json:"name"`
			Server
		}{"svc", stdio(s).(Server)})}
	}},
	"cursor": {"~/.cursor/mcp.json, or .cursor/mcp.json of a project", under("mcpServers", plain), nil},
	"codex": {"~/.codex/config.toml", toml, func(s Server) []string {
		return slices.Concat([]string{"codex", "mcp", "add", "svc"}, pairs("--env", s.Env), []string{"--", s.Command}, s.Args)
	}},
	"gemini": {"~/.gemini/settings.json, or .gemini/settings.json of a trusted folder", under("mcpServers", plain), func(s Server) []string {
		return slices.Concat([]string{"gemini", "mcp", "add", "--scope", "user"}, pairs("-e", s.Env), []string{"svc", s.Command}, s.Args)
	}},
	"zed":      {"settings.json of Zed", under("context_servers", plain), nil},
	"windsurf": {"~/.codeium/windsurf/mcp_config.json", under("mcpServers", plain), nil},
	"opencode": {"opencode.json", under("mcp", func(s Server) any {
		return struct {
			Type        string            `json:"type"`
			Command     []string          `json:"command"`
			Enabled     bool              `json:"enabled"`
			Environment map[string]string `json:"environment,omitempty"`
		}{"local", append([]string{s.Command}, s.Args...), true, s.Env}
	}), nil},
	"copilot": {"~/.copilot/mcp-config.json, or .mcp.json of a project", under("mcpServers", func(s Server) any {
		s.Type, s.Tools = "local", []string{"*"}
		return s
	}), nil},
}

// Clients are the names of the clients whose form is known, sorted.
func Clients() []string { return slices.Sorted(maps.Keys(forms)) }

// Configure gives the entry in the form of a client; of the common form where
// the name is empty.
func Configure(client string, s Server) (Configuration, error) {
	f, ok := forms[client]
	if client == "" {
		f, ok = form{entry: under("mcpServers", plain)}, true
	}
	if !ok {
		return Configuration{}, fmt.Errorf("no client is called %q: the clients are %s", client, strings.Join(Clients(), ", "))
	}
	entry, err := f.entry(s)
	if err != nil {
		return Configuration{}, fmt.Errorf("printing the configuration: %w", err)
	}
	c := Configuration{Client: client, File: f.file, Entry: entry}
	if f.install != nil {
		c.Command = shell(f.install(s))
	}
	return c, nil
}

func plain(s Server) any { return s }

func stdio(s Server) any {
	s.Type = "stdio"
	return s
}

// under puts the server below a key of the client's file.
func under(key string, shape func(Server) any) func(Server) (string, error) {
	return func(s Server) (string, error) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		err := e.Encode(map[string]map[string]any{key: {"svc": shape(s)}})
		return b.String(), err
	}
}

// toml is the entry as TOML, whose strings and lists of strings are JSON's.
func toml(s Server) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "[mcp_servers.svc]\ncommand = %s\nargs = %s\n", lineguard.Line(s.Command), lineguard.Line(s.Args))
	if len(s.Env) > 0 {
		b.WriteString("\n[mcp_servers.svc.env]\n")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		fmt.Fprintf(&b, "%s = %s\n", name, lineguard.Line(s.Env[name]))
	}
	return b.String(), nil
}

// pairs are a flag and NAME=VALUE for each variable.
func pairs(flag string, env map[string]string) (args []string) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		args = append(args, flag, name+"="+env[name])
	}
	return args
}

// shell is a command as a POSIX shell reads it.
func shell(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || strings.ContainsFunc(w, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+/.,:@%", r)
		}) {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
