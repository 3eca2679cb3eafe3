// Package services reads what a machine starts: units, init scripts, jobs of
// Upstart and OpenRC, inetd and cron.
package services

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"svc/assess"
)

// ReadServices lists what every manager of services starts, and what people
// kept from starting, wrote or changed.
func ReadServices(m *assess.Machine) {
	native := systemd(m)
	initScripts(m, native)
	inittab(m)
	upstart(m)
	openRC(m)
	xinetd(m)
	inetd(m)
	bootScripts(m)
	slices.SortFunc(m.A.Services, compareUnits)
	slices.SortFunc(m.A.Timers, compareUnits)
}

func compareUnits(a, b assess.Unit) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.Path, b.Path))
}

// addService adds a unit, unless it is no news: one that is off because its
// package leaves it off.
func addService(m *assess.Machine, u assess.Unit) {
	if off := u.State == assess.StateStatic || u.State != assess.StateEnabled && u.Preset; off && !u.Local && len(u.Dropins) == 0 {
		return
	}
	u.Dropins, u.Runlevels = assess.List(u.Dropins), assess.List(u.Runlevels)
	if strings.HasSuffix(u.Name, ".timer") {
		m.A.Timers = append(m.A.Timers, u)
		return
	}
	m.A.Services = append(m.A.Services, u)
}

// xinetd reads the services of the inetd that has a file for each.
func xinetd(m *assess.Machine) {
	m.EachFile("services.xinetd", "etc/xinetd.d", "", func(file string) {
		text, _ := m.Text("services.xinetd."+path.Base(file), file)
		u := assess.Unit{Name: path.Base(file), Manager: assess.ManagerXinetd, State: assess.StateEnabled, Path: "/" + file, Package: m.Owner(file)}
		for s := range assess.ParseSettings("/"+file, text, "=") {
			if s.Key == "disable" && strings.EqualFold(s.Value, "yes") {
				u.State = assess.StateDisabled
			}
		}
		u.Local = u.Package == ""
		u.Preset = !u.Local && !m.ChangedConffile("/"+file)
		addService(m, u)
	})
}

// inetd reads the services of the inetd that has a line for each.
func inetd(m *assess.Machine) {
	text, _ := m.Text("services.inetd", "etc/inetd.conf")
	for s := range assess.ParseSettings("/etc/inetd.conf", text, "") {
		if f := strings.Fields(s.Value); len(f) >= 5 {
			addService(m, assess.Unit{Name: s.Key + "/" + f[1], Manager: assess.ManagerInetd, State: assess.StateEnabled, Local: true, Path: "/etc/inetd.conf"})
		}
	}
}

// bootFiles are scripts that run when a machine comes up, whatever its manager
// of services is.
var bootFiles = []string{"etc/rc.local", "etc/rc.d/rc.local", "etc/init.d/boot.local", "etc/init.d/after.local", "etc/conf.d/local.start"}

// bootScripts notes the boot scripts that do something.
func bootScripts(m *assess.Machine) {
	for _, file := range bootFiles {
		if info, err := m.FS.Lstat(file); err != nil || !info.Mode().IsRegular() {
			continue // a link leads to another of the list
		}
		bootScript(m, file)
	}
	names, _ := m.Files("etc/local.d") // OpenRC's, which is noted with its runlevels
	for _, name := range names {
		if strings.HasSuffix(name, ".start") {
			bootScript(m, path.Join("etc/local.d", name))
		}
	}
}

func bootScript(m *assess.Machine, file string) {
	text, ok := m.Text("services."+path.Base(file), file)
	if !ok || !doesSomething(text) {
		return
	}
	u := assess.Unit{Name: path.Base(file), Manager: assess.ManagerSysV, State: assess.StateDisabled, Local: true, Path: "/" + file}
	if info, err := m.FS.Stat(file); err == nil && info.Mode().Perm()&0o111 != 0 || !hasSystemd(m) {
		u.State = assess.StateEnabled
	}
	addService(m, u)
}

// usualCommands are what a boot script has when nobody touched it.
var usualCommands = []string{"exit 0", "touch /var/lock/subsys/local", ":"}

// doesSomething reports whether a script has a line that is not a comment and
// not what every such script has.
func doesSomething(script string) bool {
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' && !slices.Contains(usualCommands, line) {
			return true
		}
	}
	return false
}

func hasSystemd(m *assess.Machine) bool { return m.A.System.InitSystem == assess.ManagerSystemd }
