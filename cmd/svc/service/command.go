package service

import (
	"context"
	"errors"
	"flag"
	"os/user"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend"
	"svc/backend/store"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/program"
)

// Commands is what an operator of the service calls.
type Commands struct{ *program.Program }

// storeCommand is a command on the store itself, without arguments.
func (p Commands) storeCommand(name, usage, help string, flags func(*flag.FlagSet), run func(context.Context, store.Store) error) *ffcli.Command {
	return p.storeArgs(name, usage, help, flags, func(_ context.Context, args []string) error {
		if len(args) > 0 {
			return exit.Usagef("unexpected argument %q; nothing was changed", args[0])
		}
		return nil
	}, run)
}

// storeIDCommand is a command on one thing in the store: ID, or --id ID.
func (p Commands) storeIDCommand(name, usage, help string, flags func(*flag.FlagSet), run func(context.Context, store.Store, int64) error) *ffcli.Command {
	var id int64
	return p.storeArgs(name, usage, help, func(fs *flag.FlagSet) {
		fs.Int64Var(&id, "id", 0, "the ID, instead of as an argument")
		if flags != nil {
			flags(fs)
		}
	}, func(_ context.Context, args []string) (err error) {
		id, err = oneID(id, args)
		return err
	}, func(ctx context.Context, s store.Store) error { return run(ctx, s, id) })
}

// storeArgs is a command on the store that looks at its arguments before it
// opens the store.
func (p Commands) storeArgs(name, usage, help string, flags func(*flag.FlagSet), check func(context.Context, []string) error, run func(context.Context, store.Store) error) *ffcli.Command {
	fs := p.FlagSet(name)
	p.Settings.Store(fs, p.Paths)
	if flags != nil {
		flags(fs)
	}
	return p.Command(fs, usage, help, func(ctx context.Context, args []string) error {
		if err := check(ctx, args); err != nil {
			return err
		}
		s, err := backend.OpenStore(ctx, p.Settings.DB, store.Options{Log: p.Logger()})
		if err != nil {
			return err
		}
		p.Closers = append(p.Closers, s)
		return notFound(usage, run(ctx, s))
	})
}

// notFound gives what a store does not have its exit code, and says what was missing
// by the command's words.
func notFound(usage string, err error) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	what := "nothing in the store has this ID"
	switch {
	case strings.Contains(usage, "--account") || strings.HasPrefix(usage, "svc admin account"):
		what = "no account has this ID: `svc admin account list` has them"
	case strings.HasPrefix(usage, "svc admin token"):
		what = "no token has this ID: `svc admin token list` has them"
	case strings.HasPrefix(usage, "svc admin release"):
		what = "no release has this tag"
	}
	return &exit.Error{Code: exit.NotFound, Err: errors.New(what + "; nothing was changed")}
}

// actor is who the audit says did it.
func actor() string {
	u, err := user.Current()
	if err != nil {
		return "unknown"
	}
	return u.Username
}

// oneID takes the ID of a flag, or of the one argument.
func oneID(id int64, args []string) (int64, error) {
	switch {
	case id > 0 && len(args) == 0:
		return id, nil
	case id != 0 || len(args) != 1:
		return 0, exit.Usagef("one ID is needed; nothing was changed")
	}
	id, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil || id <= 0 {
		return 0, exit.Usagef("%q is no ID; nothing was changed", args[0])
	}
	return id, nil
}

// textVar is a flag that the service shows: its answers are UTF-8, which a terminal
// may not be.
func textVar(fs *flag.FlagSet, text *string, name, usage string) {
	fs.Func(name, usage, func(s string) error {
		if !utf8.ValidString(s) {
			return errors.New("it is not UTF-8")
		}
		*text = s
		return nil
	})
}

// accountCommand is a command on the store for one account, which --account names.
func (p Commands) accountCommand(name, usage, help string, run func(context.Context, store.Store, int64) error) *ffcli.Command {
	var account int64
	return p.storeCommand(name, usage, help, func(fs *flag.FlagSet) { fs.Int64Var(&account, "account", 0, "ID of the account") },
		func(ctx context.Context, s store.Store) error {
			if account <= 0 {
				return exit.Usagef("%s needs --account", strings.Join(strings.Fields(usage)[2:4], " "))
			}
			return run(ctx, s, account)
		})
}

// made prints the id of something new or changed, unless that failed.
func (p Commands) made(name string, id int64, err error) error {
	return p.Answer(map[string]int64{name: id}, err, func(w *program.View) { w.Line("%s %d", strings.ReplaceAll(name, "_", " "), id) })
}

// listed prints what the store has, a line each, unless that could not be read.
func listed[T any](p Commands, all []T, err error, line func(w *program.View, v T)) error {
	return p.Answer(all, err, func(w *program.View) {
		for _, v := range all {
			line(w, v)
		}
	})
}
