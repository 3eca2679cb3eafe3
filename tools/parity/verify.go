package parity

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/lazyregexp"
	"svc/backend/pkgversion"
	"svc/backend/secret"
	"svc/backend/sliced"
	"svc/backend/visible"
	"svc/tools/migration"
)

// Verify compares a migrated machine with its source and its plan.
func Verify(in Input) *Report {
	r := &Report{
		Kind: "verify", Source: in.Plan.Source, Target: in.After.Release, Fingerprint: in.Plan.Fingerprint, IndexVersion: in.Plan.IndexVersion, PlanDigest: in.PlanDigest,
	}
	v := verification{Input: in, running: bothRun(in.Before, in.After), files: map[string]outcome{}, named: map[string]bool{}}
	v.after = byKey(inventory(in.After, v.running))
	hidden := unread(in.After, "migrated machine")
	v.unseen = unseen(hidden)
	r.Checks = append(unread(in.Before, "source"), hidden...)
	for _, checks := range []func() []Check{v.identity, v.packages, v.services, v.accounts, v.configuration, v.carried, v.data} {
		r.Checks = append(r.Checks, sliced.Map(checks(), v.announced)...)
	}
	added, accounts := v.added()
	r.Checks, r.NotLooked = append(r.Checks, added...), append(notLooked(in.Before, in.After), notAsked(in.Asked, in.After)...)
	r.finish(in.Accepted)
	for dimension, n := range accounts {
		r.dimension(dimension).Base = n
	}
	return r
}

// schemes are those of a finding's resources, by dimension.
var schemes = map[string]string{Mounts: "mount", Databases: "database"}

// announced is what a difference is where a finding of the plan was about it: a
// person was told to see to it.
func (v verification) announced(c Check) Check {
	scheme, ok := schemes[c.Dimension]
	if !ok || c.Result != Differs {
		return c
	}
	if f, ok := sliced.Find(slices.Concat(v.Plan.Findings, v.Before.Findings), func(f assess.Finding) bool {
		return slices.ContainsFunc(f.Related, func(r assess.Resource) bool { return r.Scheme == scheme && r.Name == c.Subject })
	}); ok {
		c.Result, c.Why = Manual, fmt.Sprintf("%s The plan leaves it to a person: %s (%s).", c.Why, f.Title, f.Key)
	}
	return c
}

// identity checks that this is the machine that was made from the source.
func (v verification) identity() []Check {
	release := Check{Dimension: Identity, Subject: "release", Result: Planned, Before: v.Plan.Source, After: v.After.Release, Why: "The plan moves it there."}
	if v.After.Release != v.Plan.Target {
		release.Result, release.Why = Differs, fmt.Sprintf("The plan is for %s.", v.Plan.Target)
	}
	mark := Check{Dimension: Identity, Subject: "fingerprint", Result: Match, Before: v.Plan.Fingerprint, After: v.After.Fingerprint, Why: "It is the source's."}
	if v.After.Fingerprint != v.Plan.Fingerprint {
		mark.Result, mark.Why = Differs, "It is another machine's: the role, which writes /etc/svc/fingerprint, was not applied here, or this is not the machine."
	}
	release.Evidence, mark.Evidence = []assess.Evidence{{Path: "/etc/os-release"}}, []assess.Evidence{{Path: "/etc/svc/fingerprint"}}
	return []Check{release, mark}
}

// packages checks every row of the plan, and what the plan installs beside them.
func (v verification) packages() (all []Check) {
	for _, row := range v.Plan.Packages {
		for _, name := range row.TargetNames() {
			v.named[name] = true
		}
		all = append(all, v.row(row))
	}
	for _, name := range v.Plan.Install {
		if !v.named[name] {
			v.named[name] = true
			all = append(all, v.installed(Check{Dimension: Packages, Subject: name, Why: "The plan installs it."}, []string{name}))
		}
	}
	if database := packageDatabase(v.After); database.Path != "" {
		for i := range all {
			all[i].Evidence = []assess.Evidence{database}
		}
	}
	return distinctChecks(all)
}

// distinctChecks leaves out what the same package of another architecture says
// again.
func distinctChecks(checks []Check) (all []Check) {
	seen := map[[3]string]bool{}
	for _, c := range checks {
		k := [3]string{c.Subject, string(c.Result), c.Before}
		if !seen[k] {
			all = append(all, c)
		}
		seen[k] = true
	}
	return all
}

// row checks one package of the source.
func (v verification) row(row migration.Package) Check {
	c := Check{Dimension: Packages, Subject: row.Name, Before: row.Version, Why: row.Why}
	targets := row.TargetNames()
	found := v.versions(targets)
	switch {
	case row.Install:
		return v.older(row, v.installed(c, targets))
	case row.Relation == api.RelationIncluded, row.Relation == api.RelationRemoved:
		c.Result, c.After = Planned, strings.Join(found, ", ")
	case len(targets) > 0 && len(found) == len(targets):
		return v.older(row, v.installed(c, targets))
	case v.brought(row.Name):
		c.Result, c.After, c.Why = Match, strings.Join(v.versions([]string{row.Name}), ", "), "A person brought it."
	case row.Relation == api.RelationUnknown:
		c.Result, c.Why = Manual, "The index knows no counterpart; a person had to decide. "+c.Why
	case len(targets) > 0 && row.Confidence >= migration.Sure:
		c.Result = Planned // the plan is sure of it, and leaves it to what needs it
	case !row.Manual:
		c.Result, c.Why = Planned, "It came as a dependency; the target's packages bring what they need."
	default:
		c.Result, c.Why = Manual, "The plan left it to a person. "+c.Why
	}
	return c
}

// brought reports whether a package is there of which the plan knows no counterpart.
func (v verification) brought(name string) bool {
	_, ok := v.after[[2]string{Packages, name}]
	return ok && slices.ContainsFunc(v.Plan.Packages, func(row migration.Package) bool {
		return row.Name == name && row.Relation == api.RelationUnknown
	})
}

// versions are those of the packages that are installed: "name version".
func (v verification) versions(names []string) []string {
	return sliced.FilterMap(names, func(name string) (string, bool) {
		is, ok := v.after[[2]string{Packages, name}]
		return name + " " + is.value, ok
	})
}

// installed checks that packages are there.
func (v verification) installed(c Check, names []string) Check {
	found := v.versions(names)
	c.After = strings.Join(found, ", ")
	switch {
	case len(found) < len(names):
		c.Result, c.Why = Differs, fmt.Sprintf("Of %s, not all are installed. %s", visible.Names(names), c.Why)
	case len(names) == 1 && names[0] == c.Subject:
		c.Result = Match
	default:
		c.Result = Planned
	}
	return c
}

// decoration is what a distribution adds to the version of the software.
var decoration = lazyregexp.New(`[+~](dfsg|ds|repack|really|git|bzr|svn|deb|ubuntu|build).*$`)

// upstream is the version of the software itself, without epoch and release.
func upstream(version string) string {
	version = pkgversion.WithoutEpoch(version)
	if i := strings.LastIndex(version, "-"); i > 0 {
		version = version[:i]
	}
	return decoration.ReplaceAllString(version, "")
}

// older finds software that is older than it was, unless the plan said so.
func (v verification) older(row migration.Package, c Check) Check {
	if len(row.Targets) != 1 || c.Result == Differs {
		return c
	}
	is, ok := v.after[[2]string{Packages, row.Targets[0].Name}]
	if !ok || pkgversion.Compare(pkgversion.Deb, upstream(is.value), upstream(row.Version)) >= 0 {
		return c
	}
	if announced := row.Targets[0].Version; announced != "" && pkgversion.Compare(pkgversion.Deb, upstream(is.value), upstream(announced)) >= 0 {
		c.Result, c.Why = Planned, fmt.Sprintf("%s has an older version, %s, as the plan shows.", v.After.Release, announced)
		return c
	}
	c.Result, c.Why = Differs, "The version is older than before."
	return c
}

// services checks every unit of the plan.
func (v verification) services() (all []Check) {
	all = sliced.Map(v.Plan.Services, v.service)
	all = append(all, v.answers()...)
	if v.After.Running == nil {
		return all
	}
	all = append(all, v.stopped()...)
	return append(all, sliced.FilterMap(v.After.Running.Units, func(u assess.RunningUnit) (Check, bool) {
		c := Check{Dimension: Services, Subject: u.Name + ", running", Result: Differs, After: u.State, Why: "It failed on the migrated machine."}
		return c, u.State == "failed"
	})...)
}

// stopped are the services that ran on the source and do not run now; where it was
// not seen whether they ran, those that were enabled. Those that failed are told as
// that.
func (v verification) stopped() []Check {
	if !v.running {
		return v.dead()
	}
	now := sliced.Index(v.After.Running.Units, func(u assess.RunningUnit) (string, string) { return u.Name, u.State })
	ran := sliced.Index(v.Before.Running.Units, func(u assess.RunningUnit) (string, bool) {
		return u.Name, u.State == "active" && u.Sub == "running"
	})
	return sliced.FilterMap(v.Plan.Services, func(s migration.Service) (Check, bool) {
		return Check{
			Dimension: Services, Subject: s.To + ", running", Result: Differs, Before: "running", After: "inactive", Evidence: v.unitFile(s.Unit),
			Why: "It ran on the source, and does not run here.",
		}, strings.HasSuffix(s.To, ".service") && ran[s.Unit] && now[s.To] == ""
	})
}

func (v verification) service(s migration.Service) Check {
	dimension := Services
	if strings.HasSuffix(s.Unit, ".timer") {
		dimension = Timers
	}
	c := Check{Dimension: dimension, Subject: s.Unit, Before: s.State, Why: s.Reason}
	is, there := v.after[[2]string{dimension, s.To}]
	if there {
		c.After, c.Evidence = is.value, is.evidence
	} else {
		c.Evidence = v.unitFile(s.Unit)
	}
	same := there && (is.value == s.State || is.value == "static")
	switch {
	case s.To == "":
		c.Result = Planned
	case !there && s.State != assess.StateEnabled:
		c.Result, c.Why = Planned, "The target has no such unit, so nothing of it can start."
	case s.Apply && !same:
		c.Result, c.Why = Differs, fmt.Sprintf("The role sets %s %s.", visible.Name(s.To), s.State)
	case same && s.To == s.Unit:
		c.Result = Match
	case same:
		c.Result, c.Why = Planned, fmt.Sprintf("It is %s there. %s", visible.Name(s.To), c.Why)
	case there && s.State == "enabled":
		c.Result, c.Why = Differs, fmt.Sprintf("It was enabled, and %s is %s.", visible.Name(s.To), is.value)
	default:
		c.Result = Planned // its package decides, and has no such unit or another default
	}
	return c
}

// accounts checks the users and groups that the role makes, with their keys.
func (v verification) accounts() (all []Check) {
	for _, u := range v.Plan.Accounts.Users {
		all = append(all, v.roleUser(u))
		all = append(all, sliced.Map(gathered(keysOf(u)), func(k subject) Check { return v.present(k.item) })...)
	}
	for _, g := range v.Plan.Accounts.Groups {
		c := v.present(group(g))
		if by := v.groupOfPackage(g.Name); g.System && by != "" && c.Result == Differs && c.After != "" {
			c.Result, c.Why = Planned, by+" It chose the number."
		}
		all = append(all, c)
	}
	return all
}

// roleUser checks a user that the role makes. Where a package of the target makes it as
// well, the numbers are the package's choice.
func (v verification) roleUser(u assess.User) Check {
	c := v.present(account(u))
	now, there := userOf(v.After, u.Name)
	by := v.userOfPackage(u.Name)
	if c.Result != Differs || !u.System || !there || by == "" {
		return c
	}
	if u.UID, u.GID = now.UID, now.GID; now.UID != 0 && account(u).value == c.After {
		c.Result, c.Why = Planned, by+" It chose the numbers."
	}
	return c
}

// several are the dimensions in which a thing may be there several times, and
// more often than on the source.
var several = []string{Jobs, Sites, Certificates}

// includes reports whether all of some values are among a subject's.
func (s subject) includes(some string) bool {
	return !slices.ContainsFunc(strings.Split(some, between), func(value string) bool { return !s.values[value] })
}

// present checks that a thing is on the migrated machine as it was.
func (v verification) present(was item) Check {
	c := Check{Dimension: was.dimension, Subject: was.subject, Before: orPresent(was.value), Evidence: was.evidence}
	is, there := v.after[was.key()]
	if c.After = is.value; there {
		c.Evidence = is.evidence
	}
	switch {
	case !there && was.isIn(v.unseen):
		c.Result, c.Why = Unknown, hiddenWhy
	case !there:
		c.Result, c.Why = Differs, "It is not there."
	case slices.Contains(several, was.dimension) && is.includes(was.value):
		c.Result, c.After = Match, is.value
	case is.value != was.value:
		c.Result, c.Why = Differs, "It is not as it was."
	default:
		c.Result, c.After = Match, orPresent(is.value)
	}
	return c
}

// configuration checks the file of every row of the plan.
func (v verification) configuration() (all []Check) {
	for _, row := range v.Plan.Configuration {
		c := Check{Dimension: Configuration, Subject: row.From, Before: row.SHA256, Why: row.Reason, Evidence: []assess.Evidence{{Path: cmp.Or(row.To, row.From)}}}
		switch row.Action {
		case migration.LeftOut:
			c.Result = Planned
		case migration.Manual:
			c = v.byHand(c, row, v.Files[row.From])
		case migration.Remove:
			c = v.removed(c, v.Files[row.To])
		default:
			c = v.written(c, row, v.Files[row.To])
		}
		all = append(all, c)
		file := v.files[row.From]
		v.files[row.From] = outcome{file.differs || c.Result == Differs, append(file.rows, row)}
	}
	return all
}

// byHand checks a file that the plan left to a person: what came with a package as it was
// fits that package.
func (v verification) byHand(c Check, row migration.Config, f File) Check {
	if c.After = f.SHA256; row.SHA256 != "" && f.SHA256 == row.SHA256 && v.brought(row.Package) {
		c.Result, c.Why = Match, fmt.Sprintf("It is as it was, with its package %s, which a person brought.", visible.Name(row.Package))
		return c
	}
	c.Result, c.Why = Manual, "The plan left it to a person. "+row.Reason
	return c
}

func (v verification) removed(c Check, f File) Check {
	switch {
	case f.Err != "":
		c.Result, c.Why = Unknown, f.Err
	case f.Exists:
		c.Result, c.After, c.Why = Differs, f.SHA256, "It was removed on the source, and is there again."
	default:
		c.Result, c.Why = Match, "It is not there either."
	}
	return c
}

// written checks a file that the role writes.
func (v verification) written(c Check, row migration.Config, f File) Check {
	c.After = f.SHA256
	want, known := v.Written[row.To]
	switch {
	case f.Err != "":
		c.Result, c.Why = Unknown, f.Err
	case !f.Exists && row.Link != "" && !v.Files[destination(row)].Exists:
		c.Result, c.Why = Planned, fmt.Sprintf("%s The role makes links that lead somewhere, and %s has no %s.", c.Why, v.After.Release, visible.Name(destination(row)))
	case !f.Exists:
		c.Result, c.Why = Differs, fmt.Sprintf("The role writes %s, and it is not there.", visible.Name(row.To))
	case row.Spare:
		c.Result = Planned
	case row.Link != "":
		return c.compare(row.Link, f.Link, row.To != row.From)
	case !known && (row.Action != migration.Copy || row.SHA256 == ""):
		c.Result, c.Why = Unknown, "What the role writes is not known without the migration's folder."
	case !known && f.SHA256 == row.SHA256, known && string(want) == string(f.Content):
		return c.mode(row, f)
	case !known:
		c.Result, c.Why = Differs, "Its content is another than on the source."
	default:
		return c.meaning(row, f, want)
	}
	return c
}

// destination is where the link of a row leads.
func destination(row migration.Config) string { return assess.LeadsTo(row.To, row.Link) }

// Looked are the places of the migrated machine that are looked at for a row of
// the plan.
func Looked(row migration.Config) (places []string) {
	if row.To != "" {
		places = append(places, row.To)
	}
	if row.Action == migration.Manual {
		places = append(places, row.From)
	}
	if row.To != "" && row.Link != "" {
		places = append(places, destination(row))
	}
	return places
}

// compare checks where a link leads.
func (c Check) compare(want, is string, moved bool) Check {
	c.Before, c.After = "link to "+want, "link to "+is
	switch {
	case want != is:
		c.Result, c.Why = Differs, "The link leads elsewhere."
	case moved:
		c.Result = Planned
	default:
		c.Result = Match
	}
	return c
}

// meaning compares what the lines of a file say.
func (c Check) meaning(row migration.Config, f File, want []byte) Check {
	lines, n := changes(want, f.Content)
	if n == 0 {
		c = c.mode(row, f)
		c.Why = "It differs in comments, blanks or order alone. " + c.Why
		return c
	}
	if row.Secret || secret.Holds(want) || secret.Holds(f.Content) {
		c.Result, c.Why = Differs, fmt.Sprintf("%d lines differ from what the role writes to %s; they are not shown, since it holds secrets.", n, visible.Name(row.To))
		return c
	}
	c.Result, c.Why = Differs, fmt.Sprintf("%d lines differ from what the role writes to %s: %s.", n, visible.Name(row.To), describe(lines))
	return c
}

// mode checks who may do what with a file whose content is right.
func (c Check) mode(row migration.Config, f File) Check {
	want, is := row.Mode+" "+row.Owner+":"+row.Group, f.Mode+" "+f.Owner+":"+f.Group
	switch {
	case want != is:
		c.Result, c.Before, c.After, c.Why = Differs, want, is, "Its content is right; its mode or owner is not."
	case row.To == row.From && row.Action == migration.Copy:
		c.Result = Match
	default:
		c.Result, c.Why = Planned, fmt.Sprintf("It stands in %s. %s", visible.Name(row.To), c.Why)
	}
	return c
}

// carried checks what is to be there as it was, beside what the plan has rows
// for.
func (v verification) carried() (all []Check) {
	for _, s := range inventory(v.Before, v.running) {
		switch was := s.item; was.dimension {
		case Packages, Services, Timers, Users, Groups, Keys, Configuration:
			continue // they have rows in the plan
		case Archives:
			continue // the target has its own; those of others are a finding of the plan
		case Ports:
			continue // they are compared one by one
		case Facts, Modules, PAM, Software, Containers:
			all = append(all, v.unplanned(was))
		case Programs:
			all = append(all, v.program(was)...)
		case System:
			all = append(all, v.system(was))
		case Mounts:
			all = append(all, v.mount(was))
		case Databases:
			all = append(all, v.database(was))
		default:
			all = append(all, v.planned(v.present(was), was))
		}
	}
	return slices.Concat(all, v.ports(), v.silent(), v.keysOfCertificates(), v.tampered(), nameless(v.Before))
}

// ports checks that what was open is open, and nothing else for others. By
// whom does not matter: programs have other names elsewhere.
func (v verification) ports() (all []Check) {
	now := sliced.Index(open(v.After, v.running), func(is subject) (string, subject) { return is.subject, is })
	for _, was := range open(v.Before, v.running) {
		c := Check{Dimension: Ports, Subject: was.subject, Result: Match, Before: was.value, After: now[was.subject].value, Evidence: was.evidence}
		if c.After == "" && v.drawn(was.subject, v.Before.Running, v.After.Running) {
			c.Result, c.Why = Planned, "Its program was given the port as it started, and has another one now."
		} else if c.After == "" {
			c.Result, c.Why = Differs, "Nothing listens there."
		}
		all = append(all, v.planned(c, was.item))
		delete(now, was.subject)
	}
	for _, is := range now {
		if !strings.HasSuffix(is.subject, onlyHere) && !v.drawn(is.subject, v.After.Running, v.Before.Running) {
			all = append(all, Check{Dimension: Ports, Subject: is.subject, Result: Differs, After: is.value, Why: "It was not open on the source.", Evidence: is.evidence})
		}
	}
	return all
}

// drawn reports whether a port of a machine was given to its programs as they started,
// as the other machine shows.
func (v verification) drawn(number string, here, there *assess.Running) bool {
	return v.running && here.Drew(there, func(s assess.Socket) bool { return socketNumber(s) == number })
}

// silent are ports that the configuration of the migrated machine opens, and on
// which nothing listens though it runs. UDP is left out: the families' programs
// open it on demand.
func (v verification) silent() (all []Check) {
	if v.After.Running == nil || v.running || !socketsKnown(v.After) {
		return nil // where both machines ran, their sockets are compared
	}
	listening := map[string]bool{}
	for _, s := range v.After.Running.Sockets {
		if strings.HasPrefix(s.Protocol, "tcp") {
			listening[fmt.Sprintf("%d/tcp", s.Port)] = true
		}
	}
	for _, is := range open(v.After, false) {
		port := strings.TrimSuffix(is.subject, onlyHere)
		if strings.HasSuffix(port, "/tcp") && !listening[port] {
			all = append(all, Check{
				Dimension: Ports, Subject: port + ", running", Result: Differs, Before: is.value, Evidence: is.evidence,
				Why: "The configuration opens it, and nothing listens there: see whether the service runs.",
			})
		}
	}
	return all
}

func socketsKnown(a *assess.Assessment) bool {
	return !slices.ContainsFunc(a.Running.Sources, func(s assess.Source) bool {
		return strings.HasPrefix(s.What, "running.sockets") && s.State != assess.SourceOK && s.State != assess.SourceAbsent
	})
}

// keysOfCertificates are the certificates of the migrated machine whose private
// key is another one's: no server starts with them.
func (v verification) keysOfCertificates() []Check {
	return sliced.FilterMap(v.After.Certificates, func(c assess.Certificate) (Check, bool) {
		return Check{
			Dimension: Certificates, Subject: c.Path + " (key)", Result: Differs, After: c.Key, Evidence: append(in(c.Path), in(c.Key)...),
			Why: "The private key is not the certificate's.",
		}, c.KeyFits == "no"
	})
}

// nameless says of which servers the source's files did not say what databases
// are in them.
func nameless(a *assess.Assessment) []Check {
	return sliced.FilterMap(a.Databases, func(d assess.Database) (Check, bool) {
		return Check{
			Dimension: Databases, Subject: serverOf(d) + ": names", Result: Unknown, Evidence: in(d.Directory),
			Why: "The files of the source did not say what databases are in it: ask both servers.",
		}, d.Databases == nil && slices.Contains([]string{"postgresql", "mysql", "mariadb"}, d.Engine)
	})
}

// planned is what a difference is where the plan has the file in which the thing
// stood otherwise: a line that it changes, or a file that it leaves to a person
// or behind. Where the file itself differs, that is no excuse.
func (v verification) planned(c Check, was item) Check {
	for _, e := range was.evidence {
		file := v.files[e.Path]
		if c.Result != Differs || file.differs {
			return c
		}
		for _, row := range file.rows {
			if result, why := excuse(row, e.Line); why != "" {
				c.Result, c.Why = result, c.Why+" "+why
				return c
			}
		}
	}
	return c
}

// excuse is what the plan says of a line of a file that is not on the target as
// it was.
func excuse(row migration.Config, line int) (Result, string) {
	switch row.Action {
	case migration.Manual:
		return Manual, fmt.Sprintf("The plan left %s to a person. %s", visible.Name(row.From), row.Reason)
	case migration.LeftOut:
		return Planned, fmt.Sprintf("The plan leaves %s behind. %s", visible.Name(row.From), row.Reason)
	}
	if row.Waits() {
		return Planned, fmt.Sprintf("The plan lays what follows from %s ready. %s", visible.Name(row.From), row.Reason)
	}
	for _, change := range row.Changes {
		if change.Line == line || change.Line == 0 || line == 0 { // 0 is the file as a whole
			return Planned, fmt.Sprintf("The plan changes %s. %s", strings.TrimPrefix(fmt.Sprintf("line %d of %s", line, visible.Name(row.From)), "line 0 of "), change.Why)
		}
	}
	return "", ""
}

// unplanned is what no migration carries by itself: where it is not the same, a
// person has to look. What stands in files that both machines have as their
// packages ship them is each release's own default.
func (v verification) unplanned(was item) Check {
	c := v.present(was)
	switch {
	case c.Result != Differs:
	case shippedOn(v.Before, was.evidence) && shippedOn(v.After, c.Evidence):
		c.Result, c.Why = Planned, "It is the default of the source's packages; the target's packages have their own."
	default:
		c.Result, c.Why = Manual, c.Why+" A migration does not carry it: see whether it is needed."
	}
	return c
}

// program checks a program that no package of the source owned: the data plan
// moves it, or a person.
func (v verification) program(was item) []Check {
	if was.pkg != "" {
		return nil // the target's package has its own
	}
	c := v.present(was)
	if c.Result == Differs && c.After == "" {
		c.Result, c.Why = Manual, "It is not there. No package brings it: the data plan moves it, or a person."
		if strings.Contains(was.value, withCapabilities) && !slices.ContainsFunc(v.After.Programs, func(p assess.Program) bool { return p.Capabilities }) {
			c.Why = "It is not there, or has no capabilities, which over ssh are seen by getfattr alone (the package attr): look at it with getcap."
		}
	}
	return []Check{c}
}

// tampered are the files with more rights that are not as their packages brought
// them, whatever the source has.
func (v verification) tampered() []Check {
	return sliced.FilterMap(v.After.Programs, func(p assess.Program) (Check, bool) {
		return Check{
			Dimension: Programs, Subject: p.Path, Result: Differs, Before: "as " + p.Package + " has it", After: "changed", Evidence: in(p.Path),
			Why: "It runs with more rights than those of who runs it, and is not what its package brought.",
		}, p.Changed
	})
}

// shippedOn reports whether the files of some evidence are on a machine as its
// packages ship them.
func shippedOn(a *assess.Assessment, evidence []assess.Evidence) bool {
	return len(evidence) > 0 && !slices.ContainsFunc(evidence, func(e assess.Evidence) bool {
		return !strings.HasPrefix(e.Path, "/etc/") ||
			slices.ContainsFunc(a.Configuration, func(c assess.ConfigFile) bool { return c.Path == e.Path })
	})
}

// own are the settings of the machine itself, which a new machine has anew.
var own = map[string]string{
	"host name": "A machine has its own name.", "release": "The plan moves it.", "keyboard": "A keyboard belongs to a console.",
}

func (v verification) system(was item) Check {
	c := v.present(was)
	switch why, ok := own[was.subject]; {
	case c.Result != Differs:
	case ok:
		c.Result, c.Why = Planned, why
	case was.value == "":
		c.Result, c.Before, c.Why = Unknown, "", "Nothing on the source says what it was."
	}
	return c
}

// mount checks file systems that hold data; those that hold the system are the
// new machine's own.
func (v verification) mount(was item) Check {
	c := v.present(was)
	kind, _, _ := strings.Cut(was.value, " ")
	switch {
	case c.Result != Differs:
	case slices.Contains([]string{"/", "/boot", "/boot/efi", "/usr", "/var", "/tmp", "none", "swap"}, was.subject), kind == "swap", kind == "tmpfs", kind == "proc", path.Dir(was.subject) == "/media":
		c.Result, c.Why = Planned, "The new machine has disks of its own."
	case c.After != "" && !remote(kind) && options(c.After) == options(was.value):
		c.Result, c.Why = Planned, "It is mounted from another device."
	}
	return c
}

// options are those of a mount.
func options(value string) string { return value[strings.LastIndex(value, " ")+1:] }

func remote(kind string) bool {
	return strings.HasPrefix(kind, "nfs") || kind == "cifs" || kind == "glusterfs" || kind == "ceph"
}

// database checks that an engine is there, and not older, and what is in it.
func (v verification) database(was item) Check {
	c := v.present(was)
	switch {
	case c.Result != Differs:
	case c.After == "" && was.value == named:
		return v.missing(c)
	case c.After == "":
	case was.value == "":
		c.Result, c.Why = Unknown, "The version on the source is not known."
	case pkgversion.Compare(pkgversion.Deb, upstream(c.After), upstream(was.value)) > 0:
		c.Result, c.Why = Planned, "It is newer; its data has to be moved by a database plan."
	default:
		c.Why = "The version is older than before."
	}
	return c
}

// missing is a database that was not seen: it is not there, where the server's
// files say what is in it.
func (v verification) missing(c Check) Check {
	c.Why = "It is not there: its data have to be moved by a database plan."
	for _, d := range v.After.Databases {
		if d.Databases == nil && strings.HasPrefix(c.Subject, serverOf(d)+": ") {
			c.Result, c.Why = Unknown, "It was not seen, but the files of the server do not say what databases are in it."
		}
	}
	return c
}

// data checks the places of a data plan, or says which ones nobody counted.
func (v verification) data() []Check {
	if v.Places == nil {
		return uncounted(v.Before)
	}
	return sliced.Map(v.Places, Place.check)
}
