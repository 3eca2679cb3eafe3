package services

import (
	"cmp"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/sliced"
	"svc/tools/convert"
)

// daemon is a program that units of the rpm families start with what people say in a variable,
// or in a drop-in, and which reads it from a file of its own in Debian.
type daemon struct {
	unit     string // without its ending
	variable string // empty where its unit has none
	// settings are those of the file that say what some words of its command line do; which
	// of them has no setting there.
	settings func(words []string) (lines []string, other string)
}

// started carries the command lines of some daemons over to the one file that Debian's have.
func started(in convert.Input, place string, daemons ...daemon) (r convert.Result) {
	text, from := "", ""
	for _, f := range in.Files {
		d := sliced.First(daemons, func(d daemon) bool {
			return f.Path == "/etc/sysconfig/"+d.unit || strings.Contains(f.Path, "/"+d.unit+".service.d/")
		})
		if d.settings == nil {
			continue
		}
		p, said, dropin := convert.Open(f, "#"), []string{}, !strings.HasPrefix(f.Path, "/etc/sysconfig/")
		for i, line := range p.Active() {
			words, its := d.words(line)
			lines, other := d.settings(words)
			switch why := strings.TrimSpace("Debian's unit starts it in its own way, and reads " + place + ". " + strings.Join(lines, " ")); {
			case !its && dropin:
			case !its:
				p.Refuse(i, "Debian's unit has no such variable.")
			case other != "":
				p.Refuse(i, "Debian has no setting for "+other+" in "+place+".")
			case !dropin && len(lines) > 0:
				p.Replace(i, strings.Join(lines, "\n"), why)
			default:
				p.Drop(i, why)
				said = append(said, lines...)
			}
		}
		if dropin {
			r.Close(p, f.Path)
		} else {
			r.Close(p)
			said = []string{strings.TrimSpace(p.Text())}
		}
		if len(said) > 0 && len(p.Refused) == 0 {
			text, from = text+strings.Join(said, "\n")+"\n", cmp.Or(from, f.Path)
		}
	}
	if text != "" {
		r.Files = append(r.Files, convert.File{Path: place, Text: text, From: from, Mode: "0644"})
	}
	return r
}

// words are those that a line adds to the daemon's own; its is false of a line that says
// nothing of how it is started. A drop-in forgets the unit's command by an empty one.
func (d daemon) words(line string) (words []string, its bool) {
	name, value := setting(line)
	switch name = strings.TrimSpace(name); {
	case name == "Environment" && d.variable != "":
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		if name, value, its = strings.Cut(value, "="); name != d.variable {
			return nil, false
		}
		return strings.Fields(strings.Trim(value, `"'`)), its
	case name == "ExecStart":
		all := strings.Fields(value)
		return all[min(1, len(all)):], true
	}
	return strings.Fields(value), name == d.variable && d.variable != ""
}

// plainWord is one that means itself to a shell, and to systemd.
var plainWord = lazyregexp.New(`^[A-Za-z0-9_.:/@,+-]+$`)

// DHCPD carries the interfaces over that dhcpd serves: dhcpd(8), and Debian's script in init.d,
// which starts a server of IPv6 too where no interface is named, and ends with it.
func DHCPD(in convert.Input) convert.Result {
	return started(in, "/etc/default/isc-dhcp-server", daemon{"dhcpd", "DHCPDARGS", dhcpdSettings("4", "/etc/dhcp/dhcpd.conf")}, daemon{"dhcpd6", "DHCPDARGS", dhcpdSettings("6", "/etc/dhcp/dhcpd6.conf")})
}

func dhcpdSettings(version, usual string) func(words []string) ([]string, string) {
	return func(words []string) (lines []string, other string) {
		var interfaces []string
		for i := 0; i < len(words); i++ {
			switch word := words[i]; {
			case slices.Contains([]string{"-f", "-d", "-q", "-4", "-6", "--no-pid", "-no-pid", "$DHCPDARGS", "${DHCPDARGS}"}, word):
			case slices.Contains([]string{"-user", "-group", "-pf"}, word):
				i++
			case word == "-cf" && i+1 < len(words) && plainWord.MatchString(words[i+1]):
				if i++; words[i] != usual {
					lines = append(lines, "DHCPDv"+version+`_CONF="`+words[i]+`"`)
				}
			case strings.HasPrefix(word, "-") || !plainWord.MatchString(word):
				return nil, word
			default:
				interfaces = append(interfaces, word)
			}
		}
		if len(interfaces) > 0 {
			lines = append(lines, "INTERFACESv"+version+`="`+strings.Join(interfaces, " ")+`"`)
		}
		return lines, ""
	}
}

// TFTP carries the options of in.tftpd over, which a socket starts on the rpm families, and
// which is a server of its own in Debian: tftpd(8).
func TFTP(in convert.Input) convert.Result {
	return started(in, "/etc/default/tftpd-hpa", daemon{"tftp", "", tftpSettings})
}

// tftpValues are options of in.tftpd that have a value.
var tftpValues = []string{"-B", "--blocksize", "-m", "--map-file", "--mapfile", "-r", "--refuse", "-R", "--port-range", "-t", "--timeout", "-T", "--retransmit", "-U", "--umask", "--verbosity"}

func tftpSettings(words []string) (lines []string, other string) {
	user, folder, address := "tftp", "", ":69"
	var rest []string
	for i := 0; i < len(words); i++ {
		value := ""
		if !plainWord.MatchString(words[i]) {
			return nil, words[i]
		}
		if valued := append([]string{"-u", "--user", "-a", "--address", "-P", "--pidfile"}, tftpValues...); slices.Contains(valued, words[i]) && i+1 < len(words) {
			i++
			if value = words[i]; !plainWord.MatchString(value) {
				return nil, value
			}
		}
		switch word := words[i-min(len(value), 1)]; {
		case slices.Contains([]string{"-l", "--listen", "-L", "--foreground", "-P", "--pidfile"}, word):
		case word == "-u" || word == "--user":
			user = value
		case word == "-a" || word == "--address":
			address = value
		case strings.HasPrefix(word, "-"):
			rest = append(rest, strings.TrimSpace(word+" "+value))
		case folder != "":
			return nil, word
		default:
			folder = word
		}
	}
	if folder == "" {
		return nil, ""
	}
	return []string{`TFTP_USERNAME="` + user + `"`, `TFTP_DIRECTORY="` + folder + `"`, `TFTP_ADDRESS="` + address + `"`, `TFTP_OPTIONS="` + strings.Join(rest, " ") + `"`}, ""
}
