package machine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"

	"svc/backend/sliced"
)

// Bounds of a call about several machines.
const (
	MostMachines = 500
	AtOnce       = 4 // are read beside each other
	Reasons      = 3 // that the row of one has
)

// Machines are several machines, each named as one is.
type Machines []Machine

// Members are the machines by the last parts of their places.
func (all Machines) Members() []Member {
	return sliced.Map(all, memberOf)
}

// Member is a machine of a fleet.
type Member struct {
	Name    string // as people call it; Distinct makes it a file's name of its own
	Place   string // where it is, as a list may have it: root:/mnt/web1, ssh:root@web1
	Machine Machine
}

// Place is where a machine is, as a list may have it.
func (m Machine) Place() string {
	switch {
	case m.Root != "":
		return "root:" + m.Root
	case m.Image != "":
		return "image:" + m.Image
	}
	return "ssh:" + m.SSH
}

// MachineAt takes a place by its prefix, else by what stands there on this host.
func MachineAt(place string) Machine {
	kind, name, _ := strings.Cut(place, ":")
	switch kind {
	case "root":
		return Machine{Root: name}
	case "image":
		return Machine{Image: name}
	case "ssh":
		return Machine{SSH: strings.TrimPrefix(name, "//")}
	}
	info, err := os.Stat(place)
	switch {
	case err == nil && info.IsDir(), err != nil && strings.HasPrefix(place, "/"):
		return Machine{Root: place}
	case err == nil:
		return Machine{Image: place}
	}
	return Machine{SSH: place}
}

// UnmarshalJSON takes objects, and places as MachineAt does.
func (all *Machines) UnmarshalJSON(b []byte) error {
	var values []json.RawMessage
	if err := json.Unmarshal(b, &values); err != nil {
		return err
	}
	for _, v := range values {
		var m Machine
		var place string
		if json.Unmarshal(v, &place) == nil {
			m = MachineAt(place)
		} else if err := jsonv2.Unmarshal(v, &m, jsonv2.RejectUnknownMembers(true)); err != nil {
			return fmt.Errorf("machines must be a list of objects, each with one of root, image and ssh: not %s", Abbreviated(string(v)))
		}
		if given := []string{m.Root, m.Image, m.SSH}; len(slices.DeleteFunc(given, func(s string) bool { return s == "" })) != 1 {
			return fmt.Errorf("each of machines has exactly one of root, image and ssh: not %s", Abbreviated(string(v)))
		}
		*all = append(*all, m)
	}
	return nil
}

// Name is the last part of where a machine is, without the ending of an image.
func (m Machine) Name() string {
	name := filepath.Base(filepath.Clean("/" + cmp.Or(m.Root, m.Image, m.SSH)))
	if m.Image != "" {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return name
}

// memberOf is a machine by the last part of its place.
func memberOf(m Machine) Member { return Member{m.Name(), m.Place(), m} }

// Distinct gives members names that are safe as a folder's, each one of its own.
func Distinct(members []Member) []Member {
	taken := map[string]bool{}
	named := slices.Clone(members)
	for i, m := range members {
		name := FolderName(m.Name)
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d", FolderName(m.Name), n)
		}
		taken[name] = true
		named[i].Name = name
	}
	return named
}

// unusual is what does not stand in the names of machines' folders.
var unusual = regexp.MustCompile(`[^0-9A-Za-z._@-]+`)

// FolderName is a name that is safe as one folder's.
func FolderName(name string) string {
	name = strings.TrimLeft(unusual.ReplaceAllString(name, "-"), ".-")
	return cmp.Or(name, "machine")
}

// disks are how files of disk images end; parts are files that belong to one.
var (
	disks = []string{".qcow2", ".qcow", ".vmdk", ".vhd", ".vhdx", ".vdi", ".img", ".raw"}
	parts = regexp.MustCompile(`-(flat|delta|ctk|s[0-9]{3}|f[0-9]{3})\.vmdk$`)
)

// ImagesIn are the disk images in a folder and the folders in it.
func ImagesIn(dir string) ([]Member, error) {
	var found []Member
	for _, pattern := range []string{"*", "*/*"} {
		paths, err := filepath.Glob(filepath.Join(escapeGlob(dir), pattern))
		if err != nil {
			return nil, fmt.Errorf("looking for images: %w", err)
		}
		for _, path := range paths {
			info, err := os.Stat(path)
			name := strings.ToLower(filepath.Base(path))
			if err != nil || !info.Mode().IsRegular() || parts.MatchString(name) || !slices.Contains(disks, filepath.Ext(name)) {
				continue
			}
			found = append(found, memberOf(Machine{Image: path}))
		}
	}
	// A folder that can't be listed has no match, which is no empty folder.
	if _, err := os.ReadDir(dir); err != nil {
		return nil, fmt.Errorf("looking for machines: %w", err)
	}
	return found, nil
}

// escapeGlob takes a folder's name as it stands.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// RootsIn are the folders in a folder.
func RootsIn(dir string) ([]Member, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("looking for machines: %w", err)
	}
	var found []Member
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			found = append(found, memberOf(Machine{Root: path}))
		}
	}
	return found, nil
}

// Abbreviated is a text as a message shows it.
func Abbreviated(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// Each does something with each of some machines, by its number, several at once.
func Each[M any](machines []M, atOnce int, do func(i int, m M)) {
	queue := make(chan int)
	var workers sync.WaitGroup
	for range min(max(1, atOnce), len(machines)) {
		workers.Go(func() {
			for i := range queue {
				do(i, machines[i])
			}
		})
	}
	for i := range machines {
		queue <- i
	}
	close(queue)
	workers.Wait()
}
