package network

import "strings"

// output is a file of the target, line by line.
type output struct {
	path, from, mode string
	shared           bool // of no interface alone
	lines            []outputLine
	tail             []string
}

// outputLine is a line of the target with the lines that it comes of, and with
// the comments that stood before these.
type outputLine struct {
	text   string
	at     []position
	before []string
}

func (o *output) add(text string, at ...position) {
	o.lines = append(o.lines, outputLine{text, at, nil})
}

func (o *output) text() string {
	var b strings.Builder
	for _, line := range o.lines {
		for _, remark := range line.before {
			b.WriteString(remark + "\n")
		}
		b.WriteString(line.text + "\n")
	}
	for _, remark := range o.tail {
		b.WriteString(remark + "\n")
	}
	return b.String()
}
