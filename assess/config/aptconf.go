package config

import (
	"path"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
)

// aptTokens are the words of apt's configuration; what is between is a comment or
// space.
var aptTokens = lazyregexp.New(`(?s)//[^\n]*|#[^\n]*|/\*.*?\*/|"[^"\n]*"|[{};]|[^\s{};"]+`)

// aptRecommends is the setting that says whether recommended packages are
// installed with those that recommend them.
const aptRecommends = "APT::Install-Recommends"

// aptFacts notes what a person chose for all of apt's installations. Of several
// files the last counts, and apt.conf is read after its parts.
func aptFacts(m *assess.Machine) {
	value, at := "", assess.Evidence{}
	read := func(file string) {
		text, _ := m.Text("packages."+path.Base(file), file)
		if v := aptSetting(text, aptRecommends); v != "" {
			value, at = v, assess.Evidence{Path: "/" + file, Line: 0}
		}
	}
	m.EachOf("packages.apt.conf.d", []string{"etc/apt/apt.conf.d"}, "", read)
	read("etc/apt/apt.conf")
	if value != "" {
		m.Fact("packages", aptRecommends, value, at)
	}
}

// aptSetting is the last value of a setting, or nothing: `A::B "x";` and
// `A { B "x"; };` are the same.
func aptSetting(text, name string) (value string) {
	var scope, words []string
	for _, token := range aptTokens.FindAllString(text, -1) {
		switch {
		case strings.HasPrefix(token, "//"), strings.HasPrefix(token, "#"), strings.HasPrefix(token, "/*"):
		case token == "{":
			scope, words = append(scope, strings.Join(words, "")), nil
		case token == "}":
			scope, words = scope[:max(0, len(scope)-1)], nil
		case token == ";":
			if len(words) == 2 && strings.EqualFold(strings.Join(append(scope, words[0]), "::"), name) {
				value = strings.Trim(words[1], `"`)
			}
			words = nil
		case len(words) < 3:
			words = append(words, token)
		}
	}
	return value
}
