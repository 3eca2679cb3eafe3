package convert

import (
	"slices"
	"strings"
)

// limitItems are what pam_limits of Debian 13 limits.
var limitItems = strings.Fields("core data fsize memlock nofile rss stack cpu nproc as maxlogins maxsyslogins nonewprivs priority locks sigpending msgqueue nice rtprio")

// limits carries the limits of logins over. Debian's pam_limits does not hold
// root to the limits of everybody, as that of the rpm families does: a line for
// root alone says so.
func limits(in Input) (r Result) {
	roots := map[string]bool{} // kinds and items of which a line for root is there
	pages := []*page{}
	for _, f := range in.Files {
		p := open(f, "#")
		pages = append(pages, p)
		for i := range p.lines {
			if c := limit(p.lines[i]); len(c) == 4 && c[0] == "root" {
				for _, kind := range limitKinds(c[1]) {
					roots[kind+c[2]] = true
				}
			}
		}
	}
	for _, p := range pages {
		for i := range p.lines {
			if c := limit(p.lines[i]); len(c) > 0 {
				limitLine(p, i, c, roots)
			}
		}
		r.close(p, p.from)
	}
	return r
}

// limit are the fields of a line without its comment.
func limit(line string) []string {
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

func limitLine(p *page, i int, c []string, roots map[string]bool) {
	switch {
	case len(c) == 2 && c[1] == "-": // no limits at all
		return
	case len(c) != 4:
		p.refuse(i, "It is no domain, type, item and value.")
		return
	case c[1] != "soft" && c[1] != "hard" && c[1] != "-":
		p.refuse(i, "A limit is soft, hard or both (-).")
		return
	case !slices.Contains(limitItems, c[2]):
		p.refuse(i, "Debian's pam_limits knows no such item.")
		return
	case !number(strings.TrimPrefix(c[3], "-")) && c[3] != "unlimited" && c[3] != "infinity":
		p.refuse(i, "It is no number.")
		return
	}
	line := strings.TrimSpace(p.lines[i])
	if c[0] == "*" {
		for _, kind := range limitKinds(c[1]) {
			if !roots[kind+c[2]] {
				p.replace(i, strings.TrimSpace(p.lines[i])+"\n"+strings.Join([]string{"root", kind, c[2], c[3]}, " "), "On Debian, limits of everybody do not hold for root.")
			}
		}
		return
	}
	group := c[0][:len(c[0])-len(strings.TrimLeft(c[0], "@%"))]
	if name := c[0][len(group):]; debianAccount(name) != name {
		p.replace(i, group+debianAccount(name)+strings.TrimPrefix(line, c[0]), "Debian's account or group has another name.")
	}
}
