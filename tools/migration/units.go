package migration

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/tools/migration/naming"
)

// waitingUnits says which of the machine's own units won't run before its data are
// there, and for what they wait.
func waitingUnits(in Input, p *Plan) []assess.Finding {
	if in.Read == nil {
		return nil
	}
	g := gather("units.wait-for-data")
	for _, u := range slices.Concat(in.Assessment.Services, in.Assessment.Timers) {
		if u.State != "enabled" || u.Path == "" || !slices.ContainsFunc(p.Services, func(s Service) bool { return s.Unit == u.Name && s.Apply && s.Local }) {
			continue
		}
		text, err := in.Read(u.Path)
		if paths := naming.WaitsFor(string(text)); err == nil && len(paths) > 0 {
			g.Call(fmt.Sprintf("%s (%s)", u.Name, strings.Join(paths[:min(3, len(paths))], ", ")), assess.Resource{Scheme: "service", Name: u.Name})
		}
	}
	return g.Tell(fmt.Sprintf("The role enables and starts them last, and goes on where one does not run yet: %s.", strings.Join(g.Said[:min(10, len(g.Said))], "; ")))
}

// ofVendors are the files of such units.
func ofVendors(in Input, where naming.Places) (rows []Config) {
	for _, u := range slices.Concat(in.Assessment.Services, in.Assessment.Timers) {
		for _, file := range in.inits().Along(u, where) {
			if !slices.ContainsFunc(rows, func(c Config) bool { return c.From == file }) {
				rows = append(rows, Config{From: file, To: "/etc/systemd/system/" + path.Base(file), Action: Copy, Reason: in.inits().Because(u, where), Mode: "0644", Owner: "root", Group: "root"})
			}
		}
	}
	return rows
}
