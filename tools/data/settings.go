package data

import (
	_ "embed"
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/host"
	"svc/backend/lazyregexp"
	"svc/backend/sliced"
	"svc/backend/tsv"
)

// settingRows say how programs are told where their data are.
//
//go:embed settings.tsv
var settingRows string

// Bounds of what is read of programs' settings: of a file, in bytes, and of
// folders that it names.
const (
	maxSettings = 1 << 20
	maxNamed    = 200
)

// named are the folders that programs' own settings name.
func named(_ *assess.Assessment, fsys host.FS) (all []candidate) {
	for row := range tsv.Rows(settingRows, 4) {
		files, _ := fs.Glob(fsys, row[0]) // the patterns are sound
		for _, file := range files {
			b, err := host.ReadFile(fsys, file, maxSettings)
			if err != nil {
				continue // that it could not be read, the assessment says
			}
			for _, dir := range foldersBehind(row[3], string(b)) {
				all = append(all, candidate{path: dir, kind: Kind(row[1]), what: row[2], evidence: "/" + file})
			}
		}
	}
	return all
}

// foldersBehind are those that a file names behind what matches a pattern, up to what the
// program fills in itself.
func foldersBehind(before, text string) []string {
	return sliced.Map(lazyregexp.New(`(?m)^\s*`+before+`["']?(/[^"'\s;#%$<,*?]*)`).FindAllStringSubmatch(text, maxNamed), func(m []string) string { return path.Clean(m[1]) })
}

// container is what docker keeps of one.
type container struct {
	Name        string
	MountPoints map[string]struct {
		Type, Source string
		RW           bool
	}
}

// bound are the folders of the machine that containers write to.
func bound(a *assess.Assessment, fsys host.FS) (all []candidate) {
	for _, c := range a.Containers {
		if c.Engine != "docker" || c.Kind != "container" {
			continue
		}
		b, err := host.ReadFile(fsys, strings.TrimPrefix(c.Evidence.Path, "/"), maxSettings)
		if err != nil {
			continue // the assessment has read it, and says so where it could not
		}
		for _, dir := range boundFolders(b) {
			all = append(all, candidate{path: dir, kind: Containers, what: "volume of " + c.Name, evidence: c.Evidence.Path})
		}
	}
	return all
}

// boundFolders are those of a container's description, sorted by where it sees
// them.
func boundFolders(b []byte) (all []string) {
	var c container
	if json.Unmarshal(b, &c) != nil {
		return nil
	}
	for _, at := range slices.Sorted(maps.Keys(c.MountPoints)) {
		if m := c.MountPoints[at]; m.Type == "bind" && m.RW && len(all) < maxNamed {
			all = append(all, m.Source)
		}
	}
	return all
}
