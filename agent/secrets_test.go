package agent

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc/backend/secret/secrettest"
)

// record keeps what went through a stream.
type record struct {
	io.ReadCloser
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text.Write(p[:n])
	return n, err
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// overPipes serves over two pipes, as a client starts the program, and gives all that
// the server wrote.
func overPipes(t *testing.T) (*mcp.ClientSession, *record) {
	t.Helper()
	is := is.New(t)
	requests, ask := io.Pipe()
	answers, say := io.Pipe()
	wire := &record{ReadCloser: answers}
	env := newEnv(t)
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(t.Context(), env, requests, say, Options{Version: "test", Log: env.Log, Results: t.TempDir()})
	}()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: wire, Writer: ask}, nil)
	is.NoErr(err)
	t.Cleanup(func() {
		session.Close()
		if err := <-ended; err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
	})
	return session, wire
}

// planted is a machine with the secrets of secrettest, and with some where they
// are in force: in a crontab, in what is mounted, and in keys for ssh.
func planted(t *testing.T) (root string, values []string) {
	t.Helper()
	is := is.New(t)
	root = filepath.Join(t.TempDir(), "host")
	is.NoErr(os.CopyFS(root, os.DirFS(fixture)))
	write := func(name, text string) {
		file := filepath.Join(root, name)
		is.NoErr(os.MkdirAll(filepath.Dir(file), 0o755))
		is.NoErr(os.RemoveAll(file))
		is.NoErr(os.WriteFile(file, []byte(text), 0o644))
	}
	for _, f := range secrettest.Files() {
		write(f.Path, f.Text)
		values = append(values, f.Values...)
	}
	write("var/spool/cron/crontabs/root", "15 3 * * * PGPASSWORD=tab-Passw0rd-1 pg_dump shop\n")
	write("etc/cron.d/hook", "* * * * * root curl -H 'Authorization: Bearer hook-Tok3n-4711abcdef' https://hooks.example.org/\n")
	write("etc/fstab", "//nas/x /srv/x cifs username=x,password=fstab-Passw0rd,ro 0 0\n")
	write("root/.ssh/authorized_keys", `command="/usr/bin/backup --password=keys-Passw0rd",no-pty ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0Qy1jVJ3pJ7m6Xn3v0tq0rKk1mG9y3m5c8uJt0Qy1j anna@office`+"\n")
	return root, append(values, "tab-Passw0rd-1", "hook-Tok3n-4711abcdef", "fstab-Passw0rd", "keys-Passw0rd")
}

var link = regexp.MustCompile(`svc://(?:document|out)/[^\s"'<>\\,]+`)

// readAll reads the resources that a text names, and those that these name.
func readAll(t *testing.T, session *mcp.ClientSession, said string, seen map[string]bool) {
	t.Helper()
	for _, uri := range link.FindAllString(said, -1) {
		uri = strings.TrimRight(uri, ".)")
		if seen[uri] || strings.Contains(uri, "{") {
			continue
		}
		seen[uri] = true
		r, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			continue // a form of a link, not one
		}
		for _, c := range r.Contents {
			readAll(t, session, c.Text, seen)
			if files := strings.Fields(c.Text); strings.HasSuffix(uri, "/") && strings.HasPrefix(uri, outScheme) {
				readAll(t, session, uri+strings.Join(files, " "+uri), seen)
			}
		}
	}
}

// TestNoSecretReachesTheAgent does all that an agent does with a machine, reads every
// document and file that it is pointed to, and looks at every byte that the server wrote.
func TestNoSecretReachesTheAgent(t *testing.T) {
	is := is.New(t)
	root, values := planted(t)
	session, wire := overPipes(t)
	out, seen := t.TempDir(), map[string]bool{}
	migrated, verified, plan := filepath.Join(out, "migrated"), filepath.Join(out, "verified"), filepath.Join(out, "data")
	for _, c := range []struct {
		tool  string
		input map[string]any
	}{
		{"svc_assess", map[string]any{"root": root}},
		{"svc_assess", map[string]any{"root": root, "detail": "full", "target": "debian-13"}},
		{"svc_migrate", map[string]any{"root": root, "target": "debian-13", "preflight": true}},
		{"svc_migrate", map[string]any{"root": root, "target": "debian-13", "out": migrated}}, // not confirmed
		{"svc_migrate", map[string]any{"root": root, "target": "debian-13", "out": migrated, "confirm": true}},
		{"svc_verify", map[string]any{"root": root, "source": migrated, "out": verified, "detail": "full"}},
		{"svc_verify", map[string]any{"root": root, "source": migrated, "kind": "drift", "detail": "full"}},
		{"svc_data_discover", map[string]any{"root": root, "detail": "full"}},
		{"svc_data_plan", map[string]any{"root": root, "target": "debian-13", "out": plan, "confirm": true}},
		{"svc_db_plan", map[string]any{"root": root, "target": "debian-13"}},
		{"svc_migrate", map[string]any{"root": filepath.Join(root, "etc/shadow"), "target": "debian-13"}}, // refused
	} {
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: c.input})
		is.NoErr(err)
		b, err := json.Marshal(r)
		is.NoErr(err)
		readAll(t, session, string(b), seen)
		if confirmed, _ := c.input["confirm"].(bool); confirmed {
			is.True(!r.IsError)
		}
	}
	t.Logf("%d resources, %d bytes", len(seen), len(wire.String()))
	for _, part := range []string{"plan.json", "report.html", "role/tasks/main.yml"} {
		found := false
		for uri := range seen {
			found = found || strings.HasSuffix(uri, "/"+part)
		}
		if !found {
			t.Errorf("no link led to %s", part) // and so this test looked at too little
		}
	}
	for _, v := range leaked(wire.String(), values) {
		t.Errorf("the agent was told %q", v)
	}
	is.Equal(leaked(`"`+values[0]+`"`, values[:1]), values[:1])
}

// leaked are the values that stand in what went over the wire: as they are, and as
// JSON in JSON, HTML and base64 have them.
func leaked(said string, values []string) (found []string) {
	for _, run := range regexp.MustCompile(`[A-Za-z0-9+/]{16,}={0,2}`).FindAllString(said, -1) {
		if plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(run, "=")); err == nil {
			said += "\n" + string(plain)
		}
	}
	for _, v := range values {
		once, _ := json.Marshal(v)
		twice, _ := json.Marshal(string(once[1 : len(once)-1]))
		for _, form := range []string{v, html.EscapeString(v), string(once[1 : len(once)-1]), string(twice[1 : len(twice)-1])} {
			if strings.Contains(said, form) {
				found = append(found, v)
				break
			}
		}
	}
	return found
}
