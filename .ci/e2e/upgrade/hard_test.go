package upgrade_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// difficult is what a dump and its loading can't do, or a server without the cluster's own
// settings.
const difficult = `
	create extension pgaudit; create extension pg_cron;
	select cron.schedule('every minute', '* * * * *', 'insert into public.none default values') > 0;
	do $$ begin for i in 1..2000 loop execute format('create table public.many%s (n int)', i); commit; end loop; end $$;
	create table parent (n int primary key); create table child (n int references parent);
	insert into parent values (1); insert into child values (1);
	alter table parent disable trigger all; delete from parent; alter table parent enable trigger all;
	create table low (n int); create function any_low() returns bool language sql as 'select exists (select from public.low)';
	create table high (n int check (any_low())); insert into low values (1); insert into high values (1);
	create table twice (n int); insert into twice values (1), (1);`

// evil is of the owner of a database: functions that have a program run if a superuser
// calls them.
const evil = `
	create schema evil authorization mallory;
	set role mallory;
	set search_path = evil;
	create function evil.writes() returns bool language plpgsql as $$ begin execute 'copy (select 1) to program ''id >> /tmp/owned'''; return true; exception when insufficient_privilege then return true; end $$;
	create function evil.calls(text) returns bool language plpgsql immutable as $$ begin perform evil.writes(); return true; end $$;
	create function evil.format(text, text, text) returns text language plpgsql as $$ begin perform evil.writes(); return ''; end $$;
	create table evil.t (n int, s text check (evil.calls(s)));
	insert into evil.t select i, i from generate_series(1, 100) i;
	create index bait on evil.t (n) where evil.calls('x');
	create index more on evil.t (evil.calls(s));
	create statistics evil.s (dependencies) on n, s from evil.t;
	create materialized view evil.m as select n from evil.t;
	create unique index on evil.m (n) where evil.calls('y');
	create view evil.v as select evil.calls('z') c;
	create domain evil.d as text check (evil.calls(value));
	create table evil.e (d evil.d);
	insert into evil.e values ('x');`

// triggers of events write, and forbid all.
const triggers = `
	create table public.said (tag text);
	create function public.says() returns event_trigger language plpgsql as $$ begin insert into public.said values (tg_tag); end $$;
	create event trigger says on ddl_command_end execute function public.says();
	create function public.forbids() returns event_trigger language plpgsql as $$ begin raise exception 'no DDL here'; end $$;
	create event trigger forbids on ddl_command_start execute function public.forbids();`

// hard is what pg_upgrade can do.
func (h *host) hard() {
	h.extensions()
	h.configure("shared_preload_libraries = 'pgaudit,pg_cron'\ncron.database_name = 'shop'\nmax_locks_per_transaction = 10\nmax_connections = 30")
	h.script(difficult, "-d", "shop")
	h.Do(1, h.psql("-d", "shop", "-c", "create unique index concurrently never on twice (n)")) // one that is not valid is left
	h.sql("-c", "create role mallory login", "-c", "create database mallory owner mallory")
	h.script(evil, "-d", "mallory")
	h.sql("-c", "alter role mallory set search_path = evil", "-c", "alter database mallory set search_path = evil, pg_catalog", "-c", "create database still", "-c", "alter database still set default_transaction_read_only = on", "-c", "alter database still set statement_timeout = 1")
	h.script(triggers, "-d", "shop")
	h.script(triggers, "-d", "mallory")
	held := h.withoutNone()
	h.sql("-d", "mallory", "-c", "select count(*) from evil.t")
	h.is.True(strings.Contains(h.read("tmp/owned"), "postgres")) // a superuser who asks for such a table calls its owner's function
	h.Run(0, "rm", h.at("tmp/owned"))
	r := h.result(0, to("17", h.place("hard"))+" --confirm")
	h.is.True(!h.there("tmp/owned")) // and none of svc has
	h.keep("held", held)
	h.keep("now", h.withoutNone())
	h.Run(0, "diff", h.Path("held"), h.Path("now")) // all is there, and no trigger of an event has run
	h.is.Equal(h.sql("-d", "shop", "-c", "select count(*) from cron.job"), "1")
	h.is.True(r.Waited > 0 && r.Waited < 600)
}

// withoutNone are the checksums, but of the table that the job writes to.
func (h *host) withoutNone() string {
	h.t.Helper()
	lines := strings.SplitAfter(h.shop("sums").Out, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "none") }), "")
}

// many has more tables than a transaction may lock, by the settings that are usual.
func (h *host) many() {
	h.patience = "40000"
	h.sql("-d", "shop", "-c", "do $$ begin for i in 1..10000 loop execute format('create table many%s (n int primary key)', i); if i % 100 = 0 then commit; end if; end loop; end $$")
	h.is.NoErr(os.Rename(h.Path("sums"), h.Path("few")))
	h.keep("sums", h.shop("sums").Out)
	r := h.result(0, to("17", h.place("many"))+" --confirm")
	h.holds("17")
	h.is.NoErr(os.Rename(h.Path("few"), h.Path("sums")))
	h.durations("many", r)
}

// newest has a release that Debian's next one has, where that can be had.
func (h *host) newest() {
	const list = "etc/apt/sources.list.d/forky.list"
	said := h.Call(0, `echo "deb [check-valid-until=no] $(mirror) forky main" >"$1/$2"
		chroot "$1" apt-get update -qq && DEBIAN_FRONTEND=noninteractive chroot "$1" apt-get install -y -qq --no-install-recommends -t forky postgresql-18 >/dev/null || echo no`, h.root, list)
	if strings.HasSuffix(said.Line(), "no") {
		h.is.NoErr(os.Remove(h.at(list)))
		fmt.Println("NOT TESTED: PostgreSQL 18 is not to be had")
		h.t.Skip("no PostgreSQL 18")
	}
	h.reset()
	h.upgrade(0, to("18", h.place("newest"))+" --confirm")
	h.holds("18")
	h.upgrade(0, rollBack("newest"))
	h.holds("13")
}
