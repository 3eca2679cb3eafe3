package rehearsal

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/sliced"
	"svc/backend/tsv"
	"svc/tools/rehearsal/tap"
)

//go:embed catalogues.tsv
var cataloguesTSV string

// CatalogueQuestion asks a server or a language what it holds, serves or can load.
type CatalogueQuestion struct {
	Kind     string // of a check
	Data     bool   // it comes with the data
	Name     string
	Programs []string // patterns, of which one must be there
	Places   []string // likewise, too; none where nothing must
	Words    []string // of its own client, on the machine
}

// CatalogueQuestions are those of the table.
var CatalogueQuestions = tsv.List(cataloguesTSV, 7, func(c []string) CatalogueQuestion {
	return CatalogueQuestion{c[0], c[1] == "data", c[2], strings.Fields(c[3]), strings.Fields(c[4]), []string{"sh", "-c", c[5]}}
})

// catalogues are what servers hold that are asked about checks of one kind.
func (j judge) catalogues(kind string) (all []Check) {
	if j.Source == nil {
		return nil
	}
	for _, q := range CatalogueQuestions() {
		before, now := j.Source.Catalogues[q.Name], j.Target.Catalogues[q.Name]
		if !before.Answers || q.Kind != kind || kind == "listing" && len(before.Lines) == 0 {
			continue
		}
		c := Check{Subject: q.Name, Verdict: Runs, Source: summary(before), Target: summary(now)}
		lost := slices.DeleteFunc(slices.Clone(before.Lines), func(line string) bool { return slices.Contains(now.Lines, line) })
		switch {
		case !now.Answers:
			c.Verdict, c.Why = Fails, "It does not answer on the target."
			c.Log = now.Lines
		case len(lost) == 0:
		case !j.WithData && q.Data:
			c.Verdict, c.Why = Untried, needsData
		default:
			c.Verdict, c.Log = Fails, lost[:min(len(lost), maxLost)]
			c.Why = "The target does not hold what the source does; these are the source's lines that it lacks."
		}
		all = append(all, c)
	}
	return all
}

const maxLost = 10

func summary(c Catalogue) string {
	if !c.Answers {
		return "no answer"
	}
	return fmt.Sprintf("%d of what its catalogue lists", len(c.Lines))
}

// data are the comparisons that the scripts of the data's move make themselves.
func (j judge) data() []Check {
	all := ended(j.Data, "equal", "The script ends with an error.")
	if n := len(j.Unread); n > 0 && len(j.Data) > 0 {
		all = append(all, Check{
			Subject: "files that could not be read", Verdict: Untried, Log: j.Unread[:min(n, maxNamed)],
			Why: fmt.Sprintf("Who called this may not read %d files and folders of the source: they were neither moved nor compared. As root they are.", n),
		})
	}
	return all
}

// mends are the commands of known troubles: one that fails left its trouble as it was.
func (j judge) mends() []Check {
	return ended(j.Mends, "its command was run", "Its command ends with an error.")
}

// ended are steps of the move that say themselves how they ended.
func ended(steps []Step, well, badly string) []Check {
	return sliced.Map(steps, func(s Step) Check {
		if !s.OK {
			return Check{Subject: s.Name, Verdict: Fails, Why: badly, Log: s.Output}
		}
		return Check{Subject: s.Name, Verdict: Runs, Target: well}
	})
}

// maxNamed is how many files are named of many.
const maxNamed = 12

// cron are lines whose program must be there, and whose account.
func (j judge) cron() (all []Check) {
	for _, job := range Jobs(j.Before) {
		if !j.ranOnSource(job) {
			continue // it did not work there either
		}
		c := Check{Subject: fmt.Sprintf("%s, for %s", job.Program, job.User), Verdict: Runs, Source: job.Where}
		user := j.known(job.User)
		switch {
		case !user && j.renamed(job): // its account has another name there
		case !user:
			c.Verdict, c.Why = Fails, "The target has no account "+job.User+"."
		case j.Target.Programs[job.Program], j.anew(job), j.renamedFile(job.Program):
		case !j.WithData && j.OnSource(job.Program):
			c.Verdict, c.Why = Untried, needsData
		default:
			c.Verdict, c.Why = Fails, "The target has no such program."
		}
		all = append(all, c)
	}
	return all
}

// ranOnSource reports whether the source has the program of a line; where no copy of
// it was booted, its files say so.
func (j judge) ranOnSource(job Job) bool {
	if j.Source == nil {
		return j.OnSource(job.Program)
	}
	return j.Source.Programs[job.Program]
}

// anew reports whether a line was changed on its way, and its program is there: the
// target has one in the same file, for the same account.
func (j judge) anew(job Job) bool {
	return slices.ContainsFunc(Jobs(j.Target.Assessment), func(now Job) bool {
		return now.Where == job.Where && now.User == job.User && j.Target.Programs[now.Program]
	})
}

// renamedFile reports whether a program has another name on the target, and is there.
func (j judge) renamedFile(program string) bool {
	to := j.placeNow(program)
	return to != program && j.OnTarget(to)
}

// renamed reports whether the target has a line with another account, which it has.
func (j judge) renamed(job Job) bool {
	return slices.ContainsFunc(Jobs(j.Target.Assessment), func(now Job) bool {
		return now.Where == job.Where && now.Program == job.Program && j.known(now.User) && j.Target.Programs[now.Program]
	})
}

// known reports whether the target has an account.
func (j judge) known(user string) bool {
	return slices.ContainsFunc(j.Target.Assessment.Users, func(u assess.User) bool { return u.Name == user })
}

// Job is the program of a line of cron.
type Job struct{ Program, User, Where string }

// Jobs are the programs that cron starts, each once for each account.
func Jobs(a *assess.Assessment) (all []Job) {
	seen := map[Job]bool{}
	for _, c := range a.Cron {
		if job := (Job{Program: cronProgram(c.Command), User: c.User}); c.Local && job.Program != "" && job.User != "" && !seen[job] {
			seen[job] = true
			job.Where = fmt.Sprintf("%s, line %d: %s", c.Evidence.Path, c.Evidence.Line, c.Schedule)
			all = append(all, job)
		}
	}
	return all
}

// cronProgram is the first program by its path of a line; words of a shell before
// it, such as settings and tests, are passed over.
func cronProgram(command string) string {
	for _, w := range strings.Fields(command) {
		w = strings.Trim(w, `"'();&|`)
		if strings.HasPrefix(w, "/") && !strings.ContainsAny(w, "*?$`<>{}=\\") && !strings.HasPrefix(w, "/dev/") {
			return w
		}
		if strings.HasPrefix(w, "#") {
			return ""
		}
	}
	return ""
}

// accounts are people who log in: their shell, their keys, what sudo lets them do.
func (j judge) accounts() (all []Check) {
	for _, u := range j.Before.Users {
		if u.System || strings.HasSuffix(u.Shell, "nologin") || strings.HasSuffix(u.Shell, "/false") || u.UID == 65534 {
			continue
		}
		c := Check{Subject: u.Name, Verdict: Runs, Source: account(u)}
		now, there := sliced.Find(j.Target.Assessment.Users, func(v assess.User) bool { return v.Name == u.Name })
		if there {
			c.Target = account(now)
		}
		switch {
		case !there:
			c.Verdict, c.Why = Fails, "The target has no such account."
		case now.Shell != "" && !j.OnTarget(now.Shell):
			c.Verdict, c.Why = Fails, "Its shell "+now.Shell+" is not there."
		case j.Source != nil && j.Source.Sudo[u.Name] > 0 && j.Target.Sudo[u.Name] <= 0:
			c.Verdict, c.Why = Fails, "sudo lets it do nothing on the target."
		case len(now.AuthorizedKeys) >= len(u.AuthorizedKeys):
		case !j.WithData:
			c.Verdict, c.Why = Untried, "Its keys lie in its home. "+needsData
		default:
			c.Verdict, c.Why = Fails, "Not all of its keys are there."
		}
		all = append(all, c)
	}
	return all
}

func account(u assess.User) string {
	return fmt.Sprintf("%s, %d keys", u.Shell, len(u.AuthorizedKeys))
}

// certificates are those with a key of theirs.
func (j judge) certificates() (all []Check) {
	for _, cert := range j.Before.Certificates {
		if cert.KeyFits != "yes" || len(cert.UsedBy) == 0 {
			continue
		}
		c := Check{Subject: cert.Path, Verdict: Runs, Source: "with its key " + cert.Key}
		to := j.placeNow(cert.Path)
		now, there := sliced.Find(j.Target.Assessment.Certificates, func(t assess.Certificate) bool { return t.Path == to })
		switch {
		case !there && j.OnTarget(to):
			c.Verdict, c.Why = Untried, "Nothing on the target names it."
		case !there && !j.WithData:
			c.Verdict, c.Why = Untried, needsData
		case !there && j.machines(cert.Path):
			c.Verdict, c.Why = Untried, "It belongs to the source alone: the target makes its own."
		case !there:
			c.Verdict, c.Why = Fails, "It is not on the target."
		case now.KeyFits == "no":
			c.Verdict, c.Why = Fails, "The key on the target is of another certificate."
		case now.KeyFits == "":
			c.Verdict, c.Why = Untried, "Its key could not be read on the target."
		}
		all = append(all, c)
	}
	return all
}

// machines reports whether a file stays behind since it is this very machine's.
func (j judge) machines(name string) bool {
	return slices.ContainsFunc(j.Before.Configuration, func(c assess.ConfigFile) bool { return c.Path == name && c.Machine })
}

// own are checks of a person's own; those that a program printed of the source alone count,
// too.
func (j judge) own() (all []Check) {
	missing := maps.Clone(j.OwnSource)
	for _, o := range j.OwnTarget {
		o.Name = tap.Known(j.OwnSource, o.Name)
		delete(missing, o.Name)
		c := Check{Subject: o.Name, Verdict: Runs, Target: o.Text}
		before, asked := j.OwnSource[o.Name]
		if asked {
			c.Source = map[bool]string{true: "passes", false: "fails"}[before.OK]
		}
		switch {
		case o.OK:
		case asked && !before.OK:
			c.Verdict, c.Why = Untried, notOnSource
		default:
			c.Verdict, c.Why, c.Log, c.Target = Fails, "The check fails on the target.", []string{o.Text}, "fails"
		}
		all = append(all, c)
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		if j.OwnTarget != nil && missing[name].OK {
			all = append(all, Check{Subject: name, Verdict: Untried, Source: "passes", Why: "The program of checks did not come to it on the target: it ended before, or took too long."})
		}
	}
	return all
}
