package remote

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc/assess/host"
	"svc/backend/lazyregexp"
	"svc/backend/visible"
)

// ErrDestination means that an ssh destination is none that can be used.
var ErrDestination = errors.New("not an ssh destination: name it as [user@]host[:port], [user@][IPv6]:port, or by its name in ssh's configuration")

// destination is where ssh is to go; port is empty where ssh's configuration says.
type destination struct{ target, port string }

// parseDestination takes apart what a person writes. Characters that mean
// something to a shell are refused, as ssh does: a configuration's ProxyCommand
// passes the name to one.
func parseDestination(s string) (d destination, err error) {
	refused := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("'`\"$\\;&<>|(){}*?!#", r) }
	user, rest := "", s
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		user, rest = s[:i+1], s[i+1:]
	}
	name, port, ok := splitPort(rest)
	if !ok || name == "" || user == "@" || s[0] == '-' || name[0] == '-' || strings.ContainsFunc(s, refused) {
		return d, fmt.Errorf("%q: %w", s, ErrDestination)
	}
	return destination{user + name, port}, nil
}

// splitPort splits host, host:port, [IPv6], [IPv6]:port and a bare IPv6 address.
func splitPort(s string) (name, port string, ok bool) {
	name, port, found := strings.Cut(s, ":")
	switch inside, bracketed := strings.CutPrefix(s, "["); {
	case bracketed:
		if name, port, found = strings.Cut(inside, "]"); !found {
			return "", "", false
		}
		port, found = strings.CutPrefix(port, ":")
		if _, err := netip.ParseAddr(name); err != nil || !found && port != "" {
			return "", "", false
		}
	case strings.Contains(port, ":"):
		_, err := netip.ParseAddr(s)
		return s, "", err == nil
	}
	if !found {
		return name, "", true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return name, port, err == nil && n > 0
}

// sshOptions are what this program asks of ssh whatever the user's
// configuration says; all else (users, keys, agents, jump hosts, known hosts)
// is the user's. A host key that is not known or not the known one ends it.
// The connection is its own, neither taken from a master nor left to one, so
// that it is checked and that it ends. No question is ever asked, and the
// machine gets no agent and no forwarding to misuse.
var sshOptions = []string{
	"-T", "-x", "-a", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o", "UpdateHostKeys=no", "-o", "ConnectTimeout=20",
	"-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3", "-o", "ControlMaster=no", "-o", "ControlPath=none",
	"-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no", "-o", "Compression=yes", "-o", "LogLevel=ERROR",
}

// remoteShell is all that is run on the machine: a POSIX shell, root's where
// sudo gives that without a question and, with -k, without leaving a note of it.
// Any login shell takes this line.
const remoteShell = `exec /bin/sh -c 'if [ "$(id -u)" -gt 0 ] && sudo -k -n /bin/sh -c : </dev/null >/dev/null 2>&1; then exec sudo -k -n /bin/sh; fi; exec /bin/sh'`

// Open opens a running machine through the user's own ssh program, over one
// connection that lasts until ctx ends or the host is closed. Nothing is
// written there. What the user, or sudo without a password, may not read is
// fs.ErrPermission.
func Open(ctx context.Context, dest string) (host.Host, error) {
	r, err := dialSSH(ctx, dest)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// dialSSH also takes options for ssh that come before all others.
func dialSSH(ctx context.Context, dest string, options ...string) (*remote, error) {
	d, err := parseDestination(dest)
	if err != nil {
		return nil, err
	}
	c, err := startShell(ctx, sshCommand(ctx, d, options), dest)
	if err != nil {
		return nil, err
	}
	r := newRemote(c, dest)
	if err := r.hello(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.prefetch()
	return r, nil
}

func sshCommand(ctx context.Context, d destination, options []string) *exec.Cmd {
	args := append(append([]string{}, options...), sshOptions...)
	if d.port != "" {
		args = append(args, "-p", d.port)
	}
	cmd := exec.CommandContext(ctx, "ssh", append(args, "--", d.target, remoteShell)...)
	ownSession(cmd)
	cmd.Env = append(os.Environ(), "SSH_ASKPASS_REQUIRE=never", "SSH_ASKPASS=")
	cmd.WaitDelay = time.Second
	return cmd
}

// sshFaults are what ssh says when it can't connect, and what that means to the
// person who called.
var sshFaults = []struct {
	said *lazyregexp.Regexp
	text string
}{
	{
		lazyregexp.New(`REMOTE HOST IDENTIFICATION HAS CHANGED|differs from the key|REVOKED HOST KEY`),
		"its host key is not the one that is known for it: this may be another machine, so nothing was accepted or read. " +
			"If the machine was made anew, find out its key's fingerprint from its console, remove the old key with `ssh-keygen -R HOST` and connect once by hand with `ssh %s`",
	},
	{
		lazyregexp.New(`(?i)host key is known for|host key verification failed`),
		"its host key is not known, and nothing was accepted or read: connect once by hand with `ssh %s`, compare the fingerprint with that on the machine's console, then repeat",
	},
	{
		lazyregexp.New(`Permission denied \(|Too many authentication failures|No more authentication methods`),
		"it refuses this user, and no password is ever asked for: put a key for it into the agent (ssh-add), or into ssh's configuration, until `ssh -o BatchMode=yes %s true` works",
	},
}

// explain gives the reason that ssh's words stand for, with the words.
func explain(dest, said string, connected bool) error {
	for _, f := range sshFaults {
		if f.said.MatchString(said) && !connected {
			return fmt.Errorf(f.text+" (ssh: %s)", byHand(dest), printable(said))
		}
	}
	what := "can't connect"
	if connected {
		what = "the connection was lost"
	}
	if said = printable(said); said == "" {
		said = "ssh says nothing"
	}
	return fmt.Errorf("%s: %s", what, said)
}

// byHand is a destination as a person gives it to ssh, which takes no port behind the host.
func byHand(dest string) string {
	d, err := parseDestination(dest)
	if err != nil || d.port == "" {
		return dest
	}
	return "-p " + d.port + " " + d.target
}

// printable is text of a machine as one line that is safe on a terminal. The
// frames of @ that ssh draws are left out.
func printable(s string) string {
	const most = 400
	words := strings.Fields(s)
	words = slices.DeleteFunc(words, func(word string) bool { return strings.Trim(word, "@") == "" })
	s = visible.Text(strings.Join(words, " "))
	if len(s) > most {
		s = s[:most/2] + " … " + s[len(s)-most/2:]
	}
	return strings.ToValidUTF8(s, "")
}
