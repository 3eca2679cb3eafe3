package system

import (
	"strings"

	"svc/tools/convert"
)

// Limits carries the limits of logins over. Debian's pam_limits does not hold
// root to the limits of everybody, as that of the rpm families does: a line for
// root alone says so.
func Limits(in convert.Input) (r convert.Result) {
	roots := map[string]bool{} // kinds and items of which a line for root is there
	pages := []*convert.Page{}
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		pages = append(pages, p)
		for i := range p.Lines {
			if c := bare(p.Lines[i]); len(c) == 4 && c[0] == "root" {
				for _, kind := range limitKinds(c[1]) {
					roots[kind+c[2]] = true
				}
			}
		}
	}
	for _, p := range pages {
		for i := range p.Lines {
			if c := bare(p.Lines[i]); len(c) > 0 {
				limitLine(p, i, c, roots)
			}
		}
		r.Close(p, p.From)
	}
	return r
}

// bare are the words of a line without the comment behind them.
func bare(line string) []string {
	line, _, _ = strings.Cut(line, "#")
	return strings.Fields(line)
}

// limitKinds are the kinds of limits that a type stands for.
func limitKinds(kind string) []string {
	if kind == "-" {
		return []string{"soft", "hard"}
	}
	return []string{kind}
}

func limitLine(p *convert.Page, i int, c []string, roots map[string]bool) {
	switch {
	case len(c) == 2 && c[1] == "-": // no limits at all
		return
	case len(c) != 4:
		p.Refuse(i, "It is no domain, type, item and value.")
		return
	case c[1] != "soft" && c[1] != "hard" && c[1] != "-":
		p.Refuse(i, "A limit is soft, hard or both (-).")
		return
	case !convert.Lists("limits-items", c[2]):
		p.Refuse(i, "Debian's pam_limits knows no such item.")
		return
	case !convert.Number(strings.TrimPrefix(c[3], "-")) && c[3] != "unlimited" && c[3] != "infinity":
		p.Refuse(i, "It is no number.")
		return
	}
	line := strings.TrimSpace(p.Lines[i])
	if c[0] == "*" {
		for _, kind := range limitKinds(c[1]) {
			if !roots[kind+c[2]] {
				p.Replace(i, strings.TrimSpace(p.Lines[i])+"\n"+strings.Join([]string{"root", kind, c[2], c[3]}, " "), "On Debian, limits of everybody do not hold for root.")
			}
		}
		return
	}
	group := c[0][:len(c[0])-len(strings.TrimLeft(c[0], "@%"))]
	if name := c[0][len(group):]; convert.DebianAccount(name) != name {
		p.Replace(i, group+convert.DebianAccount(name)+strings.TrimPrefix(line, c[0]), "Debian's account or group has another name.")
	}
}
