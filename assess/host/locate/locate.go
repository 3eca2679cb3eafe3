// Package locate opens the machine at a location: a folder, a disk image, or ssh.
package locate

import (
	"context"
	"errors"

	"svc/assess/host"
	"svc/assess/host/joined"
	"svc/assess/host/remote"
	"svc/backend/sliced"
)

// Location says where a machine is: exactly one of Root, Image and SSH is set.
type Location struct {
	Root  string // a folder that holds the machine's files
	Image string // a disk image
	SSH   string // [user@]host[:port] of a running machine

	// TrustImage allows the image to name files outside its folder, such as a
	// backing file; whoever made it chose their names.
	TrustImage bool
}

// ErrLocation means that a Location does not name exactly one machine.
var ErrLocation = errors.New("name the machine by exactly one of root, image and ssh")

// Open opens the machine at a location. A connection to it lasts no longer than ctx.
func Open(ctx context.Context, l Location) (host.Host, error) {
	set := sliced.Count([]string{l.Root, l.Image, l.SSH}, func(s string) bool { return s != "" })
	switch {
	case set != 1:
		return nil, ErrLocation
	case l.Root != "":
		return host.OpenRoot(l.Root)
	case l.Image != "":
		return joined.Open(l.Image, l.TrustImage)
	}
	return remote.Open(ctx, l.SSH)
}
