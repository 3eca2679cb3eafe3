package report

import (
	_ "embed"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/hazards"
	"svc/assess/ledger"
	"svc/backend/pkgversion"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/backend/tsv"
	"svc/backend/visible"
	"svc/tools/database"
	"svc/tools/migration"
	"svc/tools/migration/naming"
	"svc/tools/rehearsal"
)

// Step is one of the steps of a move, in their order.
type Step struct {
	Title    string
	Why      string
	Commands []string // as root on the target, unless Title says otherwise
	Down     string   // what does not run until it is done
	Back     bool     // it is the way back
}

// Steps are what a person does, from the role to the checks.
func Steps(p *migration.Plan, a *assess.Assessment) []Step {
	all := append(before(p), Step{
		Title: "Apply the role, from where this folder is", Commands: []string{"ansible-playbook -i HOST, site.yml"},
		Why: "It installs the packages, makes the accounts and writes the configuration. It may be applied again at any time. At its end it says what does not run yet; most of that waits for the steps below.",
	})
	for _, step := range []func(*migration.Plan, *assess.Assessment) (Step, bool){unknown, leftOut, secrets, passwords, byHand, known, names, data, exports, noticed, afterData, onceMore, changed, machine, network, reboot, check, back} {
		if s, ok := step(p, a); ok {
			all = append(all, s)
		}
	}
	return all
}

// The commands that NEXT.md has of the target's init.
var bootCommand, failedCommand = inWords("systemctl reboot", "reboot"), inWords("systemctl --failed", "rc-status --crashed")

// inWords is a command of the target, by what starts its services.
func inWords(systemd, openrc string) func(*migration.Plan) string {
	return func(p *migration.Plan) string {
		if target, _ := release.Lookup(p.Target); target.Family.Conventions().Init == release.OpenRC {
			return openrc
		}
		return systemd
	}
}

// before is what a target needs before a role can be applied: one that begins with Busybox
// has next to nothing.
func before(p *migration.Plan) []Step {
	if target, _ := release.Lookup(p.Target); target.Family.Conventions().Userland != release.Busybox {
		return nil
	}
	return []Step{{
		Title: "Give the target what the role and these steps need", Commands: []string{"apk update && apk add python3 bash rsync shadow", "apk policy " + words(p.Install)},
		Why: "Ansible needs Python there, and the commands below need bash, rsync and shadow (usermod, chage). Some of it, as much of what the role installs, is in the repository community: see that /etc/apk/repositories names it. Where Ansible is, the role needs the collection community.general. The second command shows of each package that the role installs whether the target has it; take out of role_packages what it has not, or the role stops there.",
	}}
}

// Next is NEXT.md: the steps, with what a rehearsal found where there was one, for a person
// who reads nothing else.
func Next(p *migration.Plan, a *assess.Assessment, d *rehearsal.Document) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# From %s to %s: what to do, in this order\n\n", p.Source, p.Target)
	fmt.Fprintf(&b, "Commands are for root on the target, in bash, unless a step says otherwise. They reach the source by `$SOURCE_SSH`:\n\n    export SOURCE_SSH=root@SOURCE\n\n")
	for n, s := range withTried(Steps(p, a), d) {
		fmt.Fprintf(&b, "## %d. %s\n\n%s\n\n", n+1, s.Title, s.Why)
		for _, c := range s.Commands {
			fmt.Fprintf(&b, "    %s\n", c)
		}
		if len(s.Commands) > 0 {
			b.WriteByte('\n')
		}
		if s.Down != "" {
			fmt.Fprintf(&b, "Until then: %s\n\n", s.Down)
		}
	}
	return []byte(visible.Lines(b.String()))
}

// word is a word of bash, of whatever text.
func word(s string) string {
	if s != "" && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("/._-+@:,=%", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return s
	}
	return visible.Word(s)
}

// literal is a text as an expression of sed that finds it, between bars.
var literal = strings.NewReplacer(`\`, `\\`, `.`, `\.`, `[`, `\[`, `*`, `\*`, `^`, `\^`, `$`, `\$`, `|`, `\|`)

// anew is a text as sed puts it in another's place.
var anew = strings.NewReplacer(`\`, `\\`, `&`, `\&`, `|`, `\|`)

func words(all []string) string {
	return strings.Join(sliced.Map(all, word), " ")
}

// noticed are things of the source that stand in no package and no file, and how much
// of its disk is nobody's.
func noticed(p *migration.Plan, a *assess.Assessment) (Step, bool) {
	var b strings.Builder
	var commands []string
	for _, list := range []func(*migration.Plan, *assess.Assessment) (string, string){aptSettings, archives, held} {
		line, command := list(p, a)
		b.WriteString(line)
		if command != "" {
			commands = append(commands, command)
		}
	}
	if p.Files == nil || len(p.Files.Noticed) == 0 && len(p.Files.Changed) == 0 && len(p.Files.Nobody) == 0 && b.Len() == 0 {
		return Step{}, false
	}
	known := map[string]bool{}
	for _, n := range p.Files.Noticed {
		known[n.Path] = true
		if ages(p, n) {
			continue
		}
		fmt.Fprintf(&b, "- %s %s: %s; %s\n", n.Kind, n.Path, n.What, n.Do)
		if n.Command != "" {
			commands = append(commands, n.Command)
		}
	}
	for _, list := range []struct {
		title string
		paths []ledger.Path
	}{{"Files of packages that were changed outside what is converted", beside(known, outside(p.Files.Changed))}, {"What belongs to no package, no configuration, no place of data and no rule", beside(known, p.Files.Nobody)}} {
		if len(list.paths) > 0 {
			fmt.Fprintf(&b, "- %s:\n", list.title)
		}
		for _, f := range list.paths[:min(len(list.paths), mostNamed)] {
			fmt.Fprintf(&b, "    - %s (%d)\n", f.Path, f.Paths)
		}
		if more := len(list.paths) - mostNamed; more > 0 {
			fmt.Fprintf(&b, "    - and %d more, in plan.json\n", more)
		}
	}
	more, why := brought(p, known)
	b.WriteString(why)
	commands = append(commands, more...)
	return Step{Title: "Carry what no package and no role brings, where you want it", Why: strings.TrimSpace(b.String()), Commands: commands}, true
}

// ages reports whether a notice is of a password of a person, which comes with its ageing.
func ages(p *migration.Plan, n ledger.Notice) bool {
	name, _, _ := strings.Cut(n.What, ": ")
	return n.Kind == ledger.Ageing && slices.ContainsFunc(p.Accounts.Users, func(u assess.User) bool { return u.Name == name && !u.System })
}

// beside are the files that no notice is of.
func beside(known map[string]bool, all []ledger.Path) []ledger.Path {
	return slices.DeleteFunc(slices.Clone(all), func(f ledger.Path) bool { return known[f.Path] })
}

// brought are the commands that bring what is nobody's, but for what has a command of
// its own. Of what stands where packages put files, scripts are a person's for sure, and
// what is below /usr/share fits any release (FHS 3.0, 4.11); none takes the place of a
// file that the target has. What a service remembers of their absence is mended.
func brought(p *migration.Plan, known map[string]bool) (commands []string, why string) {
	var sources, shared []string
	missed := map[string]bool{}
	for _, f := range p.Files.Nobody {
		top, _, _ := strings.Cut(strings.TrimPrefix(f.Path, "/"), "/")
		from := `"$SOURCE_SSH":` + word(f.Path)
		_, ofVersion := versioned(p, f)
		switch ofPackages := slices.Contains([]string{"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "boot", "etc"}, top); {
		case known[f.Path] || ofVersion: // what has a version is brought before the databases
		case !ofPackages && len(sources) < mostNamed:
			sources = append(sources, from)
		case (f.Why == ledger.Script || strings.HasPrefix(f.Path, "/usr/share/")) && len(shared) < mostNamed:
			shared = append(shared, from)
			missed[path.Dir(f.Path)] = true
		}
	}
	if sources != nil {
		commands = append(commands, "rsync -aR --no-implied-dirs "+strings.Join(sources, " ")+" /")
	}
	if shared != nil {
		commands = append(commands, "rsync -aR --no-implied-dirs --ignore-existing "+strings.Join(shared, " ")+" /")
	}
	for _, r := range remembering {
		if missed[r.folder] {
			commands = append(commands, r.mend(p))
			why += "- " + r.why + "\n"
		}
	}
	return commands, why
}

// remembering are services that keep what they could not do when they were started, on
// the target, without a person's programs in a folder.
var remembering = []struct {
	folder, why string
	mend        func(*migration.Plan) string
}{{
	"/usr/lib/cups/backend",
	"printers: CUPS was started before their backends were there, and has stopped them; the last command below gives them the state that they have on the source", // scheduler/printers.c, cupsdLoadAllPrinters
	inWords(fmt.Sprintf(printers, "systemctl stop cups", "systemctl start cups"), fmt.Sprintf(printers, "rc-service cupsd stop", "rc-service cupsd start")),
}}

const printers = `%s && { rsync -a "$SOURCE_SSH":/etc/cups/printers.conf /etc/cups/; %s; }`

// mostNamed is how many paths of a list a page has.
const mostNamed = 40

// outside are the files that are not below /etc: those have rows of their own.
func outside(all []ledger.Path) []ledger.Path {
	return slices.DeleteFunc(slices.Clone(all), func(p ledger.Path) bool { return strings.HasPrefix(p.Path, "/etc/") })
}

// remake brings a package of dpkg as the source has it: made anew of its files, its
// scripts and what dpkg remembers of it. What the source calls its scripts leads out of
// no folder.
const remake = `d=$(mktemp -d) && chmod 755 "$d" && ssh "$SOURCE_SSH" "dpkg-query -L %[1]s | grep -vxE '/(\.|s?bin|lib[x0-9]*)' | tar -c --no-recursion --ignore-failed-read -T -" | tar -x -C "$d" && mkdir -p "$d/DEBIAN" && ` +
	`for c in $(ssh "$SOURCE_SSH" dpkg-query --control-list %[1]s); do ssh "$SOURCE_SSH" dpkg-query --control-show %[1]s "$c" >"$d/DEBIAN/${c##*/}" && case $c in *inst | *rm | config) chmod 755 "$d/DEBIAN/${c##*/}" ;; esac; done; ` +
	`ssh "$SOURCE_SSH" dpkg-query -s %[1]s | sed '/^Status:/d; /^Config-Version:/d; /^Conffiles:/,/^[^ ]/{/^Conffiles:/d; /^ /d}' >"$d/DEBIAN/control" && dpkg-deb -b "$d" /var/tmp/%[1]s.deb`

// installMade installs a package that was made, and has its services run that ran.
func installMade(a *assess.Assessment, name, dir string) string {
	c := fmt.Sprintf("apt-get install -y %s/%s.deb", dir, name)
	for _, u := range a.Services {
		if u.Package == name && u.State == "enabled" {
			c += " && systemctl enable --now " + word(u.Name)
		}
	}
	return c
}

// remadeOf are the commands that bring packages as the source has them, and have their
// services run that ran.
func remadeOf(p *migration.Plan, a *assess.Assessment) []string {
	return sliced.Map(makeable(p, a), func(name string) string { return fmt.Sprintf(remake, name) + " && " + installMade(a, name, "/var/tmp") })
}

// Remade are the packages that NEXT.md makes anew of what the source has installed, as
// exports: they are made on the source, with nothing of it reached from elsewhere.
func Remade(p *migration.Plan, a *assess.Assessment) (all []Export) {
	for _, name := range makeable(p, a) {
		all = append(all, Export{
			Package:  name,
			Source:   `ssh() { shift; sh -c "$*"; }; { ` + fmt.Sprintf(remake, name) + fmt.Sprintf("; } >&2 && cat /var/tmp/%s.deb", name),
			File:     name + ".deb",
			Commands: []string{installMade(a, name, ".")},
		})
	}
	return all
}

// makeable are packages without a counterpart that can be made anew: none where the
// families' packages differ in kind, or where what one needs has gone beyond it.
func makeable(p *migration.Plan, a *assess.Assessment) []string {
	source, _ := release.Lookup(p.Source)
	target, _ := release.Lookup(p.Target)
	if source.Family.Conventions().Format != release.Deb || target.Family.Conventions().Format != release.Deb {
		return nil
	}
	return slices.DeleteFunc(brings(p, a), func(name string) bool {
		return !migration.DpkgName.MatchString(name) || outgrown(p, a, name) != ""
	})
}

// outgrown says what a package needs in a version that the target has passed; apt
// refuses to install it there.
func outgrown(p *migration.Plan, a *assess.Assessment, name string) string {
	for _, b := range a.Bounds[name] {
		for _, r := range p.Packages {
			i := slices.IndexFunc(r.Targets, func(t migration.Target) bool { return t.Name == b.Needs })
			if r.Name != b.Needs || i < 0 || !pkgversion.Valid(pkgversion.Deb, r.Targets[i].Version) {
				continue
			}
			has := r.Targets[i].Version
			if order := pkgversion.Compare(pkgversion.Deb, has, b.Version); order > 0 || order == 0 && b.Relation == "<<" {
				return fmt.Sprintf("%s needs %s (%s %s), of which the target has %s", visible.Name(name), b.Needs, b.Relation, b.Version, has)
			}
		}
	}
	return ""
}

// leading are Debian's sections of packages that do no more than lead to others.
var leading = []string{"metapackages", "oldlibs"}

// brings are the packages that a person brings: chosen ones that no counterpart is known of.
func brings(p *migration.Plan, a *assess.Assessment) []string {
	leads := sliced.SetOf(sliced.Filter(a.Packages, func(b assess.Package) bool { return slices.Contains(leading, path.Base(b.Section)) }), func(b assess.Package) string { return b.Name })
	return sliced.FilterMap(p.Packages, func(r migration.Package) (string, bool) {
		return r.Name, !leads[r.Name] && r.Chosen() && len(r.Targets) == 0 && (r.Relation == "unknown" || r.Relation == "removed") && r.Role != "lib"
	})
}

// unknown are packages that a person brings.
func unknown(p *migration.Plan, a *assess.Assessment) (Step, bool) {
	names := brings(p, a)
	s := Step{
		Title:    "Bring the packages that the target's archives don't have",
		Why:      fmt.Sprintf("No counterpart is known for: %s. Install them from their vendor, or decide that they are not needed; their services and configuration do not run without.", visible.Names(names)),
		Commands: remadeOf(p, a),
		Down:     "what these packages are for.",
	}
	for _, name := range names {
		if past := outgrown(p, a, name); past != "" {
			s.Why += " " + past + ": its package of the source can't be installed there."
		}
	}
	if len(s.Commands) > 0 {
		s.Why += " Where their vendor has none for this release, these commands make them anew of what the source has installed, their edited configuration with them. The scripts of such a package run as root on the target, as the source has them: make only those that you trust. What they need of other packages decides whether they run."
	}
	return s, len(names) > 0
}

// secrets are the files that stay behind, each with its way.
func secrets(p *migration.Plan, a *assess.Assessment) (Step, bool) {
	same, commands, old := map[string][]string{}, []string{}, []string{}
	chown := owners(a)
	for _, c := range p.Configuration {
		switch {
		case c.Place == "" || c.Link != "" || c.Action != migration.LeftOut:
		case c.Old:
			old = append(old, c.From)
		case c.Place == c.From:
			same[chown(c)] = append(same[chown(c)], `"$SOURCE_SSH":`+word(c.From))
		default:
			commands = append(commands, fmt.Sprintf(`mkdir -p %s && rsync -a%s "$SOURCE_SSH":%s %s`, word(path.Dir(c.Place)), chown(c), word(c.From), word(c.Place)))
		}
	}
	files := len(commands) + len(old)
	for _, to := range slices.Sorted(maps.Keys(same)) {
		files += len(same[to])
		for part := range slices.Chunk(same[to], 20) {
			commands = append([]string{"rsync -aR" + to + " --no-implied-dirs " + strings.Join(part, " ") + " /"}, commands...)
		}
	}
	why := ""
	if len(old) > 0 {
		why = fmt.Sprintf(" Of these, some are written for the old versions, and their services don't run with them as they are: %s. Plan again with --include-secrets, which converts them, or write them anew.", visible.Names(old))
	}
	return Step{
		Title: "Bring the secrets", Commands: commands,
		Why:  fmt.Sprintf("%d files hold secrets or are closed to others, and are not in the role (a plan with --include-secrets has them in it, and then this step is done). rsync keeps owners by their names, and modes; what the target calls them otherwise, a command says.", files) + why,
		Down: "services that read these files; they start in the steps below.",
	}, files > 0
}

// owners gives rsync's option for the owner and group of a file that the target calls
// otherwise: by a name that it has not, it would keep their numbers.
func owners(a *assess.Assessment) func(migration.Config) string {
	was := sliced.Index(a.Configuration, func(f assess.ConfigFile) (string, assess.ConfigFile) { return f.Path, f })
	return func(c migration.Config) string {
		if f, ok := was[c.From]; !ok || c.Owner == "" || c.Group == "" || f.Owner == c.Owner && f.Group == c.Group {
			return ""
		}
		return " --chown=" + word(c.Owner+":"+c.Group)
	}
}

// passwords are people's, with their ageing.
func passwords(p *migration.Plan, _ *assess.Assessment) (Step, bool) {
	names, patterns := []string{}, []string{}
	for _, u := range p.Accounts.Users {
		if !u.System {
			names, patterns = append(names, u.Name), append(patterns, word(u.Name))
		}
	}
	return Step{
		Title: "Give people their passwords",
		Why:   fmt.Sprintf("These accounts have no password on the target, but for what --include-secrets brought; keys work: %s. This brings password digests, and the ageing of passwords and expiry of accounts, which --include-secrets does not bring.", visible.Names(names)),
		Commands: []string{
			`ssh "$SOURCE_SSH" getent shadow ` + words(names) + ` | while IFS=: read -r u p d min max w i e _; do case $u in ` + strings.Join(patterns, "|") + `) usermod -p "$p" "$u" && chage -d "${d:--1}" ${min:+-m "$min"} ${max:+-M "$max"} ${w:+-W "$w"} ${i:+-I "$i"} -E "${e:--1}" "$u" ;; esac; done`,
		},
		Down: "logins and sudo by password.",
	}, len(names) > 0
}

// mostAlike is how many files of a folder that stay for one reason are named each.
const mostAlike = 10

// byHand are the files that have no place.
func byHand(p *migration.Plan, a *assess.Assessment) (Step, bool) {
	s := Step{Title: "Carry over by hand what no rule carries"}
	made := makeable(p, a)
	var lines []string
	alike := map[[2]string]int{}
	for _, c := range p.Configuration {
		if c.Action == migration.Manual {
			alike[[2]string{path.Dir(c.From), c.Reason}]++
		}
	}
	for _, c := range p.Configuration {
		folder := [2]string{path.Dir(c.From), c.Reason}
		switch n := alike[folder]; {
		case c.Action != migration.Manual || n == 0:
		case n > mostAlike:
			lines, alike[folder] = append(lines, fmt.Sprintf("- %s, %d files: %s", visible.Name(folder[0]), n, visible.Text(c.Reason))), 0
		default:
			line := fmt.Sprintf("- %s: %s", visible.Name(c.From), visible.Text(c.Reason))
			if slices.Contains(made, c.Package) {
				line += " Where the package was made anew, it is there already."
			}
			lines = append(lines, line)
		}
	}
	s.Why = strings.Join(lines, "\n")
	return s, len(lines) > 0
}

// leftOut is what was too much for the assessment, and so for all that is made of it.
func leftOut(_ *migration.Plan, a *assess.Assessment) (Step, bool) {
	i := slices.IndexFunc(a.Findings, func(f assess.Finding) bool { return f.Key == "assessment.cut" })
	if i < 0 {
		return Step{}, false
	}
	return Step{Title: "Bring what the assessment left out", Why: told(a.Findings[i]), Down: "what reads these."}, true
}

// answered reports whether a step that moves data is the answer to a finding: it is about
// their files, which stay behind, or says that they have to be moved.
func answered(p *migration.Plan, a *assess.Assessment, f assess.Finding) bool {
	moves := func(pkg string) bool {
		return f.Key == "package.data-migration" && slices.Contains(f.Related, assess.Resource{Scheme: "package", Name: pkg})
	}
	return f.Key == "hazard.mariadb.clean" && database.Recommended("mariadb") == database.Dump ||
		slices.ContainsFunc(Exports(p), func(e Export) bool { return e.answers == f.Key || moves(e.Package) }) ||
		slices.ContainsFunc(a.Databases, func(d assess.Database) bool { return database.Recommended(d.Engine) != "" && moves(d.Package) })
}

// maxTold bounds the places that a line of a page names.
const maxTold = 12

// told is a known trouble as a page has it.
func told(f assess.Finding) string {
	line := "- " + f.Title
	for i, e := range f.Evidence {
		if i == maxTold {
			line += fmt.Sprintf(" (and %d more, in report.html)", len(f.Evidence)-i)
			break
		}
		line += " (" + visible.Name(e.Path)
		if e.Line > 0 {
			line += fmt.Sprintf(", line %d", e.Line)
		}
		line += ")"
	}
	line += ": " + hazards.UnderWay(f.Summary)
	for _, r := range f.Remediations {
		line += " " + r.Text
	}
	return line
}

// names are the lines that say what the target calls otherwise.
func names(p *migration.Plan, _ *assess.Assessment) (Step, bool) {
	lines := sliced.FilterMap(p.Mentions, func(m naming.Mention) (string, bool) {
		return fmt.Sprintf("- %s, line %d, names %s. %s", visible.Name(m.Path), m.Line, visible.Name(m.Name), visible.Text(m.Why)), m.Now == ""
	})
	return Step{Title: "Look at lines that name what the target lacks", Why: strings.Join(lines, "\n")}, len(lines) > 0
}

// clusters make those of PostgreSQL that neither the target's package nor the role
// makes, so that their dumps have where to go: Debian's tools call a cluster by a name.
func clusters(p *migration.Plan, a *assess.Assessment) (commands []string) {
	target, _ := release.Lookup(p.Target)
	for _, d := range a.Databases {
		name, port := database.DebianCluster(a.Databases, d), fmt.Sprintf(" -p %d", d.Port)
		if d.Port == database.UsualPort { // main has it: another one is given a free one
			port = ""
		}
		made := name == database.MainCluster || slices.ContainsFunc(p.Clusters, func(c migration.Cluster) bool { return c.Name == name })
		if d.Engine == "postgresql" && !made && migration.ClusterName.MatchString(name) && d.Port > 0 && target.Family.Conventions().Line == release.LineDebian {
			commands = append(commands, fmt.Sprintf(`pg_lsclusters -h | awk '{ print $2 }' | grep -qxF %[1]s || pg_createcluster "$(ls /usr/lib/postgresql | sort -V | tail -n 1)" %[1]s%[2]s --start`, name, port))
		}
	}
	return commands
}

func data(p *migration.Plan, a *assess.Assessment) (Step, bool) {
	s := Step{
		Title: "Move the data",
		Why: fmt.Sprintf("Plan it where svc is: `svc data plan --root DIR --target %s --out DATA --confirm` (or --ssh, --image), take DATA to the target, and do there what its README.txt says. What it says can't be copied while the source runs waits for its services to be stopped, as there. "+
			"In short, below, in DATA; the source's services that write are stopped before 30-before.sh. Of each engine of databases: dump, load, accounts, check.", p.Target),
		Commands: []string{"bash 05-accounts.sh && bash 10-check.sh && bash 20-first-copy.sh", "bash 30-before.sh && bash 40-copy.sh && bash 50-after.sh", "for d in databases/*.sh; do [ ! -e \"$d\" ] || { bash \"$d\" dump && bash \"$d\" load && { ! grep -q '^accounts()' \"$d\" || bash \"$d\" accounts; } && bash \"$d\" check; } || break; done"},
		Down:     "what serves or needs data: sites, databases, queues, homes, programs below /opt, /srv and /usr/local.",
	}
	if slices.ContainsFunc(p.Configuration, func(c migration.Config) bool { return c.Reason == migration.ComesWithDump }) {
		s.Why += " The configuration of slapd (cn=config) comes with the dump of its databases: slapcat -n 0 on the source, written for the target's slapd, and slapadd -n 0 before they are loaded."
	}
	s.Commands = append(BeforeDatabases(p, a), s.Commands...)
	for _, f := range p.Findings {
		if f.Key == "units.wait-for-data" {
			s.Down += " " + f.Summary
		}
	}
	return s, true
}

// Export is how what a server holds goes by an export of its own, while the source's
// server runs: what the source prints goes into a file, of which the target makes
// what it needs.
type Export struct {
	Package   string // by whose server it goes
	Source    string // words of a shell, on the source
	File      string // in the folder that Commands are called in
	Commands  []string
	why, down string
	answers   string // the key of a finding that this is the answer to
}

var exported = []Export{{
	Package: "rabbitmq-server", answers: "hazard.rabbitmq.flags",
	why:    "Its files fit no later series: this brings virtual hosts, users with their passwords, rights, policies, exchanges and queues. Messages don't go along: have their consumers empty the queues first.",
	down:   "what sends and receives messages.",
	Source: "rabbitmqctl -q export_definitions - --format json",
	File:   "definitions.json",
	Commands: []string{
		"systemctl restart rabbitmq-server && rabbitmqctl -q await_startup", // its node is called as the host is, which the role named anew
		// From stdin it waits without end, and it reads files as its own account.
		"install -o rabbitmq -m 0600 definitions.json /var/lib/rabbitmq/definitions.json",
		"rabbitmqctl import_definitions /var/lib/rabbitmq/definitions.json",
		`grep -q '"name":"guest"' definitions.json || rabbitmqctl delete_user guest; rm definitions.json /var/lib/rabbitmq/definitions.json`,
	},
}}

// Exports are those of a plan's servers.
func Exports(p *migration.Plan) []Export {
	return slices.DeleteFunc(append(slices.Clone(exported), images(p)...), func(e Export) bool {
		return !p.Installs(e.Package)
	})
}

// images are those of containers that no registry has.
func images(p *migration.Plan) []Export {
	if p.Files == nil {
		return nil
	}
	names := sliced.FilterMap(p.Files.Noticed, func(n ledger.Notice) (string, bool) { return n.Path, n.Kind == ledger.Image })
	if names == nil {
		return nil
	}
	return []Export{{
		Package: "podman", File: "images.tar", Source: "podman save -m " + strings.Join(names, " "), Commands: []string{"podman load -q -i images.tar && rm images.tar"},
		why: "Images that were made on the machine are in no registry: this brings them, as large as they are.", down: "containers of these images.",
	}}
}

func exports(p *migration.Plan, _ *assess.Assessment) (Step, bool) {
	s := Step{}
	var of, why, down []string
	for _, e := range Exports(p) {
		of, why, down = append(of, e.Package), append(why, e.why), append(down, strings.TrimSuffix(e.down, "."))
		s.Commands = append(s.Commands, fmt.Sprintf(`(umask 077 && ssh "$SOURCE_SSH" %s >%s)`, e.Source, e.File))
		s.Commands = append(s.Commands, e.Commands...)
	}
	if s.Title = "Bring what " + strings.Join(of, "") + " holds, by its own export"; len(of) > 1 {
		s.Title = "Bring what " + strings.Join(of, " and ") + " hold, by their own exports"
	}
	s.Why, s.Down = strings.Join(why, "\n\n"), strings.Join(down, "; ")+"."
	return s, len(of) > 0
}

// remade is what programs make of files that people wrote; EL has a program of its own
// for the authorities that are trusted.
func remade(target release.Release) []string {
	trust := "update-ca-certificates"
	if target.Family.Conventions().Line == release.LineEL {
		trust = "update-ca-trust"
	}
	return sliced.Map([]string{trust, "newaliases"}, func(program string) string { return fmt.Sprintf("! command -v %[1]s >/dev/null || %[1]s", program) })
}

// ownLocales has the locales made that people defined, which came with the data: the role
// knows those of the release alone (Debian: locale-gen(8), files).
const ownLocales = `[ ! -d /usr/local/share/i18n/locales ] || { for f in /usr/local/share/i18n/locales/*; do [ ! -e "$f" ] || grep -q "^${f##*/}[. ]" /etc/locale.gen || echo "${f##*/}.UTF-8 UTF-8" >>/etc/locale.gen; done; locale-gen; }`

// afterData is what has to be done once data and programs are there.
func afterData(p *migration.Plan, a *assess.Assessment) (Step, bool) {
	s := Step{Title: "Make what follows from the data, and start what waited"}
	var lines, modules, environments bool
	var copies []string // of folders whose lines are changed before
	for _, m := range p.Mentions {
		switch {
		case m.Now != "" && m.Line == 0:
			led := ofEnvironment(m, a)
			modules, environments = true, environments || led != nil
			copies = append(copies, fmt.Sprintf("[ ! -d %s ] || { mkdir -p %s && cp -an %s/. %s/; }", word(m.Name), word(m.Now), word(m.Name), word(m.Now)))
			copies = append(copies, led...)
		case m.Now != "":
			lines = true
			s.Commands = append(s.Commands, fmt.Sprintf("sed -i %s %s", visible.Word(fmt.Sprintf("%ds|%s|%s|g", m.Line, literal.Replace(m.Name), anew.Replace(m.Now))), word(m.Path)))
		}
	}
	target, _ := release.Lookup(p.Target)
	s.Commands = append(append(s.Commands, copies...), remade(target)...)
	if len(p.System.Locales) > 0 {
		s.Commands = append(s.Commands, ownLocales)
	}
	if target.Family.Conventions().Libc != release.Musl {
		s.Commands = append(s.Commands, "ldconfig") // musl looks for libraries itself
	}
	for _, said := range []struct {
		holds bool
		text  string
	}{
		{slices.ContainsFunc(a.Findings, func(f assess.Finding) bool { return f.Key == "certificates.own-authority" }), "Authorities of your own are trusted from now on. "},
		{lines, "Programs of your own and secrets come as they are; lines of theirs that name what the target calls otherwise are changed here. "},
		{modules, "Modules of a language that stand in a folder of its version are copied to that of the target's; those that were compiled have to be built anew. "},
		{environments, "Virtual environments of Python are led to the target's. "},
		{true, "Then apply the role again, as at first: it starts what waited."},
	} {
		if said.holds {
			s.Why += said.text
		}
	}
	for _, f := range p.Findings {
		if command, ok := libraries(f); ok {
			s.Commands, s.Why = append(s.Commands, command), s.Why+"\n\n- "+f.Title+": one command brings the files that it names into a folder of their own. They get no updates there: build the programs anew, and take the folder and its line in /etc/ld.so.conf.d away."
		}
		if raises(f) {
			if command := f.Remediations[0].Text; !slices.Contains(s.Commands, command) {
				s.Commands = append(s.Commands, command)
			}
			s.Why += "\n\n" + told(assess.Finding{Title: f.Title, Summary: f.Summary + " Its command is here.", Evidence: f.Evidence})
		}
	}
	return s, true
}

// ofEnvironment leads a virtual environment of Python to the target's: its links name the
// release's by its version, and its programs begin with the links (docs.python.org: venv).
func ofEnvironment(m naming.Mention, a *assess.Assessment) []string {
	home := path.Dir(path.Dir(m.Name))
	if !slices.ContainsFunc(a.Software, func(s assess.Software) bool { return s.Manager == "venv" && s.Path == home }) {
		return nil
	}
	commands := []string{fmt.Sprintf(`for l in %s/bin/python*; do [ -e "$l" ] || [ ! -L "$l" ] || ln -sfn %s "$l"; done`, word(home), word("/usr/bin/"+path.Base(m.Now)))}
	if pkgversion.Compare(pkgversion.RPM, strings.TrimPrefix(path.Base(m.Now), "python"), "3.12") >= 0 {
		commands = append(commands, fmt.Sprintf(oldTools, word(m.Now)))
	}
	return commands
}

// oldTools takes the tools away that made an environment and that Python 3.12 does not load any
// more: setuptools below 66 names pkgutil.ImpImporter, and stands before the system's own.
const oldTools = `for d in %s/site-packages/setuptools-*.dist-info; do v=${d##*/setuptools-}; [ ! -e "$d" ] || [ "${v%%%%.*}" -ge 66 ] || rm -rf "${d%%/*}"/setuptools "${d%%/*}"/pkg_resources "${d%%/*}"/pip "${d%%/*}"/easy_install.py "${d%%/*}"/setuptools-* "${d%%/*}"/pip-*; done`

// libraries is the command of a finding that brings what programs of people's own are
// linked with and the target has in another version alone.
func libraries(f assess.Finding) (command string, ok bool) {
	i := slices.IndexFunc(f.Remediations, func(r assess.Remediation) bool { return r.Type == "command" })
	if f.Key != "software.libraries" || i < 0 {
		return "", false
	}
	return f.Remediations[i].Text, true
}

// raises reports whether a finding brings a command for the target once it has the data:
// by which a program raises what it keeps to its new version, which installs what a program
// of people's own needs, or brings lines of the source.
func raises(f assess.Finding) bool { return len(f.Remediations) > 0 && f.Remediations[0].AfterData }

// changed is what a person should know of versions: what findings say that warn.
func changed(p *migration.Plan, a *assess.Assessment) (Step, bool) {
	var lines []string
	for _, f := range p.Findings {
		if f.Severity == assess.Medium && strings.HasPrefix(f.Key, "hazard.") && !raises(f) && !prepares(f) {
			lines = append(lines, told(f))
		}
		if strings.HasPrefix(f.Key, "package.") && !answered(p, a, f) || f.Key == "software.other-versions-of-languages" || f.Key == "target.older-programs" {
			lines = append(lines, "- "+f.Title+": "+f.Summary)
		}
	}
	return Step{
		Title: "Try what meets other versions", Why: strings.Join(lines, "\n"), Down: "what does not run with these versions; the source still has it.",
	}, len(lines) > 0
}

// ofMachine are files of one machine that people write, with what they hold.
//
//go:embed machine.tsv
var ofMachine string

// ofThisMachine reports whether a file stays behind since it is this very machine's.
func ofThisMachine(c migration.Config) bool {
	return c.Action == migration.LeftOut && strings.HasPrefix(c.Reason, "It belongs to this very machine")
}

// machine is what holds for one machine, and was changed by people.
func machine(p *migration.Plan, _ *assess.Assessment) (Step, bool) {
	var lines []string
	source, _ := release.Lookup(p.Source)
	for m := range tsv.Rows(ofMachine, 2) {
		var files []string
		for _, c := range p.Configuration {
			made := p.Files != nil && source.Family.Conventions().Line == release.LineDebian && strings.HasPrefix(c.From, "/etc/pam.d/") // what of it is a person's is noticed by line
			if ok, _ := path.Match(m[0], c.From); ok && !made && ofThisMachine(c) {
				files = append(files, c.From)
			}
		}
		if files != nil {
			lines = append(lines, "- "+visible.Names(files)+": "+m[1])
		}
	}
	s := Step{
		Title: "See what belonged to the old machine", Commands: hostKeys(p),
		Why: "These were changed on the source and stay there, since the target has its own. Carry over what of them you still want:\n\n" + strings.Join(lines, "\n"),
	}
	if s.Commands != nil {
		s.Why += "\n\nWhere the target takes over the source's name, the command brings its host keys with their certificates; they hold from the next boot. Then forget the target's former key where svc is called (`ssh-keygen -R TARGET`), and connect once. Leave it out where both machines stay."
	}
	return s, len(lines) > 0
}

// hostKeys bring the keys by which clients of ssh know the source, with what belongs to
// them. EL lets a group read them, which sshd elsewhere refuses.
func hostKeys(p *migration.Plan) []string {
	var sources, keys []string
	for _, c := range p.Configuration {
		if ok, _ := path.Match("/etc/ssh/ssh_host_*", c.From); !ok || !ofThisMachine(c) {
			continue
		}
		sources = append(sources, `"$SOURCE_SSH":`+word(c.From))
		if strings.HasSuffix(c.From, "_key") {
			keys = append(keys, c.From)
		}
	}
	if keys == nil {
		return nil
	}
	return []string{"rsync -a " + strings.Join(sources, " ") + " /etc/ssh/ && chown root:root " + words(keys) + " && chmod 600 " + words(keys) + " && mkdir -p /run/sshd && sshd -t"}
}

// network puts in place what waits: the source's addresses, where they were converted, and
// its packet filter.
func network(p *migration.Plan, _ *assess.Assessment) (Step, bool) {
	var addresses, rules bool
	for _, c := range p.Configuration {
		if c.Action == migration.Convert && c.Waits() {
			addresses, rules = addresses || c.Converter == "network", rules || c.Converter != "network"
		}
	}
	s := Step{Commands: []string{"cp -a " + migration.Waiting + "/. /"}}
	if target, _ := release.Lookup(p.Target); target.Family.Conventions().Format == release.RPM {
		s.Commands = append(s.Commands, "! command -v restorecon >/dev/null || restorecon -R /etc")
	}
	s.Commands = append(s.Commands, filter(p)...)
	what := "the packet filter"
	if s.Why = "Do it at the target's console: from the next boot on the target lets in what the source did, and nothing else."; addresses {
		what = "the network"
		s.Why = "Compare names and hardware addresses with `ip -br link` first, and do it at the target's console: with the next boot the target has the source's addresses."
	}
	if addresses && rules {
		what += " and the packet filter"
	}
	s.Title, s.Down = "Take over "+what+", when the source is off", strings.Replace(what, "the network", "the source's addresses", 1)+"."
	return s, addresses || rules
}

// filterUnits load the rules of a packet filter that wait, by the end of their place.
var filterUnits = map[string]string{
	"/nftables.conf": "nftables.service", "/nftables/rules/main.nft": "nftables.service", "/sysconfig/iptables": "iptables.service", "/sysconfig/ip6tables": "ip6tables.service",
}

// filterUnit is the unit that loads a file, if any.
func filterUnit(file string) string {
	for end, unit := range filterUnits {
		if strings.HasSuffix(file, end) {
			return unit
		}
	}
	return ""
}

// filter lets the target load the rules that waited, and nothing beside them: it may
// have begun with firewalld, and of a unit that the source did not have no row tells.
func filter(p *migration.Plan) (commands []string) {
	target, _ := release.Lookup(p.Target)
	if target.Family.Conventions().Init == release.OpenRC || slices.ContainsFunc(p.Services, func(s migration.Service) bool { return s.To == "firewalld.service" && s.State == "enabled" }) {
		return nil
	}
	waits := false
	for _, c := range p.Configuration {
		unit := filterUnit(c.To)
		if c.Action != migration.Convert || !c.Waits() || unit == "" {
			continue
		}
		waits = true
		if filterUnit(c.From) == "" {
			commands = append(commands, "systemctl enable "+unit)
		}
	}
	if waits && target.Family.Conventions().Line != release.LineDebian {
		commands = append([]string{"! systemctl cat firewalld.service >/dev/null 2>&1 || systemctl disable firewalld.service"}, commands...)
	}
	return commands
}

func reboot(p *migration.Plan, _ *assess.Assessment) (Step, bool) {
	return Step{Title: "Boot the target", Commands: []string{bootCommand(p)}, Why: "So that everything starts as it will from now on."}, true
}

func check(p *migration.Plan, _ *assess.Assessment) (Step, bool) {
	return Step{
		Title: "Check", Commands: []string{failedCommand(p), "svc verify --ssh root@TARGET --source OUT --data DATA --out PARITY"},
		Why: "The second is called where svc is; OUT is this folder.",
	}, true
}

func back(*migration.Plan, *assess.Assessment) (Step, bool) {
	return Step{
		Title: "To go back", Back: true, Why: "Nothing of this changed the source: start its services again, give it back its addresses, and switch the target off. What was written to the target meanwhile is there alone. `bash 90-roll-back.sh` in DATA puts the target's places back, for another try.",
	}, true
}

// AfterData are the commands that bring what no package and no role brings, those of
// the step that follows the move of the data, and what belonged to the old machine. Some
// reach the source by $SOURCE_SSH.
func AfterData(p *migration.Plan, a *assess.Assessment) []string {
	before, _ := noticed(p, a)
	s, _ := afterData(p, a)
	return slices.Concat(before.Commands, s.Commands, hostKeys(p))
}
