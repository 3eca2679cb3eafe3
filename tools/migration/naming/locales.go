package naming

import "strings"

// countries are those of languages that are not called like them.
var countries = map[string]string{"en": "US", "da": "DK", "cs": "CZ", "sv": "SE", "ja": "JP", "zh": "CN", "ko": "KR", "el": "GR", "uk": "UA", "nb": "NO"}

// LangpackLocales are the locales that packages of languages brought with them (glibc-langpack-en
// of EL 8 and later, Fedora and Amazon), of each language that of its first country.
func LangpackLocales(packages []string, exists func(string) bool) (all []string) {
	for _, pkg := range packages {
		language, ok := strings.CutPrefix(pkg, "glibc-langpack-")
		country := countries[language]
		if country == "" {
			country = strings.ToUpper(language)
		}
		if name := language + "_" + country; ok && exists("/usr/lib/locale/"+name+".utf8") {
			all = append(all, name+".UTF-8")
		}
	}
	return all
}
