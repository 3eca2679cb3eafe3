package data

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed scripts/*.sh scripts/engines/*.sh
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
			if files[i.Script], err = databaseScript(i); err != nil {
				return nil, err
			}
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

// databaseScript is the dump, load and checks of a database, by the tools of its
// engine, which must run on both sides.
func databaseScript(i Item) ([]byte, error) {
	engine := i.What
	if engine == "mariadb" {
		engine = "mysql"
	}
	frame, err1 := scripts.ReadFile("scripts/engines/frame.sh")
	commands, err2 := scripts.ReadFile("scripts/engines/" + engine + ".sh")
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("reading the scripts: %w", err)
	}
	settings := "\nDIRECTORY=" + quote(i.Path) + "\nDUMP=${DUMP:-./" + path.Base(strings.TrimSuffix(i.Script, ".sh")) + ".dump}\n\n"
	return slices.Concat(frame, []byte(settings), commands, []byte("\nrun \"$@\"\n")), nil
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
		"  bash 10-check.sh       programs, accounts, room\n  bash 20-first-copy.sh  while the source still runs; as often as you like\n")
	b.WriteString("  then stop on the source what writes to its data:\n")
	for _, q := range p.Quiesce {
		fmt.Fprintf(&b, "    %q\n", q)
	}
	b.WriteString("  bash 30-before.sh      counts and digests of the source\n  bash 40-copy.sh        the rest\n  bash 50-after.sh       is the target what the source is?\n  bash 90-roll-back.sh   puts the target back; the source is never touched\n\n")
	for _, i := range p.Items {
		fmt.Fprintf(&b, "%-14s %q (%s %q)\n  %s\n", i.Method, i.Path, i.Kind, strings.TrimSpace(i.What+" "+i.Version), i.Why)
		if i.Method == DumpAndLoad {
			fmt.Fprintf(&b, "  bash %s dump, before the engine is stopped and nothing writes any more; load; check\n", i.Script)
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
