package index

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"svc/backend/api"
)

// Score is how an index does on known pairs.
type Score struct {
	IndexVersion string           `json:"index_version"`
	Total        Tally            `json:"total"`
	Methods      map[string]Tally `json:"methods"`
	Wrong        []Miss           `json:"wrong"`
}

// Tally counts rows, those whose packages are right, those whose relation is
// right too, and those skipped because the index lacks a release or the package.
type Tally struct {
	Rows    int `json:"rows"`
	Names   int `json:"names"`
	Both    int `json:"both"`
	Skipped int `json:"skipped"`
}

// Share is the part of the rows tried that are right in both.
func (t Tally) Share() float64 {
	if t.Rows == t.Skipped {
		return 0
	}
	return float64(t.Both) / float64(t.Rows-t.Skipped)
}

// Miss is a row on which the index answers otherwise.
type Miss struct {
	Row      string       `json:"row"`
	Packages []string     `json:"packages"`
	Relation api.Relation `json:"relation"`
}

// Eval resolves and translates each row of a table of known pairs, with the
// columns release, package, target release, packages (parted by blanks),
// relation and method. Lines that begin with # are comments.
func Eval(ix *Index, truth io.Reader) (*Score, error) {
	score := &Score{IndexVersion: ix.Version(), Methods: map[string]Tally{}, Wrong: []Miss{}}
	s := bufio.NewScanner(truth)
	for line := 1; s.Scan(); line++ {
		text := s.Text()
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		columns := strings.Split(text, "\t")
		if len(columns) < 6 {
			return nil, fmt.Errorf("line %d has %d columns, not 6", line, len(columns))
		}
		if err := score.add(ix, text, columns); err != nil {
			return nil, err
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("reading known pairs: %w", err)
	}
	return score, nil
}

func (s *Score) add(ix *Index, row string, c []string) error {
	got, err := ix.become(c[0], c[1], c[2])
	if err != nil && api.CodeOf(err) != api.UnknownRelease {
		return err
	}
	want := strings.Fields(c[3])
	names := []string{}
	for _, p := range got.Packages {
		names = append(names, p.Name)
	}
	slices.Sort(want)
	want = slices.Compact(want)
	slices.Sort(names)
	result := Tally{Rows: 1}
	switch {
	case got.Canonical == "":
		result.Skipped = 1
	case slices.Equal(want, names):
		result.Names = 1
		if string(got.Relation) == c[4] {
			result.Both = 1
		}
	}
	if result.Both+result.Skipped == 0 {
		s.Wrong = append(s.Wrong, Miss{row, names, got.Relation})
	}
	s.Total = s.Total.plus(result)
	s.Methods[c[5]] = s.Methods[c[5]].plus(result)
	return nil
}

// become resolves a package and translates it; its zero where it is not known.
func (ix *Index) become(source, name, target string) (api.Translation, error) {
	resolved, err := ix.Resolve(source, []string{name})
	if err != nil || resolved[0].Canonical == nil {
		return api.Translation{}, err
	}
	translated, err := ix.Translate(source, target, []string{*resolved[0].Canonical})
	if err != nil {
		return api.Translation{}, err
	}
	return translated[0], nil
}

func (t Tally) plus(o Tally) Tally {
	return Tally{t.Rows + o.Rows, t.Names + o.Names, t.Both + o.Both, t.Skipped + o.Skipped}
}
