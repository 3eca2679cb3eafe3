package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend/index"
	"svc/cmd/svc/program"
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

// about is what `svc version --json` prints.
type about struct {
	Version      string `json:"version"`
	Commit       string `json:"commit"`
	IndexVersion string `json:"index_version"`
	IndexDate    string `json:"index_date"` // YYYY-MM-DD, by which its facts had been taken from the archives
	Go           string `json:"go"`
}

func (p commands) versionCommand() *ffcli.Command {
	return p.Command(p.FlagSet("version"), "svc version", "print the version of this program and of its index",
		program.NoArgs(func(context.Context) error {
			ix, err := index.Embedded()
			if err != nil {
				return err
			}
			v := about{version(), commit(), ix.Version(), *ix.Date(), runtime.Version()}
			return p.Print(v, func(w *program.View) {
				w.Line("%s", strings.TrimSpace("svc "+v.Version+" "+v.Commit))
				w.Line("%s", strings.TrimSpace("index "+v.IndexVersion+" "+v.IndexDate))
				w.Line("%s", v.Go)
			})
		}))
}
