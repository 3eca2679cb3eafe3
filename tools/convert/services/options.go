package services

import (
	"strings"

	"svc/tools/convert"
)

// options are the words of a command line, each with its value where it has one.
func options(line string) (all []string) {
	for word := range strings.FieldsSeq(line) {
		if n := len(all) - 1; !strings.HasPrefix(word, "-") && n >= 0 && !strings.Contains(all[n], " ") {
			all[n] += " " + word
		} else {
			all = append(all, word)
		}
	}
	return all
}

// memcachedOptions are the settings of the rpm families' unit, and memcached's options.
var memcachedOptions = map[string]string{"PORT": "-p ", "USER": "-u ", "CACHESIZE": "-m ", "MAXCONN": "-c ", "OPTIONS": ""}

// Memcached carries the settings of the rpm families' unit over to the file that Debian's
// reads, which has an option a line: systemd-memcached-wrapper of its package.
func Memcached(in convert.Input) (r convert.Result) {
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		for i, line := range p.Active() {
			name, value := setting(line)
			option, known := memcachedOptions[name]
			switch {
			case !known || strings.ContainsAny(value, "$`\\\"'"):
				p.Refuse(i, "It is no setting of memcached's unit.")
			case name == "OPTIONS":
				p.Replace(i, strings.Join(options(value), "\n"), "Debian's memcached reads an option a line.")
			case name == "USER":
				p.Replace(i, "-u memcache", "Debian's account has another name.")
			default:
				p.Replace(i, option+value, "Debian's memcached reads an option a line.")
			}
		}
		r.Close(p, "/etc/memcached.conf")
	}
	return r
}

// setting is a variable and its value without quotes.
func setting(line string) (name, value string) {
	name, value, _ = strings.Cut(strings.TrimSpace(line), "=")
	for _, quote := range []string{`"`, "'"} {
		if inner, ok := strings.CutPrefix(value, quote); ok {
			return name, strings.TrimSuffix(inner, quote)
		}
	}
	return name, value
}

// NamedOptions carries the options of named's command line over, to which Debian adds
// the account: /etc/default/named.
func NamedOptions(in convert.Input) convert.Result {
	return daemonOptions(in, "/etc/default/named", "OPTIONS", "-u bind ", "Debian's unit of named reads OPTIONS alone, and the account stands there.")
}

// ChronyOptions carries the options of chronyd's command line over: /etc/default/chrony.
func ChronyOptions(in convert.Input) convert.Result {
	return daemonOptions(in, "/etc/default/chrony", "DAEMON_OPTS", "", "Debian's unit of chronyd reads DAEMON_OPTS alone.")
}

// daemonOptions carries OPTIONS of the rpm families over to the one variable that Debian's unit reads,
// behind what Debian has there.
func daemonOptions(in convert.Input, place, variable, before, why string) (r convert.Result) {
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		for i, line := range p.Active() {
			if name, value := setting(line); name != "OPTIONS" {
				p.Drop(i, why)
			} else {
				p.Replace(i, variable+`="`+strings.TrimSpace(before+value)+`"`, why)
			}
		}
		r.Close(p, place)
	}
	return r
}
