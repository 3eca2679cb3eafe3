// Package machine is how a call names machines: one by where it is, several, and those in
// a folder.
package machine

import (
	"context"

	"svc/assess/host"
	"svc/assess/host/locate"
)

// Machine names the machine that a tool reads: exactly one of its members.
type Machine struct {
	Root  string `json:"root,omitempty" jsonschema:"its root folder here"`
	Image string `json:"image,omitempty" jsonschema:"its disk image"`
	SSH   string `json:"ssh,omitempty" jsonschema:"[user@]host[:port]"`

	// TrustImage allows the image to name files outside its folder. That is for
	// a person to decide, so agents can't set it.
	TrustImage bool `json:"-"`
}

// Open reaches the machine, which may take a while over ssh.
func (m Machine) Open(ctx context.Context, progress func(what string, done, total int)) (host.Host, error) {
	progress("opening the machine", 0, 1)
	defer progress("opening the machine", 1, 1)
	return locate.Open(ctx, locate.Location{Root: m.Root, Image: m.Image, SSH: m.SSH, TrustImage: m.TrustImage})
}
