package account

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/agent/token"
	"svc/backend/api"
	"svc/backend/client"
	"svc/backend/osfile"
	"svc/backend/visible"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/program"
)

// Auth is `svc auth`.
func (p Commands) Auth() *ffcli.Command {
	return p.Command(p.FlagSet("auth"), "svc auth [--server URL] TOKEN", "store the API token; - reads it from stdin", p.auth,
		p.Command(p.FlagSet("status"), "svc auth status", "say which token is used, and whether the service takes it", program.NoArgs(p.authStatus)),
		p.Command(p.FlagSet("logout"), "svc auth logout", "forget the stored token and server", program.NoArgs(p.authLogout)),
	)
}

// auth stores a token, and the server with it where one is given. What was
// stored before stays until the new token is accepted.
func (p Commands) auth(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return exit.Usagef("auth takes one token, or - to read it from stdin")
	}
	t, err := p.readToken(args[0])
	if err != nil {
		return err
	}
	if err := api.CheckToken(t); err != nil {
		return exit.Usagef("%w; nothing was stored", err)
	}
	if p.Settings.Server == "" {
		return exit.Usagef("a token is for a service, and none is set; nothing was stored. Repeat this with the address that came with the token: svc auth --server https://… TOKEN. SVC_SERVER names it too, and so does a line “server https://…” in %s. Without a service svc needs no token: it uses the backend built into it, on this machine", p.Settings.Config)
	}
	if err := checkServer(p.Settings.Server); err != nil {
		return err
	}
	checked, err := p.checkToken(ctx, t)
	if err != nil {
		return err
	}
	place, err := p.login(t)
	return p.Answer(struct {
		Server  string      `json:"server"`
		Stored  token.Place `json:"stored"`
		Checked bool        `json:"checked"` // the service took it
	}{p.Settings.Server, place, checked}, err, func(w *program.View) {
		if place == token.File {
			w.Line("no OS keyring here: the token for %s is stored in %s, readable by you alone", p.Settings.Server, p.Paths.Config("token"))
			return
		}
		w.Line("the token for %s is stored in the OS keyring", p.Settings.Server)
	})
}

// login stores a token and its server: both, or neither.
func (p Commands) login(t string) (token.Place, error) {
	before, _, err := p.Tokens().Stored()
	if err != nil && !errors.Is(err, token.ErrNone) {
		return "", err
	}
	place, err := p.Tokens().Set(t)
	if err != nil {
		return "", err
	}
	if err := p.setServer(p.Settings.Server); err != nil {
		if before != "" {
			_, undo := p.Tokens().Set(before)
			return "", errors.Join(err, undo)
		}
		_, _, undo := p.Tokens().Delete()
		return "", errors.Join(err, undo)
	}
	return place, nil
}

// checkToken asks the service about a token before it is stored. A service that
// can't be reached now is no reason against it where no login would be lost: that
// is said, and no more.
func (p Commands) checkToken(ctx context.Context, t string) (bool, error) {
	c, err := client.New(p.Settings.Server, t, client.Options{UserAgent: "svc/" + p.Version})
	if err != nil {
		return false, exit.Usagef("%w; nothing was stored", err)
	}
	_, err = client.Call(ctx, c, api.GetAccount, api.None{})
	var refused *api.Error
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &refused) && refused.Code == api.Unauthenticated:
		return false, fmt.Errorf("%s does not take the token: %w; nothing was stored", p.Settings.Server, err)
	}
	if _, _, none := p.Tokens().Stored(); !errors.Is(none, token.ErrNone) {
		return false, fmt.Errorf("the token could not be checked: %w; nothing was stored, and the login that you have stays. See whether %s is right; svc auth logout forgets the old login first", err, p.Settings.Server)
	}
	fmt.Fprintf(p.Stderr, "svc: the token could not be checked: %s\n", visible.Text(err.Error()))
	return false, nil
}

func (p Commands) readToken(arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	line, err := bufio.NewReader(io.LimitReader(p.Stdin, 4096)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	return strings.TrimSpace(line), nil
}

func checkServer(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return exit.Usagef("%q is no URL of a service, such as https://svc.example.org; nothing was stored", s)
	}
	return nil
}

// authStatus says what the service would see.
func (p Commands) authStatus(ctx context.Context) error {
	_, place, err := p.Tokens().Get()
	if errors.Is(err, token.ErrNone) && p.Settings.Server == "" {
		return p.Print(map[string]string{"service": "embedded"}, func(w *program.View) {
			w.Line("no token and no server are set: svc uses the backend built into it, on this machine")
		})
	}
	if err != nil {
		return err
	}
	account, err := call(ctx, p.Program, api.GetAccount, api.None{})
	return p.Answer(struct {
		Server  string      `json:"server"`
		Token   token.Place `json:"token"`
		Account int64       `json:"account_id"`
		Name    string      `json:"name"`
	}{p.Settings.Server, place, account.AccountID, account.Name}, err, func(w *program.View) {
		w.Line("%s takes the token of the %s: account %d, %s", p.Settings.Server, place, account.AccountID, account.Name)
	})
}

func (p Commands) authLogout(context.Context) error {
	had, unasked, err := p.Tokens().Delete()
	if err != nil {
		return err
	}
	if unasked != nil && !had {
		fmt.Fprintf(p.Stderr, "svc: %v: a token that it holds stays there\n", unasked)
	}
	return p.Answer(map[string]bool{"removed": had}, p.setServer(""), func(w *program.View) {
		if had {
			w.Line("the stored token is removed")
			return
		}
		w.Line("no token was stored")
	})
}

// setServer sets the server in the configuration file, or removes it where it is empty;
// all else in the file stays as it is.
func (p Commands) setServer(server string) error {
	path := p.Settings.Config
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	var kept []string
	for line := range strings.Lines(string(old)) {
		if name, _, _ := strings.Cut(strings.TrimSpace(line), " "); name != "server" {
			kept = append(kept, strings.TrimRight(line, "\n"))
		}
	}
	if server != "" {
		kept = append(kept, "server "+server)
	}
	if len(kept) == 0 && old == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	if err := osfile.Write(path, []byte(strings.Join(kept, "\n")+"\n"), 0o600); err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	return nil
}
