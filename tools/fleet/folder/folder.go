// Package folder keeps what a command came to on many machines: a folder for each,
// and an overview of all.
package folder

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"svc/backend/osfile"
	"svc/backend/visible"
	"svc/tools/fleet"
)

// Names of what is written of all machines.
const (
	overviewFile  = "machines.json"
	tableFile     = "machines.csv"
	pageFile      = "index.html"
	siteFile      = "site.yml"
	inventoryFile = "inventory.yml"
	inventoryNew  = "inventory.new.yml"
)

// Folder is one on its way. Its zero value keeps nothing.
type Folder struct{ path, command, tool string }

// Open takes a folder that is new, empty, or of an earlier call of the same command.
// It is marked as such before anything else is written there, so that a repeat may
// go on after a call that was cut off.
func Open(path, command, tool string) (Folder, error) {
	f := Folder{path, command, tool}
	if path == "" {
		return f, nil
	}
	refuse := func(what string) (Folder, error) {
		return Folder{}, fmt.Errorf("out %s holds %s; nothing was written: name a new or empty folder", path, what)
	}
	before, err := os.ReadFile(filepath.Join(path, overviewFile))
	switch {
	case err == nil:
		var o fleet.Overview
		if json.Unmarshal(before, &o) != nil || o.Schema != fleet.OverviewSchema {
			return refuse("something else than what svc wrote of many machines")
		}
		if o.Command != command {
			return refuse("what `" + o.Command + "` wrote")
		}
		return f, nil
	case !errors.Is(err, fs.ErrNotExist):
		return Folder{}, fmt.Errorf("looking at out: %w; nothing was written", err)
	}
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Folder{}, fmt.Errorf("looking at out: %w; nothing was written", err)
	}
	if len(entries) > 0 {
		return refuse("something else than what svc wrote of many machines")
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return Folder{}, fmt.Errorf("making out: %w; nothing was written", err)
	}
	return f, f.Close(nil)
}

// Of is a machine's own folder; empty where nothing is kept.
func (f Folder) Of(name string) string {
	if f.path == "" {
		return ""
	}
	return filepath.Join(f.path, name)
}

// Linked is the first of some files that a machine's folder has, below the folder of all.
func (f Folder) Linked(name string, files ...string) string {
	for _, file := range files {
		if f.path == "" || file == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(f.Of(name), file)); err == nil {
			return name + "/" + file
		}
	}
	return ""
}

// Put writes a document of one machine.
func (f Folder) Put(name, file string, document any) error {
	if f.path == "" {
		return nil
	}
	var b bytes.Buffer
	if err := encode(&b, document); err != nil {
		return err
	}
	if err := os.MkdirAll(f.Of(name), 0o755); err != nil {
		return fmt.Errorf("making the machine's folder: %w", err)
	}
	return f.write(filepath.Join(name, file), b.Bytes())
}

func encode(b *bytes.Buffer, document any) error {
	e := json.NewEncoder(visible.JSONWriter(b))
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(document); err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	return nil
}

func (f Folder) write(file string, b []byte) error {
	if err := osfile.Write(filepath.Join(f.path, file), b, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return nil
}

// Close writes the overview.
func (f Folder) Close(outcomes []fleet.Outcome) error {
	if f.path == "" {
		return nil
	}
	o := fleet.NewOverview(f.command, outcomes)
	rows := [][]string{{"name", "place", "state", "exit", "wave", "file", "what"}}
	for _, m := range o.Machines {
		rows = append(rows, []string{m.Name, m.Place, m.State, strconv.Itoa(m.Exit), strconv.Itoa(m.Wave), m.File, m.What})
	}
	var document bytes.Buffer
	if err := encode(&document, o); err != nil {
		return err
	}
	return errors.Join(f.write(overviewFile, document.Bytes()), f.write(tableFile, Table(rows)), f.write(pageFile, o.Page(f.tool)))
}

// Play writes the playbook of the machines that moved, and their inventory: one that
// a person has filled in stays, and the new one lies beside it, which is reported. One of
// a call that was cut off gives way.
func Play(path string, moved []fleet.Machine) (inventory string, err error) {
	f := Folder{path: path}
	made := fleet.Inventory(moved)
	inventory = inventoryFile
	before, err := os.ReadFile(filepath.Join(path, inventoryFile))
	switch {
	case err == nil && !bytes.Equal(before, made) && !fleet.Unfilled(before):
		inventory = inventoryNew
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("looking at the inventory: %w", err)
	}
	return inventory, errors.Join(f.write(siteFile, fleet.Site(moved)), f.write(inventory, made))
}

// Table is a table for spreadsheets. A text that one would take for a formula is
// quoted.
func Table(rows [][]string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, row := range rows {
		for i, cell := range row {
			if row[i] = visible.Text(cell); strings.ContainsAny(cell[:min(1, len(cell))], "=+-@") {
				row[i] = "'" + row[i]
			}
		}
	}
	_ = w.WriteAll(rows) // a buffer takes all
	return b.Bytes()
}
