package report

import (
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/backend/sliced"
	"svc/tools/migration"
)

// Mend is the command of a known trouble. It runs as it stands, as root on the target, and
// may be run again.
type Mend struct {
	Title   string // of what it mends
	Command string
	files   []string // of the source, that the trouble was found in
}

// mends are commands of a plan's findings, each once.
func mends(p *migration.Plan, due func(assess.Remediation) bool) (all []Mend) {
	for _, f := range p.Findings {
		for _, r := range f.Remediations {
			if !due(r) || slices.ContainsFunc(all, func(m Mend) bool { return m.Command == r.Text }) {
				continue
			}
			all = append(all, Mend{f.Title, r.Text, sliced.Map(f.Evidence, func(e assess.Evidence) string { return e.Path })})
		}
	}
	return all
}

// BeforeData are the commands that are due once the target has the role.
func BeforeData(p *migration.Plan) []Mend {
	return mends(p, func(r assess.Remediation) bool { return r.BeforeData })
}

// OnceMore are the commands, of before and after the data, that change a file of the
// role's: applied again, the role has written it as it was. Such a file is one that the
// trouble was found in, or that the command names, by itself or by a folder above it.
func OnceMore(p *migration.Plan) []Mend {
	found, written := map[string]bool{}, map[string]bool{}
	for _, c := range p.Configuration {
		if c.Action != migration.Copy && c.Action != migration.Convert {
			continue
		}
		found[c.From] = true
		for at := c.To; strings.Trim(at, "/.") != "" && !written[at]; at = path.Dir(at) {
			written[at] = true
		}
	}
	all := mends(p, func(r assess.Remediation) bool { return r.BeforeData || r.AfterData })
	return sliced.Filter(all, func(m Mend) bool {
		return slices.ContainsFunc(m.files, func(file string) bool { return found[file] }) ||
			slices.ContainsFunc(commandPaths.FindAllStringSubmatch(m.Command, -1), func(word []string) bool { return written[word[1]] })
	})
}

// commandPaths are the words of a command that are paths.
var commandPaths = lazyregexp.New(`(?:^|[\s"'=<>;(|&])(/[\w.@+/-]+)`)

// Of is what a command mends, if it is one of a known trouble.
func Of(p *migration.Plan, command string) (Mend, bool) {
	all := mends(p, func(r assess.Remediation) bool { return r.AfterData && r.Text == command })
	return append(all, Mend{})[0], len(all) > 0
}

// prepares reports whether a finding brings a command for the target before the data.
func prepares(f assess.Finding) bool {
	return slices.ContainsFunc(f.Remediations, func(r assess.Remediation) bool { return r.BeforeData })
}

// known is what is known to fail with the target's versions: what commands mend, and what
// a person decides, which no command can.
func known(p *migration.Plan, a *assess.Assessment) (Step, bool) {
	var mended, decided []string
	for _, f := range p.Findings {
		switch {
		case prepares(f):
			f.Remediations = nil
			mended = append(mended, told(f)+" Its command is here.")
		case raises(f) || answered(p, a, f) || f.Severity != assess.High || !strings.HasPrefix(f.Key, "hazard.") && !slices.Contains([]string{"software.libraries", "software.init-scripts"}, f.Key):
		default:
			if _, ok := libraries(f); ok { // its command is among those that follow from the data
				f.Remediations = f.Remediations[:1]
			}
			decided = append(decided, told(f))
		}
	}
	s := Step{Title: "Mend what is known to fail", Why: strings.Join(mended, "\n"), Commands: commandsOf(BeforeData(p)), Down: "the services that these are about."}
	if decided != nil {
		s.Why = strings.TrimLeft(s.Why+"\n\n"+"What follows has no command here: how it is mended is for a person to decide.\n\n"+strings.Join(decided, "\n"), "\n")
	}
	return s, s.Why != ""
}

// onceMore mends again what the role wrote anew.
func onceMore(p *migration.Plan, _ *assess.Assessment) (Step, bool) {
	all := OnceMore(p)
	return Step{
		Title: "Mend once more what the role has written again", Commands: commandsOf(all),
		Why:  "These commands of the steps above change files that the role writes: whenever it is applied, they are due after it. They may be run as often as you like.",
		Down: "the services that these are about.",
	}, len(all) > 0
}

func commandsOf(all []Mend) []string {
	return sliced.Map(all, func(m Mend) string { return m.Command })
}
