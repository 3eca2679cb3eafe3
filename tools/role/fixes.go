package role

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"

	"svc/backend/sliced"
)

// Fix is what a person adds to a role after a rehearsal.
type Fix struct {
	Name     string
	Packages []string
	Files    []FixFile
	Commands []byte // a script, run last; nil where there is none
}

// FixFile is a file as it lies on the target.
type FixFile struct {
	Path    string // absolute
	Mode    fs.FileMode
	Content []byte
}

// Digest is the SHA-256 of all that is in it.
func (f Fix) Digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q\n", f.Name, f.Packages, f.Commands)
	for _, file := range f.Files {
		fmt.Fprintf(h, "%q %o %q\n", file.Path, file.Mode, file.Content)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// About are the paths and packages that it brings, and its commands.
func (f Fix) About() []string {
	all := slices.Clone(f.Packages)
	all = append(all, sliced.Map(f.Files, func(file FixFile) string { return file.Path })...)
	return append(all, string(f.Commands))
}

// setUnits is the task before which fixes are made: what they bring is there when
// services are started.
const setUnits = "- name: Set units\n"

// addFixes adds the files and the variables of fixes; nothing where there are none.
func (out Files) addFixes(fixes []Fix) record {
	if len(fixes) == 0 {
		delete(out, "role/tasks/fixes.yml")
		return nil
	}
	all := list{}
	for n, f := range fixes {
		folder := fmt.Sprintf("fixes/%d", n)
		files, commands := list{}, list{}
		for i, file := range f.Files {
			name := fmt.Sprintf("%s/%d", folder, i)
			out["role/files/"+name] = file.Content
			files = append(files, record{{"src", text(name)}, {"dest", text(file.Path)}, {"mode", text(fmt.Sprintf("%04o", file.Mode))}})
		}
		if f.Commands != nil {
			out["role/files/"+folder+"/commands"] = f.Commands
			commands = append(commands, text(folder+"/commands"))
		}
		all = append(all, record{{"name", text(f.Name)}, {"packages", texts(f.Packages)}, {"files", files}, {"commands", commands}})
	}
	out["role/tasks/main.yml"] = bytes.Replace(out["role/tasks/main.yml"], []byte(setUnits), []byte("- name: Make fixes\n  ansible.builtin.import_tasks: fixes.yml\n"+setUnits), 1)
	return record{{"role_fixes", all}}
}
