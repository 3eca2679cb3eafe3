package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"svc/assess/host"
	"svc/backend/lazyregexp"
)

// maxComplaints bounds what find says that it could not read; read.sh cuts it
// there.
const maxComplaints = 2 << 20

// hasFind reports whether the machine has find and xargs that take names of any
// bytes. Without them a walk goes by listings.
func (r *remote) hasFind() bool {
	answer, err := r.shell.ask("find / -xdev -prune -path / -print0 2>/dev/null | xargs -0 -r -n 500 stat -c '%h|%b|%d|%i' 2>/dev/null; z 0", maxStat)
	return err == nil && bytes.Count(answer[0].body, []byte("|")) == 3
}

// Walk has the machine describe all below each of tops, in one answer for each,
// which is read as it comes. It is not done where the machine has no find.
func (r *remote) Walk(ctx context.Context, tops []string, v host.Visitor) (done bool, err error) {
	if !r.hasFind() {
		return false, nil
	}
	for i, top := range tops {
		line := "w " + quote(absolute(top))
		for _, other := range tops {
			if other != top && (top == "." || strings.HasPrefix(other, top+"/")) {
				line += " -path " + quote(pattern(absolute(other))) + " -prune -o"
			}
		}
		s := &stream{ctx: ctx, v: v, top: i, name: top}
		complaints, err := r.shell.pour(line+" </dev/null", s.take, maxComplaints)
		if err != nil || ctx.Err() != nil {
			break
		}
		s.complain(complaints.body)
	}
	return true, errors.Join(ctx.Err(), host.Lost(r))
}

// pattern is a pattern of find that means this very name.
func pattern(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

// stream is an answer of read.sh's w on its way: descriptions of files, and
// after some of them their attributes.
type stream struct {
	ctx     context.Context
	v       host.Visitor
	top     int
	name    string // of the top
	device  uint64 // of the top
	partial []byte
	batch   []host.Node
	skip    string // what is below is not wanted
}

// take reads what came. A record ends in "//" and the end of a line, which no
// name holds.
func (s *stream) take(piece []byte) error {
	s.partial = append(s.partial, piece...)
	record, whole := bytes.CutSuffix(s.partial, []byte("//\n"))
	switch {
	case whole && len(record) > 0 && strings.IndexByte("#=-", record[0]) >= 0:
		s.attributes(string(record))
		s.visit()
		s.partial = s.partial[:0]
	case whole:
		s.describe(record)
		s.partial = s.partial[:0]
	case len(s.partial) > maxListing || len(s.batch) > maxFollowed:
		return errFrame
	}
	return s.ctx.Err()
}

// describe adds a file to those that wait for their attributes.
func (s *stream) describe(record []byte) {
	fields := bytes.SplitN(record, []byte("|"), 10)
	st, ok := parseInode(fields)
	if !ok {
		s.v.Unread(0, s.top, s.name, errDescription)
		return
	}
	full := cmp.Or(strings.TrimPrefix(string(fields[9]), "/"), ".")
	n := host.Node{Top: s.top, Dir: path.Dir(full), Name: path.Base(full)}
	if full == s.name {
		n.Dir, n.Name, s.device = full, ".", st.Device
	} else if !host.Valid(full) || s.name != "." && !strings.HasPrefix(full, s.name+"/") {
		s.v.Unread(0, s.top, s.name, errDescription)
		return
	}
	n.Describe(host.Entry{Base: n.Name, Status: st})
	n.Boundary = n.Device != s.device
	s.batch = append(s.batch, n)
}

// parseInode reads the numbers of a description: a mode of base 16, and eight
// others.
func parseInode(fields [][]byte) (st host.Status, ok bool) {
	if len(fields) != 10 {
		return st, false
	}
	n, ok := numbers(fields[:9])
	if !ok || n[6] < 0 {
		return st, false
	}
	return host.Status{
		Mode: uint32(n[0]), UID: uint32(n[1]), GID: uint32(n[2]), Size: n[3], Modified: n[4],
		Links: int(n[5]), Blocks: n[6], Device: uint64(n[7]), Number: uint64(n[8]),
	}, true
}

// attributes reads what getfattr says of the files that wait: "# file: " and a
// name, then the names of its attributes, and an empty line.
func (s *stream) attributes(text string) {
	known := strings.HasSuffix(text, "=")
	found := map[string]host.Attributes{}
	for part := range strings.SplitSeq(text, "# file: ") {
		name, list, _ := strings.Cut(part, "\n")
		list, _, _ = strings.Cut(list, "\n\n")
		found[strings.TrimPrefix(unescaped(name), "/")] = host.ParseAttributes(strings.ReplaceAll(list, "\n", "\x00"))
	}
	for i := range s.batch {
		if n := &s.batch[i]; known && n.Mode&fs.ModeSymlink == 0 {
			n.Attributes = host.AttributesKnown | found[n.Path()]
		}
	}
}

// visit tells the visitor of the files that waited.
func (s *stream) visit() {
	for i := range s.batch {
		n := &s.batch[i]
		full := n.Path()
		if s.skip != "" && strings.HasPrefix(full, s.skip) {
			continue
		}
		if s.skip = ""; !s.v.Visit(0, n) && n.Mode.IsDir() {
			s.skip = full + "/"
		}
	}
	s.batch = s.batch[:0]
}

// complain tells of what find and stat could not read: "find: 'name': reason".
// That a file went meanwhile is no matter.
func (s *stream) complain(said []byte) {
	for line := range strings.Lines(string(said)) {
		name := complaint.FindStringSubmatch(strings.TrimSpace(line))
		if name == nil {
			continue
		}
		full := name[2]
		if name[1] != "" {
			full = unescaped(full)
		}
		err := frame{failed: true, reason: name[3]}.err("walk", full)
		if !errors.Is(err, fs.ErrNotExist) || full == s.name {
			s.v.Unread(0, s.top, full, err)
		}
	}
}

// complaint is how programs say that they could not read a file, with quotes or
// without.
var complaint = lazyregexp.New(`^[a-z]+: (?:[^'/]* )?('?)/(.*?)'?: ([^:]*)$`)

// unescaped undoes the escapes that programs write names with: \134, \n.
func unescaped(s string) string {
	var b strings.Builder
	for {
		before, rest, escaped := strings.Cut(s, `\`)
		b.WriteString(before)
		if !escaped {
			return b.String()
		}
		c, _, after, err := strconv.UnquoteChar(`\`+rest, '\'')
		if err != nil || c > 0xff {
			c, after = '\\', rest
		}
		b.WriteByte(byte(c))
		s = after
	}
}
