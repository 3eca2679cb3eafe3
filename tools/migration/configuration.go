package migration

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/lazyregexp"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/tools/convert"
	"svc/tools/migration/edits"
	"svc/tools/migration/naming"
	"svc/tools/migration/shipped"
)

// versioned are folders that carry the version of their software: settings in
// them fit that version alone, unless the index says where they go.
var versioned = lazyregexp.New(`^/etc/(postgresql|php|python|perl|ruby|java-|mysql|openjdk-)[^/]*/?([0-9][0-9.]*)/`)

// handled are files that the role makes in another way.
var handled = []struct{ path, reason string }{
	{"/etc/apt/", "The target's own archives count; archives of others are a question in the report."},
	{"/etc/localtime", "The time zone is set by its name."},
	{"/etc/timezone", "The time zone is set by its name."},
	{"/etc/hostname", "The host name is set by itself."},
}

// ComesWithDump is why configuration stays that a database's dump brings.
const ComesWithDump = "It comes with the dump of its databases, written for the target, and is loaded before them."

// withDump reports whether a file comes with the dump of one of the machine's databases.
func (in Input) withDump(file string) bool {
	way := convert.Input{Source: in.inits().Source, Target: in.Target}
	return slices.ContainsFunc(in.Assessment.Databases, func(d assess.Database) bool { return convert.WithDump(way, d.Engine, file) })
}

// machineReason is why a file stays that holds for one machine alone.
const machineReason = "It belongs to this very machine, or is made by the target's own installation."

// configuration decides about every file that is not as a package made it.
func configuration(in Input, where naming.Places) []Config {
	files, there := []Config{}, map[string]bool{}
	for _, f := range in.Assessment.Configuration {
		if isCrontab(f.Path) {
			continue // they are told by their jobs
		}
		files, there[f.Path] = append(files, decide(in, where, f)), true
	}
	asShipped := shipped.Machine{Assessment: in.Assessment, Read: in.Read, Described: in.Described}
	for _, f := range asShipped.Files(in.Target, comeAlong(files)) {
		if stays, _ := stays(in, where, f.ConfigFile); stays != "" || there[f.Path] {
			continue
		}
		c := decide(in, where, f.ConfigFile)
		c.To, c.Action = cmp.Or(c.To, f.Path), Copy // converters say where it goes
		c.Reason, c.shipped = f.Why, f.Why
		files, there[f.Path] = append(files, c), true
	}
	for _, f := range asShipped.Named(in.Target, fateOf(in, where), comeAlong(files)) {
		if stays, _ := stays(in, where, f.ConfigFile); stays != "" || there[f.Path] {
			continue
		}
		files = append(files, Config{From: f.Path, To: f.Path, Action: Copy, Reason: f.Why, Package: f.Package, Mode: f.Mode, Owner: where.Account(f.Owner), Group: where.Group(f.Group), SHA256: f.SHA256, Spare: f.Spare})
		there[f.Path] = true
	}
	tables := map[string]bool{}
	for _, job := range in.Assessment.Cron {
		if c, ok := crontab(in, where, job); ok && !there[c.From] && !tables[path.Base(c.From)] {
			files, there[c.From], tables[path.Base(c.From)] = append(files, c), true, true // Alpine has each by two paths
		}
	}
	files = append(files, sliced.Filter(ofVendors(in, where), func(c Config) bool { return !there[c.To] })...)
	slices.SortFunc(files, compareConfig)
	return files
}

// fateOf says what is known of files as packages ship them. Packages of a line have the same
// files, but for those of which the index has another place; of other lines' files it knows
// some.
func fateOf(in Input, where naming.Places) func(file string) shipped.Fate {
	return func(file string) shipped.Fate {
		_, _, moved := where.File(file)
		switch {
		case where.Dropped(file), sameLine(in) && where.Replaced(file):
			return shipped.Gone
		case !sameLine(in) && !moved:
			return shipped.Unknown
		}
		return shipped.Kept
	}
}

// comeAlong are the files that do, by where they are.
func comeAlong(files []Config) []string {
	return sliced.FilterMap(files, func(c Config) (string, bool) { return c.From, c.To != "" && c.Link == "" })
}

// isCrontab reports whether a file is a user's own table of jobs, in the folder that a
// family has for them.
func isCrontab(file string) bool {
	return slices.ContainsFunc(release.Families(), func(f release.Conventions) bool { return path.Dir(file) == f.Crontabs.Folder })
}

// crontab is a user's own table of jobs, which stands outside /etc.
func crontab(in Input, where naming.Places, job assess.CronJob) (Config, bool) {
	file, to := job.Evidence.Path, in.Target.Family.Conventions().Crontabs
	if !isCrontab(file) || job.Hidden || to.Folder == "" {
		return Config{}, false
	}
	user := where.Account(job.User)
	c := Config{From: file, To: path.Join(to.Folder, user), Action: Copy, Reason: "The jobs of a user.", Mode: "0600", Owner: cmp.Or(to.Owner, user), Group: to.Group}
	if c.Secret = len(secretsOf(in.Assessment, file)) > 0; c.Secret && !in.IncludeSecrets {
		c.To, c.Action, c.Reason = "", LeftOut, secretReason
	}
	return c, true
}

func decide(in Input, where naming.Places, f assess.ConfigFile) Config {
	c := Config{From: f.Path, Package: f.Package, Mode: f.Mode, Owner: where.Account(f.Owner), Group: where.Group(f.Group), SHA256: f.SHA256, Secret: f.Secret}
	if c.Action, c.Reason = stays(in, where, f); c.Action != "" {
		return c
	}
	if f.State == assess.ConfigMissing {
		return deleted(in, where, f, c)
	}
	c.base = base(in, f)
	changes, known := edited(in, f, c.base)
	if known && edits.OnlyRemarks(changes) {
		c.Action, c.Reason = LeftOut, "Only comments differ from what its package ships: the target's own file holds."
	} else {
		c = carry(in, where, f, c)
	}
	if known && len(changes) > 0 && c.Action != LeftOut {
		c.Reason += fmt.Sprintf(" %d of its lines are not as its package ships them.", len(changes))
	}
	c.Edited = changes[:min(len(changes), maxEdits)]
	return c
}

// deleted decides about a package's file that is not there any more. The role deletes
// the same file of the target; what only does its work there, in another family above
// all, is another file, which nobody deleted.
func deleted(in Input, where naming.Places, f assess.ConfigFile, c Config) Config {
	r, to, moved := where.File(f.Path)
	switch {
	case to == "":
		c.Action, c.Reason = LeftOut, "It was deleted on the source, and the target does not ship it."
	case !sameLine(in), moved && r.Action == api.ActionManual:
		c.Action, c.Reason = Manual, fmt.Sprintf("It was deleted on the source. Whether %s of %s is wanted, a person has to say.", to, in.Target.Slug)
	default:
		c.To, c.Action, c.Reason = to, Remove, "It was deleted on the source."
	}
	return c
}

// stays says why a file is not carried over by the role, or nothing.
func stays(in Input, where naming.Places, f assess.ConfigFile) (Action, string) {
	for _, h := range handled {
		if f.Path == h.path || strings.HasSuffix(h.path, "/") && strings.HasPrefix(f.Path, h.path) {
			return LeftOut, h.reason
		}
	}
	switch {
	case f.Path == madeLocales && in.Target.Family.Conventions().Line == release.LineDebian:
		return LeftOut, "The role has its locales made."
	case !utf8.ValidString(f.Path) || !utf8.ValidString(f.Link):
		return Manual, "Its name is no UTF-8, so no role can name it."
	case f.Machine:
		return LeftOut, machineReason
	case in.withDump(f.Path):
		return LeftOut, ComesWithDump
	case in.inits().ByHand(f.Path, where) != "":
		return Manual, in.inits().ByHand(f.Path, where)
	case f.State == assess.ConfigUnreadable:
		return Manual, "It could not be read."
	case f.Secret && !in.IncludeSecrets:
		return LeftOut, secretReason
	case where.Gone(f.Package) && !in.inits().Vendors(f.Package, in.Assessment):
		return Manual, fmt.Sprintf("Its package %s has no sure counterpart in %s.", f.Package, in.Target.Slug)
	case f.State != assess.ConfigMissing && (f.Owner == "" || f.Group == ""):
		return Manual, "Its owner has no name on the source."
	}
	return "", ""
}

// carry places a file on the target.
func carry(in Input, where naming.Places, f assess.ConfigFile, c Config) Config {
	r, to, moved := where.File(f.Path)
	switch {
	case f.Link != "" && moved && (r.Action == api.ActionManual || in.isMachine(assess.LeadsTo(f.Path, f.Link))):
		c.Action, c.Reason = Manual, r.Note
	case f.Link != "":
		c.Action, c.Reason = Copy, "A link that was made on the source."
		c.To, c.Link = where.OfLink(f)
	case !moved && versionDiffers(in, f.Path):
		c.Action, c.Reason = Manual, "It belongs to a version that the target does not have: carry its settings over by hand."
		return c
	case !moved:
		c.To, c.Action, c.Reason = to, Copy, reasonOf(f)
		return c
	case r.Action == api.ActionCopy:
		c.To, c.Action, c.Reason = to, Copy, r.Note
	case r.Action == api.ActionConvert && in.Mentions != nil && in.Mentions(f.Path, naming.OldVersion(r)):
		c.Action, c.Reason = Manual, fmt.Sprintf("It names places of the old version: carry its settings over to %s by hand.", to)
	case r.Action == api.ActionConvert:
		c.To, c.Action, c.Reason = to, Convert, r.Note
	default:
		c.Action, c.Reason = Manual, r.Note
	}
	return unplaced(in, c)
}

// isMachine reports whether a file stays since it belongs to this very machine.
func (in Input) isMachine(file string) bool {
	return slices.ContainsFunc(in.Assessment.Configuration, func(f assess.ConfigFile) bool { return f.Path == file && f.Machine })
}

// unplaced makes a question of what has no place on the target.
func unplaced(in Input, c Config) Config {
	if c.To == "" && c.Action != Manual {
		c.Action, c.Reason = Manual, "It has no place in "+in.Target.Slug+"."
	}
	return c
}

func reasonOf(f assess.ConfigFile) string {
	if f.State == assess.ConfigChanged {
		return "It was edited on the source."
	}
	return "It was made on the source."
}

// versionDiffers reports whether a path names a version of software, which another
// release has another one of.
func versionDiffers(in Input, file string) bool {
	return versioned.MatchString(file) && in.Assessment.Release != in.Target.Slug
}

// secretReason is why a secret stays behind. With its value masked, a file would
// have its service start with a wrong one: so it stays behind as a whole.
const secretReason = "It is a secret, or others may not read it: it is carried over with --include-secrets alone."

// secretsOf are the places of a file's secrets.
func secretsOf(a *assess.Assessment, file string) []assess.Secret {
	return sliced.Filter(a.Secrets, func(s assess.Secret) bool { return s.Evidence.Path == file })
}
