package upgrade

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// private is the path of a file of the server that svc runs for itself on a copy
// of a database. It bears the upgrade's name, as some servers write over their
// environment, and remove their socket as they end, whosever it is by then.
func (h *Host) private(name string) string { return pgPrivate + "/" + h.id + "." + name }

// serveCopy starts a server that only svc reaches, waits until it answers, has it
// used, and stops it in its own way.
func (h *Host) serveCopy(ctx context.Context, c command, answers, use func(context.Context) error) error {
	who, err := credentialOf(c.user)
	if err != nil {
		return err
	}
	err = errors.Join(os.RemoveAll(pgPrivate), os.Mkdir(pgPrivate, 0o700), os.Chown(pgPrivate, int(who.Uid), int(who.Gid)))
	if err != nil {
		return fmt.Errorf("making the private server's directory: %w", err)
	}
	c.stop, c.up = unix.SIGTERM, new(atomic.Bool)
	return errors.Join(h.serve(ctx, c, answers, use), os.RemoveAll(pgPrivate))
}
