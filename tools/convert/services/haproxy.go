package services

import (
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

var haproxyPlaces = convert.HomesOf("haproxy").Debian()

// haproxyErrors is an answer whose text is a file of a package.
var haproxyErrors = lazyregexp.New(`^\d+\s+(/usr/share/haproxy|/etc/haproxy/errors)/`)

// haproxyHiding is a check of servers with headers behind the version of HTTP, as it was
// asked for before http-check send.
var haproxyHiding = lazyregexp.Whole(`httpchk\s+(\S+)\s+(\S+)\s+"?(HTTP/[0-9.]+)((?:\\r\\n(?:[^\\"]|\\ )+)+)"?`)

// haproxyCheck asks for the same by http-check send: HAProxy 3.0 refuses the other.
func haproxyCheck(p *convert.Page, i int, check []string) {
	send := "http-check send meth " + check[1] + " uri " + check[2] + " ver " + check[3]
	for _, header := range strings.Split(check[4], `\r\n`)[1:] {
		name, value, ok := strings.Cut(strings.ReplaceAll(header, `\ `, " "), ":")
		if !ok {
			p.Refuse(i, "It hides more than headers: http-check send has it.")
			return
		}
		send += " hdr " + strings.TrimSpace(name) + " " + strings.ReplaceAll(strings.TrimSpace(value), " ", `\ `)
	}
	p.Replace(i, "option httpchk\n"+send, "HAProxy 3.0 takes headers by http-check send alone.")
}

// HAProxy stays where it is; keywords of old versions have others in their
// place.
func HAProxy(in convert.Input) convert.Result {
	own := func(p *convert.Page, i int, name, value string) bool {
		switch {
		case name == "option" && strings.HasPrefix(value, "forceclose"):
			p.Replace(i, "option httpclose", "HAProxy 2.0 has another name for it.")
		case name == "option" && haproxyHiding.MatchString(value) && convert.HasSince("haproxy", "2.2", in.Target):
			haproxyCheck(p, i, haproxyHiding.FindStringSubmatch(value))
		case name == "errorfile" && convert.ToSUSE(in) && haproxyErrors.MatchString(value):
			p.Drop(i, "HAProxy has these pages built in, and SUSE's package has no files of them.")
		default:
			return false
		}
		return true
	}
	return convert.Same(convert.Settings{Program: "haproxy", Comment: "#", Places: haproxyPlaces, Own: own}, convert.There)(in)
}
