package remote

import (
	"bytes"
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"svc/assess/host"
)

// known is what a listing says of a file.
type known struct {
	info   host.Entry
	bare   bool   // the name alone is known
	link   string // what it says, where it is a link that says something plain
	denied bool   // it is a link that this user may not read
}

func (k known) isLink() bool { return k.info.Mode()&fs.ModeSymlink != 0 }

// errDescription means that stat's words were none that stat has.
var errDescription = errors.New("the machine describes it in a way that is not understood")

// parseListing reads the descriptions of a folder's files.
func parseListing(dir string, b []byte) (map[string]known, error) {
	files := map[string]known{}
	prefix := folder(dir) + "/"
	for len(b) > 0 {
		k, rest, ok := parseKnown(b, prefix)
		if !ok || len(files) > host.MaxEntries {
			err := errDescription
			if ok {
				err = host.ErrTooBig
			}
			return nil, &fs.PathError{Op: "readdir", Path: dir, Err: err}
		}
		b = rest
		if _, twice := files[k.info.Base]; !twice || !k.bare {
			files[k.info.Base] = k
		}
	}
	return files, nil
}

// parseKnown reads one description of read.sh, "mode|owner|…|prefix + name//",
// then the name quoted, "//" and the end of the line; or "?", prefix, name,
// "//". No name holds a slash, so no name can look like the end of one.
func parseKnown(b []byte, prefix string) (k known, rest []byte, ok bool) {
	if bytes.HasPrefix(b, []byte("?")) {
		k.bare = true
		k.info.Base, rest, ok = cutName(b[1:], prefix)
		if ok = ok && bytes.HasPrefix(rest, []byte("\n")); !ok {
			return k, nil, false
		}
		return k, rest[1:], true
	}
	fields := bytes.SplitN(b, []byte("|"), 8)
	if len(fields) != 8 {
		return k, nil, false
	}
	if k.info.Status, ok = parseStat(fields); !ok {
		return k, nil, false
	}
	if k.info.Base, rest, ok = cutName(fields[7], prefix); !ok {
		return k, nil, false
	}
	quoted, rest, ok := bytes.Cut(rest, []byte("//\n"))
	if !ok { // the end of a frame has no newline of its own
		if quoted, ok = bytes.CutSuffix(quoted, []byte("//")); !ok {
			return k, nil, false
		}
	}
	if k.isLink() {
		k.link, k.denied = plainLink(string(quoted), prefix+k.info.Base), len(quoted) == 0
	}
	return k, rest, true
}

// cutName takes "prefix + name//" off. The prefix that is a whole path of a file
// leaves an empty name.
func cutName(b []byte, prefix string) (name string, rest []byte, ok bool) {
	b, ok = bytes.CutPrefix(b, []byte(prefix))
	if !ok {
		return "", nil, false
	}
	i := bytes.IndexByte(b, '/')
	if i < 0 || !bytes.HasPrefix(b[i:], []byte("//")) {
		return "", nil, false
	}
	return string(b[:i]), b[i+2:], true
}

// parseStat reads the numbers of a description.
func parseStat(f [][]byte) (st host.Status, ok bool) {
	n, ok := numbers(f[:5])
	if !ok || n[1]>>32 != 0 || n[2]>>32 != 0 {
		return st, false
	}
	return host.Status{Mode: uint32(n[0]), UID: uint32(n[1]), GID: uint32(n[2]), Size: n[3], Modified: n[4], Nanoseconds: nanoseconds(f[6])}, true
}

// numbers reads a mode of base 16, an owner, a group, a size, which is none below zero, and
// what follows.
func numbers(fields [][]byte) (n [9]int64, ok bool) {
	mode, err := strconv.ParseUint(string(fields[0]), 16, 32)
	n[0] = int64(mode)
	for i := 1; i < len(fields); i++ {
		var e error
		n[i], e = strconv.ParseInt(string(fields[i]), 10, 64)
		err = errors.Join(err, e)
	}
	return n, err == nil && n[3] >= 0
}

// nanoseconds are the part of a second in a date as stat prints it; not every
// stat prints one.
func nanoseconds(date []byte) int64 {
	_, fraction, _ := bytes.Cut(date, []byte("."))
	fraction, _, _ = bytes.Cut(fraction, []byte(" "))
	n, err := strconv.ParseInt(string(fraction), 10, 64)
	if err != nil || len(fraction) > 9 || n < 0 {
		return 0
	}
	for range 9 - len(fraction) {
		n *= 10
	}
	return n
}

// plainLink takes the target out of "'name' -> 'target'", in any of the quotes
// that stat uses, where both consist of what no stat escapes.
func plainLink(quoted, name string) string {
	for _, q := range []string{"''", "`'", `""`} {
		target, ok := strings.CutPrefix(quoted, q[:1]+name+q[1:]+" -> "+q[:1])
		if target, isEnd := strings.CutSuffix(target, q[1:]); ok && isEnd && isPlain(name) && isPlain(target) {
			return target
		}
	}
	return ""
}

func isPlain(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune("'\"`\\", r) })
}
