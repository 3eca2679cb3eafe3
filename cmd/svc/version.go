package main

import (
	"context"
	"runtime/debug"

	"github.com/peterbourgon/ff/v3/ffcli"
)

// Set by the linker in releases.
var (
	linkVersion = ""
	linkCommit  = ""
)

// version is the program's version; a build that nobody stamped is "dev".
func version() string {
	if linkVersion != "" {
		return linkVersion
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// commit is the commit that the program was built from, where known.
func commit() string {
	if linkCommit != "" {
		return linkCommit
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return ""
}

func (p *program) versionCommand() *ffcli.Command {
	return p.command(p.flagSet("version"), "svc version", "print the version of this program",
		noArgs(func(context.Context) error {
			v := struct {
				Version string `json:"version"`
				Commit  string `json:"commit"`
			}{version(), commit()}
			return p.print(v, func(w *view) { w.line("svc %s %s", v.Version, v.Commit) })
		}))
}
