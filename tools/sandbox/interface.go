package sandbox

import "net/netip"

// Interface is a network interface of a sandbox: a bridge, or one that is as if it had a
// cable. What the kernel can't call so, or does not make, has its addresses at the loopback.
type Interface struct {
	Name      string
	Bridge    bool
	Addresses []netip.Prefix
}
