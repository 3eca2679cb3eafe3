// Package fixes reads what a person adds to a role after a rehearsal: a folder for each
// fix, with files, packages and commands.
package fixes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"svc/tools/role"
)

// Bounds of a folder of fixes, in bytes and files.
const (
	maxFix   = 64 << 20
	maxFixes = 500
)

// Read reads what a person adds to a role: of each folder in it the files, the
// packages and the commands; nothing where no folder is named.
func Read(dir string) (all []role.Fix, err error) {
	if dir == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the fixes: %w; nothing was done", err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("reading the fixes: %w; nothing was done", err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			return nil, fmt.Errorf("%s is no folder: a fix is a folder in %s, with files/ (as they lie below /), packages (a name a line) and commands (a script), or some of these; nothing was done", filepath.Join(dir, e.Name()), dir)
		}
		f, err := readFix(root.FS(), e.Name())
		if err != nil {
			return nil, fmt.Errorf("the fix %s: %w; nothing was done", e.Name(), err)
		}
		all = append(all, f)
	}
	return all, nil
}

func readFix(fsys fs.FS, name string) (f role.Fix, err error) {
	f.Name = name
	b, err := fs.ReadFile(fsys, path.Join(name, "packages"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	f.Packages = strings.Fields(string(b))
	f.Commands, err = fs.ReadFile(fsys, path.Join(name, "commands"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	top, size := path.Join(name, "files"), 0
	err = fs.WalkDir(fsys, top, func(at string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && at == top:
			return fs.SkipDir
		case err != nil || e.IsDir():
			return err
		case !e.Type().IsRegular():
			return fmt.Errorf("%s is no file", at)
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if size += int(info.Size()); size > maxFix || len(f.Files) >= maxFixes {
			return fmt.Errorf("it has over %d files or %d MiB", maxFixes, maxFix>>20)
		}
		content, err := fs.ReadFile(fsys, at)
		f.Files = append(f.Files, role.FixFile{Path: strings.TrimPrefix(at, top), Mode: info.Mode().Perm(), Content: content})
		return err
	})
	if err == nil && len(f.Packages) == 0 && f.Commands == nil && f.Files == nil {
		err = errors.New("it has neither files/ nor packages nor commands")
	}
	return f, err
}

// maxCommands is how much of a fix's commands a person is shown, in bytes.
const maxCommands = 1200

// Lines say of each fix what it brings to the role, and what it runs.
func Lines(all []role.Fix) (lines []string) {
	for _, f := range all {
		about := strings.Join(f.About(), ", ")
		if f.Commands != nil {
			about = strings.TrimPrefix(fmt.Sprintf("%s; runs as root %q", about, excerpt(f.Commands)), "; ")
		}
		lines = append(lines, fmt.Sprintf("%q (%s): %s", f.Name, f.Digest()[:12], excerpt([]byte(about))))
	}
	return lines
}

// excerpt is the beginning of a text.
func excerpt(b []byte) string {
	if len(b) <= maxCommands {
		return string(b)
	}
	return strings.ToValidUTF8(string(b[:maxCommands]), "") + "…"
}
