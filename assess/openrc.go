package assess

import (
	"path"
	"slices"
)

// runlevels is where OpenRC keeps what starts in each of its runlevels.
const runlevels = "etc/runlevels"

// baseLevels are what every OpenRC system goes through: what a package's
// scripts do there, the installation set up.
var baseLevels = []string{"sysinit", "boot", "shutdown", "nonetwork"}

// openRC lists the services of OpenRC's runlevels, and the scripts that no
// package made.
func (m *machine) openRC() {
	names, err := m.files(runlevels)
	m.outcome("services.openrc", runlevels, err)
	if m.a.System.InitSystem != managerOpenRC {
		return
	}
	in := map[string][]string{}
	for _, level := range names {
		services, err := m.files(path.Join(runlevels, level))
		if err != nil {
			m.outcome("services.openrc."+level, path.Join(runlevels, level), err)
		}
		for _, service := range services {
			in[service] = append(in[service], level)
		}
	}
	scripts, _ := m.files("etc/init.d") // noted as init scripts
	for _, name := range scripts {
		if !slices.Contains(noScripts, name) && !leftover(name) {
			m.openRCService(name, in[name])
		}
	}
}

func (m *machine) openRCService(name string, levels []string) {
	file := path.Join("etc/init.d", name)
	u := Unit{Name: name, Manager: managerOpenRC, State: stateDisabled, Path: "/" + file, Package: m.owner(file), Runlevels: levels}
	if len(levels) > 0 {
		u.State = stateEnabled
	}
	u.Local = u.Package == ""
	u.Preset = !u.Local && !slices.ContainsFunc(levels, func(l string) bool { return !slices.Contains(baseLevels, l) })
	if conf := "/etc/conf.d/" + name; m.changedConffile(conf) {
		u.Dropins = []string{conf}
	}
	m.addService(u)
}
