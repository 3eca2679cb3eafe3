package lvm

import "math"

// Room is what is left of a volume group.
type Room struct {
	Group string
	Free  int64           // bytes in extents that no volume has
	Thin  map[string]bool // volumes whose snapshots take their room from a pool
}

// RoomOf reads the description of a group that LVM keeps in /etc/lvm/backup.
func RoomOf(text string) (Room, error) {
	g, err := parseGroup(text)
	if err != nil {
		return Room{}, err
	}
	r, extents := Room{Group: g.name, Thin: map[string]bool{}}, int64(0)
	for _, p := range g.physical {
		extents += max(p.extents, 0)
	}
	for _, v := range g.logical {
		for _, s := range v.segments {
			r.Thin[v.name] = r.Thin[v.name] || s.kind == "thin"
			if g.takes(s) {
				extents -= max(s.count, 0)
			}
		}
	}
	r.Free = min(max(extents, 0), math.MaxInt64/g.extent) * g.extent
	return r, nil
}

// takes reports whether a segment lies on physical volumes, not on others of the
// group.
func (g *group) takes(s segment) bool {
	if len(s.stripes) == 0 {
		return false
	}
	_, physical := g.physical[s.stripes[0].physical]
	return physical
}
