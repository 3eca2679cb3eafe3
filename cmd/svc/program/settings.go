package program

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"svc/backend/api"
	"svc/backend/server"
)

// settings may come from a flag, from the environment (SVC_ and the flag's
// name) or from the configuration file, in that order. What makes a command
// act is never among them.
type settings struct {
	Server  string
	Config  string
	JSON    bool
	verbose bool
	Quiet   bool

	DB string

	Listen        string
	MetricsListen string
	Index         string
	Advisories    string
	SigningKey    string
	Rates         rates
	TLSCert       string
	TLSKey        string
}

// common are the settings of every command.
func (s *settings) common(fs *flag.FlagSet, p Paths) {
	fs.StringVar(&s.Server, "server", "", "URL of the service; without one, the backend built into svc")
	fs.StringVar(&s.Config, "config", p.Config("config"), "configuration file")
	fs.BoolVar(&s.JSON, "json", false, "print JSON")
	fs.BoolVar(&s.verbose, "verbose", false, "say on stderr what is done")
	fs.BoolVar(&s.Quiet, "quiet", false, "print results and errors alone: no progress, no notes")
}

// Store is where the data of the service are.
func (s *settings) Store(fs *flag.FlagSet, p Paths) {
	fs.StringVar(&s.DB, "db", "sqlite:"+p.Data("svc.db"), "store: sqlite:PATH or postgres://…")
}

// Serving are the settings of the service itself.
func (s *settings) Serving(fs *flag.FlagSet, p Paths) {
	s.Store(fs, p)
	fs.StringVar(&s.Listen, "listen", "127.0.0.1:8443", "address to serve on; port 0 picks one")
	fs.StringVar(&s.MetricsListen, "metrics-listen", "", "address of /metrics and /ready; without it, they are not served")
	fs.StringVar(&s.Index, "index", "", "index file; without it, the built-in index")
	s.Feed(fs)
	fs.StringVar(&s.SigningKey, "signing-key", p.Data("signing-key.pem"), "Ed25519 key that signs attestations; made on first use")
	fs.Var(&s.Rates, "rate-limits", "requests a minute, as `PLAN=N`,… for the plans that differ from "+rates(server.DefaultRates).String())
	fs.StringVar(&s.TLSCert, "tls-cert", "", "certificate file; without it, plain HTTP")
	fs.StringVar(&s.TLSKey, "tls-key", "", "key file of the certificate")
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

// Feed is where the advisories are, of a service or of the backend built in.
func (s *settings) Feed(fs *flag.FlagSet) {
	fs.StringVar(&s.Advisories, "advisories", "", "file of the advisory feed; without it, the one that svc advisories update wrote")
}

// Paths are the user's folders, by the XDG base directory specification.
type Paths struct {
	ConfigDir, DataDir, StateDir, CacheDir string
}

// PathsOf are the folders that an environment names.
func PathsOf(env func(string) string) Paths {
	dir := func(variable, fallback string) string {
		// The specification has relative paths ignored.
		if d := env(variable); filepath.IsAbs(d) {
			return filepath.Join(d, "svc")
		}
		return filepath.Join(home(env), fallback, "svc")
	}
	return Paths{
		ConfigDir: dir("XDG_CONFIG_HOME", ".config"),
		DataDir:   dir("XDG_DATA_HOME", ".local/share"),
		StateDir:  dir("XDG_STATE_HOME", ".local/state"),
		CacheDir:  dir("XDG_CACHE_HOME", ".cache"),
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

// Config is a file of settings.
func (p Paths) Config(name string) string { return filepath.Join(p.ConfigDir, name) }

// Data is a file of what svc keeps.
func (p Paths) Data(name string) string { return filepath.Join(p.DataDir, name) }
