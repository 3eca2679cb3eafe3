package redact

import (
	_ "embed"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"svc/backend/tsv"
)

// linesTSV are lines of programs in which names stand: what writes them or reads them, how
// surely a name stands there, and the pattern, in which {host} and its like are names.
//
//go:embed lines.tsv
var linesTSV string

// slots are what patterns of the table have between braces. What an earlier reading
// has left a placeholder of still counts for the rest of the line.
var slots = strings.NewReplacer(
	"{host}", `["'‘“„»«\x60]?(?:\[\w+\]|(?P<host>`+name+`))["'’”“«»\x60]?`,
	"{hosts}", `["'‘“]?(?P<hosts>`+list+`)["'’”]?`,
	"{hosts…}", `(?P<hosts>(?:[ ,]+[\pL\pN\[][\pL\pN_.-]*[\pL\pN_\]])+)`,
	"{user}", `["'‘“„»«<\x60]?(?:\[\w+\]|(?P<user>`+name+`))["'’”“«»\x60]?`,
	"{users}", `["'‘“<]?(?P<users>`+list+`)["'’”]?`,
	"{users…}", `(?P<users>(?:[ ,]*[\pL\pN\[][\pL\pN_.-]*[\pL\pN_\]])+)`,
	"{person}", `(?P<user>\p{Lu}\p{Ll}+(?:[ -]\p{Lu}\p{Ll}+)*)`,
	"{id}", `["']?(?:\[\w+\]|(?P<id>[\pL\pN][\pL\pN_:.-]{3,}))`,
	"{secret}", `["']?(?:\[secret\]|(?P<secret>[^\s"'\[]{3,}))`,
	"{small}", `(?P<host>\p{Ll}[\pL\pN-]*[\pL\pN])`,
	"{list}", `(?P<hosts>`+name+`(?:, `+name+`)*,? (?:und|and|sowie|oder|or|&|bis) `+name+`)`,
	"{ip}", `(?:\[ip\]|[0-9a-fA-F]+[.:][0-9a-fA-F.:]*)`,
	"{path}", `(?:\[path\]|[~/]\S*)`,
	"{pid}", `(?:\[[0-9]+\])?`,
	"{…}", `[^\n]*?`,
)

// lineRules are the rows of the table.
var lineRules = tsv.List(linesTSV, 3, func(cells []string) rule {
	pattern := slots.Replace(cells[2])
	r := ruleOf(cells[1], pattern)
	r.needs, r.row = needs(pattern), true
	return r
})

// needs are pieces of text, in lower case, one of which is in all that a pattern matches.
func needs(pattern string) []string {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err)
	}
	if found := literals(parsed); len(found) > 0 {
		return found
	}
	return []string{""}
}

// literals is needs of a part of a pattern; none where it may match without one.
func literals(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return literals(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literals(re.Sub[0])
		}
	case syntax.OpConcat:
		best := []string(nil)
		for _, sub := range re.Sub {
			if found := literals(sub); shortest(found) > shortest(best) {
				best = found
			}
		}
		return best
	case syntax.OpAlternate:
		all := []string(nil)
		for _, sub := range re.Sub {
			found := literals(sub)
			if len(found) == 0 {
				return nil
			}
			all = append(all, found...)
		}
		return all
	}
	return nil
}

// shortest is the length of the shortest of some pieces of text.
func shortest(all []string) int {
	if len(all) == 0 {
		return 0
	}
	return len(slices.MinFunc(all, func(a, b string) int { return len(a) - len(b) }))
}

// allRules are in the order in which a line is read by them.
var allRules = sync.OnceValue(func() []rule { return slices.Concat(forms, lineRules(), rules()) })

// inPlaces replaces what stands where names stand in a line, and remembers the
// names for the rest of the text.
func inPlaces(line string, known map[string]string) string {
	lower := strings.ToLower(line)
	for _, r := range allRules() {
		if slices.ContainsFunc(r.needs, func(n string) bool { return strings.Contains(lower, n) }) {
			line = r.apply(line, known)
		}
	}
	return line
}
