package upgrade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"svc/assess/datadir"
	"svc/backend/api/lazyregexp"
	"svc/tools/database"
	"svc/tools/upgrade/safefile"
)

// redis is the data of a Redis or Valkey server, whose files newer servers read.
type redis struct {
	directory
	Config   redisConfig
	Settings string // file that they are from
	Hints    []string
}

// redisConfig is what of a server's configuration its data depend on.
type redisConfig struct {
	Dir        string
	Dump       string   // name of the dump
	Append     bool     // append-only files are what it reads and writes
	AppendFile string   // name of the append-only file, or the beginning of theirs
	AppendDir  string   // folder of them, since 7.0
	Saves      bool     // writes a dump when it stops
	Databases  string   // how many
	Modules    []string // what it loads, with arguments
	Network    string   // how it is reached: unix or tcp; empty where it is not
	Address    string
	Password   string `json:"-"` // never written down: read again when it is wanted
	Locked     bool   // it has one
	Roles      []string
}

// redisMethod is how the ways on record call what happens here.
const redisMethod = "copy of dump.rdb or of the append-only files"

// redisFiles are where distributions have the configuration, by engine.
var redisFiles = map[string][]string{
	"redis":  {"/etc/redis/redis.conf", "/etc/redis.conf"},
	"valkey": {"/etc/valkey/valkey.conf"},
}

// instanceName is what a configuration of several is called after.
var instanceName = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

// Look reads the configuration, and takes the data's version from their files.
func (r *redis) Look(ctx context.Context, h *Host, in Request) error {
	if err := r.settings(in); err != nil {
		return err
	}
	if err := r.refuseRoles(); err != nil {
		return err
	}
	engine := in.Engine
	r.Data, r.Names = r.Config.Dir, []string{"redis-server", "valkey-server"}
	r.Program, r.Account = redisServer(engine), engine
	if err := r.look(h); err != nil {
		return err
	}
	r.Headroom = r.Bytes + 64<<20 // a dump is written beside the one that it replaces
	if err := r.versions(ctx, h, in); err != nil {
		return err
	}
	r.Command = r.starts()
	return errors.Join(r.files(), r.modules(), r.savable(ctx))
}

// modules refuses what the server is to load and is not there.
func (r *redis) modules() error {
	for _, module := range r.Config.Modules {
		words, err := redisWords(module)
		if err != nil || len(words) == 0 {
			return fmt.Errorf("reading %s: a module without a name: %w", r.Settings, err)
		}
		if _, err := os.Stat(words[0]); err != nil {
			return refusef("install the module for the new server, or take it out of the configuration", "%s has a module loaded that can't be: %v", r.Settings, err)
		}
	}
	return nil
}

// savable refuses a server that writes nothing down when it stops, and has no
// command left by which it could be told to.
func (r *redis) savable(ctx context.Context) error {
	if !r.Runs || r.Config.Saves || r.Config.Append {
		return nil
	}
	const instead = "have it save when it stops (save 3600 1), or let it take SAVE and CONFIG"
	c, err := r.dial(ctx)
	if err != nil {
		return refusef(instead, "the server writes nothing down when it stops, and it can't be asked to: %v", err)
	}
	defer c.Close()
	answer, err := c.do("COMMAND", "INFO", "SAVE", "CONFIG")
	list, _ := answer.([]any)
	if err != nil || len(list) != 2 || list[0] == nil || list[1] == nil {
		return refusef(instead, "the server writes nothing down when it stops, and does not take SAVE and CONFIG: %v", cmp.Or(err, errors.New("they were renamed or removed")))
	}
	return nil
}

// try has the new server start, with what its configuration loads, and no data.
func (r *redis) try(h *Host) func(context.Context) error {
	return func(ctx context.Context) error {
		return r.privately(ctx, h, "/run", func(context.Context, *resp) error { return nil })
	}
}

func redisServer(engine string) string { return "/usr/bin/" + engine + "-server" }

// starts is the command that starts the server where no service manager does.
func (r *redis) starts() []string {
	return []string{r.Program, r.Settings, "--daemonize", "no", "--supervised", "no"}
}

// Recheck makes the command anew, of a program and a configuration that are where
// those of the engines are.
func (r *redis) Recheck(context.Context, *Host) error {
	var programs []string
	for engine, files := range redisFiles {
		if slices.ContainsFunc(files, func(name string) bool { return filepath.Dir(name) == filepath.Dir(r.Settings) }) {
			programs = append(programs, redisServer(engine))
		}
	}
	r.Command = r.starts()
	return r.still(programs...)
}

// settings finds and reads the configuration.
func (r *redis) settings(in Request) (err error) {
	files := redisFiles[in.Engine]
	if in.Instance != "" {
		if !instanceName.MatchString(in.Instance) {
			return refusef("name it as its configuration file is: NAME of redis-NAME.conf", "%q is no name of an instance", in.Instance)
		}
		files = []string{strings.TrimSuffix(files[0], ".conf") + "-" + in.Instance + ".conf"}
	}
	i := slices.IndexFunc(files, func(name string) bool {
		_, err := os.Stat(name)
		return err == nil
	})
	if i < 0 {
		return refusef("install the new version's server first", "there is no configuration of %s: none of %s", in.Engine, strings.Join(files, ", "))
	}
	r.Settings = files[i]
	r.Config, err = readRedisConfig(r.Settings)
	if err == nil && !filepath.IsAbs(r.Config.Dir) {
		err = refusef("name the directory of the data there: dir /var/lib/"+in.Engine, "%s does not say where the data are", r.Settings)
	}
	return err
}

// refuseRoles refuses a server that others copy, or that copies others.
func (r *redis) refuseRoles() error {
	if len(r.Config.Roles) == 0 {
		return nil
	}
	return refusef("upgrade by a new replica and a failover: svc db upgrade-path says how", "this server is no single one: %s", strings.Join(r.Config.Roles, ", "))
}

// serverVersion finds the version in what --version prints.
var serverVersion = lazyregexp.New(`\bv=([0-9][0-9.]*)`)

// versions asks the installed server, and the files.
func (r *redis) versions(ctx context.Context, h *Host, in Request) error {
	out, err := h.run(ctx, command{args: []string{r.Program, "--version"}})
	m := serverVersion.FindStringSubmatch(out)
	if err != nil || m == nil {
		return refusef("install it first", "no server of %s is installed that says its version", in.Engine)
	}
	says, err := statement("redis", r.Data)
	if err != nil {
		return err
	}
	engine := writer(says)
	if says.Version == "" { // append-only files alone state none
		return refusef("have the old server write a dump (SAVE), and stop it", "no file in %s states the version that wrote it", r.Data)
	}
	if err := r.refuseBarrier(in, engine, says.Version); err != nil {
		return err
	}
	if in.To.Engine != in.Engine {
		return refusef(fmt.Sprintf("stop %s, copy its files into the directory of %s, and upgrade them there: --engine %s", in.Engine, in.To.Engine, in.To.Engine),
			"an upgrade happens in one directory, and these are the data of %s", in.Engine)
	}
	if err := r.between(in, engine, says.Version, in.Engine, m[1]); err != nil {
		return err
	}
	if in.Engine == "redis" && r.To.Version.Compare("7.0") < 0 {
		return refusef("go to 7.0 or newer", "Redis %s does not say when keys expire, so it can't be proved that none is lost", r.To.Version)
	}
	return nil
}

// writer is the engine that wrote the files: Valkey has a field of its own for
// its version.
func writer(says datadir.Statement) string {
	for _, f := range says.Facts {
		if f.Key != "written by" || f.Value != says.Version {
			continue
		}
		head, _, _ := safefile.Read(f.Path, 4096) // what is longer is cut
		if d, err := datadir.ParseDump(head); err == nil && d.Aux["valkey-ver"] != "" {
			return "valkey"
		}
	}
	return "redis"
}

// refuseBarrier refuses what is on record as not working.
func (r *redis) refuseBarrier(in Request, engine, version string) error {
	v, _ := database.ParseVersion(version)
	for _, b := range in.Graph.Barriers(database.Place{Engine: engine, Version: v}, in.To, database.Move{InPlace: true}) {
		if b.Method == redisMethod || strings.HasPrefix(b.Method, "any way") || strings.HasPrefix(b.Method, "copy of dump.rdb") {
			return refusef(b.Instead, "%s does not go to %s by its files: %s", b.From, b.To, b.Why)
		}
	}
	return nil
}

// files refuses a directory of which it is not clear what the server would read.
func (r *redis) files() error {
	dump, dumpErr := os.Stat(filepath.Join(r.Data, r.Config.Dump))
	appended := r.appended(r.Data)
	switch {
	case r.Runs:
	case appended == nil && dumpErr != nil:
		return refusef("put the files there first", "%s has neither %s nor append-only files", r.Data, r.Config.Dump)
	case appended != nil && !r.Config.Append && (dumpErr != nil || appended.ModTime().After(dump.ModTime())):
		return refusef("set appendonly yes, or move the append-only files away if they are not wanted", "%s has append-only files that are newer than the dump, but %s has appendonly no: they would be passed over", r.Data, r.Settings)
	}
	if r.Config.Append && appended == nil {
		r.Hints = append(r.Hints, "appendonly is yes, and there are only dumps: a server would start empty; append-only files are made from the dump")
	}
	return nil
}

// appended is the append-only file, or the list of them; nil where there is none.
func (r *redis) appended(dir string) os.FileInfo {
	for _, name := range []string{filepath.Join(r.Config.AppendDir, r.Config.AppendFile+".manifest"), r.Config.AppendFile} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return info
		}
	}
	return nil
}

func (r *redis) About() About { return r.about(redisMethod, "", append(r.gone(), r.Hints...)) }

func (r *redis) Steps(h *Host) []Step {
	return append([]Step{{Name: "try", Does: "starts the new server in private, without data, with the modules that it is to load", Do: r.try(h)}}, r.steps(h, r)...)
}

func (r *redis) Afterwards(h *Host) []string {
	return r.afterwards(h, "look at it: `"+r.client()+" info keyspace`")
}

// client is the command line of its own client, as this host's server wants it.
func (r *redis) client() string {
	c := strings.TrimSuffix(filepath.Base(r.Program), "-server") + "-cli"
	switch _, port, _ := strings.Cut(r.Config.Address, ":"); {
	case r.Config.Network == "unix":
		c += " -s " + quoted(r.Config.Address)
	case port != "6379":
		c += " -p " + quoted(port)
	}
	if r.Config.Locked {
		c += " --askpass"
	}
	return c
}

func (r *redis) Written(ctx context.Context, h *Host) (Written, error) { return r.written(ctx, h, r) }

// counted asks the server for what it has not written down yet.
func (r *redis) counted(ctx context.Context, _ *Host) (signs []string, err error) {
	c, err := r.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	info, err := c.do("INFO", "persistence")
	text, _ := info.(string)
	for line := range strings.Lines(text) {
		if n, found := strings.CutPrefix(strings.TrimSpace(line), "rdb_changes_since_last_save:"); found && n != "0" {
			signs = append(signs, n+" changes since the last dump")
		}
	}
	return signs, err
}

// data are all files but those that say which ones are in use.
func (r *redis) data(name string) bool { return !strings.HasSuffix(name, ".manifest") }

// dumpKept starts a server that only root and its account reach, has it write a dump,
// and stops it.
func (r *redis) dumpKept(dir, into string) []string {
	at, cli := quoted(dir), strings.TrimSuffix(filepath.Base(r.Program), "-server")+"-cli -s "+quoted(dir)+"/svc.sock"
	return []string{
		fmt.Sprintf("runuser -u %s -- %s --port 0 --dir %s --unixsocket %[3]s/svc.sock --unixsocketperm 700 --save '' --dbfilename %s --appendonly %s --appendfilename %s --appenddirname %s >/dev/null 2>&1 &",
			r.Account, r.Program, at, quoted(r.Config.Dump), yesNo(r.Config.Append), quoted(r.Config.AppendFile), quoted(r.Config.AppendDir)),
		fmt.Sprintf("until [ \"$(%s ping 2>/dev/null)\" = PONG ]; do sleep 1; done", cli),
		fmt.Sprintf("(umask 077; %s --rdb %s.rdb)", cli, into),
		fmt.Sprintf("%s shutdown nosave", cli),
	}
}

// dial connects to the server that clients reach.
func (r *redis) dial(ctx context.Context) (*resp, error) {
	now, err := readRedisConfig(r.Settings)
	if err != nil {
		return nil, err
	}
	if now.Network == "" {
		return nil, errors.New("the server listens nowhere without TLS")
	}
	return dialRESP(ctx, now.Network, now.Address, now.Password)
}

// settle has the running server write everything down. One that writes a dump
// when it stops, or appends to files, needs no telling.
func (r *redis) settle(ctx context.Context, _ *Host) error {
	c, err := r.dial(ctx)
	if err == nil {
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(patience))
		// A server without a moment to save at would drop what comes after SAVE.
		if _, err = c.do("CONFIG", "SET", "save", "3600 1"); err == nil {
			_, err = c.do("SAVE") // a disk that is full shows now
		}
		if err != nil && strings.Contains(err.Error(), "save already in progress") {
			return nil
		}
		if err == nil || !refusedUs(err) {
			return err
		}
	}
	if r.Config.Saves || r.Config.Append {
		return nil
	}
	return fmt.Errorf("the server writes nothing down when it stops, and it can't be told to: %w", err)
}

// refusedUs reports whether a server would not have us command it.
func refusedUs(err error) bool {
	var refused respError
	return errors.As(err, &refused) && slices.ContainsFunc([]string{"NOAUTH", "NOPERM", "WRONGPASS", "DENIED", "ERR unknown command"}, func(code string) bool {
		return strings.HasPrefix(string(refused), code)
	})
}

// answers gives no error if the server serves; that it wants a password is an
// answer.
func (r *redis) answers(ctx context.Context) error {
	c, err := r.dial(ctx)
	if err == nil {
		defer c.Close()
		_, err = c.do("PING")
	}
	if refusedUs(err) {
		return nil
	}
	return err
}

// privateConfig is the configuration of the private server: what the data depend
// on, and nothing else.
func (r *redis) privateConfig(h *Host, dir string) string {
	lines := [][2]string{
		{"port", "0"},
		{"unixsocket", h.private("socket")},
		{"unixsocketperm", "700"},
		{"pidfile", h.private("pid")},
		{"daemonize", "no"},
		{"dir", dir},
		{"dbfilename", r.Config.Dump},
		{"save", ""},
		{"databases", r.Config.Databases},
		{"enable-debug-command", "local"},
		{"appendonly", yesNo(r.Config.Append && r.appended(dir) != nil)},
		{"appendfilename", r.Config.AppendFile},
		{"appenddirname", r.Config.AppendDir},
	}
	var text strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&text, "%s %s\n", l[0], quoteRedis(l[1]))
	}
	for _, module := range r.Config.Modules {
		fmt.Fprintf(&text, "loadmodule %s\n", module)
	}
	return text.String()
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// privately runs the new server on a directory, for svc alone.
func (r *redis) privately(ctx context.Context, h *Host, dir string, use func(context.Context, *resp) error) error {
	run := command{user: r.Account, args: []string{r.Program, "-"}, stdin: r.privateConfig(h, dir), dir: dir}
	with := func(use func(context.Context, *resp) error) func(context.Context) error {
		return func(ctx context.Context) error {
			c, err := dialRESP(ctx, "unix", h.private("socket"), "")
			if err != nil {
				return err
			}
			defer c.Close()
			return use(ctx, c)
		}
	}
	return h.serveCopy(ctx, run, with(ping), with(use))
}

// ping gives no error when the server has read its data.
func ping(_ context.Context, c *resp) error {
	_, err := c.do("PING")
	return err
}

// convert has the new server write the data anew: a dump in its own form, and
// append-only files where it is to have some and has none.
func (r *redis) convert(ctx context.Context, h *Host, dir string) error {
	return r.privately(ctx, h, dir, func(ctx context.Context, c *resp) error {
		if _, err := c.do("SAVE"); err != nil || !r.Config.Append || r.appended(dir) != nil {
			return err
		}
		if _, err := c.do("CONFIG", "SET", "appendonly", "yes"); err != nil {
			return err
		}
		return await(ctx, func(context.Context) error { return rewritten(c) })
	})
}

// rewritten gives no error when append-only files have been made.
func rewritten(c *resp) error {
	info, err := c.do("INFO", "persistence")
	text, _ := info.(string)
	for _, line := range []string{"aof_rewrite_in_progress:0", "aof_rewrite_scheduled:0", "aof_last_bgrewrite_status:ok"} {
		if !strings.Contains(text, line+"\r\n") {
			return errors.Join(errors.New("append-only files are not made"), err)
		}
	}
	return nil
}
