package system

import (
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// nisPlus is the source NIS+, with what is done where it does not know a name.
// The rpm families' own file has it, and no server of it is left.
var nisPlus = lazyregexp.New(`\bnisplus\b\s*(\[[^\]]*\]\s*)?`)

// noNISPlus is why it goes.
const noNISPlus = "No server of NIS+ is left."

// NSSwitch brings the packages of the sources that nsswitch.conf names, and
// leaves out NIS+. The order of the sources stays.
func NSSwitch(in convert.Input) convert.Result { return convert.EachLine(in, convert.Stays, nssLine) }

func nssLine(r *convert.Result, p *convert.Page, i int) {
	line := strings.TrimSpace(p.Lines[i])
	if code, remark, _ := strings.Cut(line, "#"); nisPlus.MatchString(code) {
		line = strings.TrimSpace(nisPlus.ReplaceAllString(code, "") + strings.TrimSuffix(" #"+remark, " #"))
	}
	code, _, _ := strings.Cut(line, "#")
	_, sources, ok := strings.Cut(code, ":")
	if !ok {
		p.Refuse(i, "It names no database and its sources.")
		return
	}
	left := 0
	for _, source := range nssSources(sources) {
		of, known := convert.WordsOf("nss-packages")[source]
		switch {
		case !known:
			p.Refuse(i, "No package of Debian is known to have the source "+source+".")
			return
		case of.Now != "":
			r.Packages = append(r.Packages, of.Now)
			left++
		default:
			left++
		}
	}
	if left == 0 {
		p.Drop(i, noNISPlus)
		return
	}
	p.Replace(i, line, noNISPlus)
}

// nssSources are the sources of a line, without what is done in which case.
func nssSources(text string) []string {
	for {
		before, rest, ok := strings.Cut(text, "[")
		if !ok {
			return strings.Fields(text)
		}
		_, after, _ := strings.Cut(rest, "]")
		text = before + " " + after
	}
}
