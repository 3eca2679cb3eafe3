package redis

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/assess/conf"
	"svc/tools/upgrade/inplace"
	"svc/tools/upgrade/setsum"
)

func FuzzRESP(f *testing.F) {
	for _, seed := range []string{"+OK\r\n", "-ERR no\r\n", ":12\r\n", "$3\r\nabc\r\n", "$-1\r\n", "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nk\r\n", "*-1\r\n", "$99999999999\r\n", "*1048576\r\n", "\r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := readRESP(bufio.NewReader(strings.NewReader(text)), 0)
		if s, is := v.(string); is && err == nil && len(s) > len(text) {
			t.Fatalf("%q has no %q", text, s)
		}
	})
}

func TestRESP(t *testing.T) {
	is := is.New(t)
	r := bufio.NewReader(strings.NewReader("*3\r\n$2\r\na\n\r\n:7\r\n*1\r\n+x\r\n" + "-NOAUTH who are you\r\n" + "$2\r\nabc\r\n"))
	v, err := readRESP(r, 0)
	is.NoErr(err)
	is.Equal(v, []any{"a\n", int64(7), []any{"x"}})
	v, err = readRESP(r, 0)
	is.NoErr(err)
	refused, isError := v.(respError)
	is.True(isError && refusedUs(refused))
	_, err = readRESP(r, 0)
	is.True(err != nil) // longer than it says
	_, err = readRESP(bufio.NewReader(strings.NewReader(strings.Repeat("*1\r\n", 100))), 0)
	is.Equal(err, errRESP) // no end of lists in lists
}

func FuzzRedisWords(f *testing.F) {
	for _, seed := range []string{`save 900 1`, `save ""`, `requirepass "a\x20b\n\"c"`, `user 'it\'s'`, `# comment`, `dir /var # not one`, `"open`, `"\x`, `'\`, `"\x2`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, err := conf.RedisWords(line)
		if err != nil {
			return
		}
		again, err := conf.RedisWords(quoteAll(words))
		if err != nil || strings.Join(again, "\x00") != strings.Join(words, "\x00") {
			t.Fatalf("%q is %q, and then %q (%v)", line, words, again, err)
		}
	})
}

func TestRedisWords(t *testing.T) {
	is := is.New(t)
	for line, want := range map[string][]string{
		`save 3600 1 300 100`: {"save", "3600", "1", "300", "100"}, `save ""`: {"save", ""}, `# dir /x`: nil, ``: nil,
		`requirepass "a b\x41\n\"c\\"`: {"requirepass", "a bA\n\"c\\"}, `dir 'it\'s \n'`: {"dir", `it's \n`},
	} {
		words, err := conf.RedisWords(line)
		is.NoErr(err)
		is.Equal(words, want)
	}
	_, err := conf.RedisWords(`dir "/var`)
	is.Equal(err, conf.ErrQuotes)
}

func TestQuotedWordsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := string(rapid.SliceOf(rapid.Byte()).Draw(t, "word"))
		words, err := conf.RedisWords("dir " + quoteRedis(word))
		if err != nil || len(words) != 2 || words[1] != word {
			t.Fatalf("%q came back as %q (%v)", word, words, err)
		}
	})
}

func TestRedisConfiguration(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		is.NoErr(os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	main := write("redis.conf", "port 0\nDIR /srv/redis\nappendonly no\nsave 900 1\ninclude "+dir+"/more-*.conf\nappendfilename \"a.aof\"\n")
	write("more-1.conf", "appendonly yes\nrequirepass \"geheim\"\nunixsocket /run/r.sock\nsave \"\"\nloadmodule /m.so \"a b\"\ncluster-enabled yes\n")
	c, err := readRedisConfig(main)
	is.NoErr(err)
	is.Equal(c, redisConfig{
		Dir: "/srv/redis", Dump: "dump.rdb", Append: true, AppendFile: "a.aof", AppendDir: "appendonlydir", Databases: "16", Modules: []string{`"/m.so" "a b"`},
		Network: "unix", Address: "/run/r.sock", Password: "geheim", Locked: true, Roles: []string{"a node of a cluster"},
	})
	c, err = readRedisConfig(write("plain.conf", "port 7000\n"))
	is.NoErr(err)
	is.Equal(c.Address, "127.0.0.1:7000")
	is.True(c.Saves) // at moments of its own
	for bound, want := range map[string]string{
		"* -::*": "127.0.0.1:6379", "10.0.0.5 127.0.0.1": "127.0.0.1:6379", "10.0.0.5 10.0.0.6": "10.0.0.5:6379",
		"-10.0.0.5 10.0.0.6": "10.0.0.6:6379", "-10.0.0.5": "10.0.0.5:6379", "-::*": "[::1]:6379",
	} {
		c, err = readRedisConfig(write("bound.conf", "unixsocket /run/r.sock\nbind "+bound+"\nunixsocket \"\"\n"))
		is.NoErr(err)
		is.Equal(c.Address, want)
	}
	c, err = readRedisConfig(write("tls.conf", "port 0\ntls-port 6379\n"))
	is.NoErr(err)
	r := &Upgrade{Config: c}
	is.NoErr(r.reachable()) // it does not run
	r.Runs = true
	is.True(r.reachable() != nil)
	_, err = readRedisConfig(write("loop.conf", "include "+dir+"/loop.conf\n"))
	is.True(err != nil)
}

func TestKeysThatExpiredAreNotMissed(t *testing.T) {
	is, r := is.New(t), &Upgrade{}
	now := time.Now()
	at := func(in time.Duration) string { return "database 0 " + expiry(now.Add(in).UnixMilli()) }
	was := inplace.Stock{"database 0": "2 keys", at(-time.Hour): "1 keys", at(time.Hour): "3 keys"}
	is.NoErr(r.Same(was, inplace.Stock{"database 0": "2 keys", at(time.Hour): "3 keys"}))
	is.NoErr(r.Same(was, inplace.Stock{"database 0": "2 keys", at(time.Hour): "3 keys", at(0): "1 keys"})) // about to
	is.True(r.Same(was, inplace.Stock{"database 0": "2 keys"}) != nil)                                     // gone before its time
	is.True(r.Same(was, inplace.Stock{"database 0": "2 keys", at(time.Hour): "2 keys"}) != nil)
	is.True(r.Same(was, inplace.Stock{"database 0": "2 keys", at(time.Hour): "3 keys", at(2 * time.Hour): "1 keys"}) != nil)
	is.Equal(expiry(-1), "")
}

func TestTheOrderOfKeysDoesNotCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digests := rapid.SliceOf(rapid.Custom(func(t *rapid.T) (d [32]byte) {
			copy(d[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "digest"))
			return d
		})).Draw(t, "digests")
		var a, b setsum.Sum
		for i := range digests {
			a.Add(digests[i])
			b.Add(digests[len(digests)-1-i])
		}
		if a.String() != b.String() {
			t.Fatal("the order counts")
		}
	})
}

func TestWhichFilesAServerWouldRead(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	r := Upgrade{Directory: inplace.Directory{Data: dir}, Config: redisConfig{Dump: "dump.rdb", AppendFile: "a.aof", AppendDir: "aofs"}}
	is.True(r.files() != nil) // nothing is there
	is.NoErr(os.WriteFile(filepath.Join(dir, "dump.rdb"), nil, 0o600))
	is.NoErr(r.files())
	is.NoErr(os.MkdirAll(filepath.Join(dir, "aofs"), 0o700))
	is.NoErr(os.WriteFile(filepath.Join(dir, "aofs", "a.aof.manifest"), nil, 0o600))
	later := time.Now().Add(time.Hour)
	is.NoErr(os.Chtimes(filepath.Join(dir, "aofs", "a.aof.manifest"), later, later))
	is.True(r.files() != nil) // they would be passed over
	r.Config.Append = true
	is.NoErr(r.files())
	is.Equal(len(r.Hints), 0)
	is.NoErr(os.RemoveAll(filepath.Join(dir, "aofs")))
	is.NoErr(r.files())
	is.Equal(len(r.Hints), 1) // a server would start empty
}
