package upgrade_test

import (
	"fmt"
	"strings"
)

// sorted is what a database has that sorts by ICU: in columns, in an own collation,
// within types, conditions and partitions.
const sorted = `
	create collation mine (provider = icu, locale = 'sv');
	create extension btree_gist; create extension citext;
	create type pair as (k text collate "de-x-icu", n int);
	create type span as range (subtype = text, collation = mine);
	create domain word as text collate mine;
	create domain late as text check (value collate "de-x-icu" > '');
	create type later as range (subtype = late);
	create table checked (k text collate "de-x-icu" constraint small check (k < U&'\4E00'), l late, z text check (z collate "C" > ''), ls late[], lr later_multirange, g text generated always as (greatest(k, 'b' collate "de-x-icu")) stored, b bool generated always as (z collate "C" > 'b') stored);
	insert into checked select t, t, t from unnest(array['a', 'b']) t; update checked set lr = later_multirange(later(l, null));
	create table n (plain text, name text collate "de-x-icu", own text collate mine, w word, p pair, s span, c text collate "C", n int,
	constraint only_one exclude using gist (own with =, n with =));
	insert into n select t, t, t, t, (t, i)::pair, span(t, t, '[]'), t, i from generate_series(1, 400) i, lateral (select chr(case when i % 2 = 0 then 67008 + i % 50 else 19968 + i end) || i) as x(t);
	create index n_plain on n (plain); create unique index n_name on n (name); create index n_own on n (own); create index n_word on n (w); create index n_pair on n (p); create index n_span on n (s);
	create index n_where on n (n) where name > U&'\4E00'; create index n_lower on n (lower(name)); create index n_hash on n using hash (name);
	create index n_bytes on n (c); create index n_number on n (n);
	create table part (k text collate "de-x-icu", v int) partition by range (k);
	create table part_a partition of part for values from (minvalue) to ('m');
	create table part_m partition of part for values from ('m') to (maxvalue);
	insert into part select chr(97 + i % 26) || i, i from generate_series(1, 100) i; insert into part select name, n from n;`

// mallory is the owner of a table whose conditions call what he likes: not as a superuser.
const mallory = `
	create role mallory; create schema evil authorization mallory; set role mallory;
	create function evil.writes() returns void language plpgsql as $$ begin begin reset role; exception when others then null; end; execute 'copy (select 1) to program ''id >> /tmp/owned'''; exception when insufficient_privilege then null; end $$;
	create function evil.calls(text) returns text language plpgsql immutable as $$ begin perform evil.writes(); return $1; end $$;
	create table evil.t (k text collate "de-x-icu" check (evil.calls(k) collate "de-x-icu" > 'A'), n int);
	create index bait on evil.t (n) where evil.calls('x') = 'x';
	insert into evil.t values ('x', 1);`

// broken are rows that are beyond constraints in the other order.
const broken = `
	create domain han as text check (value >= U&'\4E00');
	create domain chinese as han;
	create type two as (n int, c chinese);
	create type spell as range (subtype = chinese);
	create table broken (k text collate "de-x-icu" constraint beyond check (k >= U&'\4E00'), h han, hs chinese[], two two[], spell spell, spells spell_multirange, of_spells spell_multirange[], after bool generated always as (k >= U&'\4E00' collate "de-x-icu") stored);
	insert into broken values (chr(67008), chr(67008), array[chr(19968), chr(67008)], array[(1, chr(67008))::two], spell(chr(67008), null), spell_multirange(spell(chr(67008), null)), array[spell_multirange(spell(chr(67008), null))]);`

// icu asks a database of the cluster 15/icu, which is 17/icu later.
func (h *host) icu(database string, statements ...string) string {
	h.t.Helper()
	args := []string{"-p", "5440", "-d", database}
	for _, s := range statements {
		args = append(args, "-c", s)
	}
	return h.sql(args...)
}

// makeOrders makes a second cluster of 15, whose ICU is of bookworm, and sorts by it, also
// as a database's own order. That ICU does not know the letters from U+105C0 on, and has
// them behind Han; trixie's, by which 17 sorts, has them before.
func (h *host) makeOrders() {
	h.chroot("pg_createcluster", "15", "icu", "-p", "5440", "-e", "UTF8", "--locale", "C", "--", "--data-checksums")
	h.control("15 icu start")
	h.icu("postgres", "create database own template template0 locale_provider icu icu_locale 'de' locale 'C'", "create database columns", "create database bytes")
	for _, database := range []string{"own", "columns"} {
		h.script(sorted, "-p", "5440", "-d", database)
	}
	h.script(mallory, "-p", "5440", "-d", "columns")
	h.Run(0, "rm", "-f", h.at("tmp/owned"))
	h.icu("bytes", "create table b (t text primary key)", "insert into b values ('a'), ('b')")
}

// orders upgrades that cluster, the only one of its version, and does what the result says
// to do afterwards.
func (h *host) orders() {
	h.makeOrders()
	backup := h.place("orders")
	h.upgrade(2, to("17", backup)+" --instance 15/icu").Has(`pg_catalog."de-x-icu" (version 153.120)`)
	h.beyond()
	const differs = `select chr(67008) < chr(19968) collate "de-x-icu"`
	before := h.icu("own", differs)
	said := h.upgrade(0, to("17", backup)+" --instance 15/icu --confirm")
	said.Has("public.mine (153.120.42 → 153.128.46)") // what was made again
	said.Has("amcheck has looked at")
	said.Has("partitions of 1 tables, 3 constraints and 1 columns that are made of others checked")
	h.is.True(!h.there("tmp/owned"))                            // no superuser has called what an owner of tables wrote
	h.is.True(!strings.Contains(said.Out+said.Err, "in bytes")) // a database in the order of bytes is left alone
	h.is.Equal(before+" "+h.icu("own", differs), "f t")         // the two orders differ: the test can fail
	h.sortedAgain("own", "n_hash n_lower n_name n_own n_pair n_plain n_span n_where n_word only_one")
	h.sortedAgain("columns", "n_hash n_lower n_name n_own n_pair n_span n_where n_word only_one")
	h.advice()
}

// beyond: rows that the new order has in another partition, or beyond a constraint, are
// said, and nothing is upgraded.
func (h *host) beyond() {
	h.icu("own", `create table cut (k text collate "de-x-icu") partition by range (k)`, `create table cut_a partition of cut for values from (minvalue) to (U&'\4E00')`,
		`create table cut_m partition of cut for values from (U&'\4E00') to (maxvalue)`, "insert into cut values (chr(67008))")
	h.script(broken, "-p", "5440", "-d", "own")
	said := h.upgrade(1, to("17", h.place("cut"))+" --instance 15/icu --confirm")
	said.Has("rows of public.cut_m are in another partition of public.cut")
	said.Has("rows of public.broken break its constraint beyond")
	for _, column := range strings.Fields("h hs two spell spells of_spells") {
		said.Has("rows of public.broken break a constraint of the domain public.han in " + column)
	}
	said.Has("rows of public.broken have another value in after than would be made")
	h.icu("own", "drop table cut, broken", "drop domain han cascade", "drop type two")
}

// sortedAgain: these indexes of a database were made again, and no others; amcheck finds
// nothing, and a join that relies on order works.
func (h *host) sortedAgain(database, indexes string) {
	h.t.Helper()
	h.script(`
		create extension if not exists amcheck;
		select bt_index_check(c.oid, true) from pg_class c join pg_am a on a.oid = c.relam where a.amname = 'btree' and c.relkind = 'i';
		set enable_hashjoin = off; set enable_nestloop = off; set enable_sort = off;
		select count(*) from n a join n b on a.name = b.name;
		drop extension amcheck;`, "-p", "5440", "-d", database)
	h.is.Equal(h.icu(database, "select string_agg(relname, ' ' order by relname) from pg_class where relname ~ '^n_|only_one' and pg_relation_filenode(oid) <> oid"), indexes)
	h.is.Equal(h.icu(database, "select count(*) from pg_collation where collversion <> pg_collation_actual_version(oid)"), "0") // versions are on record
	h.is.Equal(h.icu(database, "select count(*) from pg_database where datcollversion <> pg_database_collation_actual_version(oid)"), "0")
	h.is.Equal(h.icu(database, "select count(*) from pg_extension where extname = 'amcheck'"), "0") // none is left
}

// advice does what the result of that upgrade says to do afterwards, beside a cluster
// that lives on by the same packages.
func (h *host) advice() {
	stop := h.elsewhere()
	alone := h.result(0, resume("orders"))
	stop()
	h.is.True(strings.Contains(fmt.Sprint(alone.Afterwards), "apt-get remove postgresql-15")) // nothing else uses it
	h.chroot("pg_createcluster", "15", "second", "-p", "5450")
	h.control("15 second start")
	h.sql("-p", "5450", "-c", "create table precious as select 1 as n")
	both := h.result(0, resume("orders"))
	h.is.True(!strings.Contains(fmt.Sprintf("%+v", both), "apt-get")) // its packages stay, and it is said why
	h.is.True(strings.Contains(fmt.Sprint(both.Afterwards), "the cluster 15/second"))
	h.asPrinted(both, "^(rm|pg_dropcluster)")
	h.is.Equal(h.sql("-p", "5450", "-c", "select n from precious"), "1")
	h.is.Equal(h.icu("own", "select count(*) from n"), "400")
	h.is.True(!h.there("var/lib/postgresql/15/icu"))
	h.chroot("pg_dropcluster", "--stop", "15", "second")
	h.asPrinted(alone, "^apt-get")
	h.is.Equal(h.icu("own", "select count(*) from n"), "400") // the new cluster lives without the packages
}

// elsewhere has a process of another root, as in a container, run a program by the name of
// the old server.
func (h *host) elsewhere() (stop func()) {
	h.t.Helper()
	return h.Hold(`other=$work/elsewhere
		mkdir -p "$other/upper/postgresql/15/bin" "$other/work"
		cp "$(command -v sleep)" "$other/upper/postgresql/15/bin/postgres"
		unshare --mount sh -c "mount -t overlay overlay -o lowerdir=/usr/lib,upperdir=$other/upper,workdir=$other/work /usr/lib && exec /usr/lib/postgresql/15/bin/postgres 600" &
		pid=$!
		until_true grep -qx postgres "/proc/$pid/comm"`, `kill "$pid"`)
}
