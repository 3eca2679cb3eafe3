package packages

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"svc/assess"
	"svc/assess/packages/sqlite"
	"svc/backend/lazyregexp"
	"svc/backend/sliced"
)

// pulledIn are packages that were installed for others, by "name.arch" or by
// name: whichever of rpm's managers is there keeps book of that.
func pulledIn(m *assess.Machine) map[string]bool {
	in := map[string]bool{}
	m.Outcome("packages.dnf-history", dnfHistory, dnfReasons(m, in))
	dnf5Reasons(m, in)
	m.Outcome("packages.yum-reasons", yumDB, yumReasons(m, in))
	zyppReasons(m, in)
	return in
}

const (
	dnfHistory = "var/lib/dnf/history.sqlite"
	dnf5State  = "usr/lib/sysimage/libdnf5/packages.toml"
	yumDB      = "var/lib/yum/yumdb"
	zyppAuto   = "var/lib/zypp/AutoInstalled"
)

// Reasons and actions of dnf's history, by their numbers.
var (
	dnfPulledIn = []int64{1, 3, 4}     // a dependency, left over, a weak dependency
	dnfAside    = []int64{3, 5, 7, 10} // what another item of the same transaction replaced
)

// dnfReasons reads why packages came from the history of dnf: the last item of a
// package in a transaction that was done counts.
func dnfReasons(m *assess.Machine, in map[string]bool) error {
	file, err := openLogged(m, dnfHistory)
	if err != nil {
		return err
	}
	defer file.Close()
	db, err := sqlite.Open(file.file, file.size, file.log, file.logSize)
	if err != nil {
		return fmt.Errorf("/%s: %w", dnfHistory, err)
	}
	var faults []error
	fault := func(err error) { faults = append(faults[:min(len(faults), 1)], err) }
	finished, names := map[int64]bool{}, map[int64]string{}
	err = errors.Join(
		db.Each("trans", []string{"id", "state"}, fault, func(row []sqlite.Value) {
			finished[row[0].Int] = row[1].Int == 1
		}),
		db.Each("rpm", []string{"item_id", "name", "arch"}, fault, func(row []sqlite.Value) {
			names[row[0].Int] = string(row[1].Bytes) + "." + string(row[2].Bytes)
		}),
		db.Each("trans_item", []string{"trans_id", "item_id", "action", "reason"}, fault, func(row []sqlite.Value) {
			name := names[row[1].Int]
			if name != "" && finished[row[0].Int] && !slices.Contains(dnfAside, row[2].Int) {
				in[name] = slices.Contains(dnfPulledIn, row[3].Int)
			}
		}))
	if err = errors.Join(err, errors.Join(faults...)); err != nil {
		return fmt.Errorf("/%s: %w", dnfHistory, err)
	}
	return nil
}

// dnf5Reason is an entry of dnf 5's state, as a table of its own or in one line.
var dnf5Reason = lazyregexp.New(`"([^"\n]+)"\s*\]?\s*(?:=\s*\{)?\s*reason\s*=\s*"(\w[\w ]*)"`)

// dnf5Reasons reads why packages came from the state of dnf 5.
func dnf5Reasons(m *assess.Machine, in map[string]bool) {
	text, _ := m.Text("packages.dnf5-reasons", dnf5State)
	for _, entry := range dnf5Reason.FindAllStringSubmatch(text, -1) {
		in[entry[1]] = slices.Contains([]string{"Dependency", "Weak Dependency", "Clean"}, entry[2])
	}
}

// yumReasons reads why packages came from yum's own folder of notes: a file for
// each note, in a folder for each package, in a folder for each first letter.
func yumReasons(m *assess.Machine, in map[string]bool) error {
	letters, err := m.Files(yumDB)
	if err != nil {
		return err
	}
	var packages []string
	for _, letter := range letters {
		names, err := m.Files(path.Join(yumDB, letter))
		if err != nil {
			return err
		}
		packages = append(packages, sliced.Map(names, func(name string) string { return path.Join(yumDB, letter, name) })...)
	}
	var mu sync.Mutex
	assess.InParallel(m.Context, packages, func(dir string) {
		if name, ok := yumPackage(path.Base(dir)); ok && m.Peek(path.Join(dir, "reason")) == "dep" {
			mu.Lock()
			defer mu.Unlock()
			in[name] = true
		}
	})
	return nil
}

// yumPackage takes name.arch out of CHECKSUM-name-version-release-arch.
func yumPackage(dir string) (string, bool) {
	f := strings.Split(dir, "-")
	if len(f) < 5 {
		return "", false
	}
	return strings.Join(f[1:len(f)-3], "-") + "." + f[len(f)-1], true
}

// zyppReasons reads the names that zypper installed for others.
func zyppReasons(m *assess.Machine, in map[string]bool) {
	text, _ := m.Text("packages.zypp-reasons", zyppAuto)
	for line := range strings.Lines(text) {
		if name := strings.TrimSpace(line); name != "" && name[0] != '#' {
			in[name] = true
		}
	}
}
