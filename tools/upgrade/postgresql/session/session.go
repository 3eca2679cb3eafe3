// Package session asks servers of PostgreSQL what they hold: its digests, by what it is
// sorted, and how much was written.
package session

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"svc/tools/upgrade/engine"
)

// Session is a way to ask a server.
type Session struct {
	*engine.Host
	Account string // that its programs run as
	Oldest  int    // first number of the older of the versions that are compared
	Cluster Cluster
	Socket  string
	Port    int
	Role    string
	Writes  bool // it may change what is there
}

// questionsText are the longer scripts that servers are asked with: below a line with the
// name of each, what it is for, and then the script, with a verb for each value. Every row
// of their answers is one JSON value. They name no function and no operator that a database
// could have brought: see neutral.
//
//go:embed questions.sql
var questionsText string

// question is the script of a name.
func question(name string) string {
	_, script, found := strings.Cut("\n\n"+questionsText, "\n\n-- name: "+name+"\n")
	if !found {
		panic("no question is called " + name)
	}
	for strings.HasPrefix(script, "-- ") {
		_, script, _ = strings.Cut(script, "\n")
	}
	script, _, _ = strings.Cut(script, "\n\n-- name: ")
	return strings.TrimSuffix(script, "\n")
}

// neutral are the settings under which two servers print a value alike, find no
// function but their own, and wait for nobody but svc, whatever databases and
// roles have set.
var neutral = []string{
	"search_path=pg_catalog", "DateStyle=ISO", "IntervalStyle=postgres", "TimeZone=UTC", "bytea_output=hex", "statement_timeout=0", "lock_timeout=0", "row_security=off",
	"lc_monetary=C", "xmlbinary=base64", "quote_all_identifiers=off", "standard_conforming_strings=on", "default_transaction_isolation=read\\ committed", "log_statement=none",
}

// versionSettings are further ones, by the version that has them first. Event triggers
// are people's own, and not for what svc does.
var versionSettings = map[int][]string{
	9:  {"session_replication_role=replica"},  // has no event trigger fire, but those that are always on
	10: {"max_parallel_workers_per_gather=0"}, // several are read at a time
	11: {"jit=off"},                           // a host may lack what compiles a costly query
	17: {"event_triggers=off", "transaction_timeout=0"},
}

// settings are those of a session.
func (s Session) settings() string {
	all := slices.Clone(neutral)
	for from, further := range versionSettings {
		if s.Cluster.Major() >= from {
			all = append(all, further...)
		}
	}
	slices.Sort(all)
	readOnly := "on"
	if s.Writes {
		readOnly = "off"
	}
	all = append(all, "extra_float_digits="+s.floats(), "default_transaction_read_only="+readOnly)
	return "-c " + strings.Join(all, " -c ")
}

// Client is a program of the session's version that connects to a database.
func (s Session) Client(database, program string, args ...string) engine.Command {
	args = append([]string{s.Cluster.Client(program), "-h", s.Socket, "-p", strconv.Itoa(s.Port), "-U", s.Role, "-d", dsn(database)}, args...)
	return engine.Command{User: s.Account, Args: args, Env: []string{"PGOPTIONS=" + s.settings(), "PGCLIENTENCODING=UTF8", "PGCONNECT_TIMEOUT=30"}}
}

// floats is how exactly numbers are printed: before version 12 the shortest exact
// form was not known, so both sides then print what each number surely has.
func (s Session) floats() string {
	if s.Oldest < 12 {
		return "0"
	}
	return "1"
}

// dsn names a database to libpq, which else reads a name with = as settings.
func dsn(database string) string {
	return "dbname='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(database) + "'"
}

// Ready asks whether the server takes clients.
func (s Session) Ready(ctx context.Context) error {
	c := s.Client("template1", "pg_isready", "-q")
	c.Quiet = true
	_, err := s.Run(ctx, c)
	return err
}

// Rows runs a script whose every row is a JSON value.
func (s Session) Rows(ctx context.Context, database, script string) (rows []jsontext.Value, err error) {
	c := s.Client(database, "psql", "-X", "-A", "-t", "-q", "-w", "-v", "ON_ERROR_STOP=1", "-f", "-")
	c.Stdin = script
	out, err := s.Run(ctx, c)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		rows = append(rows, jsontext.Value(strings.TrimSpace(line)))
	}
	return rows, nil
}

// Query gives the rows of a script as values of a type.
func Query[T any](ctx context.Context, s Session, database, script string) ([]T, error) {
	rows, err := s.Rows(ctx, database, script)
	if err != nil {
		return nil, err
	}
	all := []T{}
	for _, row := range rows {
		var v T
		if err := json.Unmarshal(row, &v); err != nil {
			return nil, fmt.Errorf("reading what PostgreSQL answered: %w", err)
		}
		all = append(all, v)
	}
	return all, nil
}
