package postgresql

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/postgresql/session"
)

// pgState is what a running server says of its cluster.
type pgState struct {
	Super     bool   `json:"super"`
	Superuser string `json:"superuser"`
	Archives  bool   `json:"archives"`
	Socket    string `json:"socket"`
	Recovery  bool   `json:"recovery"`
	Replicas  int    `json:"replicas"`
	Slots     int    `json:"slots"`
	Incoming  int    `json:"incoming"`
	Prepared  int    `json:"prepared"`
	Spaces    int    `json:"spaces"`
	Hidden    int    `json:"hidden"`
	Checksums string `json:"checksums"`
	Segment   int64  `json:"segment"`
	Encoding  string `json:"encoding"`
	Collate   string `json:"collate"`
	CType     string `json:"ctype"`
	Provider  string `json:"provider"`
	ICU       string `json:"icu"`
	Alone     bool   `json:"alone"`
	Locks     int64  `json:"locks"`       // that a transaction may have
	Clients   int64  `json:"connections"` // that the server lets in
}

// pgAsk asks for a pgState; %[1]s is how the locale of a database is called.
const pgAsk = `select json_build_object('super', (select rolsuper from pg_roles where rolname = current_user), 'superuser', (select rolname from pg_roles where oid = 10),
	'archives', current_setting('archive_mode') <> 'off', 'socket', btrim(split_part(current_setting('unix_socket_directories'), ',', 1)), 'recovery', pg_is_in_recovery(), 'replicas', (select count(*) from pg_stat_replication),
	'slots', (select count(*) from pg_replication_slots), 'incoming', (select count(*) from pg_subscription), 'prepared', (select count(*) from pg_prepared_xacts),
	'spaces', (select count(*) - 2 from pg_tablespace), 'hidden', (select count(*) from pg_database where not datallowconn and datname <> 'template0'),
	'alone', concat(current_setting('shared_preload_libraries'), current_setting('session_preload_libraries'), current_setting('local_preload_libraries')) = '',
	'locks', current_setting('max_locks_per_transaction')::int, 'connections', current_setting('max_connections')::int,
	'checksums', current_setting('data_checksums'), 'segment', pg_size_bytes(current_setting('wal_segment_size')),
	'encoding', pg_encoding_to_char(encoding), 'collate', datcollate, 'ctype', datctype, 'provider', %[1]s) from pg_database where datname = 'template0'`

// pgLocale is how a version calls a database's locale.
func pgLocale(major int) string {
	switch {
	case major >= 17:
		return "datlocprovider, 'icu', coalesce(datlocale, '')"
	case major >= 15:
		return "datlocprovider, 'icu', coalesce(daticulocale, '')"
	}
	return "'c', 'icu', ''"
}

// ask asks a running server; control is the file by which a version knows an
// extension.
func (g *pgRun) ask(ctx context.Context, live session.Session, control func(version, extension string) string) error {
	p := g.p
	states, err := session.Query[pgState](ctx, live, "template1", fmt.Sprintf(pgAsk, pgLocale(p.Old.Major())))
	if err != nil || len(states) != 1 {
		return engine.Refusef("let it in over the local socket, as Debian does: local all "+p.Owner+" peer", "the account %s can't ask the server: %v", p.Owner, err)
	}
	state := states[0]
	p.Superuser, p.Socket, p.Archives, p.Alone = state.Superuser, state.Socket, state.Archives, state.Alone
	p.Initdb = state.initdb(p.Old)
	if refused := state.refuse(p); refused != nil {
		return refused
	}
	relations, err := g.askDatabases(ctx, live, control)
	p.Locks = max(state.Locks, relations/max(1, state.Clients)+usualLocks)
	return err
}

// initdb are the arguments for a cluster of the same form.
func (s pgState) initdb(c session.Cluster) []string {
	args := []string{"--encoding", s.Encoding, "--lc-collate", s.Collate, "--lc-ctype", s.CType}
	switch s.Provider {
	case "i":
		args = append(args, "--locale-provider", "icu", "--icu-locale", s.ICU)
	case "b":
		args = append(args, "--locale-provider", "builtin", "--builtin-locale", s.ICU)
	}
	if s.Checksums == "on" {
		args = append(args, "--data-checksums")
	}
	if s.Segment != 16<<20 {
		args = append(args, "--wal-segsize", strconv.FormatInt(s.Segment>>20, 10))
	}
	if info, err := os.Stat(c.Data); err == nil && info.Mode().Perm()&0o050 != 0 && c.Major() >= 11 {
		args = append(args, "--allow-group-access")
	}
	return args
}

// refuse says what of the server's state stands in the way.
func (s pgState) refuse(p *Upgrade) error {
	var refused engine.Refusals
	for _, c := range []struct {
		bad           bool
		what, instead string
	}{
		{!s.Super, "the role " + p.Owner + " is no superuser", "give it back what initdb gave it"},
		{s.Recovery, "the cluster is a replica", "upgrade the primary, and make the replica again"},
		{s.Replicas > 0, fmt.Sprintf("%d replicas or backups are connected", s.Replicas), "stop them: after the upgrade a replica has to be made again"},
		{s.Slots > 0, fmt.Sprintf("%d replication slots are there, which the new cluster would not have", s.Slots), "drop them: select pg_drop_replication_slot(slot_name) from pg_replication_slots"},
		{s.Incoming > 0, fmt.Sprintf("%d subscriptions are there, whose state the new cluster would not have", s.Incoming), "drop them, and make them again afterwards"},
		{s.Prepared > 0, fmt.Sprintf("%d prepared transactions are open", s.Prepared), "commit or roll back what pg_prepared_xacts lists"},
		{s.Spaces > 0, fmt.Sprintf("%d tablespaces are there, whose files are outside the cluster", s.Spaces), "move what they hold: alter table … set tablespace pg_default, then drop tablespace"},
		{s.Hidden > 0, fmt.Sprintf("%d databases let nobody connect", s.Hidden), "alter database … allow_connections true"},
		{!engine.Safe.MatchString(s.Superuser), "the first superuser's name has more than letters and digits", "alter role … rename to postgres"},
	} {
		if c.bad {
			refused = append(refused, engine.Refusal{What: c.what, Instead: c.instead})
		}
	}
	return refused.Err()
}

// pgAskDatabases lists databases.
const pgAskDatabases = `select json_build_object('Name', datname) from pg_database where datallowconn order by datname collate "C"`

// pgInside is what is asked of each database: its extensions, and how many relations
// it has.
const pgInside = `select json_build_object('Extensions', (select coalesce(json_agg(extname order by extname), '[]') from pg_extension), 'Relations', (select count(*) from pg_class), 'Own', (select count(*) from pg_class where oid >= 16384))`

// askDatabases lists the databases, and looks for their extensions in the new
// version; it gives how many relations the largest one has.
func (g *pgRun) askDatabases(ctx context.Context, live session.Session, control func(version, extension string) string) (relations int64, err error) {
	if g.p.Databases, err = session.Query[session.Database](ctx, live, "template1", pgAskDatabases); err != nil {
		return 0, err
	}
	g.p.Relations = 0
	var refused engine.Refusals
	for i, d := range g.p.Databases {
		if strings.ContainsAny(d.Name, "\n\r") {
			refused = append(refused, engine.Refusal{What: fmt.Sprintf("the name of database %q has a newline, which pg_upgrade does not take", d.Name), Instead: "alter database … rename to …"})
		}
		if g.p.Databases[i].Sorting, err = live.Sorting(ctx, d.Name); err != nil {
			return 0, fmt.Errorf("asking by what database %s is sorted: %w", d.Name, err)
		}
		inside, err := session.Query[struct {
			Extensions []string
			Relations  int64
			Own        int64 // but those of every database
		}](ctx, live, d.Name, pgInside)
		if err != nil || len(inside) != 1 {
			return 0, fmt.Errorf("asking database %s: %w", d.Name, err)
		}
		relations = max(relations, inside[0].Relations)
		g.p.Relations += inside[0].Own
		for _, name := range inside[0].Extensions {
			if r := lacks(d.Name, name, g.p.New.Version, control(g.p.New.Version, name)); r != nil {
				refused = append(refused, *r)
			}
		}
	}
	return relations, refused.Err()
}

// lacks refuses an extension that a version does not have, as its control file
// tells.
func lacks(name, extension, version, control string) *engine.Refusal {
	if _, err := os.Stat(control); err == nil {
		return nil
	}
	return &engine.Refusal{
		What:    fmt.Sprintf("database %s has the extension %s, which PostgreSQL %s lacks here: there is no %s", name, extension, version, control),
		Instead: fmt.Sprintf("install its package for PostgreSQL %s, or drop the extension", version),
	}
}
