package convert

import (
	"slices"
	"strings"
)

// Waiting is the folder of the target in which lies what decides who reaches the
// machine, below it as below /: nothing reads it there, so that the connection
// stays by which the role is applied, and two machines never have one address.
// A person puts it in place when the machine takes over.
const Waiting = "/etc/svc/network"

// Waits reports whether a file of the target is put in place by a person.
func Waits(name string) bool { return strings.HasPrefix(name, Waiting+"/") }

// Prepares reports whether a converter takes files that hold for one machine
// alone, or that are closed to others without a secret in them, and lays ready
// what follows of them.
func Prepares(name string) bool {
	return slices.Contains([]string{"network", "iptables", "nftables", "ufw", "ufw-nftables"}, name)
}
