// Package inplace upgrades databases that are one directory, by servers that take the
// files of older ones: on a copy, which then takes the directory's place.
package inplace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"svc/assess/datadir"
	"svc/assess/host"
	"svc/backend/osfile"
	"svc/tools/database"
	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/safefile"
	"svc/tools/upgrade/tree"
)

// Directory is a database that is one directory, and a new server takes the files
// of an old one. What is upgraded is a copy of the directory, which then takes
// its place: the new server never opens the old files, and the way back is to
// put their directory where it was. The copy is made from the backup, so that
// the backup has been read and restored before anything changes.
type Directory struct {
	From     database.Place
	To       database.Place
	Data     string // the directory; no part of its name is a link
	Inode    uint64 // of the directory: tells it from its copy
	Bytes    int64
	Program  string   // of the new server
	Command  []string // that starts it where no service manager does
	Account  string   // that it runs as: first its usual one
	Names    []string // that a process of the server has
	Unit     string   // of systemd, that ran it; empty where none did
	Runs     bool     // it ran when svc came
	Again    bool     // its program is still there: after a roll-back it runs again
	Headroom int64    // bytes that the upgrade itself takes
	engine.Paces
	// Quit is the signal that stops the server in order.
	Quit   unix.Signal
	Undone string // where the new data go that clients may have written to
}

// Dialect is what an engine does in its own way.
type Dialect interface {
	// Settle prepares a running server for being stopped with all it has on the disk.
	Settle(ctx context.Context, h *engine.Host) error
	// Unsettle takes back what Settle has set in a server that runs on.
	Unsettle(ctx context.Context, h *engine.Host) error
	// Stock says what a directory holds, as the new server reads it.
	Stock(ctx context.Context, h *engine.Host, dir string) (Stock, error)
	// Convert upgrades the files of a directory.
	Convert(ctx context.Context, h *engine.Host, dir string) error
	// Same compares what was there with what is there now.
	Same(before, after Stock) error
	answerer
}

// answerer is how an engine tells that its server serves.
type answerer interface {
	// Answers gives no error if the server serves.
	Answers(ctx context.Context) error
}

// ledger is how an engine tells what clients have written.
type ledger interface {
	answerer
	// Counted says what the running server has counted of clients' writing since it
	// was started.
	Counted(ctx context.Context, h *engine.Host) (signs []string, err error)
	// ClientsData reports whether a file, by its name from the directory, is of clients' data
	// alone: what a server writes by itself is none.
	ClientsData(name string) bool
	// DumpKept are commands for a shell that dump a directory which no server runs on
	// into a file.
	DumpKept(dir, into string) []string
}

// Stock is what a database holds: values, or digests of them, by what they are of.
type Stock map[string]string

// Next is where the copy is made that takes the database's place.
func (f *Directory) Next() string { return f.Data + ".svc-new" }

// Kept is where the old data are from then on.
func (f *Directory) Kept() string { return f.Data + ".svc-old" }

// UndonePath is where a roll-back keeps new data that clients may have written to.
func (f *Directory) UndonePath() string { return cmp.Or(f.Undone, f.Data+".svc-undone") }

// Names in the backup directory.
const (
	treeFile  = "data.json"  // the tree of the backup
	stockFile = "stock.json" // what the backup holds
	backupDir = "data"       // the backup
	newFile   = "new.json"   // the tree of the copy as it took the data's place

	SettingFile = "setting.json" // what the running server was set to before Settle; gone when it was stopped
)

// FindOut fills in what the directory and its server say.
func (f *Directory) FindOut(h *engine.Host) error {
	data, err := filepath.EvalSymlinks(f.Data)
	if errors.Is(err, fs.ErrNotExist) {
		return engine.Refusef("put the old server's files there first", "%s, where the server has its data, does not exist", f.Data)
	}
	if err != nil {
		return fmt.Errorf("looking at the data: %w", err)
	}
	f.Data = data
	if err := errors.Join(f.refuseWithin(h.Backup), f.refuseMount(), f.refuseLeftovers()); err != nil {
		return err
	}
	f.Undone = engine.Unused(f.Data + ".svc-undone")
	if f.Inode, err = inodeOf(f.Data); err != nil {
		return err
	}
	t, err := tree.List(f.Data)
	if err != nil {
		return engine.Refusef("have every file of the database in that directory itself", "%s can't be copied as a whole: %v", f.Data, err)
	}
	f.Bytes = t.Bytes()
	if err := errors.Join(f.running(), f.owner(), f.refuseAbove()); err != nil || f.Bytes == 0 {
		return err
	}
	var sample *os.File
	if f.Paces, sample, err = engine.Measure(f.Account, f.Data, filepath.Dir(f.Data), h.Backup); err != nil {
		return err
	}
	return sample.Close()
}

// running looks for the server, and refuses data that several work on.
func (f *Directory) running() error {
	all, err := engine.ServersOn(f.Data, f.Program, f.Names)
	switch len(all) {
	case 0:
		return err
	case 1:
		f.Runs, f.Unit, f.Again = true, all[0].Unit, all[0].Same
		return nil
	}
	return engine.Refusef("stop all of them but the one that clients use", "%d servers work in %s, and overwrite each other's files: %v", len(all), f.Data, all)
}

// refuseAbove refuses data that others than root and the server's account could
// exchange for something else: their copy is made, and renamed, beside them.
func (f *Directory) refuseAbove() error {
	above := filepath.Dir(f.Data)
	_, err := safefile.Directory(above)
	if info, e := os.Stat(above); err != nil && e == nil && info.Mode().Perm()&0o022 == 0 && engine.AccountOf(info) == f.Account {
		_, err = safefile.Directory(filepath.Dir(above))
	}
	if err != nil {
		return engine.Refusef("give it to root, and let no others write there: chown root, chmod go-w", "others could exchange the directory of the data: %v", err)
	}
	return nil
}

// Still refuses a directory that a journal tells of where its account, its program
// or its unit are others than svc would find now.
func (f *Directory) Still(programs ...string) error {
	info, err := os.Stat(f.old())
	if errors.Is(err, fs.ErrNotExist) { // killed between two renamings
		info, err = os.Stat(f.Kept())
	}
	switch {
	case err != nil:
		return fmt.Errorf("finding the data again: %w", err)
	case f.Account != engine.AccountOf(info) || f.Account == "root" || f.Account == "":
		return engine.Differs("the data belong to the account %q, not to %q", engine.AccountOf(info), f.Account)
	case !slices.Contains(programs, f.Program):
		return engine.Differs("the program %q is none of a server's", f.Program)
	case f.Unit != filepath.Base(f.Unit) && f.Unit != "":
		return engine.Differs("%q is no unit", f.Unit)
	case filepath.Clean(f.Data) != f.Data || !filepath.IsAbs(f.Data):
		return engine.Differs("%q is no directory", f.Data)
	}
	return f.refuseAbove()
}

// owner refuses data that the server's account can't have: they were moved here
// from a host where its number is another.
func (f *Directory) owner() error {
	info, err := os.Stat(f.Data)
	if err != nil {
		return err
	}
	uid, name := info.Sys().(*syscall.Stat_t).Uid, engine.AccountOf(info)
	if name != "" && (name == f.Account || f.Runs && uid != 0) {
		f.Account = name
		return nil
	}
	return engine.Refusef(fmt.Sprintf("give it to that account (chown -R %s:), or, if the server runs as another, start it on the data once", f.Account), "%s belongs to the account with the number %d, and the server's is %s", f.Data, uid, f.Account)
}

// refuseWithin refuses a backup directory among the data.
func (f *Directory) refuseWithin(backup string) error {
	backup, err := filepath.EvalSymlinks(backup)
	if err != nil {
		return fmt.Errorf("looking at the backup directory: %w", err)
	}
	if inside, err := filepath.Rel(f.Data, backup); err == nil && filepath.IsLocal(inside) {
		return engine.Refusef("name one elsewhere, best on another disk", "the backup directory %s is among the data that are to be backed up", backup)
	}
	return nil
}

// refuseMount refuses a directory that can't be renamed.
func (f *Directory) refuseMount() error {
	if mounted, err := engine.MountPoint(f.Data); !mounted || err != nil {
		return err
	}
	return engine.Refusef("give the data a directory within that file system: stop the server, move its files into one, and name it as the data's directory in the server's configuration",
		"%s is where a file system is mounted, so it can't be exchanged for its copy in one step", f.Data)
}

// refuseLeftovers refuses where an earlier upgrade has left what this one makes.
func (f *Directory) refuseLeftovers() error {
	for _, name := range []string{f.Next(), f.Kept()} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return engine.Refusef("remove it, or move it elsewhere, when it is no longer wanted", "%s is there, of an earlier upgrade", name)
		}
	}
	return nil
}

func inodeOf(dir string) (uint64, error) {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return 0, &fs.PathError{Op: "stat", Path: dir, Err: err}
	}
	return st.Ino, nil
}

// Is reports whether a directory is the old data.
func (f *Directory) Is(dir string) bool {
	inode, err := inodeOf(dir)
	return err == nil && inode == f.Inode
}

// Describe is what an upgrade of the directory is of.
func (f *Directory) Describe(method, instance string, notes []string) engine.About {
	return engine.About{
		From: f.From, To: f.To, Instance: instance, Directory: f.Data, Method: method, Downtime: fmt.Sprintf("about %s, from step stop to the last: the time to copy %s twice and to read them three times, as a sample of this host's disks has it", engine.Lasts(f.waiting()), engine.Size(f.Bytes)), Waiting: f.waiting(),
		Needs: []engine.Need{{Directory: "", Bytes: f.Bytes + f.Bytes/50 + 16<<20, For: "the backup"}, {Directory: filepath.Dir(f.Data), Bytes: f.Bytes + f.Bytes/50 + f.Headroom, For: "the copy that is upgraded"}},
		Notes: append(notes, f.notes()...),
	}
}

// waiting is for how long clients wait, in seconds, by the size: a backup, its
// restoring, and three readings, by servers that start and stop meanwhile.
func (f *Directory) waiting() float64 {
	const fixed, digests = 10, 100 << 20 // seconds; bytes per second that become digests
	data := float64(f.Bytes)
	return fixed + data/engine.Slowest(f.ReadPace, f.BackupPace) + data/engine.Slowest(f.ReadPace, f.WritePace) + 3*data/engine.Slowest(f.ReadPace, digests)
}

func (f *Directory) notes() []string {
	var earlier []string
	if usual := f.Data + ".svc-undone"; f.UndonePath() != usual {
		earlier = []string{usual + " is there, of an earlier upgrade that was rolled back: what was written to it then is served by nobody; it stays"}
	}
	return append(earlier,
		"until the end nothing but reading happens to "+f.Data+"; it is then kept as "+f.Kept(),
		"if it is rolled back after clients have written to the new data, those are kept as "+f.UndonePath(),
	)
}

// Gone says so where what runs can't be started again.
func (f *Directory) Gone() []string {
	if !f.Runs || f.Again {
		return nil
	}
	return []string{"the server that runs is of a program that is no longer installed: once stopped, only the new one can be started; after a roll-back install the old one again"}
}

// exchange is a directory on its way, on a host and by its engine.
type exchange struct {
	*Directory
	*engine.Host
	Dialect
}

// Exchange are those of an upgrade.
func (f *Directory) Exchange(h *engine.Host, d Dialect) []engine.Step {
	x := exchange{f, h, d}
	steps := []engine.Step{
		{Name: "stop", Cuts: f.Runs, Does: "stops the server, with everything written down, for the next boot too", Changes: true, Do: x.stopServer, Undo: x.startAgain, Holds: f.stopped},
		{Name: "backup", Does: "copies " + f.Data + " to the backup directory, with digests", Do: x.backup, Undo: x.dropBackup, Holds: x.unchanged, Fills: h.Path(backupDir), Bytes: f.Bytes},
		{Name: "verify", Does: "restores the backup beside the data, starts the new server on it in private, and takes stock", Changes: true, Do: x.verify, Undo: f.dropCopy, Holds: f.copied, Fills: f.Next(), Bytes: f.Bytes},
		{Name: "upgrade", Does: "upgrades the restored copy in private, takes stock again, and compares", Changes: true, Do: x.upgrade, Undo: f.dropCopy, Holds: f.copied},
		{Name: "exchange", Does: "puts the upgraded copy in the place of the data, and keeps those as " + f.Kept(), Changes: true, Opens: true, Do: x.exchange, Undo: x.exchangeBack},
	}
	if f.Runs {
		steps = append(steps, engine.Step{Name: "start", Serves: true, Does: "starts the new server and waits until it answers", Changes: true, Do: x.start, Undo: x.stopNew})
	}
	return steps
}

// ServerIn is the one that works in a directory.
func (f *Directory) ServerIn(dir string) (*engine.Server, error) {
	s, err := engine.ServerOn(dir, f.Program, f.Names)
	if s != nil {
		s.Quit = cmp.Or(f.Quit, unix.SIGTERM)
	}
	return s, err
}

// arrived is the one on the data, also where its unit is just starting it.
func (x exchange) arrived(ctx context.Context) (*engine.Server, error) {
	return x.Arrived(ctx, x.Unit, func() (*engine.Server, error) { return x.ServerIn(x.Data) })
}

func (x exchange) stopServer(ctx context.Context) error {
	s, err := x.arrived(ctx)
	if err != nil {
		return err
	}
	if err := x.Hold(ctx, x.Unit); err != nil || s == nil {
		return err
	}
	if err := x.Settle(ctx, x.Host); err != nil {
		return err
	}
	if err := s.Stop(ctx, x.Host); err != nil {
		return err
	}
	return engine.RemoveFile(x.Path(SettingFile))
}

// stopped reports whether no server works on the data, or they have gone on.
func (f *Directory) stopped(context.Context) bool {
	s, err := f.ServerIn(f.Data)
	return err == nil && (s == nil || !f.Is(f.Data))
}

// startAgain starts the server that was stopped, where its program is there.
func (x exchange) startAgain(ctx context.Context) error {
	if err := x.Release(ctx, x.Unit); err != nil {
		return err
	}
	if err := x.serveAgain(ctx); err != nil {
		return err
	}
	if s, err := x.ServerIn(x.Data); s == nil || err != nil {
		return err
	}
	err := x.Unsettle(ctx, x.Host)
	if err != nil && x.Answers(ctx) != nil {
		err = nil // it is about to end, as it was told: nothing goes on as it was set
	}
	return errors.Join(err, engine.RemoveFile(x.Path(SettingFile)))
}

// serveAgain starts the server unless it goes on serving, or can't be started.
func (x exchange) serveAgain(ctx context.Context) error {
	s, err := x.ServerIn(x.Data)
	if err != nil || !x.Runs || !x.Again {
		return err
	}
	if s != nil && x.Unit == "" { // a service manager knows whether it is being stopped
		if stays, err := x.staysUp(ctx, s); stays || err != nil {
			return err
		}
	}
	return x.launch(ctx)
}

// staysUp reports whether a server goes on serving: one that a try which was cut short
// has told to stop is waited for. None is started beside one that lives.
func (x exchange) staysUp(ctx context.Context, s *engine.Server) (bool, error) {
	well := 0
	err := engine.Await(ctx, func(ctx context.Context) error {
		if s.Ended(ctx) == nil {
			return nil
		}
		if err := x.Answers(ctx); err != nil {
			well = 0
			return fmt.Errorf("the server of %s, %s, runs and does not answer: %w", x.Data, s, err)
		}
		if well++; well < 10 {
			return errors.New("the server may be about to stop")
		}
		return nil
	})
	if s.Ended(ctx) == nil {
		return false, nil
	}
	return err == nil, err
}

func (x exchange) backup(ctx context.Context) error {
	t, err := tree.List(x.Data)
	if err != nil {
		return fmt.Errorf("listing the data: %w", err)
	}
	copied, err := tree.Copy(ctx, t, x.Data, x.Path(backupDir))
	if err != nil {
		return err
	}
	return x.WriteFile(treeFile, copied)
}

func (x exchange) dropBackup(context.Context) error {
	return errors.Join(engine.RemoveFile(x.Path(treeFile)), os.RemoveAll(x.Path(backupDir)))
}

// old is where the old data are: kept aside once the copy has taken their place.
func (f *Directory) old() string {
	if f.Is(f.Kept()) {
		return f.Kept()
	}
	return f.Data
}

// unchanged reports whether the data are still what was backed up.
func (x exchange) unchanged(context.Context) bool {
	var was tree.Tree
	now, err := tree.List(x.old())
	return err == nil && x.ReadFile(treeFile, &was) == nil && was.SameStanding(now)
}

// restore makes the copy, from the backup, whose digests are compared.
func (x exchange) restore(ctx context.Context) error {
	var t tree.Tree
	if err := x.ReadFile(treeFile, &t); err != nil {
		return err
	}
	_, err := tree.Copy(ctx, t, x.Path(backupDir), x.Next())
	return err
}

func (x exchange) verify(ctx context.Context) error {
	if err := x.restore(ctx); err != nil {
		return err
	}
	has, err := x.Stock(ctx, x.Host, x.Next())
	if err != nil {
		return x.short(fmt.Errorf("reading the restored backup: %w", err))
	}
	return x.WriteFile(stockFile, has)
}

func (x exchange) upgrade(ctx context.Context) error {
	if !x.copied(ctx) { // a try that was cut short
		if err := x.restore(ctx); err != nil {
			return err
		}
	}
	if err := x.Convert(ctx, x.Host, x.Next()); err != nil {
		return x.short(err)
	}
	after, err := x.Stock(ctx, x.Host, x.Next())
	if err != nil {
		return fmt.Errorf("reading the upgraded copy: %w", err)
	}
	var before Stock
	if err := x.ReadFile(stockFile, &before); err != nil {
		return err
	}
	return x.Same(before, after)
}

// short says so where a disk with no room left is why something failed: servers
// and their programs then say all kinds of things.
func (f *Directory) short(err error) error {
	const little = 16 << 20
	if d, diskErr := engine.DiskOf(f.Next()); diskErr == nil && d.Free < little {
		return fmt.Errorf("the disk of %s has no room left: %w", f.Next(), err)
	}
	return err
}

// copied reports whether the copy is there, or has taken the data's place.
func (f *Directory) copied(context.Context) bool {
	_, err := os.Lstat(f.Next())
	return err == nil || f.Is(f.Kept())
}

// dropCopy removes the copy that is beside the data.
func (f *Directory) dropCopy(context.Context) error {
	if f.Is(f.Next()) {
		return fmt.Errorf("%s is the old data: not removed", f.Next())
	}
	return os.RemoveAll(f.Next())
}

func (x exchange) exchange(ctx context.Context) error {
	if !x.stopped(ctx) || !x.unchanged(ctx) {
		return fmt.Errorf("%s was changed since the backup: somebody has started the server", x.Data)
	}
	t, err := tree.List(x.Next())
	if err == nil {
		err = errors.Join(osfile.SyncFiles(x.Next()), x.WriteFile(newFile, t))
	}
	if err != nil {
		return err
	}
	if err = os.Rename(x.Data, x.Kept()); err == nil {
		err = os.Rename(x.Next(), x.Data)
	}
	if err != nil {
		return fmt.Errorf("exchanging the data for their copy: %w", err)
	}
	return osfile.SyncNames(filepath.Dir(x.Data))
}

// exchangeBack puts the old data where they were and reads them whole. What took
// their place goes aside, and stays there if clients may have written to it.
func (x exchange) exchangeBack(ctx context.Context) error {
	if x.Is(x.Data) {
		return nil
	}
	if !x.Is(x.Kept()) {
		return fmt.Errorf("the old data are neither %s nor %s: the backup of them is %s", x.Data, x.Kept(), x.Path(backupDir))
	}
	if err := x.stopNew(ctx); err != nil {
		return err
	}
	if err := x.aside(); err != nil {
		return err
	}
	if err := errors.Join(os.Rename(x.Kept(), x.Data), osfile.SyncNames(filepath.Dir(x.Data))); err != nil {
		return fmt.Errorf("putting the old data back: %w", err)
	}
	return x.intact(ctx)
}

// aside moves the new data out of the way: as the copy that they were, or to
// where they are kept if a server has written to them since.
func (x exchange) aside() error {
	now, err := tree.List(x.Data)
	if len(now) == 0 || err != nil { // killed between two renamings
		return err
	}
	to, was := x.UndonePath(), tree.Tree{}
	if x.ReadFile(newFile, &was) == nil && was.SameStanding(now) {
		to = x.Next()
	}
	if err := os.Rename(x.Data, to); err != nil {
		return fmt.Errorf("setting the new data aside: %w", err)
	}
	return nil
}

// intact reads the old data and compares them with what was backed up.
func (x exchange) intact(ctx context.Context) error {
	var t tree.Tree
	if err := x.ReadFile(treeFile, &t); err != nil {
		return err
	}
	if err := t.Verify(ctx, x.Data); err != nil {
		return fmt.Errorf("%w; the backup of it is %s", err, x.Path(backupDir))
	}
	return nil
}

func (x exchange) start(ctx context.Context) error {
	if err := x.Release(ctx, x.Unit); err != nil {
		return err
	}
	return x.launch(ctx)
}

// stopNew stops the server that works on the new data: svc has started it, or
// the host has, when it came up again.
func (x exchange) stopNew(ctx context.Context) error {
	if err := x.Hold(ctx, x.Unit); err != nil {
		return err
	}
	s, err := x.arrived(ctx)
	switch {
	case err != nil || x.Is(x.Data):
		return err
	case s == nil:
		return x.StopUnit(ctx, x.Unit)
	}
	started(ctx, s, x.Dialect) // else it may never end when it is told to: see engine.Command.Up
	return s.Stop(ctx, x.Host)
}

// started waits for a server that may be just starting, until it answers or has ended.
func started(ctx context.Context, s *engine.Server, d answerer) {
	_ = engine.Await(ctx, func(ctx context.Context) error {
		if s.Ended(ctx) == nil {
			return nil
		}
		return d.Answers(ctx)
	})
}

// Advise says what a person can do when all is done.
func (f *Directory) Advise(h *engine.Host, look string) []string {
	lines := []string{look}
	if !f.Runs {
		lines = append(lines, "the server was not running, and is not now: start it")
	}
	return append(lines,
		fmt.Sprintf("the way back to the old data: `svc db upgrade --backup-dir %s --roll-back --confirm`", engine.Quoted(h.Backup)),
		fmt.Sprintf("the old data are %s, as they were. When nothing is missed: `rm -r %s`", f.Kept(), engine.Quoted(f.Kept())),
		fmt.Sprintf("the backup is %s: keep it until a backup of the new data exists, and then: `rm -r %s`", h.Path(backupDir), engine.Quoted(h.Backup)))
}

// Compare compares the new data with what they were when they took their place.
func (f *Directory) Compare(ctx context.Context, h *engine.Host, d ledger) (engine.Written, error) {
	w := engine.Written{Kept: f.UndonePath(), Commands: d.DumpKept(f.UndonePath(), engine.Quoted(h.Path("written")))}
	if !f.Is(f.Kept()) {
		return w, nil // the old data are in their place
	}
	var was tree.Tree
	if err := h.ReadFile(newFile, &was); err != nil {
		return w, err
	}
	now, err := tree.List(f.Data)
	if err != nil {
		return w, err
	}
	if n := was.Differing(now, d.ClientsData); n > 0 {
		w.Signs = append(w.Signs, fmt.Sprintf("%d files of %s are new, changed or gone", n, f.Data))
	}
	s, err := f.ServerIn(f.Data)
	if s == nil || err != nil {
		return w, err
	}
	starting, cancel := context.WithTimeout(ctx, engine.PatienceToAsk)
	started(starting, s, d)
	cancel()
	signs, err := d.Counted(ctx, h)
	w.Signs = append(w.Signs, signs...)
	return w, err
}

// launch starts the server and waits until it answers.
func (x exchange) launch(ctx context.Context) error {
	if x.Unit == "" {
		return x.Launch(ctx, engine.Command{User: x.Account, Args: x.Command}, x.Answers)
	}
	if _, err := x.Run(ctx, engine.Command{Args: []string{"systemctl", "start", x.Unit}}); err != nil {
		return err
	}
	return engine.Await(ctx, x.Answers)
}

// StatementOf is what a directory's own files state.
func StatementOf(engine, dir string) (datadir.Statement, error) {
	root, err := host.OpenRoot("/")
	if err != nil {
		return datadir.Statement{}, err
	}
	defer root.Close()
	return datadir.Read(root.FS(), datadir.Source{Engine: engine, Directory: dir}), nil
}

// Between fills in where the data come from and where they go.
func (f *Directory) Between(in engine.Request, fromEngine, from, toEngine, installed string) error {
	old, ok := database.ParseVersion(from)
	if !ok {
		return engine.Refusef("start the old server once on them, and stop it", "the files of %s do not state the version that wrote them", f.Data)
	}
	version, _ := database.ParseVersion(installed)
	f.From, f.To = database.Place{Engine: fromEngine, Version: old}, database.Place{Engine: toEngine, Version: version}
	series, known := in.Graph.SeriesOf(f.To)
	if !known {
		return engine.Refusef("install a version that svc knows", "the installed server is %s, which is not on record", f.To)
	}
	f.To.Version = series
	own, _ := in.Graph.SeriesOf(f.From)
	switch {
	case in.To.Version != series:
		return engine.Refusef(fmt.Sprintf("install the server of %s first, or ask for %s", in.To.Version, series), "the server that is installed is %s %s, not %s", toEngine, installed, in.To)
	case fromEngine == toEngine && own == series:
		return engine.Refusef("nothing is to be done; for a newer version install its server first", "the data in %s are of %s already, and so is the installed server", f.Data, f.To)
	case fromEngine == toEngine && own.Compare(series) > 0:
		return engine.Refusef("install a server of the data's version or a newer one", "the data in %s are of %s, and the installed server is older: %s", f.Data, f.From, series)
	}
	return nil
}

// Differences is an error that names what is not as it was.
func Differences(what string, before, after map[string]string) error {
	var names []string
	for name, value := range before {
		if after[name] != value {
			names = append(names, fmt.Sprintf("%s (%s, was %s)", name, cmp.Or(after[name], "not there"), value))
		}
	}
	for name := range after {
		if _, known := before[name]; !known {
			names = append(names, name+" (new)")
		}
	}
	if names == nil {
		return nil
	}
	slices.Sort(names)
	return fmt.Errorf("%s differs from the old one in %d things, such as %s", what, len(names), strings.Join(names[:min(5, len(names))], "; "))
}
