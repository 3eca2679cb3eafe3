package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// PrivateDir is where servers have their sockets that only svc reaches. It is
// short, as a socket's name has to be, and a shell reads nothing in it.
const PrivateDir = "/run/svc-db-upgrade"

// Private is the path of a file of the server that svc runs for itself on a copy
// of a database. It bears the upgrade's name, as some servers write over their
// environment, and remove their socket as they end, whosever it is by then.
func (h *Host) Private(name string) string { return PrivateDir + "/" + h.ID + "." + name }

// ServeCopy starts a server that only svc reaches, waits until it answers, has it
// used, and stops it in its own way.
func (h *Host) ServeCopy(ctx context.Context, c Command, answers, use func(context.Context) error) error {
	who, err := CredentialOf(c.User)
	if err != nil {
		return err
	}
	err = errors.Join(os.RemoveAll(PrivateDir), os.Mkdir(PrivateDir, 0o700), os.Chown(PrivateDir, int(who.Uid), int(who.Gid)))
	if err != nil {
		return fmt.Errorf("making the private server's directory: %w", err)
	}
	c.Stop, c.up = unix.SIGTERM, new(atomic.Bool)
	return errors.Join(h.Serve(ctx, c, answers, use), os.RemoveAll(PrivateDir))
}
