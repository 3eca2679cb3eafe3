package migration

import (
	"strings"

	"svc/assess"
	"svc/tools/convert"
)

// besides end the names under which package managers put, beside a file that
// was edited, what the package itself would have there.
var besides = []string{".rpmnew", ".dpkg-dist", ".ucf-dist", ".apk-new"}

// maxEdits bounds the lines of a file whose changes are looked for, and the
// changes that a plan shows of one.
const (
	maxEdited = 4000
	maxEdits  = 200
)

// edited are the changes that a person made to a package's own file, where the
// machine still has that beside it; ok is false where it has not. Was is the
// package's line, Now the person's; lines of secrets are nobody's to read.
func edited(in Input, f assess.ConfigFile) (all []convert.Change, ok bool) {
	if in.Read == nil || in.PathExists == nil || f.State != assess.ConfigChanged || f.Link != "" || f.Secret {
		return nil, false
	}
	for _, end := range besides {
		if !in.PathExists(f.Path + end) {
			continue
		}
		shipped, err := in.Read(f.Path + end)
		has, err2 := in.Read(f.Path)
		was, now := lines(shipped), lines(has)
		if err == nil && err2 == nil && len(was)+len(now) <= maxEdited {
			return differences(was, now), true
		}
	}
	return nil, false
}

func lines(text []byte) []string {
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"), "\n")
}

// differences are the lines of two texts that are not in their longest common
// sequence; one that took the place of another is one change. Lines are those of
// the second text, from 1.
func differences(was, now []string) []convert.Change {
	common := lengths(was, now)
	all := []convert.Change{}
	for i, j := 0, 0; i < len(was) || j < len(now); {
		switch {
		case i < len(was) && j < len(now) && was[i] == now[j]:
			i, j = i+1, j+1
		case i < len(was) && j < len(now) && common[i+1][j+1] == common[i][j]:
			all = append(all, convert.Change{Line: j + 1, Was: was[i], Now: now[j]})
			i, j = i+1, j+1
		case j == len(now) || i < len(was) && common[i+1][j] >= common[i][j+1]:
			all = append(all, convert.Change{Line: j + 1, Was: was[i]})
			i++
		default:
			all = append(all, convert.Change{Line: j + 1, Now: now[j]})
			j++
		}
	}
	return all
}

// lengths are those of the longest common sequences of what is left of two texts
// from a line of each.
func lengths(was, now []string) [][]uint16 {
	left := make([][]uint16, len(was)+1)
	cells := make([]uint16, (len(was)+1)*(len(now)+1))
	for i := range left {
		left[i] = cells[i*(len(now)+1) : (i+1)*(len(now)+1)]
	}
	for i := len(was) - 1; i >= 0; i-- {
		for j := len(now) - 1; j >= 0; j-- {
			if left[i][j] = max(left[i+1][j], left[i][j+1]); was[i] == now[j] {
				left[i][j] = left[i+1][j+1] + 1
			}
		}
	}
	return left
}

// onlyRemarks reports whether changes are to comments and empty lines alone.
// #! and #include are none.
func onlyRemarks(changes []convert.Change) bool {
	for _, c := range changes {
		for _, line := range []string{c.Was, c.Now} {
			line = strings.TrimSpace(line)
			says := line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, ";")
			if says || strings.HasPrefix(line, "#!") || strings.HasPrefix(line, "#include") || strings.HasSuffix(line, `\`) {
				return false
			}
		}
	}
	return true
}
