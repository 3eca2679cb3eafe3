package upgrade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"svc/tools/database"
	"svc/tools/upgrade/safefile"
)

// directory is a database that is one directory, and a new server takes the files
// of an old one. What is upgraded is a copy of the directory, which then takes
// its place: the new server never opens the old files, and the way back is to
// put their directory where it was. The copy is made from the backup, so that
// the backup has been read and restored before anything changes.
type directory struct {
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
	paces
	// Quit is the signal that stops the server in order.
	Quit   unix.Signal
	Undone string // where the new data go that clients may have written to
}

// dialect is what an engine does in its own way.
type dialect interface {
	// settle prepares a running server for being stopped with all it has on the disk.
	settle(ctx context.Context, h *Host) error
	// stock says what a directory holds, as the new server reads it.
	stock(ctx context.Context, h *Host, dir string) (stock, error)
	// convert upgrades the files of a directory.
	convert(ctx context.Context, h *Host, dir string) error
	// same compares what was there with what is there now.
	same(before, after stock) error
	// answers gives no error if the server serves.
	answers(ctx context.Context) error
}

// ledger is how an engine tells what clients have written.
type ledger interface {
	// counted says what the running server has counted of clients' writing since it
	// was started.
	counted(ctx context.Context, h *Host) (signs []string, err error)
	// data reports whether a file, by its name from the directory, is of clients' data
	// alone: what a server writes by itself is none.
	data(name string) bool
	// dumpKept are commands for a shell that dump a directory which no server runs on
	// into a file.
	dumpKept(dir, into string) []string
}

// stock is what a database holds: values, or digests of them, by what they are of.
type stock map[string]string

// Names beside the database's directory.
func (f *directory) next() string   { return f.Data + ".svc-new" }
func (f *directory) kept() string   { return f.Data + ".svc-old" }
func (f *directory) undone() string { return cmp.Or(f.Undone, f.Data+".svc-undone") }

// Names in the backup directory.
const (
	treeFile  = "data.json"  // the tree of the backup
	stockFile = "stock.json" // what the backup holds
	backupDir = "data"       // the backup
	newFile   = "new.json"   // the tree of the copy as it took the data's place
)

// look fills in what the directory and its server say.
func (f *directory) look(h *Host) error {
	data, err := filepath.EvalSymlinks(f.Data)
	if errors.Is(err, fs.ErrNotExist) {
		return refusef("put the old server's files there first", "%s, where the server has its data, does not exist", f.Data)
	}
	if err != nil {
		return fmt.Errorf("looking at the data: %w", err)
	}
	f.Data = data
	if err := errors.Join(f.refuseWithin(h.Backup), f.refuseMount(), f.refuseLeftovers()); err != nil {
		return err
	}
	f.Undone = free(f.Data + ".svc-undone")
	if f.Inode, err = inodeOf(f.Data); err != nil {
		return err
	}
	t, err := listTree(f.Data)
	if err != nil {
		return refusef("have every file of the database in that directory itself", "%s can't be copied as a whole: %v", f.Data, err)
	}
	f.Bytes = t.bytes()
	s, err := f.server(f.Data)
	if s != nil {
		f.Runs, f.Unit, f.Again = true, s.unit, s.same
	}
	if err := errors.Join(err, f.owner(), f.refuseAbove()); err != nil || f.Bytes == 0 {
		return err
	}
	var sample *os.File
	if f.paces, sample, err = measure(f.Account, f.Data, filepath.Dir(f.Data), h.Backup); err != nil {
		return err
	}
	return sample.Close()
}

// refuseAbove refuses data that others than root and the server's account could
// exchange for something else: their copy is made, and renamed, beside them.
func (f *directory) refuseAbove() error {
	above := filepath.Dir(f.Data)
	_, err := safefile.Directory(above)
	if info, e := os.Stat(above); err != nil && e == nil && info.Mode().Perm()&0o022 == 0 && accountOf(info) == f.Account {
		_, err = safefile.Directory(filepath.Dir(above))
	}
	if err != nil {
		return refusef("give it to root, and let no others write there: chown root, chmod go-w", "others could exchange the directory of the data: %v", err)
	}
	return nil
}

// accountOf is the owner of a file, by name; empty where the number has none.
func accountOf(info os.FileInfo) string {
	u, err := user.LookupId(strconv.Itoa(int(info.Sys().(*syscall.Stat_t).Uid)))
	if err != nil {
		return ""
	}
	return u.Username
}

// still refuses a directory that a journal tells of where its account, its program
// or its unit are others than svc would find now.
func (f *directory) still(programs ...string) error {
	info, err := os.Stat(f.old())
	if errors.Is(err, fs.ErrNotExist) { // killed between two renamings
		info, err = os.Stat(f.kept())
	}
	switch {
	case err != nil:
		return fmt.Errorf("finding the data again: %w", err)
	case f.Account != accountOf(info) || f.Account == "root" || f.Account == "":
		return differs("the data belong to the account %q, not to %q", accountOf(info), f.Account)
	case !slices.Contains(programs, f.Program):
		return differs("the program %q is none of a server's", f.Program)
	case f.Unit != filepath.Base(f.Unit) && f.Unit != "":
		return differs("%q is no unit", f.Unit)
	case filepath.Clean(f.Data) != f.Data || !filepath.IsAbs(f.Data):
		return differs("%q is no directory", f.Data)
	}
	return f.refuseAbove()
}

// differs refuses a journal that does not fit to the host.
func differs(format string, args ...any) error {
	return refusef("see who has changed the host, or the journal; svc neither goes on nor back before it fits", "the host is not the one of the journal: "+format, args...)
}

// owner refuses data that the server's account can't have: they were moved here
// from a host where its number is another.
func (f *directory) owner() error {
	info, err := os.Stat(f.Data)
	if err != nil {
		return err
	}
	uid, name := info.Sys().(*syscall.Stat_t).Uid, accountOf(info)
	if name != "" && (name == f.Account || f.Runs && uid != 0) {
		f.Account = name
		return nil
	}
	return refusef(fmt.Sprintf("give it to that account (chown -R %s:), or, if the server runs as another, start it on the data once", f.Account), "%s belongs to the account with the number %d, and the server's is %s", f.Data, uid, f.Account)
}

// refuseWithin refuses a backup directory among the data.
func (f *directory) refuseWithin(backup string) error {
	backup, err := filepath.EvalSymlinks(backup)
	if err != nil {
		return fmt.Errorf("looking at the backup directory: %w", err)
	}
	if inside, err := filepath.Rel(f.Data, backup); err == nil && filepath.IsLocal(inside) {
		return refusef("name one elsewhere, best on another disk", "the backup directory %s is among the data that are to be backed up", backup)
	}
	return nil
}

// refuseMount refuses a directory that can't be renamed.
func (f *directory) refuseMount() error {
	if mounted, err := mountPoint(f.Data); !mounted || err != nil {
		return err
	}
	return refusef("give the data a directory within that file system: stop the server, move its files into one, and name it as the data's directory in the server's configuration",
		"%s is where a file system is mounted, so it can't be exchanged for its copy in one step", f.Data)
}

// refuseLeftovers refuses where an earlier upgrade has left what this one makes.
func (f *directory) refuseLeftovers() error {
	for _, name := range []string{f.next(), f.kept()} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return refusef("remove it, or move it elsewhere, when it is no longer wanted", "%s is there, of an earlier upgrade", name)
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

// is reports whether a directory is the old data.
func (f *directory) is(dir string) bool {
	inode, err := inodeOf(dir)
	return err == nil && inode == f.Inode
}

func (f *directory) about(method, instance string, notes []string) About {
	return About{
		From: f.From, To: f.To, Instance: instance, Directory: f.Data, Method: method, Downtime: fmt.Sprintf("about %s, from step stop to the last: the time to copy %s twice and to read them three times, as a sample of this host's disks has it", lasts(f.waiting()), size(f.Bytes)), Waiting: f.waiting(),
		Needs: []Need{{"", f.Bytes + f.Bytes/50 + 16<<20, "the backup"}, {filepath.Dir(f.Data), f.Bytes + f.Bytes/50 + f.Headroom, "the copy that is upgraded"}},
		Notes: append(notes, f.notes()...),
	}
}

// waiting is for how long clients wait, in seconds, by the size: a backup, its
// restoring, and three readings, by servers that start and stop meanwhile.
func (f *directory) waiting() float64 {
	const fixed, digests = 10, 100 << 20 // seconds; bytes per second that become digests
	data := float64(f.Bytes)
	return fixed + data/slowest(f.ReadPace, f.BackupPace) + data/slowest(f.ReadPace, f.WritePace) + 3*data/slowest(f.ReadPace, digests)
}

func (f *directory) notes() []string {
	var earlier []string
	if usual := f.Data + ".svc-undone"; f.undone() != usual {
		earlier = []string{usual + " is there, of an earlier upgrade that was rolled back: what was written to it then is served by nobody; it stays"}
	}
	return append(earlier,
		"until the end nothing but reading happens to "+f.Data+"; it is then kept as "+f.kept(),
		"if it is rolled back after clients have written to the new data, those are kept as "+f.undone(),
	)
}

// gone says so where what runs can't be started again.
func (f *directory) gone() []string {
	if !f.Runs || f.Again {
		return nil
	}
	return []string{"the server that runs is of a program that is no longer installed: once stopped, only the new one can be started; after a roll-back install the old one again"}
}

// steps are those of an upgrade.
func (f *directory) steps(h *Host, d dialect) []Step {
	steps := []Step{
		{Name: "stop", Cuts: f.Runs, Does: "stops the server, with everything written down, for the next boot too", Changes: true, Do: f.stop(h, d), Undo: f.startAgain(h, d), Holds: f.stopped},
		{Name: "backup", Does: "copies " + f.Data + " to the backup directory, with digests", Do: f.backup(h), Undo: f.dropBackup(h), Holds: f.unchanged(h), Fills: h.path(backupDir), Bytes: f.Bytes},
		{Name: "verify", Does: "restores the backup beside the data, starts the new server on it in private, and takes stock", Changes: true, Do: f.verify(h, d), Undo: f.dropCopy, Holds: f.copied, Fills: f.next(), Bytes: f.Bytes},
		{Name: "upgrade", Does: "upgrades the restored copy in private, takes stock again, and compares", Changes: true, Do: f.upgrade(h, d), Undo: f.dropCopy, Holds: f.copied},
		{Name: "exchange", Does: "puts the upgraded copy in the place of the data, and keeps those as " + f.kept(), Changes: true, Opens: true, Do: f.exchange(h), Undo: f.exchangeBack(h, d)},
	}
	if f.Runs {
		steps = append(steps, Step{Name: "start", Serves: true, Does: "starts the new server and waits until it answers", Changes: true, Do: f.start(h, d), Undo: f.stopNew(h, d)})
	}
	return steps
}

// server is the one that works in a directory.
func (f *directory) server(dir string) (*server, error) {
	s, err := serverOn(dir, f.Program, f.Names)
	if s != nil {
		s.quit = cmp.Or(f.Quit, unix.SIGTERM)
	}
	return s, err
}

func (f *directory) stop(h *Host, d dialect) func(context.Context) error {
	return func(ctx context.Context) error {
		s, err := f.server(f.Data)
		if err != nil {
			return err
		}
		if err := h.hold(ctx, f.Unit); err != nil || s == nil {
			return err
		}
		if err := d.settle(ctx, h); err != nil {
			return err
		}
		return s.stop(ctx, h)
	}
}

// stopped reports whether no server works on the data, or they have gone on.
func (f *directory) stopped(context.Context) bool {
	s, err := f.server(f.Data)
	return err == nil && (s == nil || !f.is(f.Data))
}

// startAgain starts the server that was stopped, where its program is there.
func (f *directory) startAgain(h *Host, d dialect) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := h.release(ctx, f.Unit); err != nil {
			return err
		}
		s, err := f.server(f.Data)
		if err != nil || !f.Runs || !f.Again {
			return err
		}
		if s != nil && f.Unit == "" && f.staysUp(ctx, s, d) {
			return nil
		}
		return f.launch(ctx, h, d) // a service manager knows whether it is being stopped
	}
}

// staysUp reports whether a server goes on serving: one that a try which was cut short
// has told to stop is waited for.
func (f *directory) staysUp(ctx context.Context, s *server, d dialect) bool {
	well := 0
	return await(ctx, func(ctx context.Context) error {
		if s.ended(ctx) == nil {
			return nil
		}
		if err := d.answers(ctx); err != nil {
			well = 0
			return err
		}
		if well++; well < 10 {
			return errors.New("it may be about to stop")
		}
		return nil
	}) == nil && s.ended(ctx) != nil
}

func (f *directory) backup(h *Host) func(context.Context) error {
	return func(ctx context.Context) error {
		t, err := listTree(f.Data)
		if err != nil {
			return fmt.Errorf("listing the data: %w", err)
		}
		copied, err := copyTree(ctx, t, f.Data, h.path(backupDir))
		if err != nil {
			return err
		}
		return h.writeFile(treeFile, copied)
	}
}

func (f *directory) dropBackup(h *Host) func(context.Context) error {
	return func(context.Context) error {
		return errors.Join(removeFile(h.path(treeFile)), os.RemoveAll(h.path(backupDir)))
	}
}

// removeFile removes a file that may not be there.
func removeFile(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// old is where the old data are: kept aside once the copy has taken their place.
func (f *directory) old() string {
	if f.is(f.kept()) {
		return f.kept()
	}
	return f.Data
}

// unchanged reports whether the data are still what was backed up.
func (f *directory) unchanged(h *Host) func(context.Context) bool {
	return func(context.Context) bool {
		var was tree
		now, err := listTree(f.old())
		return err == nil && h.readFile(treeFile, &was) == nil && was.sameStanding(now)
	}
}

// restore makes the copy, from the backup, whose digests are compared.
func (f *directory) restore(ctx context.Context, h *Host) error {
	var t tree
	if err := h.readFile(treeFile, &t); err != nil {
		return err
	}
	_, err := copyTree(ctx, t, h.path(backupDir), f.next())
	return err
}

func (f *directory) verify(h *Host, d dialect) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := f.restore(ctx, h); err != nil {
			return err
		}
		has, err := d.stock(ctx, h, f.next())
		if err != nil {
			return f.short(fmt.Errorf("reading the restored backup: %w", err))
		}
		return h.writeFile(stockFile, has)
	}
}

func (f *directory) upgrade(h *Host, d dialect) func(context.Context) error {
	return func(ctx context.Context) error {
		if !f.copied(ctx) { // a try that was cut short
			if err := f.restore(ctx, h); err != nil {
				return err
			}
		}
		if err := d.convert(ctx, h, f.next()); err != nil {
			return f.short(err)
		}
		after, err := d.stock(ctx, h, f.next())
		if err != nil {
			return fmt.Errorf("reading the upgraded copy: %w", err)
		}
		var before stock
		if err := h.readFile(stockFile, &before); err != nil {
			return err
		}
		return d.same(before, after)
	}
}

// short says so where a disk with no room left is why something failed: servers
// and their programs then say all kinds of things.
func (f *directory) short(err error) error {
	const little = 16 << 20
	if d, diskErr := diskOf(f.next()); diskErr == nil && d.free < little {
		return fmt.Errorf("the disk of %s has no room left: %w", f.next(), err)
	}
	return err
}

// copied reports whether the copy is there, or has taken the data's place.
func (f *directory) copied(context.Context) bool {
	_, err := os.Lstat(f.next())
	return err == nil || f.is(f.kept())
}

// dropCopy removes the copy that is beside the data.
func (f *directory) dropCopy(context.Context) error {
	if f.is(f.next()) {
		return fmt.Errorf("%s is the old data: not removed", f.next())
	}
	return os.RemoveAll(f.next())
}

func (f *directory) exchange(h *Host) func(context.Context) error {
	return func(ctx context.Context) error {
		if !f.stopped(ctx) || !f.unchanged(h)(ctx) {
			return fmt.Errorf("%s was changed since the backup: somebody has started the server", f.Data)
		}
		t, err := listTree(f.next())
		if err == nil {
			err = errors.Join(syncDisk(f.next()), h.writeFile(newFile, t))
		}
		if err != nil {
			return err
		}
		if err = os.Rename(f.Data, f.kept()); err == nil {
			err = os.Rename(f.next(), f.Data)
		}
		if err != nil {
			return fmt.Errorf("exchanging the data for their copy: %w", err)
		}
		return syncDir(filepath.Dir(f.Data))
	}
}

// syncDisk has everything written on the disk of a directory: not every storage
// engine sees to that.
func syncDisk(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(d.Fd())), d.Close())
}

// exchangeBack puts the old data where they were and reads them whole. What took
// their place goes aside, and stays there if clients may have written to it.
func (f *directory) exchangeBack(h *Host, d dialect) func(context.Context) error {
	return func(ctx context.Context) error {
		if f.is(f.Data) {
			return nil
		}
		if !f.is(f.kept()) {
			return fmt.Errorf("the old data are neither %s nor %s: the backup of them is %s", f.Data, f.kept(), h.path(backupDir))
		}
		if err := f.stopNew(h, d)(ctx); err != nil {
			return err
		}
		if err := f.aside(h); err != nil {
			return err
		}
		if err := errors.Join(os.Rename(f.kept(), f.Data), syncDir(filepath.Dir(f.Data))); err != nil {
			return fmt.Errorf("putting the old data back: %w", err)
		}
		return f.intact(ctx, h)
	}
}

// aside moves the new data out of the way: as the copy that they were, or to
// where they are kept if a server has written to them since.
func (f *directory) aside(h *Host) error {
	now, err := listTree(f.Data)
	if len(now) == 0 || err != nil { // killed between two renamings
		return err
	}
	to, was := f.undone(), tree{}
	if h.readFile(newFile, &was) == nil && was.sameStanding(now) {
		to = f.next()
	}
	if err := os.Rename(f.Data, to); err != nil {
		return fmt.Errorf("setting the new data aside: %w", err)
	}
	return nil
}

// intact reads the old data and compares them with what was backed up.
func (f *directory) intact(ctx context.Context, h *Host) error {
	var t tree
	if err := h.readFile(treeFile, &t); err != nil {
		return err
	}
	if err := t.verify(ctx, f.Data); err != nil {
		return fmt.Errorf("%w; the backup of it is %s", err, h.path(backupDir))
	}
	return nil
}

func (f *directory) start(h *Host, d dialect) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := h.release(ctx, f.Unit); err != nil {
			return err
		}
		return f.launch(ctx, h, d)
	}
}

// stopNew stops the server that works on the new data: svc has started it, or
// the host has, when it came up again.
func (f *directory) stopNew(h *Host, d dialect) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := h.hold(ctx, f.Unit); err != nil {
			return err
		}
		s, err := f.server(f.Data)
		if s == nil || err != nil || f.is(f.Data) {
			return err
		}
		// One that is just starting may never end when it is told to: see command.up.
		_ = await(ctx, func(ctx context.Context) error {
			if s.ended(ctx) == nil {
				return nil
			}
			return d.answers(ctx)
		})
		return s.stop(ctx, h)
	}
}

// afterwards says what a person can do when all is done.
func (f *directory) afterwards(h *Host, look string) []string {
	lines := []string{look}
	if !f.Runs {
		lines = append(lines, "the server was not running, and is not now: start it")
	}
	return append(lines,
		fmt.Sprintf("the way back to the old data: `svc db upgrade --backup-dir %s --roll-back --confirm`", quoted(h.Backup)),
		fmt.Sprintf("the old data are %s, as they were. When nothing is missed: `rm -r %s`", f.kept(), quoted(f.kept())),
		fmt.Sprintf("the backup is %s: keep it until a backup of the new data exists, and then: `rm -r %s`", h.path(backupDir), quoted(h.Backup)))
}

// written compares the new data with what they were when they took their place.
func (f *directory) written(ctx context.Context, h *Host, d ledger) (Written, error) {
	w := Written{Kept: f.undone(), Commands: d.dumpKept(f.undone(), quoted(h.path("written")))}
	if !f.is(f.kept()) {
		return w, nil // the old data are in their place
	}
	var was tree
	if err := h.readFile(newFile, &was); err != nil {
		return w, err
	}
	now, err := listTree(f.Data)
	if err != nil {
		return w, err
	}
	if n := was.differing(now, d.data); n > 0 {
		w.Signs = append(w.Signs, fmt.Sprintf("%d files of %s are new, changed or gone", n, f.Data))
	}
	if s, err := f.server(f.Data); s == nil || err != nil {
		return w, err
	}
	signs, err := d.counted(ctx, h)
	w.Signs = append(w.Signs, signs...)
	return w, err
}

// launch starts the server and waits until it answers.
func (f *directory) launch(ctx context.Context, h *Host, d dialect) error {
	if f.Unit == "" {
		return h.launch(ctx, command{user: f.Account, args: f.Command}, d.answers)
	}
	if _, err := h.run(ctx, command{args: []string{"systemctl", "start", f.Unit}}); err != nil {
		return err
	}
	return await(ctx, d.answers)
}
