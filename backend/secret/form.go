package secret

import "strings"

// armours finds private keys in PEM, OpenSSH's, OpenPGP's and PuTTY's forms.
func (f *finder) armours() {
	noEnd := false
	for at := 0; ; {
		i := strings.Index(f.text[at:], "-----BEGIN ")
		if i < 0 {
			break
		}
		at += i + len("-----BEGIN ")
		label := f.text[at:min(at+64, len(f.text))]
		n := strings.Index(label, "-----")
		if n < 0 || !strings.Contains(label[:n], "PRIVATE KEY") && !strings.Contains(label[:n], "Static key") {
			continue
		}
		at += n + len("-----")
		length := strings.Index(f.text[at:], "-----END ")
		if noEnd = noEnd || length < 0; noEnd {
			length = len(f.text) - at - len(strings.TrimLeft(f.text[at:], armour))
		}
		at = f.body(at, at+length)
	}
	f.putty()
}

// armour is what the body of a key is made of, also within a string of JSON.
const armour = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=:,\\ \t\r\n"

// body adds the body of a key, and gives where it ends. What is too short is
// another text's mention of a key.
func (f *finder) body(start, end int) int {
	text := f.text[start:end]
	inner := strings.TrimLeft(text, " \t\r\n")
	inner = strings.TrimPrefix(inner, `\n`)
	start = end - len(inner)
	inner = strings.TrimSuffix(strings.TrimRight(inner, " \t\r\n"), `\n`)
	if len(inner) >= 24 {
		f.add(start, start+len(inner), Key, false)
	}
	return end
}

// putty finds the private lines of PuTTY's keys.
func (f *finder) putty() {
	const mark = "Private-Lines: "
	for at := 0; ; {
		i := strings.Index(f.text[at:], mark)
		if i < 0 {
			return
		}
		at += i + len(mark)
		start := at + len(line(f.text[at:])) + 1
		end := start
		for end < len(f.text) {
			l := line(f.text[end:])
			if l == "" || strings.HasPrefix(l, "Private-") {
				break
			}
			end += len(l) + 1
		}
		if start < end {
			at = min(end, len(f.text))
			f.add(start, start+len(strings.TrimRight(f.text[start:at], "\r\n")), Key, false)
		}
	}
}

// forms finds what is secret by its form.
func (f *finder) forms() {
	by := forms()
	for at := 0; at < len(f.text); at++ {
		all := by[f.text[at]]
		if len(all) == 0 || alphanumeric(f.text[at]) && at > 0 && alphanumeric(f.text[at-1]) {
			continue
		}
		for _, form := range all {
			if !strings.HasPrefix(f.text[at:], form.begins) {
				continue
			}
			end := at + len(form.begins)
			end += run(f.text[end:], form.of)
			if form.fits(f.text[at+len(form.begins) : end]) {
				f.add(at, end, form.kind, false)
				at = end - 1
				break
			}
			if form.of != "field" {
				at = max(at, end-1) // no form begins inside
				break
			}
		}
	}
}

// fits reports whether what follows the beginning of a form is a secret: all the
// same character is an example, and a web token has dots.
func (o form) fits(rest string) bool {
	return len(rest) >= o.least && strings.Trim(rest, rest[:1]) != "" && (o.begins != "eyJ" || strings.Contains(rest, "."))
}

// alphabets are what forms are made of beside letters and digits.
var alphabets = map[string]string{
	"word": "_-", "plain": "", "hex": "", "base64": "+/=_-", "crypt": "./$=,+-_", "dotted": "_-.", "path": "/_-", "scram": "+/=$:", "field": "",
}

// run is the length of what a text has of an alphabet at its beginning.
func run(text, of string) int {
	more := alphabets[of]
	for i := range len(text) {
		c := text[i]
		ok := alphanumeric(c) || strings.IndexByte(more, c) >= 0
		switch of {
		case "hex":
			ok = hexDigit(c)
		case "field":
			ok = c > ' ' && strings.IndexByte(`:"'`, c) < 0
		}
		if !ok {
			return i
		}
	}
	return len(text)
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func hexDigit(c byte) bool {
	return c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' || c >= '0' && c <= '9'
}
