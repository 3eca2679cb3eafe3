//go:build linux

package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// interfaces gives the sandbox what it has beside the loopback. What the kernel does not
// make has its addresses at the loopback.
func interfaces(all []Interface) error {
	if len(all) == 0 {
		return nil
	}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	n := &netlink{fd: fd}
	for i, has := range all {
		at, err := n.make(has, fmt.Sprintf("peer%d", i))
		if err != nil {
			at = loopbackIndex
		}
		for _, address := range has.Addresses {
			// One that is there already, or that the kernel has no such protocol for, is none.
			_ = n.address(at, address)
		}
	}
	return nil
}

const loopbackIndex = 1

// netlink is a way to the kernel's networks, rtnetlink(7).
type netlink struct {
	fd  int
	seq uint32
}

// make makes an interface and brings it up: a bridge, or one end of a pair whose other end
// has no use but to be there.
func (n *netlink) make(i Interface, peer string) (index int, err error) {
	kind := attribute(unix.IFLA_INFO_KIND, []byte("bridge"))
	if !i.Bridge {
		other := append(link(0, 0), attribute(unix.IFLA_IFNAME, zeroed(peer))...)
		kind = append(attribute(unix.IFLA_INFO_KIND, []byte("veth")), attribute(unix.IFLA_INFO_DATA, attribute(vethPeer, other))...)
	}
	body := append(link(0, 0), attribute(unix.IFLA_IFNAME, zeroed(i.Name))...)
	if err := n.ask(unix.RTM_NEWLINK, append(body, attribute(unix.IFLA_LINKINFO, kind)...)); err != nil {
		return 0, err
	}
	names := []string{i.Name}
	if !i.Bridge {
		names = append(names, peer)
	}
	for _, name := range names {
		made, err := net.InterfaceByName(name)
		if err != nil {
			return 0, err
		}
		if name == i.Name {
			index = made.Index
		}
		if err := n.ask(unix.RTM_NEWLINK, link(made.Index, unix.IFF_UP)); err != nil {
			return 0, err
		}
	}
	return index, nil
}

// vethPeer is VETH_INFO_PEER of linux/veth.h.
const vethPeer = 1

// address adds an address. Nobody else can have it, so the kernel does not look.
func (n *netlink) address(index int, p netip.Prefix) error {
	family := byte(unix.AF_INET)
	if p.Addr().Is6() {
		family = unix.AF_INET6
	}
	body := []byte{family, byte(p.Bits()), unix.IFA_F_NODAD, unix.RT_SCOPE_UNIVERSE}
	body = binary.NativeEndian.AppendUint32(body, uint32(index))
	at := p.Addr().AsSlice()
	return n.ask(unix.RTM_NEWADDR, append(append(body, attribute(unix.IFA_LOCAL, at)...), attribute(unix.IFA_ADDRESS, at)...))
}

// ask has the kernel make something, and hears what it says.
func (n *netlink) ask(kind uint16, body []byte) error {
	n.seq++
	flags := uint16(unix.NLM_F_REQUEST | unix.NLM_F_ACK | unix.NLM_F_CREATE)
	if kind == unix.RTM_NEWADDR {
		flags |= unix.NLM_F_EXCL
	}
	b := binary.NativeEndian.AppendUint32(nil, uint32(unix.NLMSG_HDRLEN+len(body)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = binary.NativeEndian.AppendUint16(b, flags)
	b = binary.NativeEndian.AppendUint32(b, n.seq)
	b = append(binary.NativeEndian.AppendUint32(b, 0), body...)
	if err := unix.Sendto(n.fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, os.Getpagesize())
	got, _, err := unix.Recvfrom(n.fd, answer, 0)
	if err != nil {
		return err
	}
	if got < unix.NLMSG_HDRLEN+4 || binary.NativeEndian.Uint16(answer[4:]) != unix.NLMSG_ERROR {
		return errors.New("the kernel's answer is none")
	}
	if code := int32(binary.NativeEndian.Uint32(answer[unix.NLMSG_HDRLEN:])); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}

// link is a struct ifinfomsg.
func link(index int, flags uint32) []byte {
	b := binary.NativeEndian.AppendUint32([]byte{unix.AF_UNSPEC, 0, 0, 0}, uint32(index))
	return binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(b, flags), flags)
}

// attribute is a struct rtattr with its value, filled up to four bytes.
func attribute(kind uint16, value []byte) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(unix.SizeofRtAttr+len(value)))
	b = append(binary.NativeEndian.AppendUint16(b, kind), value...)
	return append(b, make([]byte, -len(b)&3)...)
}

func zeroed(name string) []byte { return append([]byte(name), 0) }
