//go:build linux

package observe

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/assess/host"
	"svc/tools/rehearsal"
	"svc/tools/sandbox"
)

// Bounds of the logs that programs write themselves.
const (
	maxOwnLog  = 1 << 20 // bytes of one
	maxOwnLogs = 4       // newest files of a unit
)

// ownLogs adds, for units that failed, what their programs wrote to logs of their own since
// the start: Apache and PostgreSQL tell the journal that they failed, and why to a file.
func (m *Machine) ownLogs(ctx context.Context, h host.Host, o *rehearsal.Observed) {
	for unit, s := range o.Services {
		if s.Active != "failed" && s.Active != "activating" {
			continue
		}
		base, _, _ := strings.Cut(strings.TrimSuffix(unit, path.Ext(unit)), "@")
		names := []string{base}
		if r, err := m.Sandbox.Run(ctx, sandbox.Command{Words: []string{"systemctl", "show", "--property=User", "--value", "--", unit}}); err == nil {
			names = append(names, lines(r.Text, 1)...)
		}
		for _, file := range m.logsOf(h.FS(), names) {
			b, err := host.ReadFile(h.FS(), file, maxOwnLog)
			if err != nil {
				continue
			}
			o.Logs[unit] = append(o.Logs[unit], last(lines(b, maxHeld), maxLines-maxManager)...)
		}
	}
}

// logsOf are files of /var/log that were written since the start and are called after one of
// these names, or are in a folder that is, newest first.
func (m *Machine) logsOf(fsys host.FS, names []string) (files []string) {
	var found []fs.FileInfo
	at := map[fs.FileInfo]string{}
	look := func(folder string, called func(string) bool) (folders []string) {
		entries, _ := fs.ReadDir(fsys, folder)
		for _, e := range entries {
			info, err := e.Info()
			switch {
			case err != nil || !called(e.Name()):
			case info.IsDir():
				folders = append(folders, path.Join(folder, e.Name()))
			case info.Mode().IsRegular() && info.Size() > 0 && !info.ModTime().Before(m.Since):
				found, at[info] = append(found, info), path.Join(folder, e.Name())
			}
		}
		return folders
	}
	called := func(name string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return n != "" && n != "root" && strings.HasPrefix(name, n) })
	}
	for _, folder := range look("var/log", called) {
		look(folder, func(name string) bool { return !strings.Contains(name, "access") })
	}
	slices.SortStableFunc(found, func(a, b fs.FileInfo) int { return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(at[a], at[b])) })
	for _, info := range found[:min(len(found), maxOwnLogs)] {
		files = append(files, at[info])
	}
	return files
}
