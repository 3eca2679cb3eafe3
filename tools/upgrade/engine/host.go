package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"svc/backend/osfile"
	"svc/backend/sliced"
	"svc/tools/upgrade/safefile"
)

// Host is the machine that svc runs on, as steps use it.
type Host struct {
	Backup string // directory for all that is kept; absolute
	ID     string // of the upgrade: what its programs have in their environment
	Reach  Reach  // how far the step is that is being done
}

// lockFile is held while a host's database is upgraded, one at a time.
const lockFile = "/run/svc-db-upgrade.lock"

// mark is the variable in the environment of every program that an upgrade runs.
const mark = "SVC_DB_UPGRADE"

// Path is that of a name in the backup directory.
func (h *Host) Path(name ...string) string {
	return filepath.Join(append([]string{h.Backup}, name...)...)
}

// LogFile has what the programs that were run have said.
func (h *Host) LogFile() string { return h.Path("log") }

// Check refuses what no upgrade can begin or go on with.
func (h *Host) Check() error {
	if os.Geteuid() != 0 {
		return Refusef("run it as root, such as by sudo", "svc does not run as root, and other accounts can't stop, copy and start a database")
	}
	if !filepath.IsAbs(h.Backup) {
		return Refusef("name it from the root, such as /srv/backup", "%q is not the whole name of a backup directory", h.Backup)
	}
	dir, err := safefile.Directory(h.Backup)
	switch open := (*safefile.Unsafe)(nil); {
	case errors.As(err, &open):
		return Refusef("name one that only root can write to, as to every one above it (chown root, chmod go-w); neither /tmp nor a directory of a database, which has to stay its account's, will do",
			"the backup directory %s is not root's alone, and what lies in it says what root does: %v", h.Backup, open)
	case errors.Is(err, fs.ErrNotExist):
		return Refusef("make it first, on a disk of its own where there is one: a name that is mistyped, or a disk that is not mounted, would else be filled elsewhere", "the backup directory %s does not exist", h.Backup)
	case errors.Is(err, unix.ENOTDIR):
		return Refusef("name a directory", "the backup directory %s is a file", h.Backup)
	case err != nil:
		return fmt.Errorf("looking at the backup directory: %w", err)
	}
	h.Backup = dir
	return nil
}

// Lock keeps a second upgrade out until it is given back, or svc ends. With it goes
// what killed servers have left of their private sockets.
func (h *Host) Lock() (unlock func(), err error) {
	f, err := os.OpenFile(lockFile, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, Refusef("wait for it", "another svc db upgrade runs on this host")
	}
	return func() { _ = errors.Join(os.RemoveAll(PrivateDir), f.Close()) }, nil
}

// Need is room that an upgrade takes on a disk.
type Need struct {
	Directory string `json:"directory"` // the backup directory where an upgrade leaves it empty
	Bytes     int64  `json:"bytes"`
	For       string `json:"for"`
}

// AboutOf is what an upgrade is of, with the backup directory by its name.
func (h *Host) AboutOf(u Upgrade) About {
	a := u.About()
	for i := range a.Needs {
		a.Needs[i].Directory = cmp.Or(a.Needs[i].Directory, h.Backup)
	}
	return a
}

// disk is a file system, and what is wanted of it.
type disk struct {
	Device uint64
	Free   int64
	wanted int64
	needs  []string
}

// Room refuses where a disk has too little of it for all that goes there.
func (h *Host) Room(needs []Need) error {
	var disks []*disk
	for _, n := range needs {
		d, err := DiskOf(n.Directory)
		if err != nil {
			return fmt.Errorf("measuring the disk of %s: %w", n.Directory, err)
		}
		if i := slices.IndexFunc(disks, func(o *disk) bool { return o.Device == d.Device }); i >= 0 {
			d = disks[i]
		} else {
			disks = append(disks, d)
		}
		d.wanted, d.needs = d.wanted+n.Bytes, append(d.needs, fmt.Sprintf("%s for %s in %s", Size(n.Bytes), n.For, n.Directory))
	}
	return short(disks)
}

// short refuses the disks that have too little room.
func short(disks []*disk) error {
	var refused Refusals
	for _, d := range disks {
		if d.wanted > d.Free {
			refused = append(refused, Refusal{
				What:    fmt.Sprintf("too little room on a disk: %s, and %s are free", strings.Join(d.needs, " and "), Size(d.Free)),
				Instead: fmt.Sprintf("free %s, or name a --backup-dir on another disk", Size(d.wanted-d.Free)),
			})
		}
	}
	return refused.Err()
}

// DiskOf is the disk that a directory is on.
func DiskOf(dir string) (*disk, error) {
	var st unix.Stat_t
	var fs unix.Statfs_t
	if err := errors.Join(unix.Stat(dir, &st), unix.Statfs(dir, &fs)); err != nil {
		return nil, err
	}
	return &disk{Device: st.Dev, Free: int64(fs.Bavail) * fs.Bsize}, nil
}

// Size is a number of bytes for people.
func Size(bytes int64) string {
	const mib = 1 << 20
	if bytes >= 10<<30 {
		return fmt.Sprintf("%d GiB", bytes>>30)
	}
	return fmt.Sprintf("%d MiB", (bytes+mib-1)/mib)
}

// TreeSize adds up what the files of a directory take, which may be behind a link;
// folders of some names are left out.
func TreeSize(dir string, without ...string) (bytes int64, err error) {
	if dir, err = filepath.EvalSymlinks(dir); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // a running server removes files
			return nil
		case err == nil && e.IsDir() && slices.Contains(without, e.Name()):
			return fs.SkipDir
		case err != nil || !e.Type().IsRegular():
			return err
		}
		info, err := e.Info()
		if err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes, err
}

// Command is a program to run.
type Command struct {
	User  string   // account to run it as; root where empty
	Env   []string // besides PATH, LC_ALL, HOME and the mark
	Dir   string   // to run it in; / where empty
	Stdin string
	Args  []string // the program and its arguments; no shell reads them
	// stop is the signal that ends a server in order; a program that is none is
	// terminated with all its children.
	Stop unix.Signal
	// up is set where a server works on a copy, and becomes true when it has started:
	// before that it is killed. MariaDB, when it is told to stop while it starts, ends the
	// thread that takes signals, and then waits for ever.
	up    *atomic.Bool
	Quiet bool // not logged: it is run again and again
	// rows takes what the program prints, which run then does not give.
	Rows io.Writer
}

// MaxOutput bounds what is kept of what a program prints.
const MaxOutput = 64 << 20

// Run runs a program to its end, or until the context ends, and gives what it
// printed. It is killed when svc is.
func (h *Host) Run(ctx context.Context, c Command) (string, error) {
	log := h.openLog(c.Quiet)
	defer log.Close()
	fmt.Fprintf(log, "%s %s $ %q\n", time.Now().UTC().Format(time.RFC3339), c.User, c.Args)
	out, complaint := &capped{most: MaxOutput}, &capped{most: 4 << 10, last: true}
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Stdin = "/"+strings.TrimPrefix(c.Dir, "/"), strings.NewReader(c.Stdin)
	cmd.Env = append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "HOME=/", mark + "=" + h.ID}, c.Env...)
	cmd.Stdout, cmd.Stderr = out, io.MultiWriter(complaint, log)
	if c.Rows != nil {
		cmd.Stdout = c.Rows
	}
	// A program has a process group of its own: what a terminal sends to svc
	// does not reach it, and what svc sends to the group reaches its children.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	if c.Stop != 0 { // SIGKILL would cost it what is in no log, such as PostgreSQL's unlogged tables
		cmd.SysProcAttr.Pdeathsig = c.Stop
		cmd.Cancel = func() error {
			if c.up != nil && !c.up.Load() {
				return cmd.Process.Kill()
			}
			return cmd.Process.Signal(c.Stop)
		}
		cmd.WaitDelay = time.Hour // it writes down what it has in memory
	}
	if c.User != "" {
		credential, err := CredentialOf(c.User)
		if err != nil {
			return "", err
		}
		cmd.SysProcAttr.Credential = credential
	}
	runtime.LockOSThread() // the death signal comes when the thread ends
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	if c.Stop != 0 && ctx.Err() != nil && cmd.ProcessState != nil && cmd.ProcessState.Success() {
		return out.String(), nil
	}
	if err == nil && c.Stop == 0 && out.cut {
		err = fmt.Errorf("it printed more than the %s that svc reads", Size(MaxOutput))
	}
	if err != nil {
		fmt.Fprintf(log, "%s%v\n", out, err)
		return out.String(), fmt.Errorf("%s: %w%s", filepath.Base(c.Args[0]), err, said(out.String()+complaint.String()))
	}
	return out.String(), nil
}

// Serve runs a server for the time of fn, which begins when ready says so. That
// the server ends before is an error.
func (h *Host) Serve(ctx context.Context, c Command, ready, fn func(context.Context) error) error {
	running, end := context.WithCancel(ctx)
	defer end()
	ended := make(chan error, 1)
	during, cancel := context.WithCancelCause(ctx)
	go func() {
		_, err := h.Run(running, c)
		cancel(fmt.Errorf("the server ended: %v", err))
		ended <- err
	}()
	err := Await(during, ready)
	if err == nil {
		if c.up != nil {
			c.up.Store(true)
		}
		err = fn(during)
	}
	if during.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(during), cmp.Or(err, during.Err()))
	}
	end()
	if last := <-ended; err == nil {
		err = last
	}
	return err
}

// AtOnce does tasks beside each other, until all have ended; when one fails the others
// are told to end.
func AtOnce(ctx context.Context, tasks ...func(context.Context) error) error {
	during, end := context.WithCancelCause(ctx)
	defer end(nil)
	var wait sync.WaitGroup
	for _, task := range tasks {
		wait.Go(func() {
			if err := task(during); err != nil {
				end(err) // the first that is told stays
			}
		})
	}
	wait.Wait()
	return context.Cause(during)
}

// Patience is how long is waited for a server, PatienceToAsk for one that is just being
// started and is to be asked something, and interval how often it is looked at.
const (
	Patience      = 10 * time.Minute
	PatienceToAsk = 30 * time.Second
	interval      = 100 * time.Millisecond
)

// Await looks again and again until there is no error.
func Await(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	so, _ := ctx.Value(watched{}).(*Reach)
	defer so.wait(nil)
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		so.wait(err)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(interval):
		}
	}
}

// said is the end of what a program that failed has printed.
func said(all string) string {
	lines := strings.Split(strings.TrimSpace(all), "\n")
	end := strings.Join(lines[max(0, len(lines)-8):], "; ")
	if end == "" {
		return ""
	}
	return ": " + end[max(0, len(end)-2000):]
}

// openLog opens the log to append to. Where it can't be, nothing is logged: that
// stops no step.
func (h *Host) openLog(quiet bool) io.WriteCloser {
	if quiet || h.ID == "" { // before an upgrade begins, nothing is written
		return deaf{}
	}
	f, err := h.Open("log", os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return deaf{}
	}
	return deaf{f}
}

// deaf writes what can be written and knows no error.
type deaf struct{ f *os.File }

func (d deaf) Write(p []byte) (int, error) {
	if d.f != nil {
		_, _ = d.f.Write(p) // a full disk
	}
	return len(p), nil
}

func (d deaf) Close() error {
	if d.f == nil {
		return nil
	}
	return d.f.Close()
}

// capped keeps the first bytes that are written to it, or the last. It has no
// bytes.Buffer in it: io.Copy would have that read without a bound.
type capped struct {
	kept []byte
	most int
	last bool
	cut  bool // it was given more
}

func (c *capped) Write(p []byte) (int, error) {
	all := append(c.kept, p...)
	over := max(0, len(all)-c.most)
	if c.last {
		c.kept = all[over:]
	} else {
		c.kept = all[:len(all)-over]
	}
	c.cut = c.cut || over > 0
	return len(p), nil
}

func (c *capped) String() string { return string(c.kept) }

// CredentialOf is an account with its groups.
func CredentialOf(name string) (*syscall.Credential, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("looking up an account: %w", err)
	}
	groups, err := u.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("looking up the groups of %s: %w", name, err)
	}
	c := &syscall.Credential{Uid: number(u.Uid), Gid: number(u.Gid)}
	c.Groups = append(c.Groups, sliced.Map(groups, number)...)
	return c, nil
}

// number is an id that the system gave as text.
func number(id string) uint32 {
	n, err := strconv.ParseUint(id, 10, 32)
	if err != nil {
		return 65534 // nobody
	}
	return uint32(n)
}

// WriteFile keeps a value for later steps: it is whole, and on the disk.
func (h *Host) WriteFile(name string, v any) error {
	b, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent(" "))
	if err == nil {
		err = renameio.WriteFile(h.Path(name), append(b, '\n'), 0o600, renameio.WithTempDir(h.Backup))
	}
	if err = errors.Join(err, osfile.SyncNames(h.Backup)); err != nil {
		return fmt.Errorf("keeping %s: %w", name, err)
	}
	return nil
}

// ReadFile gives what WriteFile has kept.
func (h *Host) ReadFile(name string, v any) error {
	f, err := h.Open(name, os.O_RDONLY)
	if err == nil {
		err = errors.Join(json.UnmarshalRead(f, v), f.Close())
	}
	if err != nil {
		return fmt.Errorf("reading what was kept: %w", err)
	}
	return nil
}

// notesFile has what Note was told.
const notesFile = "notes.json"

// Note keeps what people must hear when the run ends, whatever its end is; once.
func (h *Host) Note(line string) error {
	notes, err := h.Notes()
	if err != nil || slices.Contains(notes, line) {
		return err
	}
	return h.WriteFile(notesFile, append(notes, line))
}

// Notes are the lines that Note has kept.
func (h *Host) Notes() (lines []string, err error) {
	if err := h.ReadFile(notesFile, &lines); !errors.Is(err, fs.ErrNotExist) {
		return lines, err
	}
	return nil, nil
}

// RemoveFile removes a file that may not be there.
func RemoveFile(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Unused is a name that nothing has: with a number behind it, where something of an
// earlier upgrade has the name itself.
func Unused(name string) string {
	for n := 1; ; n++ {
		called := name
		if n > 1 {
			called = fmt.Sprintf("%s.%d", name, n)
		}
		if _, err := os.Lstat(called); err != nil {
			return called
		}
	}
}

// Enterable refuses a backup directory that an account can't work in.
func Enterable(ctx context.Context, h *Host, account string) error {
	if _, err := h.Run(ctx, Command{User: account, Args: []string{"test", "-x", h.Backup}}); err != nil {
		return Refusef("let others pass through it and the directories above: chmod o+x", "the account %s can't enter the backup directory %s", account, h.Backup)
	}
	return nil
}
