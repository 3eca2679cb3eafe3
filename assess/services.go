package assess

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// The managers of services.
const (
	managerSystemd = "systemd"
	managerSysV    = "sysv"
	managerUpstart = "upstart"
	managerOpenRC  = "openrc"
	managerXinetd  = "xinetd"
	managerInetd   = "inetd"
)

// The states of a service.
const (
	stateEnabled  = "enabled"
	stateDisabled = "disabled"
	stateMasked   = "masked"
	stateStatic   = "static" // something else starts it
	stateLinked   = "linked" // known by a link to a file outside of the manager's folders
)

// readServices lists what every manager of services starts, and what people
// kept from starting, wrote or changed.
func (m *machine) readServices() {
	native := m.systemd()
	m.initScripts(native)
	m.inittab()
	m.upstart()
	m.openRC()
	m.xinetd()
	m.inetd()
	m.bootScripts()
	slices.SortFunc(m.a.Services, compareUnits)
	slices.SortFunc(m.a.Timers, compareUnits)
}

func compareUnits(a, b Unit) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.Path, b.Path))
}

// addService adds a unit, unless it is no news: one that is off because its
// package leaves it off.
func (m *machine) addService(u Unit) {
	if off := u.State == stateStatic || u.State != stateEnabled && u.Preset; off && !u.Local && len(u.Dropins) == 0 {
		return
	}
	u.Dropins, u.Runlevels = list(u.Dropins), list(u.Runlevels)
	if strings.HasSuffix(u.Name, ".timer") {
		m.a.Timers = append(m.a.Timers, u)
		return
	}
	m.a.Services = append(m.a.Services, u)
}

// enabledService reports whether a service of one of these names starts with
// the machine.
func (m *machine) enabledService(names ...string) bool {
	return slices.ContainsFunc(m.a.Services, func(u Unit) bool {
		return u.State == stateEnabled && slices.Contains(names, strings.TrimSuffix(u.Name, ".service"))
	})
}

// owner is the package of a file: a database may know it by the path from
// before /lib became a link.
func (m *machine) owner(file string) string {
	if pkg := m.dpkg.owned["/"+file]; pkg != "" {
		return pkg
	}
	if c, ok := m.dpkg.conffiles["/"+file]; ok {
		return c.pkg
	}
	return m.dpkg.owned["/"+strings.TrimPrefix(file, "usr/")]
}

// xinetd reads the services of the inetd that has a file for each.
func (m *machine) xinetd() {
	m.eachFile("services.xinetd", "etc/xinetd.d", "", func(file string) {
		text, _ := m.text("services.xinetd."+path.Base(file), file)
		u := Unit{Name: path.Base(file), Manager: managerXinetd, State: stateEnabled, Path: "/" + file, Package: m.owner(file)}
		for s := range parseSettings("/"+file, text, "=") {
			if s.Key == "disable" && strings.EqualFold(s.Value, "yes") {
				u.State = stateDisabled
			}
		}
		u.Local = u.Package == ""
		u.Preset = !u.Local && !m.changedConffile("/"+file)
		m.addService(u)
	})
}

// inetd reads the services of the inetd that has a line for each.
func (m *machine) inetd() {
	text, _ := m.text("services.inetd", "etc/inetd.conf")
	for s := range parseSettings("/etc/inetd.conf", text, "") {
		if f := strings.Fields(s.Value); len(f) >= 5 {
			m.addService(Unit{Name: s.Key + "/" + f[1], Manager: managerInetd, State: stateEnabled, Local: true, Path: "/etc/inetd.conf"})
		}
	}
}

// bootFiles are scripts that run when a machine comes up, whatever its manager
// of services is.
var bootFiles = []string{"etc/rc.local", "etc/rc.d/rc.local", "etc/init.d/boot.local", "etc/init.d/after.local", "etc/conf.d/local.start"}

// bootScripts notes the boot scripts that do something.
func (m *machine) bootScripts() {
	for _, file := range bootFiles {
		if info, err := m.fs.Lstat(file); err != nil || !info.Mode().IsRegular() {
			continue // a link leads to another of the list
		}
		m.bootScript(file)
	}
	names, _ := m.files("etc/local.d") // OpenRC's, which is noted with its runlevels
	for _, name := range names {
		if strings.HasSuffix(name, ".start") {
			m.bootScript(path.Join("etc/local.d", name))
		}
	}
}

func (m *machine) bootScript(file string) {
	text, ok := m.text("services."+path.Base(file), file)
	if !ok || !doesSomething(text) {
		return
	}
	u := Unit{Name: path.Base(file), Manager: managerSysV, State: stateDisabled, Local: true, Path: "/" + file}
	if info, err := m.fs.Stat(file); err == nil && info.Mode().Perm()&0o111 != 0 || !m.hasSystemd() {
		u.State = stateEnabled
	}
	m.addService(u)
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

func (m *machine) hasSystemd() bool { return m.a.System.InitSystem == managerSystemd }
