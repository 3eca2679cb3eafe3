package assess

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/assess/host"
)

// unitKinds are the kinds of units that people enable.
var unitKinds = []string{".service", ".socket", ".timer", ".path", ".mount", ".automount", ".swap", ".target"}

const (
	localUnits  = "etc/systemd/system"
	helperState = "var/lib/systemd/deb-systemd-helper-enabled"
)

// unitFolders are where packages put units, best first.
var unitFolders = []string{"usr/lib/systemd/system", "lib/systemd/system"}

// unitFile is what a unit file says that matters here.
type unitFile struct {
	install  bool // it can be enabled
	schedule string
}

// readUnits lists what is enabled, and what was disabled, masked, written or
// changed on the machine.
func (m *machine) readUnits() {
	entries, err := m.fs.ReadDir(localUnits)
	m.outcome("units.systemd", localUnits, err)
	units := map[string]*Unit{}
	m.packagedUnits(units)
	m.localUnits(units, entries)
	enabled := m.links(localUnits, entries)
	byPackage := m.enabledByPackages()
	for _, name := range slices.Sorted(maps.Keys(units)) {
		u := units[name]
		if u.State != "masked" && enabled[name] {
			u.State = "enabled"
		}
		ownState := "disabled"
		if byPackage[name] || u.Package == "systemd" && u.State == "enabled" {
			ownState = "enabled"
		}
		u.Preset = !u.Local && (u.State == ownState || u.State == "static")
		// A unit that is off because its package leaves it off is no news.
		if off := u.State == "static" || u.State == "disabled" && u.Preset; !off || u.Local || len(u.Dropins) > 0 {
			m.addUnit(*u)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(enabled)) {
		if units[name] == nil {
			m.addInstance(name, units)
		}
	}
	slices.SortFunc(m.a.Services, compareUnits)
	slices.SortFunc(m.a.Timers, compareUnits)
	m.initScripts(units)
}

func compareUnits(a, b Unit) int { return cmp.Compare(a.Name, b.Name) }

func (m *machine) addUnit(u Unit) {
	u.Dropins = list(u.Dropins)
	if strings.HasSuffix(u.Name, ".timer") {
		m.a.Timers = append(m.a.Timers, u)
		return
	}
	m.a.Services = append(m.a.Services, u)
}

// packagedUnits reads the unit files that packages ship.
func (m *machine) packagedUnits(units map[string]*Unit) {
	for _, dir := range unitFolders {
		entries, err := m.fs.ReadDir(dir)
		if err != nil {
			continue // a system has one of the two, or one is a link to the other
		}
		for _, e := range entries {
			if units[e.Name()] != nil || !e.Type().IsRegular() || !slices.Contains(unitKinds, path.Ext(e.Name())) {
				continue
			}
			file := path.Join(dir, e.Name())
			content := m.unitFile(file)
			u := &Unit{Name: e.Name(), State: "static", Path: "/" + file, Package: m.owner(file), Schedule: content.schedule}
			if content.install {
				u.State = "disabled"
			}
			units[e.Name()] = u
		}
	}
}

// owner is the package of a unit file: dpkg may know it by the path from
// before /lib became a link.
func (m *machine) owner(file string) string {
	if pkg := m.dpkg.owned["/"+file]; pkg != "" {
		return pkg
	}
	return m.dpkg.owned["/"+strings.TrimPrefix(file, "usr/")]
}

func (m *machine) unitFile(name string) (u unitFile) {
	b, err := host.ReadFile(m.fs, name, 1<<20)
	if err != nil {
		return u
	}
	section := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		}
		key, _, _ := strings.Cut(line, "=")
		switch {
		case section == "[Install]" && slices.Contains([]string{"WantedBy", "RequiredBy", "Also", "Alias"}, strings.TrimSpace(key)):
			u.install = true
		case section == "[Timer]" && strings.HasPrefix(key, "On"):
			u.schedule = strings.TrimPrefix(u.schedule+"; "+line, "; ")
		}
	}
	return u
}

// localUnits reads units and drop-ins that were written on the machine, and
// units that were masked.
func (m *machine) localUnits(units map[string]*Unit, entries []fs.DirEntry) {
	for _, e := range entries {
		file := path.Join(localUnits, e.Name())
		switch unit, dropins := strings.CutSuffix(e.Name(), ".d"); {
		case e.IsDir() && dropins:
			m.dropins(units, unit, file)
		case e.Type().IsRegular() && slices.Contains(unitKinds, path.Ext(e.Name())):
			content := m.unitFile(file)
			u := &Unit{Name: e.Name(), State: "static", Local: true, Path: "/" + file, Schedule: content.schedule}
			if content.install {
				u.State = "disabled"
			}
			units[e.Name()] = u
		case e.Type()&fs.ModeSymlink != 0 && m.linksTo(file, "/dev/null"):
			u := units[e.Name()]
			if u == nil {
				u = &Unit{Name: e.Name()}
				units[e.Name()] = u
			}
			u.State = "masked"
		}
	}
}

func (m *machine) linksTo(name, target string) bool {
	got, err := m.fs.ReadLink(name)
	return err == nil && got == target
}

func (m *machine) dropins(units map[string]*Unit, unit, dir string) {
	names, err := m.files(dir)
	if err != nil || !slices.Contains(unitKinds, path.Ext(unit)) {
		return
	}
	u := units[unit]
	if u == nil {
		u = &Unit{Name: unit, State: "static"}
		units[unit] = u
	}
	for _, name := range names {
		if file := "/" + path.Join(dir, name); strings.HasSuffix(name, ".conf") && m.owner(file[1:]) == "" {
			u.Dropins = append(u.Dropins, file)
		}
	}
}

// links are the units that a folder's *.wants and *.requires name.
func (m *machine) links(dir string, entries []fs.DirEntry) map[string]bool {
	enabled := map[string]bool{}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasSuffix(e.Name(), ".wants") && !strings.HasSuffix(e.Name(), ".requires") {
			continue
		}
		names, err := m.files(path.Join(dir, e.Name()))
		if err != nil {
			m.source("units."+e.Name(), stateOf(err), err.Error())
		}
		for _, name := range names {
			enabled[name] = true
		}
	}
	return enabled
}

// enabledByPackages are the units that Debian's packages enabled by
// themselves: its helper keeps book of them.
func (m *machine) enabledByPackages() map[string]bool {
	entries, err := m.fs.ReadDir(helperState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	m.outcome("units.deb-systemd-helper", helperState, err)
	return m.links(helperState, entries)
}

// addInstance adds an enabled instance of a template, such as getty@tty1.
func (m *machine) addInstance(name string, units map[string]*Unit) {
	prefix, instance, ok := strings.Cut(name, "@")
	template := units[prefix+"@"+path.Ext(instance)]
	if !ok || template == nil {
		return
	}
	u := *template
	u.Name, u.State, u.Preset = name, "enabled", template.Package == "systemd"
	m.addUnit(u)
}

// initScripts notes scripts of /etc/init.d that no package made and that no
// unit replaces.
func (m *machine) initScripts(units map[string]*Unit) {
	names, err := m.files("etc/init.d")
	m.outcome("units.init-scripts", "etc/init.d", err)
	for _, name := range names {
		file := "/etc/init.d/" + name
		_, conf := m.dpkg.conffiles[file]
		if !conf && m.dpkg.owned[file] == "" && units[name+".service"] == nil {
			m.a.Services = append(m.a.Services, Unit{Name: name, State: "enabled", Local: true, Path: file, Dropins: []string{}})
		}
	}
}
