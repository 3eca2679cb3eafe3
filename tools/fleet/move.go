package fleet

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/sliced"
)

// Order are the machines that can be planned, in the order of the move: wave by
// wave, and those that are in none last.
func (d *Document) Order() []Machine {
	order := sliced.Filter(d.Machines, func(m Machine) bool { return m.Verdict != Unreadable })
	last := len(waveReasons) + 1
	slices.SortStableFunc(order, func(a, b Machine) int { return cmp.Compare(cmp.Or(a.Wave, last), cmp.Or(b.Wave, last)) })
	return order
}

// Reach are the first machines, in the order of the move, for which a number of new
// seats suffices: machines of one fingerprint share theirs.
func (d *Document) Reach(seats int) []Machine {
	order, seated := d.Order(), map[string]bool{}
	for i, m := range order {
		if m.Licensed || seated[m.Fingerprint] {
			continue
		}
		if len(seated) == seats {
			return order[:i]
		}
		seated[m.Fingerprint] = true
	}
	return order
}

const inventoryHead = "---\n# The new machines, fresh systems that are to take the places of the old ones, by waves.\n# Write the address of each after ansible_host: never that of the source, which stays as it is.\nall:\n  children:\n"

// unfilled are the groups of an inventory as Inventory makes it.
var unfilled = lazyregexp.Whole(`(?:    \w+:\n      hosts:\n(?:        ".*":\n          ansible_host: ".*\.invalid"\n)+)*`)

// Unfilled reports whether a person has written nothing into an inventory yet.
func Unfilled(inventory []byte) bool {
	groups, ok := bytes.CutPrefix(inventory, []byte(inventoryHead))
	return ok && unfilled.Match(groups)
}

// Inventory is the Ansible inventory of machines that move: a group for each wave.
// Where the new machines are, a person writes; until then the addresses are ones
// that never resolve, for a name may well be the source's.
func Inventory(moved []Machine) []byte {
	var b strings.Builder
	b.WriteString(inventoryHead)
	last := -1
	for _, m := range moved {
		if m.Wave != last {
			last = m.Wave
			fmt.Fprintf(&b, "    %s:\n      hosts:\n", waveGroup(m.Wave))
		}
		fmt.Fprintf(&b, "        %q:\n          ansible_host: %q\n", m.Name, m.Name+".invalid")
	}
	return []byte(b.String())
}

// Site is the playbook of all: a play for each machine, in the order of the move.
// A play has one machine's role alone, for handlers of one name in the roles of
// several machines would be taken for one another.
func Site(moved []Machine) []byte {
	var b strings.Builder
	b.WriteString("---\n# Gives the machines back on fresh systems, in the order of the move: ansible-playbook -i inventory.yml site.yml\n# One wave: --limit wave_1. Several machines at once: a call for each, with --limit NAME.\n")
	for _, m := range moved {
		fmt.Fprintf(&b, "- name: %q\n  hosts: %q\n  become: true\n  gather_facts: true\n  roles:\n    - role: %q\n", "Give back "+m.Name, m.Name, m.Name+"/role")
	}
	return []byte(b.String())
}

// waveGroup is a wave as a group of the inventory.
func waveGroup(n int) string {
	if n == 0 {
		return "blocked" // planned, but something stops the move
	}
	return fmt.Sprintf("wave_%d", n)
}
