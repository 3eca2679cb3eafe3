package services

import (
	"testing"

	"github.com/matryer/is"

	"svc/assess"
)

func TestPresets(t *testing.T) {
	is := is.New(t)
	rules := parsePreset("# comment\nenable ssh.*\nenable getty@.service tty1 tty2\ndisable *\nenable late.service\n")
	for unit, want := range map[string]bool{
		"ssh.service": true, "getty@tty1.service": true, "getty@tty3.service": false, "getty@.service": false, "late.service": false, "x.timer": false,
	} {
		is.Equal(rules.enables(unit), want)
	}
	is.True(!presetRules(nil).enables("x.service")) // nothing says so
}

func TestInitHeaders(t *testing.T) {
	is := is.New(t)
	for text, want := range map[string][]string{
		"#!/bin/sh\n# chkconfig: 2345 10 90\n":                       {"2", "3", "4", "5"},
		"# chkconfig: - 10 90\n# Default-Start: 3\n":                 nil,
		"### BEGIN INIT INFO\n# Provides: x\n# Default-Start: 2 S\n": {"2", "S"},
	} {
		got, ok := parseInitHeader(text)
		is.True(ok)
		is.Equal(got, want)
	}
	_, ok := parseInitHeader("#!/bin/sh\necho chkconfig: 2345\n")
	is.True(!ok)
}

func TestUpstartJobs(t *testing.T) {
	is := is.New(t)
	is.Equal(upstartState("start on startup\n", assess.StateStatic), assess.StateEnabled)
	is.Equal(upstartState("start on startup\nmanual\n", assess.StateStatic), assess.StateDisabled)
	is.Equal(upstartState("manual\nstart on startup\n", assess.StateStatic), assess.StateEnabled)
	is.Equal(upstartState("script\n manual\n start on x\nend script\n", assess.StateStatic), assess.StateStatic)
	is.Equal(upstartState("pre-start script\nmanual\nend script\ntask\n", assess.StateStatic), assess.StateStatic)
	is.Equal(upstartLevels("start on (local-filesystems\n and runlevel [23S])\nstop on runlevel [016]\n"), []string{"2", "3", "S"})
	is.Equal(upstartLevels("start on startup\nstop on runlevel [016]\n"), nil)
}

func TestParseCronLine(t *testing.T) {
	is := is.New(t)
	for line, want := range map[string]assess.CronJob{
		"17 *\t* * *  root  cd / && run": {Schedule: "17 * * * *", User: "root", Command: "cd / && run"},
		"@daily root /x":                 {Schedule: "@daily", User: "root", Command: "/x"},
	} {
		got, ok := parseCronLine(line, "")
		is.True(ok)
		is.Equal(got, want)
	}
	for _, line := range []string{"", "# x", "MAILTO=root", "* * *", "@reboot", "1 2 3 4 5 root"} {
		_, ok := parseCronLine(line, "")
		is.True(!ok)
	}
}
