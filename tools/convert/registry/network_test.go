package registry

import (
	"fmt"
	"strings"
	"testing"

	"svc/tools/convert"
)

// wires are lines of every manager's files.
var wires = strings.Split(`DEVICE=eth0
IPADDR=192.0.2.2
PREFIX=24
GATEWAY=192.0.2.1
TYPE=Bond
MASTER=eth0
VLAN=yes
HWADDR=52:54:00:12:34:56
ADDRESS0=10.0.0.0
10.1.0.0/16 via 192.0.2.9
[connection]
id=eth0
interface-name=eth0
[ipv4]
method=manual
address1=192.0.2.2/24,192.0.2.1
route1=10.1.0.0/16,192.0.2.9,5
network: {ethernets: {eth0: {dhcp4: true}}}
network:
  ethernets:
    eth0:
      addresses: [192.0.2.2/24]
auto eth0
iface eth0 inet static
  address 192.0.2.2/24
  up ip route add 10.1.0.0/16 via 192.0.2.9
source /etc/network/interfaces.d/*`, "\n")

// FuzzNetwork: whatever two files say, nothing of them is lost, and no word of
// theirs becomes a line of its own.
func FuzzNetwork(f *testing.F) {
	files := []string{"/etc/sysconfig/network-scripts/ifcfg-eth0", "/etc/sysconfig/network-scripts/route-eth0", "/etc/NetworkManager/system-connections/eth0.nmconnection", "/etc/netplan/a.yaml", "/etc/network/interfaces", "/etc/sysconfig/network", "/etc/systemd/network/a.network"}
	for n := range files {
		f.Add(byte(n), strings.Join(wires, "\n"), wires[0])
		f.Add(byte(n), strings.Join(wires[:10], "\n"), wires[9])
		f.Add(byte(n), strings.Join(wires[10:17], "\n"), wires[4])
		f.Add(byte(n), strings.Join(wires[18:22], "\n"), "")
		f.Add(byte(n), strings.Join(wires[22:], "\n"), "")
	}
	moves := [][2]string{{"centos-7", "debian-13"}, {"ubuntu-24.04", "debian-13"}, {"debian-12", "rocky-9"}, {"rocky-9", "ubuntu-24.04"}}
	f.Fuzz(func(t *testing.T, n byte, text, more string) {
		first, second := files[int(n)%len(files)], files[int(n)/len(files)%len(files)]
		move := moves[int(n)%len(moves)]
		in := convert.Input{Source: lookup(t, move[0]), Target: lookup(t, move[1]), Files: []convert.File{{Path: first, Text: text}}, Brought: map[string]string{}}
		if second != first {
			in.Files = append(in.Files, convert.File{Path: second, Text: more})
		}
		r := Run("network", in)
		for _, f := range in.Files {
			whole(t, f, r)
		}
		for _, f := range r.Files {
			if !convert.Waits(f.Path) || strings.Contains(f.Path, "..") {
				t.Fatal("it is written to", f.Path)
			}
		}
	})
}

// TestNetworkIsNotGuessed: a value that would be another thing in the target's
// files, and a setting beside others of its line, leave the file to a person.
func TestNetworkIsNotGuessed(t *testing.T) {
	const ifcfg, netplan = "/etc/sysconfig/network-scripts/ifcfg-eth0", "/etc/netplan/a.yaml"
	for _, c := range []struct{ source, path, text string }{
		{"centos-7", ifcfg, "DEVICE=eth0\nIPADDR=192.0.2.2\nPREFIX=24\nGATEWAY=\"fe80::1%x;reboot\"\n"},
		{"centos-7", ifcfg, "DEVICE=..\nBOOTPROTO=dhcp\n"},
		{"ubuntu-24.04", netplan, "network: {ethernets: {eth0: {addresses: ['2001:db8::2/64'], gateway6: \"fe80::1%\\nup reboot\"}}}\n"},
		{"ubuntu-24.04", netplan, "network: {ethernets: {eth0: {addresses: [10.0.0.2/8], routes: [{to: 10.0.0.0/8, via: \"10.0.0.1\\nmetric 5\"}]}}}\n"},
		{"ubuntu-24.04", netplan, "network: {ethernets: {eth0: {dhcp4: true, link-local: []}}}\n"},
		{"ubuntu-24.04", netplan, "network: {ethernets: {eth0: {}}, bonds: {bond0: {interfaces: [eth0], parameters: {mii-monitor-interval: 1s}}}}\n"},
	} {
		in := convert.Input{Source: lookup(t, c.source), Target: lookup(t, "debian-13"), Files: []convert.File{{Path: c.path, Text: c.text}}, Brought: map[string]string{}}
		if r := Run("network", in); len(r.Refusals[c.path]) == 0 || len(r.Files) > 0 {
			t.Errorf("%s becomes %v", c.text, r.Files)
		}
	}
}

// TestSecretsOfConnectionsStay: a connection with one is not carried, and what
// is said of it has no secret in it.
func TestSecretsOfConnectionsStay(t *testing.T) {
	const file = "/etc/NetworkManager/system-connections/eth0.nmconnection"
	for _, key := range []string{"psk", "wep-key0", "password", "private-key", "preshared-key", "mka-cak", "PIN"} {
		in := convert.Input{Source: lookup(t, "centos-7"), Target: lookup(t, "debian-13"), Brought: map[string]string{"network-manager": ""}, Files: []convert.File{{Path: file, Text: "[connection]\nid=eth0\ntype=ethernet\n[x]\n" + key + "=hush\n"}}}
		r := Run("network", in)
		if said := fmt.Sprint(r); len(r.Files) > 0 || len(r.Refusals[file]) == 0 || strings.Contains(said, "hush") {
			t.Errorf("%s: %s", key, said)
		}
	}
}

// whole checks that of each line something is said.
func whole(t *testing.T, f convert.File, r convert.Result) {
	if len(r.Refusals[f.Path]) > 0 {
		return
	}
	said := map[string]bool{}
	for _, c := range r.Changes[f.Path] {
		said[c.Was] = true
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(f.Text, "\r\n", "\n"), "\n") {
		line = strings.TrimSpace(line)
		found := line == "" || said[line]
		for _, to := range r.Files {
			found = found || strings.Contains(to.Text, line)
		}
		if !found {
			t.Fatalf("%q of %s is lost", line, f.Path)
		}
	}
}
