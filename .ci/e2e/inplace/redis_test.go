package inplace_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"svc/.ci/e2e"
)

// redis is a machine with keys of Redis 6.0, which are kept aside, and what that says of
// them.
type redis struct {
	*machine
	facts string
}

func TestRedis(t *testing.T) {
	r := &redis{machine: newMachine(t)}
	r.fill()
	for _, part := range []struct {
		name string
		run  func(*redis)
	}{
		{"refusals", (*redis).refusals},
		{"chain", (*redis).chain},
		{"running", (*redis).running},
		{"bound", (*redis).bound},
		{"cleaned", (*redis).cleaned},
		{"kills", (*redis).kills},
		{"struck", (*redis).struck},
		{"unsettled", (*redis).unsettled},
		{"late", (*redis).late},
		{"full", (*redis).full},
	} {
		r.part(part.name, func(m *machine) { part.run(&redis{m, r.facts}) })
	}
}

// client is a client's command, server a server's name.
func client(engine string, command ...string) []string {
	return append([]string{engine + "-cli", "-s", "/run/redis/" + engine + ".sock"}, command...)
}

func (r *redis) ask(suite, engine string, command ...string) string {
	r.t.Helper()
	return r.on(0, suite, client(engine, command...)...).Line()
}

// answers reports whether a server does.
func (r *redis) answers(suite, engine string) bool {
	return r.command(suite, client(engine, "get", "k1")...).Run() == nil
}

// quit stops a server that svc has started.
func (r *redis) quit(suite string) {
	_ = r.command(suite, client("redis", "shutdown", "nosave")...).Run() // it is cut off
}

// start starts a server as the machine runs it.
func (r *redis) start(suite, engine string) *e2e.Process {
	r.t.Helper()
	return r.serve(suite, engine, "/run/redis/"+engine+".sock", "/etc/"+engine+"/"+engine+".conf", "--daemonize", "no", "--supervised", "no")
}

// runs is a server's command, as its account calls it.
func (r *redis) runs(suite, engine string, options ...string) *exec.Cmd {
	c := r.command(suite, append([]string{"/usr/bin/" + engine + "-server"}, options...)...)
	c.Args = slices.Insert(c.Args, 1, "--userspec="+engine+":"+engine)
	return c
}

func (r *redis) serve(suite, engine, socket string, options ...string) *e2e.Process {
	r.t.Helper()
	p := r.Launch(r.runs(suite, engine, options...))
	r.Until("bash", "-c", `[ "$(chroot "$0" "$1-cli" -s "$2" ping)" = PONG ]`, r.root(suite), engine, socket)
	return p
}

// appends says for all releases whether there are append-only files beside dumps.
func (r *redis) appends(answer string) {
	r.t.Helper()
	r.Shell(0, `sed -i "s/^appendonly .*/appendonly $1/" "${@:2}"`, answer, r.root("bullseye", "etc/redis/redis.conf"), r.root("bookworm", "etc/redis/redis.conf"), r.at("etc/redis/redis.conf"), r.at("etc/valkey/valkey.conf"))
}

// fill makes the keys: a dump, and append-only files beside it.
func (r *redis) fill() {
	r.on(0, "bullseye", "install", "-d", "-o", "redis", "-g", "redis", "/srv/db/redis")
	r.appends("yes")
	server := r.start("bullseye", "redis")
	var commands strings.Builder
	for i := range 500 {
		fmt.Fprintf(&commands, "set k%[1]d v%[1]d\nrpush list a%[1]d\nsadd set m%[1]d\nzadd sorted %[1]d n%[1]d\nhset hash f%[1]d %[1]d\nxadd stream %[1]d-1 a %[1]d\n", i+1)
	}
	commands.WriteString(`setbit bits 1000 1
pfadd seen a b c
set "with space \xff" 1
set short 1 px 1000
set long 1
expireat long 4102444800
set days 1 ex 172800
select 3
set other db
sadd ints 1 2 3
`)
	c := r.command("bullseye", client("redis")...)
	c.Stdin = strings.NewReader(commands.String())
	r.Do(0, c)
	time.Sleep(1100 * time.Millisecond) // until the short one has gone
	r.facts = r.says("bullseye", "redis")
	r.is.True(strings.HasPrefix(r.facts, "510 ")) // keys
	r.ask("bullseye", "redis", "save")
	server.End(syscall.SIGTERM)
	r.Run(0, "mv", r.disk("redis"), r.Path("memory/pristine"))
}

// says is what a server says that is there: every key with its type and what it holds, and
// how long those live that do not for ever.
func (r *redis) says(suite, engine string) string {
	r.t.Helper()
	const facts = `local ask = {string = {'get'}, list = {'lrange', 0, -1}, set = {'sort', 'alpha'}, zset = {'zrange', 0, -1, 'withscores'}, hash = {'hgetall'}, stream = {'xrange', '-', '+'}}
		local keys, all = redis.call('keys', '*'), {}
		table.sort(keys)
		for i, key in ipairs(keys) do
			local kind = redis.call('type', key).ok
			all[i] = key .. kind .. cjson.encode(redis.call(ask[kind][1], key, unpack(ask[kind], 2)))
		end
		local long, days = redis.call('ttl', 'long'), redis.call('ttl', 'days')
		return #keys .. ' ' .. redis.sha1hex(table.concat(all, ' ')) .. ' ' .. tostring(long > 1000000) .. ' ' .. tostring(days > 100000 and days < 172801)`
	return r.ask(suite, engine, "eval", facts, "0") + " " + r.ask(suite, engine, "-n", "3", "eval", facts, "0")
}

// old has the keys of 6.0 be on the machine, of an engine's account, in files of these kinds.
func (r *redis) old(engine, kinds string) {
	r.t.Helper()
	r.clear()
	r.Run(0, "cp", "-a", r.Path("memory/pristine"), r.disk(engine))
	for kind, name := range map[string]string{"rdb": "dump.rdb", "aof": "appendonly.aof"} {
		if !strings.Contains(kinds, kind) {
			r.is.NoErr(os.Remove(r.disk(engine, name)))
		}
	}
	r.on(0, "trixie", "chown", "-R", engine+":"+engine, "/srv/db/"+engine)
	r.was = r.digest(r.disk(engine))
	r.empty()
}

// holds: a server that is started on what there is has everything.
func (r *redis) holds(suite, engine string) {
	r.t.Helper()
	server := r.start(suite, engine)
	r.is.Equal(r.says(suite, engine), r.facts)
	server.End(syscall.SIGTERM)
}

// begin has 6.0 run, with a key that is not on the disk yet.
func (r *redis) begin() *e2e.Process {
	r.t.Helper()
	r.old("redis", "rdb")
	server := r.start("bullseye", "redis")
	r.ask("bullseye", "redis", "set", "k1", "changed")
	return server
}

// ends: a server that svc has started has that key too, and everything else; it is stopped.
func (r *redis) ends(suite string) {
	r.t.Helper()
	r.is.Equal(r.ask(suite, "redis", "get", "k1"), "changed") // what was not on the disk is there
	r.ask(suite, "redis", "set", "k1", "v1")
	r.is.Equal(r.says(suite, "redis"), r.facts)
	r.quit(suite)
}

func (r *redis) refusals() {
	r.appends("no")
	r.old("redis", "rdb")
	r.upgrade(0, "trixie", "redis", "8.0")
	r.is.NoErr(os.RemoveAll(r.disk("redis.svc-old")))
	r.was = r.digest(r.disk("redis"))
	r.empty()
	r.upgrade(1, "trixie", "redis", "valkey/8.1").Has("logical copy key by key") // 8.0's files
	r.Run(0, "cp", "-a", r.disk("redis"), r.disk("valkey"))
	r.on(0, "trixie", "chown", "-R", "valkey:valkey", "/srv/db/valkey")
	r.upgrade(1, "trixie", "valkey", "8.1").Has("RDB version is 12 or newer") // in its own directory
	r.is.NoErr(os.RemoveAll(r.disk("valkey")))
	r.back("redis")

	r.old("redis", "rdb aof")
	now := time.Now()
	r.is.NoErr(os.Chtimes(r.disk("redis/appendonly.aof"), now, now))
	r.upgrade(1, "trixie", "redis", "8.0").Has("set appendonly yes") // append-only files would be passed over
	r.damaged()
	remove := r.adds("trixie", "etc/redis/redis.conf", "replicaof 10.0.0.1 6379\n")
	r.upgrade(1, "trixie", "redis", "8.0") // a replica
	remove()
	r.old("redis", "rdb")
	remove = r.adds("trixie", "etc/redis/redis.conf", "loadmodule /usr/lib/none.so\n")
	r.tells(r.upgrade(1, "trixie", "redis", "8.0"), "module loaded that can.t be.*none.so") // before anything is begun
	remove()
	r.twice()
	r.mute()
}

// damaged: a damaged dump is not upgraded.
func (r *redis) damaged() {
	r.old("redis", "rdb")
	f, err := os.OpenFile(r.disk("redis/dump.rdb"), os.O_WRONLY, 0)
	r.is.NoErr(err)
	_, err = f.WriteAt([]byte("x"), 5000)
	r.is.NoErr(err)
	r.is.NoErr(f.Close())
	r.was = r.digest(r.disk("redis"))
	r.upgrade(1, "trixie", "redis", "8.0")
	r.back("redis")
}

// mute: a server that can't be told to save is refused while it runs, and runs on.
func (r *redis) mute() {
	for _, suite := range []string{"bullseye", "trixie"} {
		defer r.adds(suite, "etc/redis/redis.conf", "save \"\"\nrename-command CONFIG \"\"\nrename-command SAVE hidden\n")()
	}
	server := r.start("bullseye", "redis")
	r.upgrade(1, "trixie", "redis", "8.0").Has("does not take SAVE and CONFIG")
	r.is.True(r.answers("bullseye", "redis"))
	server.End(syscall.SIGTERM)
}

func (r *redis) chain() {
	r.appends("no")
	r.old("redis", "rdb")
	r.upgrade(0, "bookworm", "redis", "7.0")
	r.keeps("redis")
	r.holds("bookworm", "redis")
	r.is.NoErr(os.RemoveAll(r.disk("redis.svc-old")))
	r.empty()
	r.upgrade(0, "trixie", "redis", "8.0")
	r.holds("trixie", "redis")

	r.appends("yes")
	r.old("redis", "rdb aof")
	r.upgrade(0, "trixie", "redis", "8.0")
	r.holds("trixie", "redis")
	r.old("redis", "rdb") // a dump alone where append-only files are to be
	r.upgrade(0, "trixie", "redis", "8.0")
	r.holds("trixie", "redis") // it does not start empty
	r.old("valkey", "rdb")
	r.upgrade(0, "trixie", "valkey", "8.1")
	r.holds("trixie", "valkey")
}

// running: 6.0 runs, with a key that is not on the disk yet.
func (r *redis) running() {
	r.appends("no")
	server := r.begin()
	r.upgrade(0, "trixie", "redis", "8.0")
	server.Wait()
	r.is.Equal(r.ask("trixie", "redis", "get", "k1"), "changed")
	r.ask("trixie", "redis", "set", "k1", "v1")
	r.is.Equal(r.says("trixie", "redis"), r.facts)
	r.ask("trixie", "redis", "save")
	r.loses()
	dump, err := os.Stat(r.backups("one/written.rdb"))
	r.is.NoErr(err)
	r.is.True(dump.Size() > 0) // with what was written
	_, err = os.Stat(r.disk("redis.svc-undone/dump.rdb"))
	r.is.NoErr(err)                          // what clients have written since is kept aside
	r.is.True(!r.answers("trixie", "redis")) // nothing new serves the old data
	server = r.start("bullseye", "redis")
	r.is.Equal(r.ask("bullseye", "redis", "get", "k1"), "changed")
	server.End(syscall.SIGTERM)
}

// bound is a server that listens at one address alone, which is not the usual one.
func (r *redis) bound() {
	r.appends("no")
	for _, suite := range []string{"bullseye", "trixie"} {
		defer r.adds(suite, "etc/redis/redis.conf", "port 6399\nbind 127.0.0.2\nunixsocket \"\"\n")()
	}
	ask := func(command ...string) []string {
		return append([]string{"redis-cli", "-h", "127.0.0.2", "-p", "6399"}, command...)
	}
	r.old("redis", "rdb")
	server := r.Launch(r.runs("bullseye", "redis", "/etc/redis/redis.conf", "--daemonize", "no", "--supervised", "no"))
	r.Until("chroot", append([]string{r.root("bullseye")}, ask("get", "k1")...)...)
	r.upgrade(0, "trixie", "redis", "8.0").Has("`redis-cli -h 127.0.0.2 -p 6399 info keyspace`")
	server.Wait()
	r.is.Equal(r.on(0, "trixie", ask("get", "k1")...).Line(), "v1")
	_ = r.command("trixie", ask("shutdown", "nosave")...).Run() // it is cut off
}

// cleaned is beside a server of the old version that is to live on.
func (r *redis) cleaned() {
	r.appends("no")
	r.old("redis", "rdb")
	r.Run(0, "cp", "-a", r.disk("redis"), r.disk("other"))
	const socket = "/run/redis/other.sock"
	other := r.serve("bullseye", "redis", socket, "--port", "0", "--dir", "/srv/db/other", "--unixsocket", socket)
	server := r.start("bullseye", "redis")
	said := r.upgrade(0, "trixie", "redis", "8.0")
	server.Wait()
	r.cleans("redis", said)
	r.is.Equal(r.says("trixie", "redis"), r.facts)                                       // without what was
	r.is.Equal(r.on(0, "bullseye", "redis-cli", "-s", socket, "get", "k1").Line(), "v1") // the other server lives
	r.quit("trixie")
	other.End(syscall.SIGTERM)
}

// kills: SIGKILL at every step, and back; then at every step, and on.
func (r *redis) kills() {
	r.appends("yes")
	kill := signal(syscall.SIGKILL, 20*time.Millisecond)
	for _, step := range steps {
		r.old("redis", "rdb aof")
		r.during(step, r.upgrades("trixie", "redis", "8.0"), kill)
		r.again(0, "--roll-back")
		r.back("redis")
	}
	r.holds("bullseye", "redis")
	r.old("redis", "rdb aof")
	r.during(steps[0], r.upgrades("trixie", "redis", "8.0"), signal(syscall.SIGKILL, 0))
	for _, step := range steps[1:] {
		r.from(step, r.resumes("trixie", "--resume"), kill)
	}
	r.again(0, "--resume")
	r.holds("trixie", "redis")
}

// struck: the same with a server that runs, which is stopped, and a key that is not on the disk.
func (r *redis) struck() {
	r.appends("no")
	for _, step := range []string{"stop", "exchange", "start"} {
		for _, how := range []string{"--roll-back", "--resume"} {
			server := r.strikes(step, "redis", "8.0", r.begin)
			r.again(0, how)
			suite := "trixie"
			if how == "--roll-back" {
				suite = "bullseye"
				if !server.Runs() || !r.answers(suite, "redis") { // svc can't start it
					server.Wait()
					server = r.start(suite, "redis")
				}
			}
			r.ends(suite)
			server.Wait()
		}
	}
}

// unsettled: a server that can't write its dump is not stopped, and saves when it did before.
func (r *redis) unsettled() {
	r.appends("no")
	server := r.begin()
	was := r.ask("bullseye", "redis", "config", "get", "save")
	r.is.NoErr(os.Chmod(r.disk("redis"), 0o555))
	r.upgrade(1, "trixie", "redis", "8.0").Has("all was rolled back")
	r.is.NoErr(os.Chmod(r.disk("redis"), 0o750))
	r.is.True(server.Runs())
	r.is.Equal(r.ask("bullseye", "redis", "config", "get", "save"), was)
	r.ends("bullseye")
	server.Wait()
}

// late: svc is killed when it has started the new server, which comes to its data long after
// that. The roll-back waits for it, and says so: it does not open the old ones.
func (r *redis) late() {
	r.appends("no")
	const slow = `#!/bin/sh
case $1 in /etc/*) touch /tmp/coming; sleep 9 ;; esac
exec /usr/local/lib/redis-server "$@"
`
	program, aside := r.at("usr/bin/redis-server"), r.at("usr/local/lib/redis-server")
	r.Run(0, "cp", "-L", program, aside)
	r.is.NoErr(os.Remove(program))
	r.is.NoErr(os.WriteFile(program, []byte(slow), 0o755))
	defer func() { r.is.NoErr(os.Rename(aside, program)) }()
	server := r.begin()
	r.during("start", r.upgrades("trixie", "redis", "8.0"), func(svc *os.Process) {
		r.Until("test", "-e", r.at("tmp/coming"))
		r.is.NoErr(svc.Kill())
	})
	server.Wait()
	r.again(0, "--roll-back").Has("has not come to its data yet")
	r.is.True(!r.answers("trixie", "redis"))
	r.start("bullseye", "redis")
	r.ends("bullseye")
}

// twice: data that two servers work on are refused, and both run on.
func (r *redis) twice() {
	r.old("redis", "rdb")
	const socket = "/run/redis/other.sock"
	other := r.serve("bullseye", "redis", socket, "--port", "0", "--dir", "/srv/db/redis", "--unixsocket", socket)
	server := r.start("bullseye", "redis")
	r.upgrade(1, "trixie", "redis", "8.0").Has("2 servers work in /srv/db/redis")
	r.is.True(r.answers("bullseye", "redis"))
	server.End(syscall.SIGTERM)
	other.End(syscall.SIGTERM)
}

func (r *redis) full() {
	r.appends("no")
	r.old("redis", "rdb")
	defer r.Mount("tmpfs", r.at("srv/backups/disk"), "tmpfs", 0, "size=30m,mode=755")()
	r.backup = "/srv/backups/disk"
	r.machine.full(r.at(r.backup), "backup", "redis", "8.0")
	r.back("redis")
}
