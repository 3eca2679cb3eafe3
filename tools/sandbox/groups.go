//go:build linux

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"svc/backend/sliced"
)

// groups are a sandbox's control groups. Of the second version one has the limits,
// with one below it for the root, which is delegated to it, and one for what enters
// it. Where memory or processes are of the first version, they have one there.
type groups struct {
	Unified string
	lock    *os.File // held while the sandbox is this process's
	Older   []string // of version 1, by controllers
}

const (
	groupName = "svc-sandbox-"
	boxGroup  = "/box"
	runGroup  = "/run"

	sessionGroup = "/svc" // of boxGroup, where systemd's groups stand beside each other
)

// makeGroups makes the groups of a new sandbox, with its limits.
func makeGroups(l Limits, yields bool) (g groups, err error) {
	if Boots() != nil {
		return g, nil // what is in the sandbox ends with its first process
	}
	name := groupName + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	g.Unified = filepath.Join(parentGroup(), name)
	if err := os.Mkdir(g.Unified, 0o755); err != nil {
		return g, fmt.Errorf("making a control group: %w", err)
	}
	if g.lock, err = locked(g.Unified); err != nil {
		return g, fmt.Errorf("locking a control group: %w", err)
	}
	for _, dir := range []string{boxGroup, runGroup} {
		if err := os.Mkdir(g.Unified+dir, 0o755); err != nil {
			return g, fmt.Errorf("making a control group: %w", err)
		}
	}
	for _, file := range []string{"", "/cgroup.procs", "/cgroup.subtree_control", "/cgroup.threads"} {
		if err := os.Chown(g.Unified+boxGroup+file, ours().first, ours().first); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return g, err
		}
	}
	memory, processes := strconv.FormatInt(l.Memory, 10), strconv.Itoa(l.Processes)
	return g, errors.Join(
		os.WriteFile(g.Unified+"/cgroup.max.descendants", []byte(strconv.Itoa(maxGroups)), 0),
		g.bound(name, "memory", map[string]string{"memory.max": memory, "memory.swap.max": "0"}, map[string]string{"memory.limit_in_bytes": memory}),
		// What enters has a bound of its own: a root that takes all of its is still asked.
		g.bound(name, "pids", map[string]string{"pids.max": processes}, map[string]string{"pids.max": processes}, boxGroup, runGroup),
		g.share(name, yields),
	)
}

// maxGroups is how many groups a root may make: a unit takes one.
const maxGroups = 4096

// share has all that runs in a sandbox weigh as much as one busy program, or as one
// group of services, however many they are, where others want the processors too; one
// that yields, a quarter of that.
func (g *groups) share(name string, yields bool) error {
	if _, err := os.Stat(g.Unified + "/cpu.weight"); err != nil && mounted("cgroup", "cpu") == "" {
		return nil // this host shares its processors between processes alone
	}
	weight, shares := "100", "1024"
	if yields {
		weight, shares = "25", "256"
	}
	return g.bound(name, "cpu", map[string]string{"cpu.weight": weight}, map[string]string{"cpu.shares": shares})
}

// bound writes limits of a controller to a sandbox's group, or to those below it: those
// of the second version, or those of the first where the controller is of that.
func (g *groups) bound(name, controller string, files, older map[string]string, below ...string) error {
	dir := g.Unified
	if ours().user && !strings.Contains(" "+text(g.Unified+"/cgroup.controllers")+" ", " "+controller+" ") {
		return nil // it is not given to users: processes are bounded alone
	}
	switch at := mounted("cgroup", controller); {
	case at != "":
		files, dir = older, filepath.Join(at, name)
		for _, d := range []string{"", boxGroup, runGroup} {
			if err := os.Mkdir(dir+d, 0o755); err != nil && !errors.Is(err, fs.ErrExist) { // controllers may share a hierarchy
				return err
			}
		}
		g.Older = append(g.Older, dir)
	case below != nil:
		if err := os.WriteFile(g.Unified+"/cgroup.subtree_control", []byte("+"+controller), 0); err != nil {
			return fmt.Errorf("a sandbox takes limits of %s: %w", controller, err)
		}
	}
	if below == nil {
		below = []string{""}
	}
	for _, d := range below {
		for file, value := range files {
			if err := os.WriteFile(filepath.Join(dir+d, file), []byte(value), 0); err != nil && !strings.Contains(file, "swap") {
				return fmt.Errorf("a sandbox takes limits of %s: %w", controller, err)
			}
		}
	}
	return nil
}

func text(file string) string {
	b, _ := os.ReadFile(file)
	return strings.TrimSpace(string(b))
}

// locked opens a file or folder and locks it, which a process keeps until it ends.
func locked(name string) (*os.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sweepGroups takes away the groups of processes that are no more.
func sweepGroups() {
	if Boots() != nil {
		return
	}
	left, _ := filepath.Glob(filepath.Join(parentGroup(), groupName+"*"))
	if ours().user {
		rooms, _ := filepath.Glob(filepath.Join(parentGroup(), "svc-[0-9]*"))
		for _, dir := range rooms {
			_ = unix.Rmdir(dir) // one with processes stays
		}
	}
	for _, dir := range left {
		lock, err := locked(dir)
		if err != nil {
			continue // it is somebody's
		}
		g := groups{Unified: dir, lock: lock}
		for _, controller := range controllers {
			if at := mounted("cgroup", controller); at != "" && !ours().user {
				g.Older = append(g.Older, filepath.Join(at, filepath.Base(dir)))
			}
		}
		_ = g.remove() // the next start tries again
	}
}

// join puts this process where the root's first process belongs.
func (g groups) join() error {
	for _, dir := range g.each(boxGroup) {
		if err := os.WriteFile(dir+"/cgroup.procs", []byte("0"), 0); err != nil {
			return fmt.Errorf("joining a control group: %w", err)
		}
	}
	return nil
}

// entered are the groups of what enters the sandbox.
func (g groups) entered() []string { return g.each(runGroup) }

// within are groups among the root's own, whence its systemd may move a process into a
// session's: logind leaves who asks for one waiting otherwise. What is asked of the root
// stays apart, for it has a bound of its own.
func (s *Sandbox) within() []string {
	all := s.groups.each(boxGroup)
	if s.options.Plain || all == nil {
		return s.groups.entered()
	}
	all[0] += sessionGroup
	if err := os.Mkdir(all[0], 0o755); err != nil && !errors.Is(err, fs.ErrExist) || unix.Access(all[0]+"/cgroup.procs", unix.W_OK) != nil {
		return s.groups.entered()
	}
	return all
}

func (g groups) each(below string) []string {
	if g.Unified == "" {
		return nil
	}
	return sliced.Map(append([]string{g.Unified}, g.Older...), func(dir string) string { return dir + below })
}

// crowd is what is below one of a sandbox's groups, as its processes are counted.
type crowd struct {
	below   string // the group
	refused int    // processes that it wanted and did not get
}

// grew reports whether it was refused processes since it was last looked at, and still
// has nearly all that it may.
func (c *crowd) grew(g groups) bool {
	var refused, most, now int
	for _, dir := range g.each(c.below) {
		_, _ = fmt.Sscanf(text(dir+"/pids.events"), "max %d", &refused)
		_, _ = fmt.Sscan(text(dir+"/pids.max")+" "+text(dir+"/pids.current"), &most, &now)
	}
	rose := refused > c.refused
	c.refused = refused
	return rose && now > most/10*9
}

// most is the group below with the most threads that live, how many these are, and
// whether pid is one of them.
func (g groups) most(below string, pid int) (group string, most int, has bool) {
	_ = filepath.WalkDir(g.Unified+below, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return nil // a unit may end meanwhile
		}
		b, _ := os.ReadFile(name + "/cgroup.threads")
		if n := bytes.Count(b, []byte("\n")); n > most {
			most, group = n, name
			has = bytes.Contains(append([]byte("\n"), b...), fmt.Appendf(nil, "\n%d\n", pid))
		}
		return nil
	})
	return group, most, has
}

// remove ends all that is left in the groups, and takes them away.
func (g groups) remove() error {
	if g.Unified == "" {
		return nil
	}
	var err error
	for range 100 {
		err = nil
		for _, dir := range append([]string{g.Unified}, g.Older...) {
			err = errors.Join(err, clear(dir))
		}
		if err == nil {
			if g.lock != nil {
				g.lock.Close()
			}
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("taking away a sandbox's control groups: %w", err)
}

// clear kills what is in a group and those below it, and removes them.
func clear(dir string) error {
	var dirs []string
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			dirs = append([]string{name}, dirs...) // the deepest first
		}
		return nil
	})
	var failed error
	for _, d := range dirs {
		b, _ := os.ReadFile(d + "/cgroup.procs")
		for line := range strings.Lines(string(b)) {
			if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && pid > 1 && pid != os.Getpid() {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
		if err := unix.Rmdir(d); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = err
		}
	}
	return failed
}
