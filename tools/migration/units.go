package migration

import (
	"fmt"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
)

// needed are the settings of a unit that name what has to be there before it
// starts.
var needed = lazyregexp.New(`(?m)^\s*(?:Exec[A-Za-z]*|EnvironmentFile|WorkingDirectory|RootDirectory|LoadCredential)\s*=(.*)$`)

// ofData are the absolute paths in such a setting that no package brings, nor the
// role: they move with the data.
var ofData = lazyregexp.New(`(?:^|[\s='":@+!])(/(?:srv|opt|home|usr/local|var/lib|var/www|var/opt|mnt|media|data)/[A-Za-z0-9._/+-]+)`)

// waitingUnits says which of the machine's own units won't run before its data are
// there, and for what they wait.
func waitingUnits(in Input, p *Plan) []assess.Finding {
	if in.Read == nil {
		return nil
	}
	g := gather("units.wait-for-data")
	for _, u := range slices.Concat(in.Assessment.Services, in.Assessment.Timers) {
		if !u.Local || u.State != "enabled" || u.Path == "" || !slices.ContainsFunc(p.Services, func(s Service) bool { return s.Unit == u.Name && s.Apply }) {
			continue
		}
		text, err := in.Read(u.Path)
		if paths := waitsFor(string(text)); err == nil && len(paths) > 0 {
			g.Call(fmt.Sprintf("%s (%s)", u.Name, strings.Join(paths[:min(3, len(paths))], ", ")), assess.Resource{Scheme: "service", Name: u.Name})
		}
	}
	return g.Tell(fmt.Sprintf("The role enables and starts them last, and goes on where one does not run yet: %s.", strings.Join(g.Said[:min(10, len(g.Said))], "; ")))
}

// waitsFor are the paths that a unit needs and the role does not bring.
func waitsFor(unit string) (paths []string) {
	for _, line := range needed.FindAllStringSubmatch(unit, -1) {
		for _, m := range ofData.FindAllStringSubmatch(line[1], -1) {
			paths = append(paths, m[1])
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
