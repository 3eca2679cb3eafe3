package services

import (
	"path"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
)

// upstartJobs is where jobs and their overrides stand.
const upstartJobs = "etc/init"

// upstart lists the jobs of upstart, where that is the init system: releases
// that moved on may still have some.
func upstart(m *assess.Machine) {
	if m.A.System.InitSystem != assess.ManagerUpstart {
		return
	}
	m.EachFile("services.upstart", upstartJobs, ".conf", func(file string) {
		text, _ := m.Text("services.upstart."+path.Base(file), file)
		name := strings.TrimSuffix(path.Base(file), ".conf")
		u := assess.Unit{Name: name, Manager: assess.ManagerUpstart, Path: "/" + file, Package: m.Owner(file), Runlevels: upstartLevels(text)}
		u.State = upstartState(text, assess.StateStatic)
		u.Local = u.Package == ""
		u.Preset = !u.Local
		override := strings.TrimSuffix(file, ".conf") + ".override"
		if m.Exists(override) {
			said, _ := m.Text("services.upstart."+path.Base(override), override)
			own := u.State
			u.State, u.Dropins = upstartState(said, own), []string{"/" + override}
			u.Preset = u.Preset && u.State == own
		}
		addService(m, u)
	})
}

// upstartState is what a job's stanzas make of its state: the last of "start
// on" and "manual" counts.
func upstartState(text, state string) string {
	inScript := false
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case inScript:
			inScript = f[0] != "end"
		case f[len(f)-1] == "script" && f[0] != "end":
			inScript = true
		case f[0] == "manual":
			state = assess.StateDisabled
		case len(f) > 1 && f[0] == "start" && f[1] == "on":
			state = assess.StateEnabled
		}
	}
	return state
}

var (
	// startOn is when a job starts, which may stand in parentheses over lines.
	startOn = lazyregexp.New(`(?m)^\s*start\s+on\s+(\((?:[^()]|\([^()]*\))*\)|.*)`)
	// onLevels is the condition that names runlevels.
	onLevels = lazyregexp.New(`runlevel \[([0-9S]+)\]`)
)

// upstartLevels are the runlevels in which a job starts, where it says so.
func upstartLevels(text string) []string {
	if f := onLevels.FindStringSubmatch(startOn.FindString(text)); f != nil {
		return strings.Split(f[1], "")
	}
	return nil
}
