package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/cmd/svc/exit"
)

// moves is a sensible target of each of the project's machines.
var moves = map[string]string{
	"alpine-3.18-edge": "alpine-3.19", "amazon-2023-api": "rocky-9", "centos-6-upstart": "rocky-9", "centos-7-web": "rocky-9",
	"debian-11-web": "debian-13", "fedora-42-server": "fedora-43", "sles-15-web": "sles-16", "ubuntu-22.04-apps": "ubuntu-24.04",
}

func TestEveryMachineOfTheProjectPlans(t *testing.T) {
	hosts, err := os.ReadDir("../../fixtures/hosts")
	is.New(t).NoErr(err)
	home := t.TempDir()
	for _, host := range hosts {
		t.Run(host.Name(), func(t *testing.T) {
			is := is.New(t)
			target, ok := moves[host.Name()]
			is.True(ok) // a new machine needs a target here
			root := filepath.Join("../../fixtures/hosts", host.Name())
			call := func(args ...string) (int, string, string) {
				var stdout, stderr bytes.Buffer
				code := run(t.Context(), args, func(name string) string { return map[string]string{"HOME": home}[name] }, strings.NewReader(""), &stdout, &stderr)
				return code, stdout.String(), stderr.String()
			}
			code, said, errors := call("assess", "--root", root)
			is.True(code == exit.Done || code == exit.Differ)
			is.Equal(errors, "")
			is.True(!strings.Contains(said, "packages        0")) // the package database is read
			code, said, errors = call("migrate", "--root", root, "--target", target, "--preflight")
			is.True(code == exit.Done || code == exit.Differ)
			is.Equal(errors, "")
			is.True(strings.Contains(said, "each accounted for"))
			is.True(strings.Contains(said, "unknown                  0"))
		})
	}
}
