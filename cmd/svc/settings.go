package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/peterbourgon/ff/v3"

	"svc/agent/token"
	"svc/backend/api"
	"svc/backend/server"
)

// settings may come from a flag, from the environment (SVC_ and the flag's
// name) or from the configuration file, in that order. What makes a command
// act is never among them.
type settings struct {
	server  string
	config  string
	json    bool
	verbose bool
	quiet   bool

	db string

	listen        string
	metricsListen string
	index         string
	advisories    string
	signingKey    string
	rates         rates
	tlsCert       string
	tlsKey        string
}

// common are the settings of every command.
func (s *settings) common(fs *flag.FlagSet, p paths) {
	fs.StringVar(&s.server, "server", "", "URL of the service; without one, the backend built into svc")
	fs.StringVar(&s.config, "config", p.config("config"), "configuration file")
	fs.BoolVar(&s.json, "json", false, "print JSON")
	fs.BoolVar(&s.verbose, "verbose", false, "say on stderr what is done")
	fs.BoolVar(&s.quiet, "quiet", false, "print results and errors alone: no progress, no notes")
}

// store is where the data of the service are.
func (s *settings) store(fs *flag.FlagSet, p paths) {
	fs.StringVar(&s.db, "db", "sqlite:"+p.data("svc.db"), "store: sqlite:PATH or postgres://…")
}

// serving are the settings of the service itself.
func (s *settings) serving(fs *flag.FlagSet, p paths) {
	s.store(fs, p)
	fs.StringVar(&s.listen, "listen", "127.0.0.1:8443", "address to serve on; port 0 picks one")
	fs.StringVar(&s.metricsListen, "metrics-listen", "", "address of /metrics and /ready; without it, they are not served")
	fs.StringVar(&s.index, "index", "", "index file; without it, the built-in index")
	s.feed(fs)
	fs.StringVar(&s.signingKey, "signing-key", p.data("signing-key.pem"), "Ed25519 key that signs attestations; made on first use")
	fs.Var(&s.rates, "rate-limits", "requests a minute, as `PLAN=N`,… for the plans that differ from "+rates(server.DefaultRates).String())
	fs.StringVar(&s.tlsCert, "tls-cert", "", "certificate file; without it, plain HTTP")
	fs.StringVar(&s.tlsKey, "tls-key", "", "key file of the certificate")
}

// rates are the requests a minute by plan; a plan that is not in it is unlimited.
type rates map[api.Plan]int

const unlimitedRate = "none"

// String is the form that Set takes, with every plan in it.
func (r rates) String() string {
	if r == nil {
		return ""
	}
	var parts []string
	for _, plan := range api.Plans {
		value := unlimitedRate
		if n, limited := r[plan]; limited {
			value = strconv.Itoa(n)
		}
		parts = append(parts, string(plan)+"="+value)
	}
	return strings.Join(parts, ",")
}

// Set changes the plans that s names, of those that hold without it.
func (r *rates) Set(s string) error {
	changed := maps.Clone(server.DefaultRates)
	for part := range strings.SplitSeq(s, ",") {
		name, value, _ := strings.Cut(part, "=")
		plan := api.Plan(name)
		if !slices.Contains(api.Plans, plan) {
			return fmt.Errorf("no plan is called %q", name)
		}
		n, err := strconv.Atoi(value)
		switch {
		case value == unlimitedRate:
			delete(changed, plan)
		case err != nil || n < 1:
			return fmt.Errorf("%s must have a number above 0 or %s, not %q", name, unlimitedRate, value)
		default:
			changed[plan] = n
		}
	}
	*r = changed
	return nil
}

// feed is where the advisories are, of a service or of the backend built in.
func (s *settings) feed(fs *flag.FlagSet) {
	fs.StringVar(&s.advisories, "advisories", "", "file of the advisory feed; without it, the one that svc advisories update wrote")
}

// unknownSetting is how ff says that a file has a setting that is no flag.
var unknownSetting = regexp.MustCompile(`^config file flag "(.*)" not defined in flag set`)

// wrongSetting is how ff says that a setting of a file has a value that it can't have.
var wrongSetting = regexp.MustCompile(`^error setting flag "(.*)" from config file: `)

// resolveSettings fills in what the flags left open from the environment and
// the configuration file.
func (p *program) resolveSettings() error {
	all := flag.NewFlagSet("settings", flag.ContinueOnError)
	var given []string
	resolved := p.settings
	resolved.common(all, p.paths)
	resolved.serving(all, p.paths)
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
	if errors.Is(err, syscall.ENOTDIR) && resolved.config == p.paths.config("config") {
		err = nil // HOME is no folder, so it has no file of settings
	}
	if m := wrongSetting.FindStringSubmatch(fmt.Sprint(err)); m != nil {
		return usagef("%s: the setting %q has a value that it can't have; nothing was done: `svc serve -h` says what each takes", resolved.config, m[1])
	}
	if m := unknownSetting.FindStringSubmatch(fmt.Sprint(err)); m != nil {
		return usagef("%s: there is no setting %q; nothing was done: `svc serve -h` has all of them, without their dashes", resolved.config, m[1])
	}
	if err != nil {
		return usagef("reading settings: %w", err)
	}
	if _, err := os.Stat(resolved.config); err != nil && resolved.config != p.paths.config("config") {
		return usagef("reading settings: %w", err)
	}
	p.settings = resolved
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
func (p *program) credentials(given []string) (flags []string, err error) {
	dir := p.env("CREDENTIALS_DIRECTORY")
	if dir == "" {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(credentials)) {
		file := filepath.Join(dir, credentials[name])
		isSet := func(flag string) bool { return strings.HasPrefix(flag, "-"+name+"=") }
		if _, err := os.Stat(file); err != nil || slices.ContainsFunc(given, isSet) || p.env("SVC_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))) != "" {
			continue
		}
		value := file
		if name == "db" {
			f, err := os.Open(file)
			if err != nil {
				return nil, usagef("reading settings: %w", err)
			}
			defer f.Close()
			b, err := io.ReadAll(io.LimitReader(f, maxCredential))
			if err != nil {
				return nil, usagef("reading settings: %w", err)
			}
			value = strings.TrimSpace(string(b))
		}
		flags = append(flags, "-"+name+"="+value)
	}
	return flags, nil
}

// paths are the user's folders, by the XDG base directory specification.
type paths struct {
	configDir, dataDir, stateDir, cacheDir string
}

func pathsOf(env func(string) string) paths {
	dir := func(variable, fallback string) string {
		// The specification has relative paths ignored.
		if d := env(variable); filepath.IsAbs(d) {
			return filepath.Join(d, "svc")
		}
		return filepath.Join(home(env), fallback, "svc")
	}
	return paths{
		configDir: dir("XDG_CONFIG_HOME", ".config"),
		dataDir:   dir("XDG_DATA_HOME", ".local/share"),
		stateDir:  dir("XDG_STATE_HOME", ".local/state"),
		cacheDir:  dir("XDG_CACHE_HOME", ".cache"),
	}
}

// home is the user's folder: that of the password file where HOME is no path, as
// under cron and supervisors. Nothing is ever written where svc happens to run.
func home(env func(string) string) string {
	if dir := env("HOME"); filepath.IsAbs(dir) {
		return dir
	}
	if u, err := user.LookupId(strconv.Itoa(os.Getuid())); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return "/"
}

func (p paths) config(name string) string { return filepath.Join(p.configDir, name) }
func (p paths) data(name string) string   { return filepath.Join(p.dataDir, name) }

// tokens is the token store of this user.
func (p *program) tokens() token.Store {
	return token.Store{File: p.paths.config("token"), Env: p.env}
}

// checkLine refuses a setting that can't be written into the configuration file.
func checkLine(what, s string) error {
	for _, r := range s {
		if r < ' ' {
			return fmt.Errorf("%s has a control character", what)
		}
	}
	return nil
}
