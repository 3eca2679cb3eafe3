package services

import (
	"path"
	"slices"

	"svc/assess"
)

// runlevels is where OpenRC keeps what starts in each of its runlevels.
const runlevels = "etc/runlevels"

// baseLevels are what every OpenRC system goes through: what a package's
// scripts do there, the installation set up.
var baseLevels = []string{"sysinit", "boot", "shutdown", "nonetwork"}

// openRC lists the services of OpenRC's runlevels, and the scripts that no
// package made.
func openRC(m *assess.Machine) {
	names, err := m.Files(runlevels)
	m.Outcome("services.openrc", runlevels, err)
	if m.A.System.InitSystem != assess.ManagerOpenRC {
		return
	}
	in := map[string][]string{}
	for _, level := range names {
		services, err := m.Files(path.Join(runlevels, level))
		if err != nil {
			m.Outcome("services.openrc."+level, path.Join(runlevels, level), err)
		}
		for _, service := range services {
			in[service] = append(in[service], level)
		}
	}
	scripts, _ := m.Files("etc/init.d") // noted as init scripts
	for _, name := range scripts {
		if !slices.Contains(noScripts, name) && !assess.Leftover(name) {
			openRCService(m, name, in[name])
		}
	}
}

func openRCService(m *assess.Machine, name string, levels []string) {
	file := path.Join("etc/init.d", name)
	u := assess.Unit{Name: name, Manager: assess.ManagerOpenRC, State: assess.StateDisabled, Path: "/" + file, Package: m.Owner(file), Runlevels: levels}
	if len(levels) > 0 {
		u.State = assess.StateEnabled
	}
	u.Local = u.Package == ""
	u.Preset = !u.Local && !slices.ContainsFunc(levels, func(l string) bool { return !slices.Contains(baseLevels, l) })
	if conf := "/etc/conf.d/" + name; m.ChangedConffile(conf) {
		u.Dropins = []string{conf}
	}
	addService(m, u)
}
