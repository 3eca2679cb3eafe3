package datadir

import (
	"iter"
	"path"
	"slices"
	"strings"

	"svc/assess/conf"
)

// settings are the settings that a move has to know, by engine.
var settings = map[string][]string{
	"postgresql": {"shared_preload_libraries", "wal_level", "password_encryption", "max_connections", "archive_mode"},
	"mysql":      {"default_authentication_plugin", "plugin-load", "plugin-load-add", "plugin_load_add", "log_bin", "log-bin", "server-id", "server_id", "gtid_mode", "wsrep_on", "innodb_page_size", "lower_case_table_names", "character-set-server", "collation-server"},
	"redis":      {"loadmodule", "appendonly", "replicaof", "slaveof", "cluster-enabled", "maxmemory-policy"},
}

// family is the engine whose settings an engine has.
var family = map[string]string{"mariadb": "mysql", "valkey": "redis"}

// configuration reads the configuration files' settings that a move has to know,
// and how PostgreSQL's clients authenticate. Values that may be secrets are not
// among them.
func (r *reader) configuration(src Source) {
	engine := src.Engine
	if other := family[engine]; other != "" {
		engine = other
	}
	for _, name := range r.configurationFiles(src) {
		b, err := head(r.fs, name, maxText)
		if err != nil {
			r.failed(name, err)
			continue
		}
		if path.Base(name) == "pg_hba.conf" {
			for _, method := range authMethods(string(b)) {
				r.s.Auth = count(r.s.Auth, method)
			}
			continue
		}
		r.settings(engine, name, string(b))
	}
}

// configurationFiles are the files of a database's configuration, by path.
func (r *reader) configurationFiles(src Source) []string {
	config := Inside(src.Config)
	switch {
	case src.Engine == "postgresql" && src.Config != "":
		return []string{path.Join(config, "postgresql.conf"), path.Join(r.dir, "postgresql.auto.conf"), path.Join(config, "pg_hba.conf")}
	case src.Engine == "postgresql":
		return []string{path.Join(r.dir, "postgresql.conf"), path.Join(r.dir, "postgresql.auto.conf"), path.Join(r.dir, "pg_hba.conf")}
	case src.Config == "" || settings[src.Engine] == nil && family[src.Engine] == "":
		return nil
	}
	return []string{config}
}

// said are the settings of a file by engine: a name and its value, without quotes.
var said = map[string]func(text string) iter.Seq2[string, string]{
	"postgresql": func(text string) iter.Seq2[string, string] { return values(conf.PostgreSQL(text)) },
	"mysql":      func(text string) iter.Seq2[string, string] { return values(conf.MySQL(text)) },
	"redis": func(text string) iter.Seq2[string, string] {
		return func(yield func(string, string) bool) {
			for words, err := range conf.Redis(text) {
				if err == nil && !yield(words[0], strings.Join(words[1:], " ")) {
					return
				}
			}
		}
	},
}

func values(lines iter.Seq[conf.Line]) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for l := range lines {
			if !yield(l.Key, strings.Trim(l.Value, `'"`)) {
				return
			}
		}
	}
}

// settings notes the settings of a file; of one that comes twice, both.
func (r *reader) settings(engine, name, text string) {
	for key, value := range said[engine](text) {
		if !slices.Contains(settings[engine], key) {
			continue
		}
		r.s.Facts = append(r.s.Facts, Fact{"setting " + key, value, "/" + name})
		if key == "replicaof" || key == "slaveof" {
			r.s.Replication = append(r.s.Replication, "replica")
		}
	}
}

// authMethods are the methods of pg_hba.conf's lines.
func authMethods(text string) (methods []string) {
	for line := range strings.Lines(text) {
		if words, at := conf.HBA(line); at >= 0 {
			methods = append(methods, words[at])
		}
	}
	return methods
}
