package secret

import "strings"

// addresses finds the passwords within addresses: scheme://user:password@host,
// and user:password@tcp(host) of Go's drivers for MySQL.
func (l *reader) addresses() {
	for at := 0; ; {
		i := strings.Index(l.text[at:], "://")
		if i < 0 {
			break
		}
		at += i + len("://")
		at = l.userInfo(at, at+cut(l.near(at), " \t\"'<>`"))
	}
	for _, mark := range []string{"@tcp(", "@unix("} {
		i := strings.Index(l.text, mark)
		if i < 0 {
			continue
		}
		start := max(0, i-maxValue) + strings.LastIndexAny(l.text[max(0, i-maxValue):i], " \t\"'=<>") + 1
		if _, password, ok := strings.Cut(l.text[start:i], ":"); ok {
			l.inAddress(i-len(password), i)
		}
	}
}

// userInfo notes the password of the address that begins after its scheme, and
// gives where to look for the next.
func (l *reader) userInfo(start, end int) int {
	if i := strings.Index(l.text[start:end], "://"); i >= 0 {
		end = start + i // one address in another
	}
	address := l.text[start:end]
	slash := cut(address, "/?#")
	info := strings.LastIndexByte(address[:slash], '@')
	if info < 0 {
		// A password may have a slash that nobody escaped; after a port there is none.
		_, port, ok := strings.Cut(address[:slash], ":")
		if info = strings.LastIndexByte(address, '@'); !ok || info < 0 || strings.Trim(port, "0123456789") == "" {
			return end
		}
	}
	user, _, ok := strings.Cut(address[:info], ":")
	switch {
	case ok:
		l.inAddress(start+len(user)+1, start+info)
	case generated(user):
		l.inAddress(start, start+info)
	}
	return end
}

func (l *reader) inAddress(start, end int) {
	if plausible("", l.text[start:end], "end") {
		l.put(start, end, Password, l.remark && !generated(l.text[start:end]))
	}
}
