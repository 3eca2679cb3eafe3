package postgresql

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/safefile"
)

// users are what else on the host uses the old version's programs: clusters, also
// stopped ones, processes, and units of systemd.
func (g *pgRun) users() ([]string, error) {
	p := g.p
	all, err := p.layout().find(context.Background(), g.Host)
	if err != nil {
		return nil, err
	}
	var users []string
	for _, c := range all {
		if c.version == p.Old.Version && c.name != p.Name {
			users = append(users, "the cluster "+instance(c.version, c.name))
		}
	}
	running, err := runningFrom(p.Old.Bin)
	if err != nil {
		return nil, err
	}
	units, err := unitsOf(unitFolders, func(unit, text string) bool {
		return strings.Contains(text, p.Old.Bin+"/") && !p.layout().own(unit, p.Old.Version)
	})
	return append(append(users, running...), units...), err
}

// runningFrom are the processes of programs of a folder of this host.
func runningFrom(bin string) (users []string, err error) {
	err = eachFrom(bin, func(proc, program string) {
		users = append(users, fmt.Sprintf("process %s, of %s", filepath.Base(proc), program))
	})
	return users, err
}

// eachFrom visits the processes, each by its folder below /proc and its program, that run
// a program of a folder of this host.
func eachFrom(bin string, visit func(proc, program string)) error {
	here, err := os.Stat("/")
	if err != nil {
		return err
	}
	programs, err := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range programs {
		proc := filepath.Dir(link)
		if program, err := os.Readlink(link); err == nil && runsFrom(proc, program, bin, here) {
			visit(proc, program)
		}
	}
	return err
}

// runsFrom reports whether a process runs a program of a folder below a root, also one
// whose file was replaced since. Where the process has another root, as in a container,
// a program by that name is most often a file of its own, and not the folder's.
func runsFrom(proc, program, bin string, here os.FileInfo) bool {
	if !strings.HasPrefix(program, bin+"/") {
		return false
	}
	root, err := os.Stat(filepath.Join(proc, "root"))
	if err != nil { // it has ended, unless it still has a program
		_, err := os.Readlink(filepath.Join(proc, "exe"))
		return err == nil
	}
	return os.SameFile(root, here) || engine.SameProgram(proc, program)
}

// unitFolders are where systemd has units.
var unitFolders = []string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}

// maxUnit bounds a unit's file.
const maxUnit = 1 << 20

// unitsOf are the units in some folders that use what is meant, by name and text of
// themselves or what is added to them.
func unitsOf(folders []string, uses func(unit, text string) bool) (users []string, err error) {
	for _, folder := range folders {
		names, e := filepath.Glob(filepath.Join(folder, "*.service"))
		err = errors.Join(err, e)
		drops, e := filepath.Glob(filepath.Join(folder, "*.service.d", "*.conf"))
		err = errors.Join(err, e)
		for _, name := range append(names, drops...) {
			text, _, e := safefile.Read(name, maxUnit)
			unit := strings.TrimSuffix(filepath.Base(strings.TrimSuffix(name, "/"+filepath.Base(name))), ".d")
			if filepath.Ext(name) == ".service" {
				unit = filepath.Base(name)
			}
			if e == nil && uses(unit, string(text)) && !slices.Contains(users, "the unit "+unit) {
				users = append(users, "the unit "+unit)
			}
		}
	}
	return users, err
}
