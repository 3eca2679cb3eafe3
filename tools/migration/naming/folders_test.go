package naming

import (
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/release"
)

// TestEnvironmentsOfTheSystemsPythonAreLedOn, by the version that made each; those of a
// person's own Python move with it.
func TestEnvironmentsOfTheSystemsPythonAreLedOn(t *testing.T) {
	is := is.New(t)
	there := map[string]bool{"/usr/bin/python3.9": true, "/opt/a/lib/python3.9": true, "/opt/b/lib/python3.8": true, "/usr/bin/python3.13": true, "/opt/c/lib/python3.13": true}
	all := Environments([]assess.Software{
		{Manager: "venv", Path: "/opt/a", Version: "3.9.21"},
		{Manager: "venv", Path: "/opt/b", Version: "3.8.1"},
		{Manager: "venv", Path: "/opt/c", Version: "3.13.1"},
		{Manager: "venv", Path: "/opt/d", Version: "x"},
		{Manager: "pip", Path: "/opt/a", Version: "3.9.1"},
	}, "3.13.5", func(file string) bool { return there[file] })
	is.Equal(all, []Mention{{Path: "/opt/a/lib/python3.9", Name: "/opt/a/lib/python3.9", Now: "/opt/a/lib/python3.13", Why: "python3.13 looks into /opt/a/lib/python3.13."}})
	is.Equal(Environments([]assess.Software{{Manager: "venv", Path: "/opt/a", Version: "3.9.21"}}, "", func(file string) bool { return there[file] }), nil)
}

// TestCommandsThatStandInOtherPackages come for what people call, and for what they chose.
func TestCommandsThatStandInOtherPackages(t *testing.T) {
	is := is.New(t)
	for text, want := range map[string]int{
		"#!/bin/sh\necho x | mailx -s a b":          1,
		"#!/bin/sh\nif /usr/bin/mailx -s a b; then": 1,
		"#!/bin/sh\nx=$(mailx -H)":                  1,
		"#!/bin/sh\n# mailx":                        0,
		"#!/bin/sh\necho mailx; ls /opt/mailx":      0,
		"#!/bin/sh\nmailx-own":                      0,
		"#!/bin/sh\nuuidgen":                        0, // the machine has it not
	} {
		got := Commands(release.LineDebian, func(string) bool { return false }, func(file string) bool { return file == "/usr/bin/mailx" }, map[string]string{"/usr/local/bin/a": text}, nil)
		if len(got) != want {
			t.Errorf("%q brings %v", text, got)
		}
	}
	never := func(string) bool { return false }
	is.Equal(Commands(release.LineDebian, func(pkg string) bool { return pkg == "mosquitto" }, never, nil, nil), []string{"mosquitto-clients"})
	is.Equal(Commands(release.LineEL, func(string) bool { return true }, never, nil, nil), nil)
	is.Equal(Commands(release.LineDebian, never, func(string) bool { return true }, nil, []assess.CronJob{{Command: "/usr/bin/xxd /etc/a | mail root"}}), []string{"bsd-mailx", "xxd"})
}
