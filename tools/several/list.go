// Package several is what commands on many machines have in common: which machines
// these are, and how far an account's capacity reaches for the move of all.
package several

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"svc/backend/sliced"
	"svc/tools/machine"
)

// maxHostsFile bounds a list of machines, in bytes.
const maxHostsFile = 8 << 20

// ErrList means that the machines are named in a way that is not understood: nothing
// was done.
var ErrList = errors.New("nothing was done")

func listErrorf(format string, args ...any) error {
	return fmt.Errorf("%s; %w", fmt.Sprintf(format, args...), ErrList)
}

// Sources are where the machines of a command are named.
type Sources struct {
	Hosts  string // file with a machine a line
	Images string // folder of disk images
	Roots  string // folder of root folders
	Trust  bool   // images may name files outside their folders
}

// Given reports whether there is any.
func (s Sources) Given() bool { return s != Sources{Trust: s.Trust} }

// Listed is a machine of many.
type Listed struct {
	Line    string // as it is written in a list; where it is, elsewhere
	Called  string // the name that it is given there, if any
	Machine machine.Machine
	Wave    int // of a move; 0 where it is in none
}

// Name is what a machine's own folder is called among those of many: the name that
// it is given, the end of its path, or its ssh destination.
func (l Listed) Name() string {
	if l.Called != "" {
		return machine.FolderName(filepath.Base(filepath.Clean("/" + l.Called)))
	}
	return machine.FolderName(l.Machine.Name())
}

// Member is the machine as one of a fleet.
func (l Listed) Member() machine.Member {
	return machine.Member{Name: l.Name(), Place: l.Machine.Place(), Machine: l.Machine}
}

// Machines are those of all lists and folders.
func (s Sources) Machines() (all []Listed, err error) {
	if s.Hosts != "" {
		if all, err = readHosts(s.Hosts); err != nil {
			return nil, err
		}
	}
	for _, folder := range []struct {
		path string
		in   func(dir string) ([]machine.Member, error)
	}{{s.Images, machine.ImagesIn}, {s.Roots, machine.RootsIn}} {
		if folder.path == "" {
			continue
		}
		found, err := folder.in(folder.path)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, listErrorf("%s holds no machine", folder.path)
		}
		all = append(all, sliced.Map(found, func(m machine.Member) Listed { return Listed{Line: m.Place, Called: m.Name, Machine: m.Machine} })...)
	}
	for i := range all {
		all[i].Machine.TrustImage = s.Trust
	}
	return all, nil
}

// Distinct refuses a list in which two machines would share a folder.
func Distinct(machines []Listed) error {
	lines := map[string]string{}
	for _, m := range machines {
		if other, taken := lines[m.Name()]; taken {
			return listErrorf("%s and %s have the same name, so both would be kept in %s: write another name after one of them", other, m.Line, m.Name())
		}
		lines[m.Name()] = m.Line
	}
	return nil
}

// readHosts reads a list of machines; # begins a comment.
func readHosts(path string) (machines []Listed, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the machines: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxHostsFile))
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if line = strings.TrimSpace(line); line != "" {
			place, called := placeOf(line)
			machines = append(machines, Listed{Line: line, Called: called, Machine: machine.MachineAt(place)})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the machines: %w", err)
	}
	if len(machines) == 0 {
		return nil, listErrorf("%s names no machine", path)
	}
	return machines, nil
}

// placeOf parts a line into where a machine is, and the name after it, if there is
// one. A path may have spaces in it: one that is there is taken whole.
func placeOf(line string) (place, called string) {
	_, path, _ := strings.Cut(line, ":")
	for _, whole := range []string{line, path} {
		if _, err := os.Lstat(whole); err == nil {
			return line, ""
		}
	}
	if i := strings.LastIndexAny(line, " \t"); i >= 0 {
		return strings.TrimSpace(line[:i]), line[i+1:]
	}
	return line, ""
}
