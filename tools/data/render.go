package data

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/backend/sliced"
	"svc/backend/visible"
)

//go:embed scripts/*.sh scripts/engines/*.sh scripts/replication/*.sh
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
		if err := i.render(files); err != nil {
			return nil, err
		}
	}
	for _, v := range p.Snapshots {
		files[v.Script] = []byte(snapshotScript(v))
	}
	return files, nil
}

// render adds the scripts of a place.
func (i *Item) render(files map[string][]byte) (err error) {
	switch i.Method {
	case Rsync:
		files[i.Script] = []byte(placeScript(i))
	case DumpAndLoad:
		if files[i.Script], err = dumpScript(i); err != nil {
			return err
		}
	}
	for _, a := range i.Alternatives {
		if a.Method == Replication && a.Script != "" {
			if files[a.Script], err = replicationScript(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// array is an array of bash.
func array(name string, words []string) string {
	return name + "=(" + strings.Join(sliced.Map(words, visible.Word), " ") + ")\n"
}

// placeScript is the settings of a place that is copied.
func placeScript(i *Item) string {
	return "# shellcheck shell=bash disable=SC2034,SC1003 # lib.sh uses what is set here\n" +
		"PLACE=" + visible.Word(i.Path) + "\n" +
		"SHOWN=" + visible.Word(visible.Text(i.Path)) + "\n" +
		"AT=" + visible.Word(cmp.Or(i.Target, i.Path)) + "\n" +
		fmt.Sprintf("BYTES=%d\n", i.SpaceBytes) +
		array("EXCLUDES", i.Excludes) +
		array("NAMES", i.Names) +
		array("READERS", i.Readers) +
		"UNSAFE=" + map[bool]string{true: "1", false: "0"}[i.Unsafe != ""] + "\n"
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

// snapshotScript copies places from a snapshot of what they lie on.
func snapshotScript(v Volume) string {
	names := sliced.Map(v.Places, func(s string) string { return strings.TrimSuffix(path.Base(s), ".sh") })
	return `#!/usr/bin/env bash
# Copies these places from a snapshot that the source takes of their file system
# while it runs, and takes the snapshot away again, also where something fails.
# Run as root on the target, like 40-copy.sh, after 10-check.sh:
#   move    snapshot, counts and digests, copy, comparison; 90-roll-back.sh undoes it
#   remove  takes away a snapshot that is left, where the way to the source was cut
# shellcheck source-path=SCRIPTDIR/.. source=snapshot.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../snapshot.sh"
# shellcheck disable=SC2034,SC1003 # snapshot.sh uses what is set here
` + array("PLACES", names) + "KIND=" + visible.Word(v.Kind) + " VOLUME=" + visible.Word(v.Volume) + "\nsnapshot \"$@\"\n"
}

// settingsOf are what the scripts of a database begin with.
func settingsOf(i *Item, more string) string {
	settings, with := "DIRECTORY DATABASE", ""
	if d := i.configuration; d.From != "" {
		settings += " CONFIG_FROM"
		with = " CONFIG_FROM=" + visible.Word(d.From) + " CONFIG_TO=" + visible.Word(d.To) + " " + strings.TrimSuffix(array("PLACES", sliced.Map(d.Names, func(place [2]string) string { return place[0] + "=" + place[1] })), "\n")
	}
	return "# shellcheck disable=SC2034,SC1003\nDIRECTORY=" + visible.Word(i.Path) + " DATABASE=" + visible.Word(i.Name) + with + " SETTINGS=(" + settings + ")\n" + fmt.Sprintf(more, strings.TrimSuffix(path.Base(i.Script), ".sh"))
}

// dumpScript is the dump, load and checks of a database, by the tools of its
// engine, which must run on both sides.
func dumpScript(i *Item) ([]byte, error) {
	engine := "engines/" + cmp.Or(replicating[i.What], i.What)
	parts := []string{"engines/dump-head", "engines/remote", engine}
	if i.accountsApart() {
		parts = append(parts, engine+"-accounts")
	}
	if i.configuration.From != "" {
		parts = append(parts, engine+"-config")
	}
	return joined(settingsOf(i, "DUMP=${DUMP:-./%s.dump}\nSTATE=$DUMP\n"), append(parts, "engines/dump")...)
}

// accountsApart reports whether a database's accounts are made in a step of their own.
func (i *Item) accountsApart() bool { return replicating[i.What] == "mysql" }

// replicationScript is what makes the target follow a database, and take over.
func replicationScript(i *Item) ([]byte, error) {
	engine := replicating[i.What]
	return joined(settingsOf(i, "STATE=${STATE:-./%s.replication}\n")+fmt.Sprintf("TUNNEL_PORT=${TUNNEL_PORT:-%d}\n", firstPort+i.Order),
		"replication/head", "engines/remote", "engines/"+engine, "replication/"+engine, "replication/frame")
}

// firstPort and those after it are the target's, of its loopback.
const firstPort = 15000

// joined is a script of several, with settings after the first.
func joined(settings string, names ...string) ([]byte, error) {
	var all []byte
	for n, name := range names {
		b, err := scripts.ReadFile("scripts/" + name + ".sh")
		if err != nil {
			return nil, fmt.Errorf("reading the scripts: %w", err)
		}
		if all = append(all, b...); n == 0 {
			all = append(all, settings...)
		}
	}
	return all, nil
}

// readme is the order of the move, for a person.
func readme(p *Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "How the data move from %s to %s\n\n", p.Source, p.Target)
	fmt.Fprintf(&b, "%d places, %s. Copying takes %s, of which services are down for %s. The target needs %s.\n", p.Sum.Items, Size(p.Sum.Bytes), About(p.Sum.CopySeconds), About(p.Sum.DowntimeSeconds), Size(p.Sum.SpaceBytes))
	for _, a := range p.Assumptions {
		fmt.Fprintf(&b, "  %s\n", a)
	}
	b.WriteString("\nNothing here was run. On the target, as root, with SOURCE_SSH=root@SOURCE, or SOURCE_ROOT=the folder where the source's disk is mounted:\n\n" +
		"  bash 10-check.sh       programs, accounts, room; where accounts are missing it names 05-accounts.sh, which makes them\n  bash 20-first-copy.sh  while the source still runs; as often as you like\n")
	p.stop(&b)
	b.WriteString("  bash 30-before.sh      counts and digests of the source\n  bash 40-copy.sh        stops the services of the target that work in a place, and copies the rest\n  bash 50-after.sh       is the target what the source is? Then the services are started again\n")
	for _, i := range p.Items {
		if i.Method == DumpAndLoad {
			steps := "dump, then load, then check"
			if i.accountsApart() {
				steps = "dump, then load, then accounts, then check"
			}
			fmt.Fprintf(&b, "  bash %s %s\n", i.Script, steps)
		}
	}
	b.WriteString("  bash 90-roll-back.sh   puts the places of the target back; databases that were loaded are dropped by hand\n\n" +
		"None of these changes the source. Of the other ways that are named below, replication and snapshots make something there, and take it away again.\n\n")
	for _, i := range p.Items {
		i.describe(&b)
	}
	for _, f := range p.Inhibitors {
		fmt.Fprintf(&b, "INHIBITOR %s: %q\n", f.Key, f.Summary)
	}
	return visible.Lines(b.String())
}

// stop says what a person stops before the source is counted.
func (p *Plan) stop(b *strings.Builder) {
	b.WriteString("  then stop on the source what writes to its data:\n")
	units := []string{}
	for _, q := range p.Quiesce {
		if strings.HasSuffix(q, ".service") {
			units = append(units, visible.Word(q))
		}
	}
	if len(units) > 0 {
		fmt.Fprintf(b, "    ssh \"$SOURCE_SSH\" systemctl stop %s\n", strings.Join(units, " "))
	}
	for _, q := range p.Quiesce {
		if !strings.HasSuffix(q, ".service") {
			fmt.Fprintf(b, "    what writes to %s\n", visible.Word(q))
		}
	}
	if slices.ContainsFunc(p.Items, func(i Item) bool { return i.Method == DumpAndLoad }) {
		b.WriteString("    what uses the databases; their engines run on until they are dumped\n")
	}
}

// describe is what a person should know of a place.
func (i *Item) describe(b *strings.Builder) {
	at := ""
	if i.Target != "" {
		at = fmt.Sprintf(", to %q", i.Target)
	}
	fmt.Fprintf(b, "%-14s %q%s (%s %q, %s)\n  %s\n", i.Method, i.Path, at, i.Kind, strings.TrimSpace(i.What+" "+i.Version), Size(i.Bytes), i.Why)
	if i.Script != "" {
		fmt.Fprintf(b, "  in %s\n", i.Script)
	}
	if d := i.configuration; d.From != "" {
		fmt.Fprintf(b, "  its configuration in %q comes with it, written for the target, to %q, and is loaded first\n", d.From, d.To)
	}
	for _, w := range i.Warnings {
		fmt.Fprintf(b, "  ! %s\n", w)
	}
	for _, a := range i.Alternatives {
		fmt.Fprintf(b, "  or %s: %s\n", a.Method, a.Why)
		switch {
		case a.Script == "":
		case a.Method == Replication:
			fmt.Fprintf(b, "     bash %s check, then start, status, and switch once nothing writes any more (down for %s); undo before that\n", a.Script, About(a.DowntimeSeconds))
		default:
			fmt.Fprintf(b, "     bash %s move\n", a.Script)
		}
	}
}
