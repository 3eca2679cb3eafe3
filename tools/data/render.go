package data

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed scripts/*.sh
var scripts embed.FS

// Render gives the files by which a person moves the data, by their name below
// the plan's folder. What comes from the machine is quoted, and never a command.
func Render(p *Plan) (map[string][]byte, error) {
	files := map[string][]byte{"accounts.sh": []byte(accountsScript(p.Accounts)), "README.txt": []byte(readme(p))}
	names, err := fs.Glob(scripts, "scripts/*.sh")
	if err != nil {
		return nil, fmt.Errorf("finding the scripts: %w", err)
	}
	for _, name := range names {
		if files[path.Base(name)], err = scripts.ReadFile(name); err != nil {
			return nil, fmt.Errorf("reading the scripts: %w", err)
		}
	}
	for _, i := range p.Items {
		switch {
		case i.Method == Rsync:
			files[i.Script] = []byte(placeScript(i))
		case i.Method == DumpAndLoad:
			files[i.Script] = []byte(databaseScript(i))
		}
	}
	return files, nil
}

// quote makes one word of the shell of any bytes but NUL, which no path has.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// array is an array of bash.
func array(name string, words []string) string {
	quoted := []string{}
	for _, w := range words {
		quoted = append(quoted, quote(w))
	}
	return name + "=(" + strings.Join(quoted, " ") + ")\n"
}

// placeScript is the settings of a place that is copied.
func placeScript(i Item) string {
	return "# shellcheck shell=bash disable=SC2034,SC1003 # lib.sh uses what is set here\n" +
		"PLACE=" + quote(i.Path) + "\n" +
		fmt.Sprintf("BYTES=%d\n", i.SpaceBytes) +
		array("EXCLUDES", i.Excludes)
}

func accountsScript(r Remap) string {
	return "# shellcheck shell=bash disable=SC2034,SC1003 # 10-check.sh uses what is set here\n" +
		"# The owners of the data, by the numbers of the source, and the accounts of the\n" +
		"# target that own them there; none where the number stays.\n" +
		accountArrays("USER", r.Users) + accountArrays("GROUP", r.Groups)
}

func accountArrays(prefix string, accounts []Account) string {
	ids, names := []string{}, []string{}
	for _, a := range accounts {
		ids, names = append(ids, fmt.Sprint(a.ID)), append(names, a.Account)
	}
	return array(prefix+"_IDS", ids) + array(prefix+"_ACCOUNTS", names)
}

// dumps are the commands by which an engine's data move: on the source, on the
// target, and how to count what there is on either.
var dumps = map[string]struct{ dump, load, count string }{
	"postgresql": {
		"runuser -u postgres -- pg_dumpall", "runuser -u postgres -- psql -X -v ON_ERROR_STOP=0 -d postgres",
		`runuser -u postgres -- psql -XAtc "select datname from pg_database where datallowconn order by 1"`,
	},
	"mysql": {
		"mysqldump --all-databases --single-transaction --routines --events --triggers --hex-blob", "mysql",
		`mysql -NBe "select table_schema, count(*) from information_schema.tables where table_schema not in ('mysql', 'sys', 'information_schema', 'performance_schema') group by 1 order by 1"`,
	},
	"mongodb": {"mongodump --archive", "mongorestore --archive --drop", `mongosh --quiet --eval 'db.adminCommand({listDatabases: 1}).databases.forEach(d => print(d.name))'`},
	"slapd":   {"slapcat", "runuser -u openldap -- slapadd", `slapcat -a '(objectClass=*)' | grep -c '^dn:'`},
}

// databaseScript is the dump, load and checks of a database, of which the engine
// must run on both sides.
func databaseScript(i Item) string {
	engine := i.What
	if engine == "mariadb" {
		engine = "mysql"
	}
	d := dumps[engine]
	return `#!/usr/bin/env bash
# Dumps a database where its engine runs on the source, and loads it where it
# runs on the target, which must hold nothing yet. Run as root on the target:
# with "dump", "load" or "check".
set -euo pipefail
umask 077
DIRECTORY=` + quote(i.Path) + ` # of the source; the engine knows it
DUMP=${DUMP:-./` + path.Base(strings.TrimSuffix(i.Script, ".sh")) + `.dump}

dump() { ` + d.dump + `; }
load() { ` + d.load + `; }
count() { ` + d.count + `; }

on_source() {
	if [ -n "${SOURCE_SSH:-}" ]; then
		{ declare -f "$1"; printf '%s\n' "$1"; } | ssh -o BatchMode=yes -- "$SOURCE_SSH" bash -s
	else
		echo "Set SOURCE_SSH=root@HOST: the engine must run where $DIRECTORY is." >&2
		return 1
	fi
}

case ${1:-} in
dump)
	on_source count >"$DUMP.before"
	on_source dump >"$DUMP.part"
	mv -- "$DUMP.part" "$DUMP"
	sha256sum -- "$DUMP" >"$DUMP.sha256"
	;;
load)
	sha256sum --check --quiet -- "$DUMP.sha256"
	load <"$DUMP"
	;;
check)
	count | diff -- "$DUMP.before" - && echo "The target has what the source had."
	;;
*)
	echo "Usage: $0 dump | load | check" >&2
	exit 2
	;;
esac
`
}

// readme is the order of the move, for a person.
func readme(p *Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "How the data move from %s to %s\n\n", p.Source, p.Target)
	fmt.Fprintf(&b, "%d places, %d bytes. Copying takes about %d seconds, of which services are down for about %d. The target needs %d bytes.\n", p.Sum.Items, p.Sum.Bytes, p.Sum.CopySeconds, p.Sum.DowntimeSeconds, p.Sum.SpaceBytes)
	for _, a := range p.Assumptions {
		fmt.Fprintf(&b, "  %s\n", a)
	}
	b.WriteString("\nNothing here was run. On the target, as root, with SOURCE_SSH=root@SOURCE, or SOURCE_ROOT=the folder where the source's disk is mounted:\n\n" +
		"  ./10-check.sh       programs, accounts, room\n  ./20-first-copy.sh  while the source still runs; as often as you like\n")
	b.WriteString("  then stop on the source what writes to its data:\n")
	for _, q := range p.Quiesce {
		fmt.Fprintf(&b, "    %q\n", q)
	}
	b.WriteString("  ./30-before.sh      counts and digests of the source\n  ./40-copy.sh        the rest\n  ./50-after.sh       is the target what the source is?\n  ./90-roll-back.sh   puts the target back; the source is never touched\n\n")
	for _, i := range p.Items {
		fmt.Fprintf(&b, "%-14s %q (%s %q)\n  %s\n", i.Method, i.Path, i.Kind, strings.TrimSpace(i.What+" "+i.Version), i.Why)
		if i.Method == DumpAndLoad {
			fmt.Fprintf(&b, "  %s dump, before the engine is stopped and nothing writes any more; load; check\n", i.Script)
		}
		for _, w := range i.Warnings {
			fmt.Fprintf(&b, "  ! %s\n", w)
		}
		for _, a := range i.Alternatives {
			fmt.Fprintf(&b, "  or %s: %s\n", a.Method, a.Why)
		}
	}
	for _, f := range p.Inhibitors {
		fmt.Fprintf(&b, "INHIBITOR %s: %q\n", f.Key, f.Summary)
	}
	return b.String()
}
