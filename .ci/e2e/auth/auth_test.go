// Package auth_test stores API tokens for real, of a service that runs: in a file, and
// on a Secret Service, which is gnome-keyring on a session bus of its own.
package auth_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc/.ci/e2e"
	"svc/backend/api"
	"svc/cmd/svc/exit"
)

func TestMain(m *testing.M) {
	e2e.Main(m, "gnome-keyring-daemon:gnome-keyring", "dbus-daemon:dbus-daemon", "secret-tool:libsecret-tools")
}

// user is one with a folder of its own, and a service with two tokens of the user's
// account, of which one is disabled.
type user struct {
	*e2e.Work
	service         *e2e.Service
	token, disabled string
}

func newUser(t *testing.T) *user {
	w := e2e.New(t)
	t.Setenv("HOME", w.Dir)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+w.Path("bus")) // where none listens yet
	t.Setenv("SVC_DB", "sqlite:"+w.Path("svc.db"))
	u := &user{Work: w, service: w.StartService("--signing-key", w.Path("key.pem"))}
	u.SVC(exit.Done, "admin", "account", "create", "--name", "acme", "--plan", "pro")
	u.token, u.disabled = u.newToken(), u.newToken()
	u.SVC(exit.Done, "admin", "token", "disable", "--id", "2")
	return u
}

func (u *user) newToken() string {
	var made struct{ Token string }
	u.SVC(exit.Done, "admin", "token", "create", "--account", "1", "--json").JSON(&made)
	return made.Token
}

// login gives svc the token on its standard input.
func (u *user) login(t *testing.T) e2e.Said {
	c := u.Command("auth", "--server", u.service.URL, "-")
	c.Stdin = strings.NewReader(u.token)
	return u.In(t).Do(exit.Done, c)
}

// stored are the files of the user's configuration.
func (u *user) stored(t *testing.T) (files []string) {
	err := filepath.WalkDir(u.Path("config"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return nil // where nothing is stored there is no folder
	})
	is.New(t).NoErr(err)
	return files
}

func TestFile(t *testing.T) {
	u := newUser(t)
	t.Run("a typo is found before the network", func(t *testing.T) {
		u.In(t).SVC(exit.Usage, "auth", "--server", "http://192.0.2.1", u.token[:len(u.token)-1]+"x")
	})
	t.Run("a token that is disabled is refused, and nothing is stored", func(t *testing.T) {
		u.In(t).SVC(exit.Unauthenticated, "auth", "--server", u.service.URL, u.disabled)
		is.New(t).Equal(u.stored(t), nil)
	})
	t.Run("without a keyring a token is stored in a file, which this user alone can read, and it says so", func(t *testing.T) {
		is := is.New(t)
		u.login(t).Has("no OS keyring here")
		info, err := os.Stat(u.Path("config/svc/token"))
		is.NoErr(err)
		is.Equal(info.Mode().Perm(), os.FileMode(0o600))
	})
	t.Run("the service takes it from the file", func(t *testing.T) {
		u.In(t).SVC(exit.Done, "auth", "status").Has("token of the file")
	})
	t.Run("SVC_API_KEY overrides it", func(t *testing.T) {
		t.Setenv("SVC_API_KEY", u.disabled)
		u.In(t).SVC(exit.Unauthenticated, "account")
	})
	t.Run("it is forgotten, and its file is gone", func(t *testing.T) {
		u.In(t).SVC(exit.Done, "auth", "logout")
		_, err := os.Stat(u.Path("config/svc/token"))
		is.New(t).True(os.IsNotExist(err))
	})
}

func TestKeyring(t *testing.T) {
	u := newUser(t)
	u.openKeyring(t)
	var printed strings.Builder
	prints := func(s e2e.Said, text string) {
		t.Helper()
		s.Has(text)
		printed.WriteString(s.Out + s.Err)
	}
	t.Run("a token is stored in the keyring, and used from it", func(t *testing.T) {
		prints(u.login(t), "stored in the OS keyring")
		prints(u.In(t).SVC(exit.Done, "auth", "status"), "token of the keyring")
		prints(u.In(t).SVC(exit.Done, "account", "--json"), `"acme"`)
	})
	t.Run("another program finds it there", func(t *testing.T) {
		is.New(t).Equal(u.lookUp(t, 0), u.token)
	})
	t.Run("the agent's server uses it", func(t *testing.T) {
		is.New(t).Equal(u.whoami(t).Name, "acme")
	})
	t.Run("the agent's configuration names the bus", func(t *testing.T) {
		prints(u.In(t).SVC(exit.Done, "mcp", "--print-config"), "DBUS_SESSION_BUS_ADDRESS")
	})
	t.Run("the token is printed nowhere, and stands in no file", func(t *testing.T) {
		is := is.New(t)
		is.True(!strings.Contains(printed.String(), u.token))
		is.True(!strings.Contains(u.service.Log(), u.token))
		u.In(t).Run(1, "grep", "-rq", u.token, u.Dir)
	})
	t.Run("it is forgotten in the keyring", func(t *testing.T) {
		u.In(t).SVC(exit.Done, "auth", "logout")
		is.New(t).Equal(u.lookUp(t, 1), "")
	})
}

// bus is the configuration of a session bus that starts nothing by itself: whoever asked
// before the open keyring is there would get another, which is locked.
const bus = `<busconfig><type>session</type><listen>%s</listen><policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`

// openKeyring starts a session bus and an open keyring on it, which ends with the bus.
func (u *user) openKeyring(t *testing.T) {
	is := is.New(t)
	u.Files(u.Dir, map[string]string{"bus.conf": fmt.Sprintf(bus, os.Getenv("DBUS_SESSION_BUS_ADDRESS"))})
	daemon := exec.Command("dbus-daemon", "--nofork", "--print-address", "--config-file="+u.Path("bus.conf"))
	daemon.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	ready, err := daemon.StdoutPipe()
	is.NoErr(err)
	is.NoErr(daemon.Start())
	t.Cleanup(func() { _, _ = daemon.Process.Kill(), daemon.Wait() })
	_, err = ready.Read(make([]byte, 1)) // it listens
	is.NoErr(err)
	is.NoErr(os.Mkdir(u.Path("run"), 0o700))
	ring := exec.Command("gnome-keyring-daemon", "--unlock", "--components=secrets")
	ring.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+u.Path("run"))
	ring.Stdin = strings.NewReader("pw")
	is.NoErr(ring.Run())
	u.Until("dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.DBus.Peer.Ping")
}

// lookUp has another program look for the token.
func (u *user) lookUp(t *testing.T, code int) string {
	return u.In(t).Run(code, "secret-tool", "lookup", "service", "svc", "username", "api-token").Line()
}

// whoami is whose account the agent's server works for.
func (u *user) whoami(t *testing.T) (account api.Account) {
	is := is.New(t)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil).
		Connect(t.Context(), &mcp.CommandTransport{Command: u.Command("mcp")}, nil)
	is.NoErr(err)
	defer session.Close()
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "svc_whoami"})
	is.NoErr(err)
	is.NoErr(json.Unmarshal([]byte(r.Content[0].(*mcp.TextContent).Text), &account))
	return account
}
