package redis

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"svc/assess/conf"
	"svc/backend/sliced"
	"svc/tools/upgrade/safefile"
)

// Bounds of a configuration: of a file, and of files that include others.
const (
	maxRedisConfig   = 4 << 20
	maxRedisIncludes = 8
)

// readRedisConfig reads a configuration and what it includes. The last word on a
// thing counts.
func readRedisConfig(name string) (redisConfig, error) {
	c := redisConfig{Dump: "dump.rdb", AppendFile: "appendonly.aof", AppendDir: "appendonlydir", Saves: true, Databases: "16", Network: "tcp", Address: "127.0.0.1:6379"}
	port, saves, bound := "6379", []string{}, []string{}
	err := eachRedisLine(name, 0, func(words []string) {
		value := words[1]
		switch strings.ToLower(words[0]) {
		case "dir":
			c.Dir = value
		case "dbfilename":
			c.Dump = value
		case "appendonly":
			c.Append = strings.EqualFold(value, "yes")
		case "appendfilename":
			c.AppendFile = value
		case "appenddirname":
			c.AppendDir = value
		case "save":
			saves = append(saves, value)
		case "databases":
			c.Databases = value
		case "loadmodule":
			c.Modules = append(c.Modules, quoteAll(words[1:]))
		case "requirepass":
			c.Password, c.Locked = value, value != ""
		case "port":
			port = value
		case "bind":
			bound = words[1:]
		case "unixsocket":
			if c.Network, c.Address = "unix", value; value == "" {
				c.Network = "tcp"
			}
		case "replicaof", "slaveof":
			if !strings.EqualFold(value, "no") {
				c.Roles = append(c.Roles, "a replica of "+strings.Join(words[1:], " "))
			}
		case "cluster-enabled":
			if strings.EqualFold(value, "yes") {
				c.Roles = append(c.Roles, "a node of a cluster")
			}
		}
	})
	c.Saves = len(saves) == 0 || saves[len(saves)-1] != ""
	if c.Network == "tcp" {
		c.Address = net.JoinHostPort(local(bound), port)
	}
	if c.Network == "tcp" && port == "0" {
		c.Network = ""
	}
	return c, err
}

// local is an address of this host by which a server is reached that listens at some, or at
// all where none is named. One with a hyphen need not be there.
func local(bound []string) string {
	at := "127.0.0.1"
	for i, address := range slices.Backward(bound) {
		name, optional := strings.CutPrefix(address, "-")
		switch name {
		case "127.0.0.1", "0.0.0.0", "*", "localhost":
			return "127.0.0.1"
		case "::", "::*":
			name = "::1"
		}
		if !optional || i == len(bound)-1 {
			at = name
		}
	}
	return at
}

// eachRedisLine gives the words of each line of a configuration, those that
// have at least two.
func eachRedisLine(name string, depth int, fn func(words []string)) error {
	if depth > maxRedisIncludes {
		return fmt.Errorf("reading %s: too many files include another", name)
	}
	text, _, err := safefile.Read(name, maxRedisConfig)
	if err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	for words, err := range conf.Redis(string(text)) {
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		switch {
		case len(words) < 2:
		case strings.EqualFold(words[0], "include"):
			err = eachIncluded(words[1], depth, fn)
		default:
			fn(words)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachIncluded gives the lines of the files that a pattern names.
func eachIncluded(pattern string, depth int, fn func(words []string)) error {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return fmt.Errorf("including %s: %w", pattern, err)
	}
	for _, name := range names {
		if err := eachRedisLine(name, depth+1, fn); err != nil {
			return err
		}
	}
	return nil
}

// quoteRedis writes a word as the server reads it.
func quoteRedis(word string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(word) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\x%02x`, c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func quoteAll(words []string) string {
	return strings.Join(sliced.Map(words, quoteRedis), " ")
}
