package tool

import (
	"cmp"
	"slices"

	"svc/assess"
	"svc/backend/sliced"
)

// Step is a call of a tool, or a command, that follows.
type Step struct {
	Tool    string         `json:"tool,omitempty"`
	Input   map[string]any `json:"input,omitempty"` // of the tool, beside what the call before had
	Command string         `json:"command,omitempty"`
	Why     string         `json:"why"`
}

// Headline is a finding in short. In a result that is cut the least have only
// their titles.
type Headline struct {
	Key      string                 `json:"key"`
	Severity assess.FindingSeverity `json:"severity"`
	Title    string                 `json:"title"`
	Summary  string                 `json:"summary,omitempty"`
	Do       []string               `json:"do,omitempty"`
}

// Headlines are findings in short, the gravest first; those that say the same of
// several things are one.
func Headlines(findings []assess.Finding) []Headline {
	all, at := []Headline{}, map[string]int{}
	for _, f := range findings {
		key := f.Key + "\x00" + f.Summary
		if i, ok := at[key]; ok {
			all[i].Title = assess.JoinTitles(all[i].Title, f.Title)
			continue
		}
		h := Headline{Key: f.Key, Severity: f.Severity, Title: f.Title, Summary: f.Summary}
		h.Do = append(h.Do, sliced.Map(f.Remediations, func(r assess.Remediation) string { return r.Text })...)
		at[key] = len(all)
		all = append(all, h)
	}
	rank := []assess.FindingSeverity{assess.High, assess.Medium, assess.Low, assess.Info}
	slices.SortStableFunc(all, func(a, b Headline) int {
		return cmp.Compare(slices.Index(rank, a.Severity), slices.Index(rank, b.Severity))
	})
	return all
}

// shortened is what goes first of findings where there is no room for all: what to do
// about a grave one stays longer than that there is a slight one.
var shortened = []struct {
	of   assess.FindingSeverity
	part func(*Headline) // nil is the whole
}{
	{assess.Info, (*Headline).forgetDo},
	{assess.Low, (*Headline).forgetDo},
	{assess.Info, (*Headline).forgetSummary},
	{assess.Medium, (*Headline).forgetDo},
	{assess.Low, (*Headline).forgetSummary},
	{assess.Medium, (*Headline).forgetSummary},
	{assess.Info, nil},
	{assess.Low, nil},
	{assess.High, (*Headline).forgetDo},
	{assess.Medium, nil},
	{assess.High, (*Headline).forgetSummary},
}

// Telling is a list of findings of a result, and where it is noted how many there are
// if some are left out.
type Telling struct {
	List  *[]Headline
	Name  string
	Total *map[string]int
}

// note notes the first length of a list that is cut.
func (t Telling) note(n int) {
	if *t.Total == nil {
		*t.Total = map[string]int{}
	}
	(*t.Total)[t.Name] = max(n, (*t.Total)[t.Name])
}

// Shorten takes from lists of findings what goes first, of the last ones first, until
// the result that they are in is small enough.
func Shorten(tooBig func() bool, lists ...Telling) {
	for _, s := range shortened {
		for _, l := range lists {
			all := len(*l.List)
			for i := all - 1; i >= 0 && tooBig(); i-- {
				switch {
				case (*l.List)[i].Severity != s.of:
				case s.part != nil:
					s.part(&(*l.List)[i])
				default:
					*l.List = slices.Delete(*l.List, i, i+1)
				}
			}
			if len(*l.List) < all {
				l.note(all)
			}
		}
	}
}

func (h *Headline) forgetDo() { h.Do = nil }

func (h *Headline) forgetSummary() { h.Summary = "" }

// CutNames shortens lists of names, and notes their first lengths.
func CutNames(total map[string]int, most int, lists map[string]*[]string) map[string]int {
	for name, names := range lists {
		if n := len(*names); n > most {
			if total == nil {
				total = map[string]int{}
			}
			total[name], *names = max(n, total[name]), (*names)[:most]
		}
	}
	return total
}
