package services

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/host"
)

// UnitKinds are the kinds of units that people enable.
var UnitKinds = []string{".service", ".socket", ".timer", ".path", ".mount", ".automount", ".swap", ".target"}

const (
	LocalUnits  = "etc/systemd/system"
	helperState = "var/lib/systemd/deb-systemd-helper-enabled"
	maxUnit     = 1 << 20 // bytes of a unit file
)

// UnitFolders are where units stand: of two of one name, that of the later
// folder counts.
var UnitFolders = []unitFolder{
	{"lib/systemd/system", false}, {"usr/lib/systemd/system", false}, {"usr/local/lib/systemd/system", true}, {LocalUnits, true},
}

type unitFolder struct {
	Dir   string
	local bool // what stands there no package put there
}

// controlled is where `systemctl set-property` puts its drop-ins.
const controlled = "etc/systemd/system.control"

// unitFile is what a unit file says that matters here.
type unitFile struct {
	install  bool // it can be enabled
	schedule string
}

// units are systemd's units in the making.
type units struct {
	m       *assess.Machine
	byName  map[string]*assess.Unit
	aliases map[string]string // other names of units, by links beside them
	enabled map[string]bool   // what is started by name
	masks   map[string]bool   // units that their packages mask
}

// systemd lists the units that are enabled, and those that were disabled,
// masked, written or changed on the machine. It gives all that there are.
func systemd(m *assess.Machine) *units {
	us := &units{m, map[string]*assess.Unit{}, map[string]string{}, map[string]bool{}, map[string]bool{}}
	for _, f := range UnitFolders {
		us.folder(f.Dir, f.local)
	}
	us.dropinFolders(controlled)
	us.wanted()
	own := presets(m)
	for _, name := range slices.Sorted(maps.Keys(us.byName)) {
		u := us.byName[name]
		if beside(u) && hasScript(m, name) {
			continue // the script has them
		}
		if u.State != assess.StateMasked && us.enabled[name] {
			u.State = assess.StateEnabled
		}
		u.Preset = !u.Local && (u.State == assess.StateStatic || u.State == us.ownState(u, own))
		addService(m, *u)
	}
	for _, name := range slices.Sorted(maps.Keys(us.enabled)) {
		if us.byName[name] == nil {
			us.addInstance(name, own)
		}
	}
	return us
}

// has reports whether systemd has a service of a name, so that it starts no
// script of that name.
func (us *units) has(service string) bool {
	u := us.byName[service]
	return u != nil && !beside(u) || us.aliases[service] != ""
}

// beside reports whether of a unit only drop-ins are there.
func beside(u *assess.Unit) bool { return u.Path == "" && u.State == assess.StateStatic }

// ownState is the state in which packages or the distribution leave a unit.
func (us *units) ownState(u *assess.Unit, own func(*assess.Unit) bool) string {
	switch {
	case us.masks[u.Name]:
		return assess.StateMasked
	case own(u), ofSnap(u.Name) && u.State == assess.StateEnabled:
		return assess.StateEnabled
	}
	return assess.StateDisabled
}

// folder reads the units and drop-ins of a folder.
func (us *units) folder(dir string, local bool) {
	if strings.HasPrefix(dir, "lib/") && linksTo(us.m, "lib", "usr/lib") {
		return // the next folder is the same
	}
	entries, err := us.m.FS.ReadDir(dir)
	if dir == LocalUnits || assess.StateOf(err) == assess.SourceUnreadable {
		us.m.Outcome("units.systemd", dir, err)
	}
	for _, e := range entries {
		switch unit, dropins := strings.CutSuffix(e.Name(), ".d"); {
		case e.IsDir() && dropins && local:
			us.dropins(unit, path.Join(dir, e.Name()))
		case !slices.Contains(UnitKinds, path.Ext(e.Name())):
		case e.Type().IsRegular():
			us.add(dir, e.Name(), local)
		case e.Type()&fs.ModeSymlink != 0:
			us.link(dir, e.Name(), local)
		}
	}
}

// add takes a unit file. An empty one masks the unit.
func (us *units) add(dir, name string, local bool) {
	file := path.Join(dir, name)
	content, empty := readUnit(us.m, file)
	u := &assess.Unit{Name: name, Manager: assess.ManagerSystemd, State: assess.StateStatic, Path: "/" + file, Package: us.m.Owner(file), Schedule: content.schedule}
	if u.Local = local && u.Package == ""; ofSnap(name) {
		u.Local, u.Package = false, "snapd"
	}
	switch {
	case empty:
		us.mask(name, local)
		return
	case content.install:
		u.State = assess.StateDisabled
	}
	us.byName[name] = u
}

// ofSnap tells the units that snapd writes for its snaps, and writes again on
// another machine.
func ofSnap(unit string) bool {
	return strings.HasPrefix(unit, "snap-") && strings.HasSuffix(unit, ".mount") || strings.HasPrefix(unit, "snap.")
}

// mask notes that a unit can't be started.
func (us *units) mask(name string, local bool) {
	us.unit(name).State = assess.StateMasked
	us.masks[name] = !local
}

// unit is the one of a name, which may have no file yet.
func (us *units) unit(name string) *assess.Unit {
	if us.byName[name] == nil {
		us.byName[name] = &assess.Unit{Name: name, Manager: assess.ManagerSystemd, State: assess.StateStatic}
	}
	return us.byName[name]
}

// link takes a link to a unit: to nothing, to another name, or to a unit that
// stands outside of systemd's folders.
func (us *units) link(dir, name string, local bool) {
	target, err := us.m.FS.ReadLink(path.Join(dir, name))
	if err != nil {
		us.m.Source("units."+name, assess.StateOf(err), assess.Quoted(err))
		return
	}
	target = assess.LeadsTo("/"+path.Join(dir, name), target)
	switch base := path.Base(target); {
	case target == "/dev/null":
		us.mask(name, local)
	case base != name && !isInstance(name, base):
		us.aliases[name] = base
		us.enabled[base] = us.enabled[base] || local && name != "default.target"
		us.defaultTarget(name, base, dir)
	case slices.ContainsFunc(UnitFolders, func(f unitFolder) bool { return path.Dir(target) == "/"+f.Dir }):
		// an old way to enable a unit; its own folder has it
	default:
		us.linked(name, target)
	}
}

// Template is what a unit is an instance of, else the unit: getty@.service of
// getty@tty1.service.
func Template(unit string) string {
	if prefix, rest, ok := strings.Cut(unit, "@"); ok {
		return prefix + "@" + path.Ext(rest)
	}
	return unit
}

// isInstance reports whether a name is that of a template's instance.
func isInstance(name, template string) bool {
	prefix, _, ok := strings.Cut(name, "@")
	return ok && strings.HasPrefix(template, prefix+"@.")
}

// linked takes a unit that `systemctl link` made known.
func (us *units) linked(name, target string) {
	u := &assess.Unit{Name: name, Manager: assess.ManagerSystemd, State: assess.StateLinked, Path: target, Package: us.m.Owner(target[1:])}
	u.Local = u.Package == ""
	if content, _ := readUnit(us.m, target[1:]); content.schedule != "" {
		u.Schedule = content.schedule
	}
	us.byName[name] = u
}

// defaultTarget notes what the machine starts up to, where a person chose it.
func (us *units) defaultTarget(name, target, dir string) {
	if name == "default.target" && dir == LocalUnits {
		us.m.Fact("systemd", name, target, assess.Evidence{Path: "/" + path.Join(dir, name), Line: 0})
	}
}

// UnitPackage is the package that a unit is from, or the template that it is made of;
// "" where no package owns it.
func UnitPackage(m *assess.Machine, unit string) string {
	for _, f := range UnitFolders {
		for _, name := range []string{unit, Template(unit)} {
			if pkg := m.Owner(path.Join(f.Dir, name)); pkg != "" && unit != "" {
				return pkg
			}
		}
	}
	return ""
}

// unitFile reads a unit file, and says whether it is there and empty.
func readUnit(m *assess.Machine, name string) (u unitFile, empty bool) {
	b, err := host.ReadFile(m.FS, name, maxUnit)
	if err != nil {
		m.Source("units."+path.Base(name), assess.StateOf(err), assess.Quoted(err))
		return u, false
	}
	return parseUnit(string(b)), len(b) == 0
}

// installKeys are the settings that say where a unit is enabled.
var installKeys = []string{"WantedBy", "RequiredBy", "Also", "Alias"}

func parseUnit(text string) (u unitFile) {
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		}
		key, _, _ := strings.Cut(line, "=")
		switch {
		case section == "[Install]" && slices.Contains(installKeys, strings.TrimSpace(key)):
			u.install = true
		case section == "[Timer]" && strings.HasPrefix(key, "On"):
			u.schedule = strings.TrimPrefix(u.schedule+"; "+line, "; ")
		}
	}
	return u
}

func linksTo(m *assess.Machine, name, target string) bool {
	got, err := m.FS.ReadLink(name)
	return err == nil && got == target
}

// dropinFolders reads the drop-ins of every unit below a folder.
func (us *units) dropinFolders(dir string) {
	names, _ := us.m.Files(dir) // seldom there; what is closed to us is closed in the unit folder too
	for _, name := range names {
		if unit, ok := strings.CutSuffix(name, ".d"); ok {
			us.dropins(unit, path.Join(dir, name))
		}
	}
}

// dropins adds the settings that people gave a unit beside its file.
func (us *units) dropins(unit, dir string) {
	names, err := us.m.Files(dir)
	if err != nil {
		us.m.Source("units."+unit+".d", assess.StateOf(err), assess.Quoted(err))
		return
	}
	if !slices.Contains(UnitKinds, path.Ext(unit)) {
		return
	}
	u := us.unit(unit)
	for _, name := range names {
		if file := path.Join(dir, name); strings.HasSuffix(name, ".conf") && us.m.Owner(file) == "" {
			u.Dropins = append(u.Dropins, "/"+file)
		}
	}
}

// wanted notes what the links of *.wants and *.requires start.
func (us *units) wanted() {
	for _, f := range UnitFolders {
		if !f.local {
			continue // what packages link there can't be disabled: it is static
		}
		entries, _ := us.m.FS.ReadDir(f.Dir) // noted where the units are read
		for name := range links(us.m, f.Dir, entries) {
			if alias := us.aliases[name]; us.byName[name] == nil && alias != "" {
				name = alias
			}
			us.enabled[name] = true
		}
	}
}

// links are the units that a folder's *.wants and *.requires name.
func links(m *assess.Machine, dir string, entries []fs.DirEntry) map[string]bool {
	enabled := map[string]bool{}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasSuffix(e.Name(), ".wants") && !strings.HasSuffix(e.Name(), ".requires") {
			continue
		}
		names, err := m.Files(path.Join(dir, e.Name()))
		if err != nil {
			m.Source("units."+e.Name(), assess.StateOf(err), assess.Quoted(err))
		}
		for _, name := range names {
			enabled[name] = true
		}
	}
	return enabled
}

// addInstance adds an enabled instance of a template, such as getty@tty1.
func (us *units) addInstance(name string, own func(*assess.Unit) bool) {
	template := us.byName[Template(name)]
	if template == nil {
		return
	}
	u := *template
	u.Name, u.State = name, assess.StateEnabled
	u.Preset = !u.Local && own(&u)
	addService(us.m, u)
}

// presets tells which units are on without a person's doing. Debian's packages
// enable their units themselves, and a helper keeps book of it; the others'
// distributions say by lists what is on.
func presets(m *assess.Machine) func(*assess.Unit) bool {
	if byPackage := enabledByPackages(m); byPackage != nil {
		return func(u *assess.Unit) bool {
			return byPackage[u.Name] || u.Package == "systemd" && u.State == assess.StateEnabled
		}
	}
	rules := readPresets(m)
	return func(u *assess.Unit) bool { return rules.enables(u.Name) }
}

// enabledByPackages are the units that Debian's packages enabled by
// themselves: its helper keeps book of them. It is nil where there is no helper.
func enabledByPackages(m *assess.Machine) map[string]bool {
	entries, err := m.FS.ReadDir(helperState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	m.Outcome("units.deb-systemd-helper", helperState, err)
	return links(m, helperState, entries)
}

// presetFolders have the lists of presets: of two files of one name, that of
// the earlier folder counts.
var presetFolders = []string{"etc/systemd/system-preset", "usr/local/lib/systemd/system-preset", "usr/lib/systemd/system-preset", "lib/systemd/system-preset"}

// presetRule says of the units that match whether they are on.
type presetRule struct {
	enable  bool
	pattern string
}

type presetRules []presetRule

// presetRules are the rules of all lists in their order: by the files' names.
func readPresets(m *assess.Machine) (rules presetRules) {
	files := map[string]string{}
	for _, dir := range presetFolders {
		names, err := m.Files(dir)
		m.Unreadable("units.presets", dir, err)
		for _, name := range names {
			if files[name] == "" && strings.HasSuffix(name, ".preset") {
				files[name] = path.Join(dir, name)
			}
		}
	}
	for _, name := range assess.SortedKeys(files) {
		if text, ok := m.Text("units.presets", files[name]); ok {
			rules = append(rules, parsePreset(text)...)
		}
	}
	return rules
}

func parsePreset(text string) (rules presetRules) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "enable" && f[0] != "disable" {
			continue
		}
		if len(f) == 2 {
			rules = append(rules, presetRule{f[0] == "enable", f[1]})
		}
		for _, instance := range f[2:] {
			rules = append(rules, presetRule{f[0] == "enable", strings.Replace(f[1], "@.", "@"+instance+".", 1)})
		}
	}
	return rules
}

// enables is the word of the first rule that matches; an instance goes by its
// template. A machine without any rule leaves all off, for what one can tell.
func (r presetRules) enables(unit string) bool {
	for _, rule := range r {
		byName, _ := path.Match(rule.pattern, unit) // a pattern that is none matches nothing
		byTemplate, _ := path.Match(rule.pattern, Template(unit))
		if byName || byTemplate {
			return rule.enable
		}
	}
	return len(r) > 0
}
