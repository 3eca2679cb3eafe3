package fleet

import (
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"

	"svc/backend/sliced"
)

// spoken is what may be a host name or an address in a text. A word with an underscore
// in it is one word: no part of it names a machine.
var spoken = regexp.MustCompile(`[0-9A-Za-z_][0-9A-Za-z_.:-]{2,253}`)

// remark is how a comment is written in some formats: to the end of its line, or, where
// there is an end, up to that.
type remark struct {
	files       []string // patterns of paths, or of their last parts; of all files where empty
	begin, till string
}

// likeC are files of formats that have the comments of C.
var likeC = []string{"/etc/bind/*", "named.conf*", "named.*.zones", "apt.conf", "/etc/apt/apt.conf.d/*", "/etc/polkit-1/rules.d/*", "kea-*.conf", "*.php", "*.js", "*.mjs", "*.json", "*.jsonc", "*.json5", "*.java", "*.policy", "*.groovy", "*.gradle", "*.c", "*.h", "*.go", "*.vcl"}

// remarks are those that are looked for, where a line begins with them. What stands
// behind a value is one only after "#" or "//" that stands alone, for either may be a
// part of a value.
var remarks = []remark{
	{nil, "#", ""},
	{nil, ";", ""},
	{likeC, "//", ""},
	{slices.Concat(likeC, []string{"*.css", "*.sql"}), "/*", "*/"},
	{[]string{"*.xml", "*.html", "*.xsl", "*.xsd", "/etc/fonts/*"}, "<!--", "-->"},
	{[]string{"*.lua", "*.sql", "*.hs"}, "--", ""},
	{[]string{"keepalived.conf", "/etc/keepalived/*", "/etc/frr/*", "/etc/quagga/*"}, "!", ""},
	{[]string{"*.mc", "*.m4"}, "dnl", ""},
	{[]string{"*.vim", "vimrc*", ".vimrc"}, `"`, ""},
}

// of reports whether the format of a file has such comments.
func (r remark) of(file string) bool {
	return len(r.files) == 0 || slices.ContainsFunc(r.files, func(pattern string) bool {
		whole, _ := path.Match(pattern, file) // the patterns are sound
		last, _ := path.Match(pattern, path.Base(file))
		return whole || last
	})
}

// Mentioned calls found with each word of a file of configuration that may be the name or
// the address of a machine, in small letters. What is said in comments names nobody: the
// files that packages ship explain themselves there, in words that are also host names.
func Mentioned(file, text string, found func(name string)) {
	here := sliced.Filter(remarks, func(r remark) bool { return r.of(file) })
	till := "" // the end of the comment that the line before is in
	for line := range strings.Lines(text) {
		if line, till = said(strings.TrimSpace(line), till, here); line == "" {
			continue
		}
		for _, word := range spoken.FindAllString(line, -1) {
			for _, name := range addressed(strings.ToLower(word)) {
				found(name)
			}
		}
	}
}

// said is what of a line is no comment, and the end of the comment that goes on behind it.
func said(line, within string, remarks []remark) (rest, till string) {
	if within != "" {
		_, rest, over := strings.Cut(line, within)
		if !over {
			return "", within
		}
		return said(strings.TrimSpace(rest), "", remarks)
	}
	for _, r := range remarks {
		behind, is := strings.CutPrefix(line, r.begin)
		switch {
		case is && r.till != "":
			return said(behind, r.till, remarks)
		case is:
			return "", ""
		case r.begin == "#", r.begin == "//":
			line = uncommented(line, r.begin)
		}
	}
	return line, ""
}

// uncommented is a line without the comment behind its value: a mark that is a word.
func uncommented(line, mark string) string {
	for from := 0; ; {
		i := strings.Index(line[from:], mark)
		if i < 0 {
			return line
		}
		at, end := from+i, from+i+len(mark)
		if at > 0 && blank(line[at-1]) && (end == len(line) || blank(line[end])) {
			return line[:at]
		}
		from = end
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// addressed are the names that a word of configuration may be: itself, without a
// port, and a host's name without its domain.
func addressed(word string) []string {
	if ip, err := netip.ParseAddr(word); err == nil {
		return []string{ip.String()}
	}
	name := strings.Trim(before(word, ":"), ".-")
	if ip, err := netip.ParseAddr(name); err == nil {
		return []string{ip.String()}
	}
	return []string{name, before(name, ".")}
}

func before(s, sep string) string {
	s, _, _ = strings.Cut(s, sep)
	return s
}
