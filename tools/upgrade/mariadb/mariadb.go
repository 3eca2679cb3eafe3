// Package mariadb upgrades MariaDB: its newer server takes the files, and mariadb-upgrade
// brings its own tables to their new form.
package mariadb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"svc/assess/datadir"
	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/inplace"
)

// Upgrade is a MariaDB server's data, upgraded by mariadb-upgrade.
type Upgrade struct {
	inplace.Directory
	Socket string            // of the server that clients reach
	Places map[string]string // options that name directories within the data, by the path from there
	Hints  []string          // what a person should know before
}

// mariadbMethod is how the ways on record call what happens here.
const mariadbMethod = "in place, then mariadb-upgrade"

// mariadbServers are where distributions have the server, the new name first.
var mariadbServers = []string{"/usr/sbin/mariadbd", "/usr/libexec/mariadbd", "/usr/sbin/mysqld", "/usr/libexec/mysqld"}

// unset is how the server prints an option that nobody has set.
const unset = "(No default value)"

// Look asks the installed server for its configuration, and the data for their
// version.
func (m *Upgrade) Look(ctx context.Context, h *engine.Host, in engine.Request) error {
	if in.Instance != "" {
		return engine.Refusef("leave --instance away", "a host has one MariaDB server, as svc sees it")
	}
	if in.To.Engine != in.Engine {
		return engine.Refusef("svc db upgrade-path says what ways there are", "MariaDB's files are upgraded in their place, and %s does not read them", in.To.Engine)
	}
	options, err := m.installed(ctx, h)
	if err != nil {
		return err
	}
	m.Data, m.Socket, m.Names = options["datadir"], options["socket"], []string{"mariadbd", "mysqld"}
	m.Account = options["user"]
	if m.Account == unset || m.Account == "" {
		m.Account = "mysql"
	}
	m.Headroom = 512 << 20 // undo logs, temporary tables, and what is rebuilt
	if err := m.places(options); err != nil {
		return err
	}
	if err := m.FindOut(h); err != nil {
		return err
	}
	m.Command = []string{m.Program}
	return m.versions(in, options["version"])
}

// installed finds the server and gives its options, as its configuration has them.
func (m *Upgrade) installed(ctx context.Context, h *engine.Host) (map[string]string, error) {
	i := slices.IndexFunc(mariadbServers, func(name string) bool {
		_, err := os.Stat(name)
		return err == nil
	})
	if i < 0 {
		return nil, engine.Refusef("install the new version's server, and keep it from being started: systemctl mask mariadb", "no MariaDB server is installed")
	}
	m.Program = mariadbServers[i]
	out, err := h.Run(ctx, engine.Command{Args: []string{m.Program, "--verbose", "--help"}})
	if err != nil {
		return nil, engine.Refusef("take what it names out of the configuration: the new version no longer has it", "the installed server does not take its configuration: %v", err)
	}
	options := mariadbOptions(out)
	if !strings.Contains(options["version"], "MariaDB") || options["datadir"] == "" {
		return nil, engine.Refusef("MySQL is upgraded by its own server, when that starts", "%s is no MariaDB server", m.Program)
	}
	return options, nil
}

// mariadbOptions reads the table of options that the server prints.
func mariadbOptions(out string) map[string]string {
	options := map[string]string{}
	_, table, _ := strings.Cut(out, "\nVariables (--variable-name=value)")
	for line := range strings.Lines(table) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), " "); found {
			options[name] = strings.TrimSpace(value)
		}
	}
	return options
}

// places are the options that name directories of the server's files. Each has
// to be within the data, where it is copied with them.
func (m *Upgrade) places(options map[string]string) error {
	m.Places = map[string]string{}
	for _, name := range []string{"innodb-data-home-dir", "innodb-log-group-home-dir", "innodb-undo-directory", "aria-log-dir-path"} {
		value := options[name]
		if value == unset || value == "" {
			continue
		}
		if !filepath.IsAbs(value) {
			value = filepath.Join(options["datadir"], value)
		}
		inside, err := filepath.Rel(options["datadir"], value)
		if err != nil || inside == ".." || strings.HasPrefix(inside, "../") {
			return engine.Refusef("move those files into the data's directory and take the option away", "the server keeps files outside its data: %s is %s", name, value)
		}
		m.Places[name] = inside
	}
	if strings.Contains(options["innodb-data-file-path"], "/") {
		return engine.Refusef("move those files into the data's directory", "innodb-data-file-path names other directories: %s", options["innodb-data-file-path"])
	}
	if log := options["log-bin"]; filepath.IsAbs(log) {
		m.Hints = append(m.Hints, "binary logs are at "+log+": they are not in the backup, and replicas of this server must not be older than it")
	}
	return nil
}

// versions takes the version of the data from their files.
func (m *Upgrade) versions(in engine.Request, installed string) error {
	if _, err := os.Stat(filepath.Join(m.Data, "mysql.ibd")); err == nil {
		return engine.Refusef("dump and load: svc db upgrade-path --engine mysql", "%s is of MySQL 8.0 or newer, which MariaDB does not read", m.Data)
	}
	says, err := inplace.StatementOf("mariadb", m.Data)
	if err != nil {
		return err
	}
	for _, role := range says.Replication {
		if strings.Contains(role, "replica") || strings.Contains(role, "Galera") {
			return engine.Refusef("take it out of replication first, or upgrade a replica by making it anew from its upgraded primary", "this server is a %s", role)
		}
		if strings.HasPrefix(role, datadir.WritesLog) {
			m.Hints = append(m.Hints, "this server "+role+": its replicas, if it has any, have to be of the new version before it is, as none may be older than its primary. They go on by themselves then, and by the GTIDs that they have; after a roll-back those that have read what it leaves behind have to be made anew")
		}
	}
	if err := m.Between(in, "mariadb", says.Version, "mariadb", installed); err != nil {
		return err
	}
	return m.refuseVersioned()
}

// Recheck makes the command anew; the server's program is one of those that are known.
func (m *Upgrade) Recheck(context.Context, *engine.Host) error {
	m.Command = []string{m.Program}
	return m.Still(mariadbServers...)
}

// About says what the upgrade is of.
func (m *Upgrade) About() engine.About {
	return m.Describe(mariadbMethod, "", append(m.Gone(), m.Hints...))
}

// Steps exchange the directory for its upgraded copy.
func (m *Upgrade) Steps(h *engine.Host) []engine.Step { return m.Exchange(h, m) }

// Afterwards says what a person can do when all is done.
func (m *Upgrade) Afterwards(h *engine.Host) []string {
	return m.Advise(h, "look at it: `mariadb --socket="+engine.Quoted(m.Socket)+" -e 'select version()'`, with -p where root has a password")
}

// Written compares the new data with what took their place.
func (m *Upgrade) Written(ctx context.Context, h *engine.Host) (engine.Written, error) {
	return m.Compare(ctx, h, m)
}

// mariadbCounters count the statements that write.
const mariadbCounters = `select variable_name, variable_value from information_schema.global_status where variable_value > 0 and variable_name in
	('COM_INSERT', 'COM_INSERT_SELECT', 'COM_UPDATE', 'COM_UPDATE_MULTI', 'COM_DELETE', 'COM_DELETE_MULTI', 'COM_REPLACE', 'COM_REPLACE_SELECT', 'COM_LOAD', 'COM_TRUNCATE', 'COM_CALL_PROCEDURE',
	'COM_CREATE_DB', 'COM_CREATE_TABLE', 'COM_ALTER_TABLE', 'COM_DROP_TABLE', 'COM_DROP_DB', 'COM_CREATE_USER', 'COM_GRANT', 'COM_REVOKE')`

// Counted asks as root does over the socket. What a server has counted that was
// started since is in its files.
func (m *Upgrade) Counted(ctx context.Context, h *engine.Host) (signs []string, err error) {
	out, err := m.tell(ctx, h, mariadbCounters)
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		signs = append(signs, value+" of "+strings.ToLower(strings.TrimPrefix(name, "COM_")))
	}
	return signs, err
}

// ClientsData are the files of databases, and not of the server's own ones.
func (m *Upgrade) ClientsData(name string) bool {
	schema, _, inside := strings.Cut(name, "/")
	return inside && !slices.Contains([]string{"mysql", "sys", "performance_schema"}, schema) && !strings.HasPrefix(schema, "#")
}

// DumpKept starts a server that only root and its account reach, dumps all, and stops it.
func (m *Upgrade) DumpKept(dir, into string) []string {
	at := engine.Quoted(dir)
	socket := "--socket=" + at + "/svc.sock"
	return []string{
		fmt.Sprintf("runuser -u %s -- %s --datadir=%s %s --pid-file=%[3]s/svc.pid --skip-networking --skip-grant-tables --skip-log-bin --skip-slave-start --skip-log-error --loose-wsrep-on=OFF >/dev/null 2>&1 &", m.Account, m.Program, at, socket),
		fmt.Sprintf("until mariadb-admin --no-defaults %s --silent ping; do sleep 1; done", socket),
		fmt.Sprintf("(umask 077; mariadb-dump --no-defaults %s --all-databases --routines --events >%s.sql)", socket, into),
		fmt.Sprintf("mariadb-admin --no-defaults %s shutdown", socket),
	}
}

// Settle has the running server purge and merge all there is to when it stops.
// Where nobody may tell it so, it stops as it is configured to: what then is
// missing shows when the backup is read.
func (m *Upgrade) Settle(ctx context.Context, h *engine.Host) error {
	var was string
	if h.ReadFile(inplace.SettingFile, &was) != nil { // that of the first try counts
		var err error
		if was, err = m.tell(ctx, h, "SELECT @@global.innodb_fast_shutdown;"); err != nil || len(was) != 1 {
			return nil
		}
		if err := h.WriteFile(inplace.SettingFile, was); err != nil {
			return err
		}
	}
	_, _ = m.tell(ctx, h, "SET GLOBAL innodb_fast_shutdown=0;")
	return nil
}

// Unsettle has a server stop as it did before Settle: it goes on with what was to be for
// its end alone, which takes long. One that was started again has its own configuration.
func (m *Upgrade) Unsettle(ctx context.Context, h *engine.Host) error {
	var was string
	if h.ReadFile(inplace.SettingFile, &was) != nil { // it was set to nothing
		return nil
	}
	if len(was) != 1 || was < "0" || was > "3" {
		return fmt.Errorf("%q is no value of innodb_fast_shutdown", was)
	}
	if now, err := m.tell(ctx, h, "SELECT @@global.innodb_fast_shutdown;"); err != nil || now != "0" {
		return err
	}
	_, err := m.tell(ctx, h, "SET GLOBAL innodb_fast_shutdown="+was+";")
	return err
}

// tell has the running server execute a statement, as root does over the socket, and
// gives what it says. A newer client would want TLS of a server that may have none.
func (m *Upgrade) tell(ctx context.Context, h *engine.Host, statement string) (string, error) {
	out, err := h.Run(ctx, engine.Command{
		Args: []string{"mariadb", "--connect-timeout=10", "--local-infile=0", "--skip-ssl-verify-server-cert", "--socket=" + m.Socket, "--batch", "--skip-column-names"}, // no server gets root's files
		Env:  []string{"HOME=/root"}, Stdin: statement,
	})
	return strings.TrimSpace(out), err
}

// privately runs the new server on a directory, for svc alone, with the server's
// own configuration; nothing of it may reach the data that are in use.
func (m *Upgrade) privately(ctx context.Context, h *engine.Host, dir string, use func(context.Context) error) error {
	args := []string{
		m.Program, "--datadir=" + dir, "--socket=" + h.Private("socket"), "--pid-file=" + h.Private("pid"),
		"--skip-networking", "--skip-grant-tables", "--skip-log-bin", "--skip-slave-start", "--skip-log-error", "--init-file=/dev/null",
		"--general-log=0", "--slow-query-log=0", "--innodb-fast-shutdown=1", "--loose-wsrep-on=OFF",
	}
	for option, inside := range m.Places {
		args = append(args, fmt.Sprintf("--%s=%s", option, filepath.Join(dir, inside)))
	}
	return h.ServeCopy(ctx, engine.Command{User: m.Account, Args: args, Dir: dir}, func(context.Context) error { return mariadbGreets(h.Private("socket")) }, use)
}

// Answers gives no error if the server greets.
func (m *Upgrade) Answers(context.Context) error { return mariadbGreets(m.Socket) }

// mariadbGreets gives no error if a server greets at a socket: it does so before
// anybody says who they are.
func mariadbGreets(socket string) error {
	c, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	head := make([]byte, 5) // length, sequence, form of the greeting
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.ReadFull(c, head); err != nil || head[4] != 10 {
		return fmt.Errorf("no server greets at %s: %w", socket, errors.Join(err, errGreeting))
	}
	return nil
}

var errGreeting = errors.New("not what MariaDB says first")

// query asks the private server; each row is the columns that it printed.
func (m *Upgrade) query(ctx context.Context, h *engine.Host, sql string) (rows [][]string, err error) {
	out, err := h.Run(ctx, engine.Command{
		User:  m.Account,
		Args:  []string{"mariadb", "--no-defaults", "--socket=" + h.Private("socket"), "--default-character-set=utf8mb4", "--batch", "--skip-column-names"},
		Stdin: sql,
	})
	for line := range strings.Lines(out) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for i := range row {
			row[i] = unescape.Replace(row[i])
		}
		rows = append(rows, row)
	}
	return rows, err
}

// unescape undoes what the client does to values in a batch.
var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\0`, "\x00")

// mariadbKinds are what a server holds besides rows: a kind, a name and values
// that no upgrade changes. Accounts are read where every version has them.
var mariadbKinds = []string{
	"select 'database', schema_name, concat_ws(' ', default_character_set_name, default_collation_name) from information_schema.schemata where schema_name not in (@own)",
	"select 'account', concat(user, '@', host), concat_ws(' ', if(plugin = '', 'mysql_native_password', plugin), sha2(if(authentication_string = '', password, authentication_string), 256)) from mysql.user",
	"select 'grant', concat(user, '@', host, ' on ', db), concat(select_priv, insert_priv, update_priv, delete_priv, create_priv, drop_priv, grant_priv, index_priv, alter_priv, execute_priv) from mysql.db",
	"select 'grant', concat(user, '@', host, ' on ', db, '.', table_name), concat(table_priv, ' ', column_priv) from mysql.tables_priv",
	"select 'grant', concat(user, '@', host, ' on ', db, '.', table_name, '.', column_name), column_priv from mysql.columns_priv",
	"select 'grant', concat(user, '@', host, ' on ', routine_type, ' ', db, '.', routine_name), proc_priv from mysql.procs_priv",
	"select 'role', concat(role, ' of ', user, '@', host), admin_option from mysql.roles_mapping",
	"select 'routine', concat(type, ' ', db, '.', name), concat_ws(' ', definer, security_type, is_deterministic, sha2(concat_ws(';', param_list, returns, body), 256)) from mysql.proc where db not in (@own)",
	"select 'event', concat(db, '.', name), concat_ws(' ', definer, status, interval_value, interval_field, execute_at, sha2(body, 256)) from mysql.event where db not in (@own)",
	"select 'trigger', concat(trigger_schema, '.', trigger_name), concat_ws(' ', action_timing, event_manipulation, event_object_table, definer, sha2(action_statement, 256)) from information_schema.triggers where trigger_schema not in (@own)",
	"select 'view', concat(table_schema, '.', table_name), concat_ws(' ', definer, security_type, sha2(view_definition, 256)) from information_schema.views where table_schema not in (@own)",
	"select 'function', name, dl from mysql.func",
	"select 'server', server_name, concat_ws(' ', host, db, username, port) from mysql.servers",
}

// ownSchemas are the server's own.
const ownSchemas = "'mysql', 'sys', 'information_schema', 'performance_schema'"

// Stock takes a checksum and the count of every table, and of all else a digest.
func (m *Upgrade) Stock(ctx context.Context, h *engine.Host, dir string) (inplace.Stock, error) {
	has := inplace.Stock{}
	err := m.privately(ctx, h, dir, func(ctx context.Context) error {
		rows, err := m.query(ctx, h, strings.ReplaceAll(strings.Join(mariadbKinds, ";\n"), "@own", ownSchemas))
		if err != nil {
			return err
		}
		for _, row := range rows {
			if len(row) == 3 {
				has[row[0]+" "+row[1]] = row[2]
			}
		}
		return m.tables(ctx, h, has)
	})
	return has, err
}

// counted are the engines whose tables are read: others keep nothing over a
// restart, or have their rows elsewhere.
var counted = []string{"InnoDB", "MyISAM", "Aria", "ARCHIVE", "CSV", "ROCKSDB"}

// tables adds every table: its engine, its count and its checksum.
func (m *Upgrade) tables(ctx context.Context, h *engine.Host, has inplace.Stock) error {
	tables, err := m.query(ctx, h, "select table_schema, table_name, ifnull(engine, 'no engine'), table_type from information_schema.tables where table_type <> 'VIEW' and table_schema not in ("+ownSchemas+")")
	if err != nil {
		return err
	}
	var read strings.Builder
	var names []string
	for _, t := range tables {
		if len(t) != 4 {
			return fmt.Errorf("listing tables: %q", t)
		}
		what, name := fmt.Sprintf("table %s.%s", t[0], t[1]), identifier(t[0])+"."+identifier(t[1])
		has[what] = t[2]
		if slices.Contains(counted, t[2]) {
			names = append(names, what)
			fmt.Fprintf(&read, "checksum table %s extended; select count(*) from %s;\n", name, name)
		}
	}
	rows, err := m.query(ctx, h, read.String())
	if err != nil {
		return fmt.Errorf("reading every table: %w", err)
	}
	return count(has, names, rows)
}

// count adds what two rows say of each table: a checksum, and how many rows.
func count(s inplace.Stock, names []string, rows [][]string) error {
	if len(rows) != 2*len(names) {
		return fmt.Errorf("reading every table: %d answers for %d tables", len(rows), len(names))
	}
	for i, what := range names {
		sum, count := rows[2*i], rows[2*i+1]
		if len(sum) != 2 || len(count) != 1 || sum[1] == "NULL" {
			return fmt.Errorf("reading %s: the server can't", what)
		}
		s[what] += fmt.Sprintf(", %s rows, checksum %s", count[0], sum[1])
	}
	return nil
}

// identifier quotes a name.
func identifier(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Convert has mariadb-upgrade bring the server's own tables, and those that have
// to, to the new form. Distributions run it as root, and the note that it leaves among
// the data is root's then: it is removed from the copy, and made anew by the account.
func (m *Upgrade) Convert(ctx context.Context, h *engine.Host, dir string) error {
	for _, note := range datadir.UpgradeNotes {
		if err := engine.RemoveFile(filepath.Join(dir, note)); err != nil {
			return err
		}
	}
	return m.privately(ctx, h, dir, func(ctx context.Context) error {
		_, err := h.Run(ctx, engine.Command{User: m.Account, Args: []string{"mariadb-upgrade", "--no-defaults", "--socket=" + h.Private("socket")}})
		return err
	})
}

// Same lets accounts come in addition: newer versions have some of their own.
func (m *Upgrade) Same(before, after inplace.Stock) error {
	after = maps.Clone(after)
	maps.DeleteFunc(after, func(what, _ string) bool {
		_, there := before[what]
		return !there && strings.HasPrefix(what, "account ")
	})
	return inplace.Differences("the upgraded copy", before, after)
}
