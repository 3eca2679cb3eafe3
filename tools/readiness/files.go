package readiness

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"svc/backend/osfile"
	"svc/backend/sliced"
	"svc/backend/visible"
	"svc/tools/evidence"
	"svc/tools/fleet"
	"svc/tools/fleet/folder"
	"svc/tools/machine"
)

// keepMachine writes what was read of a machine, and its report.
func (s *readiness) keepMachine(member machine.Member, k readBefore, page []byte) error {
	folder := filepath.Join(s.in.Out, member.Name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("writing what was read: %w", err)
	}
	// The mark of a fleet's folder comes first: what is cut off is gone on with.
	if err := s.mark(); err != nil {
		return err
	}
	b, err := json.Marshal(k)
	if err == nil {
		err = osfile.Write(filepath.Join(folder, evidence.ReportFile), page, 0o644)
	}
	if err == nil {
		err = osfile.Write(filepath.Join(folder, machineFile), visible.JSON(b), 0o644)
	}
	if err != nil {
		return fmt.Errorf("writing what was read: %w", err)
	}
	return nil
}

// mark writes an empty fleet where there is none yet.
func (s *readiness) mark() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := filepath.Join(s.in.Out, fleetFile)
	if _, err := os.Stat(name); err == nil {
		return nil
	}
	b, err := evidence.Document(fleet.New(s.target, "", nil, fleet.Funds{}))
	if err != nil {
		return err
	}
	return osfile.Write(name, b, 0o644)
}

// keep writes what is said of the whole fleet.
func (s *readiness) keep(d *fleet.Document) error {
	if err := os.MkdirAll(s.in.Out, 0o755); err != nil {
		return fmt.Errorf("writing the fleet: %w", err)
	}
	doc, err := evidence.Document(d)
	if err != nil {
		return err
	}
	for name, b := range map[string][]byte{fleetFile: doc, fleetTable: tableOf(d), fleetPage: fleet.Page(d, "svc "+s.env.Version)} {
		if err := osfile.Write(filepath.Join(s.in.Out, name), b, 0o644); err != nil {
			return fmt.Errorf("writing the fleet: %w", err)
		}
	}
	return nil
}

// tableOf is a fleet as a table for spreadsheets.
func tableOf(d *fleet.Document) []byte {
	rows := [][]string{{"name", "place", "source", "verdict", "wave", "group", "packages", "questions", "unknown", "manual", "inhibitors", "findings", "databases", "data_bytes", "licensed", "depends_on", "error"}}
	for _, m := range d.Machines {
		stops := sliced.Map(m.Inhibitors, func(f fleet.Finding) string { return f.Title })
		rows = append(rows, []string{
			m.Name, m.Place, m.Source, string(m.Verdict), strconv.Itoa(m.Wave), m.Group, strconv.Itoa(m.Packages), strconv.Itoa(m.Questions), strconv.Itoa(m.Unknown), strconv.Itoa(m.Manual),
			strings.Join(stops, "; "), strconv.Itoa(len(m.Findings)), strings.Join(m.Databases, "; "), strconv.FormatInt(m.DataBytes, 10), strconv.FormatBool(m.Licensed), strings.Join(m.DependsOn, " "), m.Error,
		})
	}
	return folder.Table(rows)
}
