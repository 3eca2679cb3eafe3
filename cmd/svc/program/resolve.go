package program

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/peterbourgon/ff/v3"

	"svc/agent/token"
	"svc/backend/osfile"
	"svc/cmd/svc/exit"
)

// unknownSetting is how ff says that a file has a setting that is no flag.
var unknownSetting = regexp.MustCompile(`^config file flag "(.*)" not defined in flag set`)

// wrongSetting is how ff says that a setting of a file has a value that it can't have.
var wrongSetting = regexp.MustCompile(`^error setting flag "(.*)" from config file: `)

// resolveSettings fills in what the flags left open from the environment and
// the configuration file.
func (p *Program) resolveSettings() error {
	all := flag.NewFlagSet("settings", flag.ContinueOnError)
	var given []string
	resolved := p.Settings
	resolved.common(all, p.Paths)
	resolved.Serving(all, p.Paths)
	for _, fs := range p.sets {
		fs.Visit(func(f *flag.Flag) {
			if all.Lookup(f.Name) != nil {
				given = append(given, "-"+f.Name+"="+f.Value.String())
			}
		})
	}
	fromSystemd, err := p.credentials(given)
	if err != nil {
		return err
	}
	err = ff.Parse(all, append(fromSystemd, given...),
		ff.WithEnvVarPrefix("SVC"),
		ff.WithConfigFileFlag("config"),
		ff.WithConfigFileParser(ff.PlainParser),
		ff.WithAllowMissingConfigFile(true))
	if errors.Is(err, syscall.ENOTDIR) && resolved.Config == p.Paths.Config("config") {
		err = nil // HOME is no folder, so it has no file of settings
	}
	if m := wrongSetting.FindStringSubmatch(fmt.Sprint(err)); m != nil {
		return exit.Usagef("%s: the setting %q has a value that it can't have; nothing was done: `svc serve -h` says what each takes", resolved.Config, m[1])
	}
	if m := unknownSetting.FindStringSubmatch(fmt.Sprint(err)); m != nil {
		return exit.Usagef("%s: there is no setting %q; nothing was done: `svc serve -h` has all of them, without their dashes", resolved.Config, m[1])
	}
	if err != nil {
		return exit.Usagef("reading settings: %w", err)
	}
	if _, err := os.Stat(resolved.Config); err != nil && resolved.Config != p.Paths.Config("config") {
		return exit.Usagef("reading settings: %w", err)
	}
	p.Settings = resolved
	return nil
}

// credentials are the settings that systemd may hand to a service as credentials, by
// the name of each: https://systemd.io/CREDENTIALS. Of the store it is the address
// itself, which may have a password; of the others the file.
var credentials = map[string]string{"db": "svc.db", "signing-key": "svc.signing-key", "tls-cert": "svc.tls-cert", "tls-key": "svc.tls-key"}

// maxCredential bounds the one that is read here.
const maxCredential = 64 << 10

// credentials are the settings that systemd handed over, as flags. The environment
// goes before them.
func (p *Program) credentials(given []string) (flags []string, err error) {
	dir := p.Env("CREDENTIALS_DIRECTORY")
	if dir == "" {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(credentials)) {
		file := filepath.Join(dir, credentials[name])
		isSet := func(flag string) bool { return strings.HasPrefix(flag, "-"+name+"=") }
		if _, err := os.Stat(file); err != nil || slices.ContainsFunc(given, isSet) || p.Env("SVC_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))) != "" {
			continue
		}
		value := file
		if name == "db" {
			b, err := osfile.Read(file, maxCredential)
			if err != nil {
				return nil, exit.Usagef("reading settings: %w", err)
			}
			value = strings.TrimSpace(string(b))
		}
		flags = append(flags, "-"+name+"="+value)
	}
	return flags, nil
}

// Tokens is the token store of this user.
func (p *Program) Tokens() token.Store {
	return token.Store{File: p.Paths.Config("token"), Env: p.Env}
}
