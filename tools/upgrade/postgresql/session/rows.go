package session

import (
	"context"
	"fmt"
	"strings"
)

// Rows that were right in one order of text may not be so in another: a constraint
// compares them with a word, a partition has bounds. To look at them the server has to
// evaluate what an owner of tables wrote, and to plan that it may run what expressions
// of indexes call. It does so as that owner, who can't become anybody else within a
// function of his, and nothing of it is kept.

// pgSuspect is what an owner wrote, and may no longer be right.
type pgSuspect struct {
	Name  string `json:"name"`  // for people, as what would be wrong
	Owner string `json:"owner"` // of the table, quoted
	Ask   string `json:"ask"`   // SQL that is true where a row breaks a condition, or that makes a table
}

const (
	// pgOfBounds makes a table like another one, with its partitions' bounds: the server
	// then says whether one is empty, or overlaps another.
	pgOfBounds = `select json_build_object('name', format('the bounds of the partitions of %%s are in another order', p.oid::regclass), 'owner', quote_ident(pg_get_userbyid(p.relowner)),
	'ask', format('create table svc_check.t (like %%s) partition by %%s; ', p.oid::regclass, pg_get_partkeydef(p.oid)) || coalesce((
		select string_agg(format('create table svc_check.t%%s partition of svc_check.t %%s; ', c.oid, pg_get_expr(c.relpartbound, c.oid)), '') from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = p.oid), ''))
from pg_class p where p.oid = %[1]s::regclass`

	// pgOfPartitions are the bounds of all partitions below a table, by what has the rows.
	pgOfPartitions = `with recursive part as (select i.inhrelid as oid from pg_inherits i where i.inhparent = %[1]s::regclass union all select i.inhrelid from part p join pg_inherits i on i.inhparent = p.oid)
select json_build_object('name', format('rows of %%s are in another partition of %%s', c.oid::regclass, %[1]s::regclass), 'owner', quote_ident(pg_get_userbyid(c.relowner)),
	'ask', format('exists (select from only %%s where not (%%s))', c.oid::regclass, pg_get_partition_constraintdef(c.oid)))
from part join pg_class c using (oid) where c.relkind = 'r' and pg_get_partition_constraintdef(c.oid) is not null`

	// pgOfConstraints are the conditions of tables.
	pgOfConstraints = `select json_build_object('name', format('rows of %%s break its constraint %%I', k.conrelid::regclass, k.conname), 'owner', quote_ident(pg_get_userbyid(c.relowner)),
	'ask', format('exists (select from only %%s where not (%%s))', c.oid::regclass, pg_get_expr(k.conbin, k.conrelid)))
from pg_constraint k join pg_class c on c.oid = k.conrelid where k.oid in (%[1]s) and c.relkind = 'r'`

	// pgOfDomains are the conditions of domains, by the columns whose type is one, or has
	// one somewhere within: what such a value is printed as is read again, and the server
	// looks at every domain in it. %[2]s is pgInMultiranges, or nothing.
	pgOfDomains = `with recursive has(domain, type) as (select distinct k.contypid, k.contypid from pg_constraint k where k.oid in (%[1]s) and k.contypid <> 0
	union select h.domain, t.oid from has h join pg_type t on t.typelem = h.type or t.typbasetype = h.type or exists (select from pg_attribute a where a.attrelid = t.typrelid and a.atttypid = h.type and a.attnum > 0 and not a.attisdropped)
		or exists (select from pg_range r where r.rngsubtype = h.type and r.rngtypid = t.oid%[2]s))
select json_build_object('name', format('rows of %%s break a constraint of the domain %%s in %%I', c.oid::regclass, h.domain::regtype, a.attname), 'owner', quote_ident(pg_get_userbyid(c.relowner)),
	'ask', format('exists (select from only %%1$s where %%2$I::text is not null and ((%%2$I::text)::%%3$s)::text is null)', c.oid::regclass, a.attname, format_type(a.atttypid, a.atttypmod)))
from has h join pg_attribute a on a.atttypid = h.type and a.attnum > 0 and not a.attisdropped join pg_class c on c.oid = a.attrelid where c.relkind = 'r'`

	// pgInMultiranges goes on from a range to the type of several of them.
	pgInMultiranges = ` or r.rngtypid = h.type and r.rngmultitypid = t.oid`

	// pgOfStored are columns that are made of others: whether they would be the same, bit
	// by bit, if they were made now.
	pgOfStored = `select json_build_object('name', format('rows of %%s have another value in %%I than would be made of their other columns now', c.oid::regclass, a.attname), 'owner', quote_ident(pg_get_userbyid(c.relowner)),
	'ask', format('exists (select from only %%s where row(%%I)::record operator(pg_catalog.*<>) row((%%s)::%%s)::record)', c.oid::regclass, a.attname, pg_get_expr(d.adbin, d.adrelid), format_type(a.atttypid, a.atttypmod)))
from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum join pg_class c on c.oid = d.adrelid where d.oid in (%[1]s) and c.relkind = 'r'`

	// pgAsOwner asks as an owner. What his functions put off to the end of the
	// transaction never happens.
	pgAsOwner = `\set VERBOSITY verbose
begin;
set local check_function_bodies = off;
create schema svc_check;
grant usage, create on schema svc_check to %[2]s;
create function svc_check.broken() returns setof text language sql security definer set search_path = pg_catalog as %[1]s;
alter function svc_check.broken() owner to %[2]s;
select to_json(b) from svc_check.broken() b;
rollback;`
)

// pgBroken is what became of suspects.
type pgBroken struct {
	rows    []string // that break something
	unknown []string // what could not be evaluated, with the reason
}

// bounded has the bounds of a table's partitions made once more.
func (s Session) bounded(ctx context.Context, database, table string) error {
	tables, err := Query[pgSuspect](ctx, s, database, fmt.Sprintf(pgOfBounds, literal(table)))
	for _, t := range tables {
		if _, err := s.Rows(ctx, database, asOwner(t.Owner, t.Ask+"select null::text where false")); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return err
}

// breaking evaluates suspects, all of an owner at a time, and one by one where that
// fails.
func (s Session) breaking(ctx context.Context, database string, suspects []pgSuspect) (b pgBroken, err error) {
	of := map[string][]pgSuspect{}
	var owners []string
	for _, x := range suspects {
		if of[x.Owner] == nil {
			owners = append(owners, x.Owner)
		}
		of[x.Owner] = append(of[x.Owner], x)
	}
	for _, owner := range owners {
		found, err := Query[string](ctx, s, database, breaks(of[owner]...))
		if err == nil {
			b.rows = append(b.rows, found...)
			continue
		}
		for _, x := range of[owner] {
			found, err := Query[string](ctx, s, database, breaks(x))
			if ctx.Err() != nil {
				return b, err
			}
			switch {
			case err != nil && strings.Contains(err.Error(), checkViolation):
				found = []string{x.Name}
			case err != nil:
				b.unknown = append(b.unknown, fmt.Sprintf("whether %s: %v", x.Name, err))
			}
			b.rows = append(b.rows, found...)
		}
	}
	return b, nil
}

// checkViolation is what PostgreSQL numbers a value that breaks a condition.
const checkViolation = "ERROR:  23514:"

// breaks is the script that evaluates conditions of one owner.
func breaks(suspects ...pgSuspect) string {
	ask := make([]string, 0, len(suspects))
	for _, x := range suspects {
		ask = append(ask, "select"+literal(x.Name)+"::text where "+x.Ask)
	}
	return asOwner(suspects[0].Owner, strings.Join(ask, " union all "))
}

func asOwner(owner, sql string) string { return fmt.Sprintf(pgAsOwner, literal(sql), owner) }
