// Package redis upgrades Redis and Valkey, also from the one to the other.
package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"svc/assess/conf"
	"svc/assess/datadir"
	"svc/assess/datadir/rdb"
	"svc/backend/lazyregexp"
	"svc/tools/database"
	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/inplace"
	"svc/tools/upgrade/safefile"
)

// Upgrade is the data of a Redis or Valkey server, whose files newer servers read.
type Upgrade struct {
	inplace.Directory
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
func (r *Upgrade) Look(ctx context.Context, h *engine.Host, in engine.Request) error {
	if err := r.settings(in); err != nil {
		return err
	}
	if err := r.refuseRoles(); err != nil {
		return err
	}
	r.Data, r.Names = r.Config.Dir, []string{"redis-server", "valkey-server"}
	r.Program, r.Account = redisServer(in.Engine), in.Engine
	if err := r.FindOut(h); err != nil {
		return err
	}
	r.Headroom = r.Bytes + 64<<20 // a dump is written beside the one that it replaces
	if err := r.versions(ctx, h, in); err != nil {
		return err
	}
	r.Command = r.starts()
	return errors.Join(r.files(), r.modules(), r.reachable(), r.savable(ctx))
}

// reachable refuses a server that runs, and of which nobody could tell when it serves again.
func (r *Upgrade) reachable() error {
	if !r.Runs || r.Config.Network != "" {
		return nil
	}
	return engine.Refusef("have it listen at a socket too (unixsocket /run/redis/redis.sock), and start it again", "%s has the server listen with TLS alone, or nowhere, so svc can't see whether it serves", r.Settings)
}

// modules refuses what the server is to load and is not there.
func (r *Upgrade) modules() error {
	for _, module := range r.Config.Modules {
		words, err := conf.RedisWords(module)
		if err != nil || len(words) == 0 {
			return fmt.Errorf("reading %s: a module without a name: %w", r.Settings, err)
		}
		if _, err := os.Stat(words[0]); err != nil {
			return engine.Refusef("install the module for the new server, or take it out of the configuration", "%s has a module loaded that can't be: %v", r.Settings, err)
		}
	}
	return nil
}

// savable refuses a server that writes nothing down when it stops, and has no
// command left by which it could be told to.
func (r *Upgrade) savable(ctx context.Context) error {
	if !r.Runs || r.Config.Saves || r.Config.Append {
		return nil
	}
	const instead = "have it save when it stops (save 3600 1), or let it take SAVE and CONFIG"
	c, err := r.dial(ctx)
	if err != nil {
		return engine.Refusef(instead, "the server writes nothing down when it stops, and it can't be asked to: %v", err)
	}
	defer c.Close()
	answer, err := c.do("COMMAND", "INFO", "SAVE", "CONFIG")
	list, _ := answer.([]any)
	if err != nil || len(list) != 2 || list[0] == nil || list[1] == nil {
		return engine.Refusef(instead, "the server writes nothing down when it stops, and does not take SAVE and CONFIG: %v", cmp.Or(err, errors.New("they were renamed or removed")))
	}
	return nil
}

// try has the new server start, with what its configuration loads, and no data.
func (r *Upgrade) try(h *engine.Host) func(context.Context) error {
	return func(ctx context.Context) error {
		return r.privately(ctx, h, "/run", func(context.Context, *resp) error { return nil })
	}
}

func redisServer(of string) string { return "/usr/bin/" + of + "-server" }

// starts is the command that starts the server where no service manager does.
func (r *Upgrade) starts() []string {
	return []string{r.Program, r.Settings, "--daemonize", "no", "--supervised", "no"}
}

// Recheck makes the command anew, of a program and a configuration that are where
// those of the engines are.
func (r *Upgrade) Recheck(context.Context, *engine.Host) error {
	var programs []string
	for of, files := range redisFiles {
		if slices.ContainsFunc(files, func(name string) bool { return filepath.Dir(name) == filepath.Dir(r.Settings) }) {
			programs = append(programs, redisServer(of))
		}
	}
	r.Command = r.starts()
	return r.Still(programs...)
}

// settings finds and reads the configuration.
func (r *Upgrade) settings(in engine.Request) (err error) {
	files := redisFiles[in.Engine]
	if in.Instance != "" {
		if !instanceName.MatchString(in.Instance) {
			return engine.Refusef("name it as its configuration file is: NAME of redis-NAME.conf", "%q is no name of an instance", in.Instance)
		}
		files = []string{strings.TrimSuffix(files[0], ".conf") + "-" + in.Instance + ".conf"}
	}
	i := slices.IndexFunc(files, func(name string) bool {
		_, err := os.Stat(name)
		return err == nil
	})
	if i < 0 {
		return engine.Refusef("install the new version's server first", "there is no configuration of %s: none of %s", in.Engine, strings.Join(files, ", "))
	}
	r.Settings = files[i]
	r.Config, err = readRedisConfig(r.Settings)
	if err == nil && !filepath.IsAbs(r.Config.Dir) {
		err = engine.Refusef("name the directory of the data there: dir /var/lib/"+in.Engine, "%s does not say where the data are", r.Settings)
	}
	return err
}

// refuseRoles refuses a server that others copy, or that copies others.
func (r *Upgrade) refuseRoles() error {
	if len(r.Config.Roles) == 0 {
		return nil
	}
	return engine.Refusef("upgrade by a new replica and a failover: svc db upgrade-path says how", "this server is no single one: %s", strings.Join(r.Config.Roles, ", "))
}

// serverVersion finds the version in what --version prints.
var serverVersion = lazyregexp.New(`\bv=([0-9][0-9.]*)`)

// versions asks the installed server, and the files.
func (r *Upgrade) versions(ctx context.Context, h *engine.Host, in engine.Request) error {
	out, err := h.Run(ctx, engine.Command{Args: []string{r.Program, "--version"}})
	m := serverVersion.FindStringSubmatch(out)
	if err != nil || m == nil {
		return engine.Refusef("install it first", "no server of %s is installed that says its version", in.Engine)
	}
	says, err := inplace.StatementOf("redis", r.Data)
	if err != nil {
		return err
	}
	wrote := writer(says)
	if says.Version == "" { // append-only files alone state none
		return engine.Refusef("have the old server write a dump (SAVE), and stop it", "no file in %s states the version that wrote it", r.Data)
	}
	if err := r.refuseBarrier(in, wrote, says.Version); err != nil {
		return err
	}
	if in.To.Engine != in.Engine {
		return engine.Refusef(fmt.Sprintf("stop %s, copy its files into the directory of %s, and upgrade them there: --engine %s", in.Engine, in.To.Engine, in.To.Engine),
			"an upgrade happens in one directory, and these are the data of %s", in.Engine)
	}
	if err := r.Between(in, wrote, says.Version, in.Engine, m[1]); err != nil {
		return err
	}
	if in.Engine == "redis" && r.To.Version.Compare("7.0") < 0 {
		return engine.Refusef("go to 7.0 or newer", "Redis %s does not say when keys expire, so it can't be proved that none is lost", r.To.Version)
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
		if d, err := rdb.Parse(head); err == nil && d.Aux["valkey-ver"] != "" {
			return "valkey"
		}
	}
	return "redis"
}

// refuseBarrier refuses what is on record as not working.
func (r *Upgrade) refuseBarrier(in engine.Request, wrote, version string) error {
	v, _ := database.ParseVersion(version)
	for _, b := range in.Graph.Barriers(database.Place{Engine: wrote, Version: v}, in.To, database.Move{InPlace: true}) {
		if b.Method == redisMethod || strings.HasPrefix(b.Method, "any way") || strings.HasPrefix(b.Method, "copy of dump.rdb") {
			return engine.Refusef(b.Instead, "%s does not go to %s by its files: %s", b.From, b.To, b.Why)
		}
	}
	return nil
}

// files refuses a directory of which it is not clear what the server would read.
func (r *Upgrade) files() error {
	dump, dumpErr := os.Stat(filepath.Join(r.Data, r.Config.Dump))
	appended := r.appended(r.Data)
	switch {
	case r.Runs:
	case appended == nil && dumpErr != nil:
		return engine.Refusef("put the files there first", "%s has neither %s nor append-only files", r.Data, r.Config.Dump)
	case appended != nil && !r.Config.Append && (dumpErr != nil || appended.ModTime().After(dump.ModTime())):
		return engine.Refusef("set appendonly yes, or move the append-only files away if they are not wanted", "%s has append-only files that are newer than the dump, but %s has appendonly no: they would be passed over", r.Data, r.Settings)
	}
	if r.Config.Append && appended == nil {
		r.Hints = append(r.Hints, "appendonly is yes, and there are only dumps: a server would start empty; append-only files are made from the dump")
	}
	return nil
}

// appended is the append-only file, or the list of them; nil where there is none.
func (r *Upgrade) appended(dir string) os.FileInfo {
	for _, name := range []string{filepath.Join(r.Config.AppendDir, r.Config.AppendFile+".manifest"), r.Config.AppendFile} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return info
		}
	}
	return nil
}

// About says what the upgrade is of.
func (r *Upgrade) About() engine.About {
	return r.Describe(redisMethod, "", append(r.Gone(), r.Hints...))
}

// Steps try the copy first, and then exchange the directory for it.
func (r *Upgrade) Steps(h *engine.Host) []engine.Step {
	return append([]engine.Step{{Name: "try", Does: "starts the new server in private, without data, with the modules that it is to load", Do: r.try(h)}}, r.Exchange(h, r)...)
}

// Afterwards says what a person can do when all is done.
func (r *Upgrade) Afterwards(h *engine.Host) []string {
	return r.Advise(h, "look at it: `"+r.client()+" info keyspace`")
}

// client is the command line of its own client, as this host's server wants it.
func (r *Upgrade) client() string {
	c := strings.TrimSuffix(filepath.Base(r.Program), "-server") + "-cli"
	host, port, _ := net.SplitHostPort(r.Config.Address)
	switch {
	case r.Config.Network == "unix":
		c += " -s " + engine.Quoted(r.Config.Address)
	case host != "127.0.0.1" && host != "":
		c += " -h " + engine.Quoted(host) + " -p " + engine.Quoted(port)
	case port != "6379":
		c += " -p " + engine.Quoted(port)
	}
	if r.Config.Locked {
		c += " --askpass"
	}
	return c
}

// Written compares the new data with what took their place.
func (r *Upgrade) Written(ctx context.Context, h *engine.Host) (engine.Written, error) {
	return r.Compare(ctx, h, r)
}

// Counted asks the server for what it has not written down yet.
func (r *Upgrade) Counted(ctx context.Context, _ *engine.Host) (signs []string, err error) {
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

// ClientsData are all files but those that say which ones are in use.
func (r *Upgrade) ClientsData(name string) bool { return !strings.HasSuffix(name, ".manifest") }

// DumpKept starts a server that only root and its account reach, has it write a dump,
// and stops it.
func (r *Upgrade) DumpKept(dir, into string) []string {
	at, cli := engine.Quoted(dir), strings.TrimSuffix(filepath.Base(r.Program), "-server")+"-cli -s "+engine.Quoted(dir)+"/svc.sock"
	return []string{
		fmt.Sprintf("runuser -u %s -- %s --port 0 --dir %s --unixsocket %[3]s/svc.sock --unixsocketperm 700 --save '' --dbfilename %s --appendonly %s --appendfilename %s --appenddirname %s >/dev/null 2>&1 &",
			r.Account, r.Program, at, engine.Quoted(r.Config.Dump), yesNo(r.Config.Append), engine.Quoted(r.Config.AppendFile), engine.Quoted(r.Config.AppendDir)),
		fmt.Sprintf("until [ \"$(%s ping 2>/dev/null)\" = PONG ]; do sleep 1; done", cli),
		fmt.Sprintf("(umask 077; %s --rdb %s.rdb)", cli, into),
		fmt.Sprintf("%s shutdown nosave", cli),
	}
}

// dial connects to the server that clients reach.
func (r *Upgrade) dial(ctx context.Context) (*resp, error) {
	now, err := readRedisConfig(r.Settings)
	if err != nil {
		return nil, err
	}
	if now.Network == "" {
		return nil, errors.New("the server listens nowhere without TLS")
	}
	return dialRESP(ctx, now.Network, now.Address, now.Password)
}

// Settle has the running server write everything down. One that writes a dump
// when it stops, or appends to files, needs no telling.
func (r *Upgrade) Settle(ctx context.Context, h *engine.Host) error {
	c, err := r.dial(ctx)
	if err == nil {
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(engine.Patience))
		if err = rememberMoments(c, h); err == nil {
			// A server without a moment to save at would drop what comes after SAVE.
			_, err = c.do("CONFIG", "SET", "save", settled)
		}
		if err == nil {
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

// settled are the moments at which a server saves that is about to be stopped.
const settled = "3600 1"

// moments are those at which a server saves.
func moments(c *resp) (string, error) {
	answer, err := c.do("CONFIG", "GET", "save")
	if all := texts(answer); err == nil && len(all) == 2 {
		return all[1], nil
	}
	return "", errors.Join(err, errors.New("the server doesn't say when it saves"))
}

// rememberMoments keeps them for Unsettle; those of the first try count.
func rememberMoments(c *resp, h *engine.Host) error {
	var was string
	if h.ReadFile(inplace.SettingFile, &was) == nil {
		return nil
	}
	was, err := moments(c)
	if err != nil {
		return err
	}
	return h.WriteFile(inplace.SettingFile, was)
}

// Unsettle has a server save when it did before Settle: it goes on with what was to be
// for its end alone. One that was started again has its own configuration.
func (r *Upgrade) Unsettle(ctx context.Context, h *engine.Host) error {
	var was string
	if h.ReadFile(inplace.SettingFile, &was) != nil { // it was set to nothing
		return nil
	}
	c, err := r.dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if now, err := moments(c); err != nil || now != settled {
		return err
	}
	_, err = c.do("CONFIG", "SET", "save", was)
	return err
}

// refusedUs reports whether a server would not have us command it.
func refusedUs(err error) bool {
	var refused respError
	return errors.As(err, &refused) && slices.ContainsFunc([]string{"NOAUTH", "NOPERM", "WRONGPASS", "DENIED", "ERR unknown command"}, func(code string) bool {
		return strings.HasPrefix(string(refused), code)
	})
}

// Answers gives no error if the server serves; that it wants a password is an
// answer.
func (r *Upgrade) Answers(ctx context.Context) error {
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
func (r *Upgrade) privateConfig(h *engine.Host, dir string) string {
	lines := [][2]string{
		{"port", "0"},
		{"unixsocket", h.Private("socket")},
		{"unixsocketperm", "700"},
		{"pidfile", h.Private("pid")},
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
func (r *Upgrade) privately(ctx context.Context, h *engine.Host, dir string, use func(context.Context, *resp) error) error {
	run := engine.Command{User: r.Account, Args: []string{r.Program, "-"}, Stdin: r.privateConfig(h, dir), Dir: dir}
	with := func(use func(context.Context, *resp) error) func(context.Context) error {
		return func(ctx context.Context) error {
			c, err := dialRESP(ctx, "unix", h.Private("socket"), "")
			if err != nil {
				return err
			}
			defer c.Close()
			return use(ctx, c)
		}
	}
	return h.ServeCopy(ctx, run, with(ping), with(use))
}

// ping gives no error when the server has read its data.
func ping(_ context.Context, c *resp) error {
	_, err := c.do("PING")
	return err
}

// Convert has the new server write the data anew: a dump in its own form, and
// append-only files where it is to have some and has none.
func (r *Upgrade) Convert(ctx context.Context, h *engine.Host, dir string) error {
	return r.privately(ctx, h, dir, func(ctx context.Context, c *resp) error {
		if _, err := c.do("SAVE"); err != nil || !r.Config.Append || r.appended(dir) != nil {
			return err
		}
		if _, err := c.do("CONFIG", "SET", "appendonly", "yes"); err != nil {
			return err
		}
		return engine.Await(ctx, func(context.Context) error { return rewritten(c) })
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
