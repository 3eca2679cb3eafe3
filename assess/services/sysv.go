package services

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
)

// scriptFolders are where the scripts stand; one may be a link to the other.
var scriptFolders = []string{"etc/rc.d/init.d", "etc/init.d"}

// levelFolders are where the links of runlevels stand.
var levelFolders = []string{"etc/rc.d", "etc/init.d", "etc"}

// levels are the runlevels by the names of their folders; S and boot are what
// runs before any of them.
var levels = []struct{ level, dir string }{
	{"0", "rc0.d"}, {"1", "rc1.d"}, {"2", "rc2.d"}, {"3", "rc3.d"}, {"4", "rc4.d"}, {"5", "rc5.d"}, {"6", "rc6.d"}, {"S", "rcS.d"}, {"B", "boot.d"},
}

// noScripts stand beside init scripts and are none.
var noScripts = []string{"functions", "README", "rc", "rcS", "rcS.d", "skeleton", "skeleton.compat", "halt", "single", "reboot", "killall", "killprocs", "functions.sh", "boot", "boot.local", "after.local", "before.local", "halt.local"}

// initScripts lists the scripts that start, and those that people wrote or
// switched. Of a script that a unit replaces nothing is said.
func initScripts(m *assess.Machine, native *units) {
	dir := scriptFolders[0]
	entries, err := m.FS.ReadDir(dir)
	if err != nil {
		dir = scriptFolders[1]
		entries, err = m.FS.ReadDir(dir)
	}
	m.Outcome("units.init-scripts", dir, err)
	if m.A.System.InitSystem == assess.ManagerOpenRC {
		return // the folder is the same, the scripts are OpenRC's
	}
	links, active := levelLinks(m), activeLevels(m)
	for _, e := range entries {
		name := e.Name()
		isScript := !e.IsDir() && !strings.HasPrefix(name, ".") && !slices.Contains(noScripts, name) && !assess.Leftover(name)
		if unit := unitOf(name); isScript && !native.has(unit) {
			var dropins []string
			if u := native.byName[unit]; u != nil {
				dropins = u.Dropins
			}
			initScript(m, path.Join(dir, name), links[name], active, dropins)
		}
	}
}

// unitOf is what systemd calls the unit of a script.
func unitOf(script string) string { return strings.TrimSuffix(script, ".sh") + ".service" }

// hasScript reports whether there is a script of which systemd makes a unit.
func hasScript(m *assess.Machine, unit string) bool {
	script, service := strings.CutSuffix(unit, ".service")
	return service && slices.ContainsFunc(scriptFolders, func(dir string) bool {
		return m.Exists(path.Join(dir, script)) || m.Exists(path.Join(dir, script+".sh"))
	})
}

// initScript adds a script.
func initScript(m *assess.Machine, file string, runlevels, active, dropins []string) {
	u := assess.Unit{Dropins: dropins, Name: path.Base(file), Manager: assess.ManagerSysV, State: assess.StateDisabled, Path: "/" + file, Package: scriptOwner(m, file), Runlevels: runlevels}
	if overlap(runlevels, active) {
		u.State = assess.StateEnabled
	}
	head, err := m.Head(file, assess.MaxHeader)
	if err != nil {
		m.Source("units.init-scripts."+u.Name, assess.StateOf(err), assess.Quoted(err))
	}
	own, isService := parseInitHeader(string(head))
	u.Local = u.Package == ""
	u.Preset = !u.Local && overlap(own, active) == (u.State == assess.StateEnabled)
	if isService || u.Local || len(runlevels) > 0 {
		addService(m, u)
	}
}

// scriptOwner is the package of a script, by either of its paths.
func scriptOwner(m *assess.Machine, file string) string {
	return cmp.Or(m.Owner(file), m.Owner(path.Join(scriptFolders[1], path.Base(file))))
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// parseInitHeader is the runlevels in which a script's header wants it started,
// as chkconfig or the LSB write them, and whether there is a header.
func parseInitHeader(text string) (start []string, ok bool) {
	for line := range strings.Lines(text) {
		comment, isComment := strings.CutPrefix(strings.TrimSpace(line), "#")
		key, value, hasValue := strings.Cut(strings.TrimSpace(comment), ":")
		f := strings.Fields(value)
		switch {
		case !isComment || !hasValue:
		case key == "chkconfig":
			if len(f) > 0 && f[0] != "-" {
				start = strings.Split(f[0], "")
			}
			return start, true
		case key == "Provides":
			ok = true
		case key == "Default-Start":
			start, ok = f, true
		}
	}
	return start, ok
}

// levelLinks are the runlevels in which each script is started.
func levelLinks(m *assess.Machine) map[string][]string {
	links := map[string][]string{}
	i := slices.IndexFunc(levelFolders, func(dir string) bool { return m.Exists(path.Join(dir, "rc3.d")) })
	if i < 0 {
		return links
	}
	for _, l := range levels {
		dir := path.Join(levelFolders[i], l.dir)
		names, err := m.Files(dir)
		m.Unreadable("units.runlevels", dir, err)
		for _, name := range names {
			if script, ok := strings.CutPrefix(name, "S"); ok && assess.Digits(script) > 0 {
				script = script[assess.Digits(script):]
				links[script] = append(links[script], l.level)
			}
		}
	}
	return links
}

var (
	initDefault  = lazyregexp.New(`(?m)^[^#:\n]*:([0-9])[0-9]*:initdefault:`)
	defaultLevel = lazyregexp.New(`(?m)^\s*env\s+DEFAULT_RUNLEVEL=([0-9])`)
)

// activeLevels are the runlevels that a machine goes through when it comes up:
// under systemd those that its targets stand for, else the default one.
func activeLevels(m *assess.Machine) []string {
	if hasSystemd(m) {
		return []string{"2", "3", "4", "5"}
	}
	level := "2"
	if f := defaultLevel.FindStringSubmatch(m.Peek("etc/init/rc-sysinit.conf")); f != nil {
		level = f[1]
	}
	text, err := m.ReadSmall("etc/inittab")
	if f := initDefault.FindStringSubmatch(string(text)); f != nil {
		level = f[1]
		m.Fact("runlevel", "default", level, assess.Evidence{Path: "/etc/inittab", Line: 0})
	}
	m.Unreadable("units.inittab", "etc/inittab", err)
	return []string{level, "S", "B"}
}

// usualInittab are the programs that init starts on every system.
var usualInittab = lazyregexp.New(`/etc/(init\.d|rc\.d)/|getty|/sbin/shutdown|/sbin/sulogin|/sbin/openrc|powerf|/etc/rc\b|prefdm`)

// inittab lists what people let init start by itself.
func inittab(m *assess.Machine) {
	for s := range assess.ParseSettings("/etc/inittab", m.Peek("etc/inittab"), ":") {
		f := strings.SplitN(s.Value, ":", 3)
		if len(f) == 3 && (f[1] == "respawn" || f[1] == "once" || f[1] == "boot") && !usualInittab.MatchString(f[2]) {
			addService(m, assess.Unit{Name: s.Key, Manager: assess.ManagerSysV, State: assess.StateEnabled, Local: true, Path: "/etc/inittab", Runlevels: strings.Split(f[0], "")})
		}
	}
}
