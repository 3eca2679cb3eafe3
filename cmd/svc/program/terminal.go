package program

import (
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"svc/cmd/svc/help"
)

// TerminalWidth is how many characters a line of w's terminal has; 0 where w is no
// terminal.
func TerminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return help.PlainWidth // a terminal that does not say
	}
	return max(width, help.MinWidth)
}

// The styles of a terminal's text, as ECMA-48 numbers them.
const (
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// hues are the words that are coloured where one stands alone in a column.
var hues = map[string]string{
	"inhibitor": bold + ";" + red, "critical": bold + ";" + red, "high": red, "medium": yellow, "low": cyan,
	"blocked": red, "failed": red, "findings": red, "corrupt": red, "missing": red,
	"needs work": yellow, "not compared": yellow, "unreadable": yellow,
	"ready": green, "without findings": green,
}

// cell is a word or two between the edges of a line and gaps of two spaces.
var cell = regexp.MustCompile(`(?:^|  )([A-Za-z]+(?: [A-Za-z]+)?)(?:  |$)`)

// painted is a line in a style of its own, or with the words of hues coloured.
func painted(line, style string) string {
	if style != "" {
		return paint(line, style)
	}
	m := cell.FindStringSubmatchIndex(line)
	if m == nil {
		return line
	}
	hue := hues[strings.ToLower(line[m[2]:m[3]])]
	if hue == "" {
		return line[:m[3]] + painted(line[m[3]:], "")
	}
	return line[:m[2]] + paint(line[m[2]:m[3]], hue) + line[m[3]:]
}

// paint has a terminal show a text in a style.
func paint(text, style string) string {
	if text == "" {
		return ""
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// Hang parts a line into lines of at most width characters, but for longer words:
// those after the first stand below the text of the last column. Width 0 leaves it
// as it is.
func Hang(line string, width int) []string {
	if width == 0 || utf8.RuneCountInString(line) <= width {
		return []string{line}
	}
	at := lastColumn(line, width-help.MinText)
	indent := strings.Repeat(" ", utf8.RuneCountInString(line[:at]))
	lines := help.Wrap(line[at:], width-len(indent))
	for i := range lines {
		lines[i] = indent + lines[i]
	}
	lines[0] = line[:at] + lines[0][len(indent):]
	return lines
}

// lastColumn is where the last column that begins within so many characters begins.
func lastColumn(line string, within int) (at int) {
	column := 0
	for i, r := range line {
		if column > within {
			break
		}
		if r != ' ' && (i == 0 || i > 1 && line[i-2:i] == "  ") {
			at = i
		}
		column++
	}
	return at
}
