package ledger

import (
	"path"
	"strings"
)

// Anew are the names below a folder of what a system makes anew there by itself, by the
// table: whether it is there or comes later. What stands nowhere but by a pattern below the
// folder has no name.
func Anew(folder string) (names []string) {
	depth := strings.Count(folder, "/")
	for _, r := range rules() {
		parts := strings.Split(strings.TrimSuffix(r.Place, "/**"), "/")
		if r.Row != State || !path.IsAbs(r.Place) || len(parts) <= depth+1 {
			continue
		}
		name := strings.Join(parts[depth+1:], "/")
		if ok, err := path.Match(strings.Join(parts[:depth+1], "/"), folder); ok && err == nil && !strings.ContainsAny(name, "*?[") {
			names = append(names, name)
		}
	}
	return names
}
