package postgresql

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/postgresql/session"
)

// Written compares the new cluster with what it was before clients came.
func (p *Upgrade) Written(ctx context.Context, h *engine.Host) (engine.Written, error) {
	if p.Distribution != nil {
		return p.Distribution.Written(ctx, h)
	}
	g := &pgRun{h, p}
	w := engine.Written{Kept: p.aside(), Commands: newCluster{g}.dumpKept()}
	if !isCluster(p.New.Data) {
		return w, nil // it is set aside already
	}
	var err error
	w.Signs, err = newCluster{g}.signs(ctx)
	return w, err
}

// newCluster is the new cluster once clients may have written to it.
type newCluster struct{ *pgRun }

// signs are those that clients have written to the new cluster.
func (g newCluster) signs(ctx context.Context) ([]string, error) {
	var before, now session.Activity
	err := g.ReadFile(session.QuietFile, &before)
	if err != nil {
		return nil, err
	}
	if g.stopped(g.p.New) == nil {
		now, err = g.controlData(ctx, g.p.New)
	} else {
		s := g.session(g.p.New, g.p.Socket, g.p.Port, g.p.Superuser)
		starting, cancel := context.WithTimeout(ctx, engine.PatienceToAsk)
		_ = engine.Await(starting, s.Ready)
		cancel()
		now, err = s.Activity(ctx)
	}
	if err != nil {
		return nil, err
	}
	return now.Since(before), nil
}

// controlData takes the count of transactions from a stopped cluster's control file.
func (g newCluster) controlData(ctx context.Context, c session.Cluster) (a session.Activity, err error) {
	fields, err := recovery(g).controlFields(ctx, c)
	if err != nil {
		return a, err
	}
	if state := fields["Database cluster state"]; state != shutDown {
		return a, fmt.Errorf("the new server does not run, and was not shut down in order: its state is %q; start it first", state)
	}
	epoch, next, _ := strings.Cut(fields["Latest checkpoint's NextXID"], ":")
	high, err := strconv.ParseInt(epoch, 10, 32)
	low, err2 := strconv.ParseInt(next, 10, 64)
	a.Transactions = high<<32 | low
	return a, errors.Join(err, err2)
}

// keptRules is the file of a cluster that was set aside, by which its account may enter.
const keptRules = "svc_hba.conf"

// readableAt gives a cluster that was set aside, if one was, what its server wants to
// be started: its configuration, where that was elsewhere, and a rule that lets in
// its account, which alone gets to its socket.
func (g newCluster) readableAt(dir string) error {
	if !isCluster(dir) {
		return nil
	}
	who, err := engine.CredentialOf(g.p.Owner)
	if err != nil {
		return err
	}
	conf := configuration(g)
	var names []string
	if _, gone := os.Stat(g.p.New.Config); gone == nil && !g.p.inData() {
		names, err = conf.files(g.p.New.Config)
	}
	a := adaption{g.p.New, g.p.New.At(dir), g.p.Name}
	for _, name := range names {
		err = errors.Join(err, conf.copyConfig(filepath.Join(g.p.New.Config, name), filepath.Join(dir, name), a))
	}
	st := unix.Stat_t{Uid: who.Uid, Gid: who.Gid, Mode: 0o600}
	return errors.Join(err, engine.PutAs(g.p.Owner, filepath.Join(dir, keptRules), []byte("local all all trust\n"), st))
}

// dumpKept are the commands that dump what a roll-back has set aside.
func (g newCluster) dumpKept() []string {
	p, dir := g.p, g.p.aside()
	as := "runuser -u " + p.Owner + " -- "
	quiet := fmt.Sprintf("-p %d -c listen_addresses= -c unix_socket_directories=%[2]s -c hba_file=%[2]s/%[3]s -c external_pid_file= -c ssl=off -c archive_mode=off -c logging_collector=off", p.Port, dir, keptRules)
	return []string{
		fmt.Sprintf("%s%s -D %s -o '%s' -l %[3]s/svc.log -w start", as, p.New.Program("pg_ctl"), dir, quiet),
		fmt.Sprintf("(umask 077; %s%s -h %s -p %d -U %s >%s)", as, p.New.Program("pg_dumpall"), dir, p.Port, p.Superuser, engine.Quoted(g.Path("written.sql"))),
		fmt.Sprintf("%s%s -D %s -w stop", as, p.New.Program("pg_ctl"), dir),
	}
}

// setAside moves a new cluster away that clients may have written to.
func (g newCluster) setAside() error {
	p := g.p
	if isCluster(p.New.Data) {
		if err := engine.Acting(p.Owner, filepath.Dir(p.New.Data), func() error { return os.Rename(p.New.Data, p.aside()) }); err != nil {
			return err
		}
	}
	return g.readableAt(p.aside())
}
