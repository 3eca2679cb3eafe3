package services

import (
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

var haproxyPlaces = convert.HomesOf("haproxy").Debian()

// haproxyErrors is an answer whose text is a file of a package.
var haproxyErrors = lazyregexp.New(`^\d+\s+(/usr/share/haproxy|/etc/haproxy/errors)/`)

// HAProxy stays where it is; keywords of old versions have others in their
// place.
func HAProxy(in convert.Input) convert.Result {
	own := func(p *convert.Page, i int, name, value string) bool {
		switch {
		case name == "option" && strings.HasPrefix(value, "forceclose"):
			p.Replace(i, "option httpclose", "HAProxy 2.0 has another name for it.")
		case name == "errorfile" && convert.ToSUSE(in) && haproxyErrors.MatchString(value):
			p.Drop(i, "HAProxy has these pages built in, and SUSE's package has no files of them.")
		default:
			return false
		}
		return true
	}
	return convert.Same(convert.Settings{Program: "haproxy", Comment: "#", Places: haproxyPlaces, Own: own}, convert.There)(in)
}
