package system

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// NTP carries ntp.conf over to chrony, or to NTPsec where the target gets that.
func NTP(in convert.Input) (r convert.Result) {
	_, sec := in.Brought["ntpsec"]
	line, to := chronyLine, "/etc/chrony/chrony.conf"
	if convert.ToRPM(in) {
		to = "/etc/chrony.conf"
	}
	if sec {
		line, to = ntpsecLine, "/etc/ntpsec/ntp.conf"
	}
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		for i := range p.Lines {
			if words := bare(p.Lines[i]); len(words) > 0 {
				line(p, i, words)
			}
		}
		if convert.ToRPM(in) {
			moveChanged(p, chronyPlaces.Back())
		}
		r.Close(p, to)
	}
	return r
}

// moveChanged rewrites the places of the lines that were changed.
func moveChanged(p *convert.Page, all convert.Places) {
	for n, c := range p.Changes {
		p.Changes[n].Now = all.Move(c.Now)
		p.Lines[c.Line-1] = all.Move(p.Lines[c.Line-1])
	}
}

func chronyLine(p *convert.Page, i int, words []string) {
	name := strings.ToLower(words[0])
	switch other := convert.WordsOf("ntp-to-chrony")[name]; {
	case other.Now != "":
		p.Replace(i, other.Now, other.Why)
	case other.Why != "":
		p.Drop(i, other.Why)
	case name == "server" && len(words) > 1 && strings.HasPrefix(words[1], "127.127."):
		chronyClock(p, i, words[1])
	case name == "fudge":
		p.Drop(i, "It is part of chrony's line for the clock.")
	case (name == "server" || name == "pool" || name == "peer") && len(words) > 1:
		chronySource(p, i, words)
	case name == "restrict":
		chronyRestrict(p, i, words[1:])
	case name == "tinker":
		chronyTinker(p, i, words[1:])
	case name == "logfile":
		p.Drop(i, "chronyd logs to the journal; logdir is that of its measurements.")
	case name == "broadcast" && len(words) == 2:
		p.Replace(i, "broadcast 64 "+words[1], "chronyd wants the interval first.")
	default:
		p.Refuse(i, "chrony has no command for it that would surely do the same.")
	}
}

// chronyClock is the local clock as a reference; others are hardware that a
// person has to set up.
func chronyClock(p *convert.Page, i int, address string) {
	if strings.HasPrefix(address, "127.127.1.") {
		p.Replace(i, "local stratum 10", "The clock of the machine itself is chrony's local.")
		return
	}
	p.Refuse(i, "A clock of hardware is a refclock of chrony's, whose driver has to be chosen.")
}

// ntpSourceWords are options of a source that chrony has too; those with true
// take a value.
var ntpSourceWords = map[string]bool{"iburst": false, "burst": false, "prefer": false, "minpoll": true, "maxpoll": true, "key": true, "version": true, "noselect": false, "true": false, "xleave": false}

// ntpSourceGone are options of a source that chrony needs not.
var ntpSourceGone = map[string]bool{"dynamic": false, "preempt": false, "mode": true, "ttl": true}

func chronySource(p *convert.Page, i int, words []string) {
	kept, change, family := []string{strings.ToLower(words[0])}, false, ""
	for n := 1; n < len(words); n++ {
		word := words[n]
		takes, same := ntpSourceWords[word]
		takesToo, left := ntpSourceGone[word]
		switch {
		case word == "-4", word == "-6":
			change, family = true, " ipv"+word[1:]
		case left:
			change = true
			if takesToo {
				n++
			}
		case n == 1 || word == words[1], same && !takes:
			kept = append(kept, word)
		case same && n+1 < len(words):
			kept = append(kept, word, words[n+1])
			n++
		case len(kept) == 1:
			kept = append(kept, word) // the name behind -4 or -6
		default:
			p.Refuse(i, "chrony has no option "+word+" of a source.")
			return
		}
	}
	if len(kept) < 2 {
		p.Refuse(i, "It names no source.")
		return
	}
	if change {
		p.Replace(i, strings.Join(kept, " ")+family, "chrony has other options of a source.")
	}
}

// chronyRestrict lets those in whom ntpd served. What only kept others out is
// chrony's default.
func chronyRestrict(p *convert.Page, i int, words []string) {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "-4" || w == "-6" })
	if len(words) == 0 {
		p.Refuse(i, "It names nobody.")
		return
	}
	who, flags := words[0], words[1:]
	closed := slices.Contains(flags, "noquery") && slices.Contains(flags, "nomodify")
	switch {
	case who == "127.0.0.1" || who == "::1":
		p.Drop(i, "The machine itself may always ask chronyd.")
	case who == "default" || who == "source" || who == "0.0.0.0":
		p.Drop(i, "chronyd answers nobody unless allow says so: where everybody should ask the time, add allow.")
	default:
		network, ok := ntpNetwork(who, flags)
		if !ok {
			p.Refuse(i, "The mask is none of a network.")
			return
		}
		if slices.Contains(flags, "ignore") || slices.Contains(flags, "noserve") {
			p.Replace(i, "deny "+network, "It may be part of a network that is allowed.")
			return
		}
		why := "Others may ask the time where allow says so."
		if !closed {
			why += " chronyc of other machines needs cmdallow besides."
		}
		p.Replace(i, "allow "+network, why)
	}
}

// ntpNetwork is an address with its mask as a network.
func ntpNetwork(address string, flags []string) (string, bool) {
	n := slices.Index(flags, "mask")
	if n < 0 || n+1 >= len(flags) {
		return address, true
	}
	mask := net.ParseIP(flags[n+1])
	if v4 := mask.To4(); v4 != nil {
		mask = v4
	}
	ones, bits := net.IPMask(mask).Size()
	return fmt.Sprintf("%s/%d", address, ones), bits > 0
}

// chronyTinker carries the bounds over beyond which a clock is not set.
func chronyTinker(p *convert.Page, i int, words []string) {
	if len(words) == 2 && words[0] == "panic" && words[1] == "0" {
		p.Replace(i, "makestep 1.0 3", "chronyd sets the clock, however wrong, in its first three updates.")
		return
	}
	p.Refuse(i, "chrony bounds its steps by makestep, maxchange and maxslewrate, which have to be chosen.")
}

// ntpsecGone are commands that NTPsec has no more.
var ntpsecGone = lazyregexp.Whole(`crypto|keysdir|broadcastclient|multicastclient|manycastclient|manycastserver|automax|controlkey|requestkey|broadcast`)

// ntpsecPlaces are where NTPsec of Debian keeps what ntp.conf names.
var ntpsecPlaces = convert.HomesOf("ntpsec").Debian()

func ntpsecLine(p *convert.Page, i int, words []string) {
	switch name := strings.ToLower(words[0]); {
	case name == "includefile":
		p.Drop(i, "NTPsec has no autokey: NTS takes its place.")
	case name == "disable" && len(words) == 2 && words[1] == "monitor":
		p.Drop(i, "NTPsec has the hole no more for which it was set.")
	case ntpsecGone.MatchString(name):
		p.Drop(i, "NTPsec has it no more.")
	case slices.Contains(words, "autokey"):
		p.Refuse(i, "NTPsec has no autokey: nts takes its place, where the server has it.")
	default:
		p.Replace(i, ntpsecPlaces.Move(strings.TrimSpace(p.Lines[i])), "Debian's NTPsec keeps it in another place.")
	}
}

// Chrony has its configuration in a folder on Debian.
var Chrony = convert.Same(convert.Settings{Program: "chrony", Comment: "#", Places: chronyPlaces, Own: func(_ *convert.Page, _ int, name, _ string) bool { return strings.ContainsAny(name[:1], "!;%") }}, convert.Place(chronyPlaces))

var chronyPlaces = convert.HomesOf("chrony").Debian()
