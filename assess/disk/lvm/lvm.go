// Package lvm reads the volume groups of LVM2: volumes that are linear or
// striped, of any number of segments, on any number of a disk's partitions.
package lvm

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"svc/assess/disk/block"
	"svc/backend/sliced"
)

const sector = 512

const maxMembers = 64

// Volume is a logical volume.
type Volume struct {
	Group, Name string
	Device      block.Device // nil where it can't be read
	Err         error        // why it can't
}

// physical is a physical volume.
type physical struct {
	id     string
	device block.Device
	text   string // the newest metadata that it carries; empty where it carries none
}

// Open gives the volumes of all groups on the members, in the order of the
// metadata. The error tells of members and metadata that can't be read; what the
// others have comes beside it.
func Open(members []block.Device) ([]Volume, error) {
	var found []physical
	var failed []error
	if len(members) > maxMembers {
		return nil, block.Unsupported("more than %d LVM physical volumes", maxMembers)
	}
	for _, m := range members {
		p, err := readPhysical(m)
		if err != nil {
			failed = append(failed, fmt.Errorf("reading an LVM physical volume: %w", err))
		}
		if p.id != "" { // another member may have the metadata
			found = append(found, p)
		}
	}
	groups, err := newest(found)
	failed = append(failed, err)
	return sliced.FlatMap(groups, func(g *group) []Volume { return g.volumes(found) }), errors.Join(failed...)
}

// newest gives each group by that copy of its metadata that was written last.
func newest(members []physical) ([]*group, error) {
	var groups []*group
	var failed []error
	for _, m := range members {
		if m.text == "" {
			continue
		}
		g, err := parseGroup(m.text)
		if err != nil {
			failed = append(failed, fmt.Errorf("reading LVM metadata: %w", err))
			continue
		}
		i := slices.IndexFunc(groups, func(other *group) bool { return other.id == g.id })
		switch {
		case i < 0:
			groups = append(groups, g)
		case g.seqno > groups[i].seqno:
			groups[i] = g
		}
	}
	return groups, errors.Join(failed...)
}

// volumes makes the volumes of a group that people can see.
func (g *group) volumes(members []physical) (found []Volume) {
	for _, v := range g.logical {
		if v.visible {
			d, err := g.volume(v, members)
			found = append(found, Volume{g.name, v.name, d, err})
		}
	}
	return found
}

// stretch is a segment whose places are known, in bytes.
type stretch struct {
	from, to int64 // in the volume
	stripe   int64 // length of a stripe; that of the stretch where there is one
	places   []place
}

// place is where a stripe's part of a stretch begins.
type place struct {
	device block.Device
	at     int64
}

// volume makes a volume of its segments.
func (g *group) volume(v logical, members []physical) (block.Device, error) {
	var stretches []stretch
	end := int64(0)
	for _, s := range v.segments {
		made, err := g.stretch(s, members)
		if err != nil {
			return nil, err
		}
		if made.from != end {
			return nil, block.Damaged("a segment begins at %d, not %d", made.from, end)
		}
		end = made.to
		stretches = append(stretches, made)
	}
	return block.Map(end, func(off int64) (block.Run, error) { return locate(stretches, off) }), nil
}

// stretch finds the places of a segment.
func (g *group) stretch(s segment, members []physical) (stretch, error) {
	limit := block.MaxSize / g.extent
	switch {
	case s.kind != "striped" && s.kind != "linear":
		return stretch{}, block.Unsupported("volumes of the kind %s", s.kind)
	case s.first < 0 || s.count <= 0 || s.first > limit || s.count > limit || len(s.stripes) == 0:
		return stretch{}, block.Damaged("a segment of %d extents from %d on in %d stripes", s.count, s.first, len(s.stripes))
	}
	made := stretch{from: s.first * g.extent, to: (s.first + s.count) * g.extent, stripe: s.stripe}
	if len(s.stripes) == 1 {
		made.stripe = made.to - made.from
	}
	if made.stripe <= 0 || s.count%int64(len(s.stripes)) != 0 {
		return stretch{}, block.Damaged("%d extents in %d stripes of %d bytes", s.count, len(s.stripes), made.stripe)
	}
	for _, at := range s.stripes {
		known, ok := g.physical[at.physical]
		if !ok || known.start < 0 || at.extent < 0 || at.extent > limit {
			return stretch{}, block.Damaged("a stripe at extent %d of %q", at.extent, at.physical)
		}
		i := slices.IndexFunc(members, func(m physical) bool { return m.id == known.id })
		if i < 0 {
			return stretch{}, fmt.Errorf("a part of it is on the physical volume %s (%s), which this image doesn't hold", at.physical, known.id)
		}
		made.places = append(made.places, place{members[i].device, known.start + at.extent*g.extent})
	}
	return made, nil
}

// locate says where the bytes from off on lie.
func locate(stretches []stretch, off int64) (block.Run, error) {
	i, _ := slices.BinarySearchFunc(stretches, off, func(s stretch, off int64) int {
		if s.to <= off {
			return -1
		}
		return 1
	})
	if i == len(stretches) {
		return block.Run{}, block.Damaged("no segment is there")
	}
	s := stretches[i]
	in := off - s.from
	row, column := in/s.stripe/int64(len(s.places)), in/s.stripe%int64(len(s.places))
	p := s.places[column]
	return block.Run{From: p.device, At: p.at + row*s.stripe + in%s.stripe, Len: s.stripe - in%s.stripe}, nil
}

// plain is an id without the dashes that the metadata writes it with.
func plain(id string) string { return strings.ReplaceAll(id, "-", "") }
