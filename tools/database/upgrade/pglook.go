package upgrade

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// find lists the clusters of this host, and the layout that they are in: none
// where they are in none of layouts.
func find(ctx context.Context, h *Host) (name string, all []foundCluster, err error) {
	for _, name := range slices.Sorted(maps.Keys(layouts)) {
		if all, err := layouts[name].find(ctx, h); err != nil || len(all) > 0 {
			return name, all, err
		}
	}
	return "", nil, nil
}

// choose picks the cluster that is meant.
func choose(all []foundCluster, wanted, to string) (foundCluster, error) {
	var fit []foundCluster
	names := []string{}
	for _, c := range all {
		name := instance(c.version, c.name)
		names = append(names, name)
		if name == wanted || wanted == "" && c.version != to {
			fit = append(fit, c)
		}
	}
	if len(fit) == 1 {
		return fit[0], nil
	}
	return foundCluster{}, refusef("name one with --instance", "which cluster is meant is not clear, of %s", strings.Join(names, ", "))
}

// Look reads the cluster's state and asks its server; nothing is changed.
func (p *postgresql) Look(ctx context.Context, h *Host, in Request) error {
	name, all, err := find(ctx, h)
	if err != nil {
		return err
	}
	if name == "" {
		return p.lookDistribution(ctx, h, in)
	}
	p.Layout = name
	old, err := choose(all, in.Instance, string(in.To.Version))
	if err != nil {
		return err
	}
	p.place(old, string(in.To.Version))
	if err := p.refuse(all, old); err != nil {
		return err
	}
	g := &pgRun{h, p}
	if err := h.enterable(ctx, p.Owner); err != nil {
		return err
	}
	if err := g.ask(ctx, session{g, p.Old, "", p.Port, p.Owner}, p.layout().control); err != nil {
		return err
	}
	if p.Start, err = p.layout().starts(ctx, g, p.Old); err == nil {
		p.Bytes, err = treeSize(p.Old.Data)
	}
	return err
}

// enterable refuses a backup directory that an account can't work in.
func (h *Host) enterable(ctx context.Context, account string) error {
	if _, err := h.run(ctx, command{user: account, args: []string{"test", "-x", h.Backup}}); err != nil {
		return refusef("let others pass through it and the directories above: chmod o+x", "the account %s can't enter the backup directory %s", account, h.Backup)
	}
	return nil
}

// place says where the old cluster is and the new one will be.
func (p *postgresql) place(old foundCluster, to string) {
	p.Name, p.Owner, p.Port = old.name, old.owner, old.port
	p.Old, p.New = p.layout().place(old, to)
	for _, dir := range []string{filepath.Dir(p.New.Data), filepath.Dir(p.New.Config)} {
		for ; existing(dir) != dir && !slices.Contains(p.Absent, dir); dir = filepath.Dir(dir) {
			p.Absent = append(p.Absent, dir)
		}
	}
	inside, err := os.ReadDir(p.New.Data)
	p.Brought = p.inData() && err == nil && len(inside) == 0
}

// Programs that an upgrade runs.
var (
	oldPrograms = []string{"postgres", "initdb", "pg_ctl", "pg_isready", "psql", "pg_dump", "pg_dumpall", "pg_restore"}
	newPrograms = []string{"postgres", "initdb", "pg_ctl", "pg_isready", "psql", "pg_upgrade", "vacuumdb"}
)

// refuse says what of the host's state stands in the way.
func (p *postgresql) refuse(all []foundCluster, old foundCluster) error {
	var refused Refusals
	for _, c := range []struct {
		cluster
		programs []string
	}{{p.Old, oldPrograms}, {p.New, newPrograms}} {
		for _, name := range c.programs {
			if _, err := os.Stat(c.program(name)); err != nil {
				refused = append(refused, Refusal{c.program(name) + " is missing", p.layout().install(c.Version)})
				break
			}
		}
	}
	if slices.ContainsFunc(all, func(c foundCluster) bool { return c.version == p.New.Version && c.name == p.Name }) {
		refused = append(refused, Refusal{
			fmt.Sprintf("the cluster %s is there already, in %s", instance(p.New.Version, p.Name), p.New.Data),
			"if it is an empty one, such as a package has made, remove it: " + p.layout().drop(p.New, p.Name) + "; else give it another place",
		})
	}
	for _, dir := range []string{p.New.Data, p.aside()} {
		if _, err := os.Lstat(dir); err == nil && len(refused) == 0 && (dir != p.New.Data || !p.Brought) {
			refused = append(refused, Refusal{dir + " is there already", "see what it holds, and move it away"})
		}
	}
	if mounted, err := mountPoint(p.New.Data); mounted || err != nil {
		refused = append(refused, Refusal{p.New.Data + " is where a file system is mounted, and would be removed on the way back", "mount it on the folder above"})
	}
	if old.status != "online" {
		start := strings.Join(p.layout().serve("start", p.Old, p.Name).args, " ")
		refused = append(refused, Refusal{fmt.Sprintf("the cluster %s is not online but %s", instance(old.version, old.name), old.status), start + "; of a replica upgrade the primary and make the replica again"})
	}
	if refused == nil {
		return nil
	}
	return refused
}

// pgState is what a running server says of its cluster.
type pgState struct {
	Super     bool   `json:"super"`
	Superuser string `json:"superuser"`
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
}

// pgAsk asks for a pgState; %[1]s is how the locale of a database is called.
const pgAsk = `select json_build_object('super', (select rolsuper from pg_roles where rolname = current_user), 'superuser', (select rolname from pg_roles where oid = 10),
	'socket', btrim(split_part(current_setting('unix_socket_directories'), ',', 1)), 'recovery', pg_is_in_recovery(), 'replicas', (select count(*) from pg_stat_replication),
	'slots', (select count(*) from pg_replication_slots), 'incoming', (select count(*) from pg_subscription), 'prepared', (select count(*) from pg_prepared_xacts),
	'spaces', (select count(*) - 2 from pg_tablespace), 'hidden', (select count(*) from pg_database where not datallowconn and datname <> 'template0'),
	'checksums', current_setting('data_checksums'), 'segment', pg_size_bytes(current_setting('wal_segment_size')),
	'encoding', pg_encoding_to_char(encoding), 'collate', datcollate, 'ctype', datctype, 'provider', %[1]s) from pg_database where datname = 'template0'`

// pgLocale is how versions call a database's locale, the newest first.
var pgLocale = []struct {
	from int
	sql  string
}{
	{17, "datlocprovider, 'icu', coalesce(datlocale, '')"},
	{15, "datlocprovider, 'icu', coalesce(daticulocale, '')"},
	{0, "'c', 'icu', ''"},
}

// ask asks a running server; control is the file by which a version knows an
// extension.
func (g *pgRun) ask(ctx context.Context, live session, control func(version, extension string) string) error {
	p := g.p
	i := slices.IndexFunc(pgLocale, func(l struct {
		from int
		sql  string
	},
	) bool {
		return p.Old.major() >= l.from
	})
	states, err := query[pgState](ctx, live, "template1", fmt.Sprintf(pgAsk, pgLocale[i].sql))
	if err != nil || len(states) != 1 {
		return refusef("let it in over the local socket, as Debian does: local all "+p.Owner+" peer", "the account %s can't ask the server: %v", p.Owner, err)
	}
	state := states[0]
	p.Superuser, p.Socket = state.Superuser, state.Socket
	p.Initdb = state.initdb(p.Old)
	if refused := state.refuse(p); refused != nil {
		return refused
	}
	return g.askDatabases(ctx, live, control)
}

func readText(name string) (string, error) {
	b, err := os.ReadFile(name)
	return string(b), err
}

// initdb are the arguments for a cluster of the same form.
func (s pgState) initdb(c cluster) []string {
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
	if info, err := os.Stat(c.Data); err == nil && info.Mode().Perm()&0o050 != 0 && c.major() >= 11 {
		args = append(args, "--allow-group-access")
	}
	return args
}

// refuse says what of the server's state stands in the way.
func (s pgState) refuse(p *postgresql) error {
	var refused Refusals
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
		{!safe.MatchString(s.Superuser), "the first superuser's name has more than letters and digits", "alter role … rename to postgres"},
	} {
		if c.bad {
			refused = append(refused, Refusal{c.what, c.instead})
		}
	}
	if refused == nil {
		return nil
	}
	return refused
}

// pgAskDatabases lists databases; %s is whether order changed since the indexes
// were made, as far as the version knows.
const (
	pgAskDatabases   = `select json_build_object('Name', datname, 'ByBytes', datcollate in ('C', 'POSIX'), 'Sorting', %s) from pg_database where datallowconn order by datname collate "C"`
	pgSortingUnknown = `'PostgreSQL ' || current_setting('server_version') || ' does not record by which library text was sorted'`
	pgSortingKnown   = `case when datcollversion <> pg_database_collation_actual_version(oid) then 'made by version ' || datcollversion || ' of the library that sorts text, which is now ' || pg_database_collation_actual_version(oid) else '' end`
)

// askDatabases lists the databases, and looks for their extensions in the new
// version.
func (g *pgRun) askDatabases(ctx context.Context, live session, control func(version, extension string) string) (err error) {
	sorting := pgSortingUnknown
	if g.p.Old.major() >= 15 {
		sorting = pgSortingKnown
	}
	if g.p.Databases, err = query[pgDatabase](ctx, live, "template1", fmt.Sprintf(pgAskDatabases, sorting)); err != nil {
		return err
	}
	var refused Refusals
	for _, d := range g.p.Databases {
		extensions, err := query[string](ctx, live, d.Name, "select to_json(extname) from pg_extension order by 1::text")
		if err != nil {
			return fmt.Errorf("asking database %s: %w", d.Name, err)
		}
		for _, name := range extensions {
			if r := lacks(d.Name, name, g.p.New.Version, control(g.p.New.Version, name)); r != nil {
				refused = append(refused, *r)
			}
		}
	}
	if refused != nil {
		return refused
	}
	return nil
}

// lacks refuses an extension that a version does not have, as its control file
// tells.
func lacks(name, extension, version, control string) *Refusal {
	if _, err := os.Stat(control); err == nil {
		return nil
	}
	return &Refusal{
		fmt.Sprintf("database %s has the extension %s, which PostgreSQL %s lacks here: there is no %s", name, extension, version, control),
		fmt.Sprintf("install its package for PostgreSQL %s, or drop the extension", version),
	}
}
