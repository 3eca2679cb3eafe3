package network

import (
	"slices"
	"strings"

	"svc/backend/sliced"
)

// position is a line of a file, from 1.
type position struct {
	file string
	line int
}

// option is one thing that is said of an interface, in iproute2's words where it
// has any. The keys:
//
//	mac        the hardware address by which it is known
//	set-mac    the hardware address that it is given
//	mtu, auto (yes, no), dhcp4, dhcp6, ra (yes, no), zone (of firewalld)
//	address    10.0.0.2/24
//	gateway    10.0.0.1
//	metric     of the gateways
//	dns, search
//	route      default via 10.0.0.1 metric 5, 10.1.0.0/16 via 10.0.0.3 table 7
//	rule       from 10.0.0.2 table 7 priority 100
//	master     bond0
//	bond       mode active-backup
//	bridge     stp yes, forward-delay 4
//	vlan-id, vlan-link
type option struct {
	key, value string
	at         []position
}

// iface is an interface as every manager's files describe it.
type iface struct {
	name, kind string // ethernet, bond, bridge, vlan
	file       string
	options    []option
}

func (i *iface) say(key, value string, at ...position) {
	i.options = append(i.options, option{key, value, at})
}

// all are the options with one of the keys, in their order.
func (i *iface) all(keys ...string) []option {
	return sliced.Filter(i.options, func(o option) bool { return slices.Contains(keys, o.key) })
}

// first is the first option with a key; without one it is empty.
func (i *iface) first(key string) option {
	return sliced.First(i.options, func(o option) bool { return o.key == key })
}

// of are the options with a key that are of IP version 4 or 6.
func (i *iface) of(key string, version int) []option {
	return sliced.Filter(i.all(key), func(o option) bool { return (version == 6) == strings.Contains(o.value, ":") })
}

// joined are the values of options in a line, with where they stand.
func joined(options []option) (text string, at []position) {
	values := []string{}
	for _, o := range options {
		values, at = append(values, o.value), append(at, o.at...)
	}
	return strings.Join(values, " "), at
}

// assignment is a variable with its line.
type assignment struct {
	value string
	at    position
}
