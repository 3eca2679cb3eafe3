package datadir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// Dump is what the beginning of an RDB file states.
type Dump struct {
	Form string            // "rdb 11"
	Aux  map[string]string // redis-ver, valkey-ver, redis-bits, ctime, aof-base, …
	Keys int64             // of the first database; -1 where not stated
}

// Version is that of the server which wrote the dump.
func (d Dump) Version() string {
	if v := d.Aux["valkey-ver"]; v != "" {
		return v
	}
	return d.Aux["redis-ver"]
}

// ErrDump means that a file is no RDB.
var ErrDump = errors.New("not an RDB file")

// The codes of an RDB file that come before its keys.
const (
	rdbAux      = 0xfa
	rdbResize   = 0xfb
	rdbSelectDB = 0xfe
)

// maxAux bounds the fields that are read.
const maxAux = 100

// ParseDump reads the header of an RDB file of Redis or Valkey.
func ParseDump(b []byte) (Dump, error) {
	d := Dump{Aux: map[string]string{}, Keys: -1}
	digits, rest, ok := rdbMagic(b)
	n, err := strconv.ParseUint(digits, 10, 16)
	if !ok || err != nil {
		return d, ErrDump
	}
	d.Form = fmt.Sprintf("rdb %d", n)
	s := &rdbStream{b: rest}
	for len(d.Aux) < maxAux {
		switch code := s.byte(); {
		case s.bad:
			return d, nil // the beginning of a file may be cut anywhere
		case code == rdbAux:
			key, value := s.text(), s.text()
			if s.bad {
				return d, nil
			}
			d.Aux[key] = value
		case code == rdbSelectDB:
			s.length()
			if s.byte() == rdbResize {
				if keys, _ := s.length(); !s.bad && keys < 1<<48 {
					d.Keys = int64(keys)
				}
			}
			return d, nil
		default:
			return d, nil
		}
	}
	return d, nil
}

// rdbMagic splits the version off: REDIS0011, VALKEY080.
func rdbMagic(b []byte) (digits string, rest []byte, ok bool) {
	for _, magic := range []string{"REDIS", "VALKEY"} {
		if len(b) >= 9 && strings.HasPrefix(string(b[:9]), magic) {
			return string(b[len(magic):9]), b[9:], true
		}
	}
	return "", nil, false
}

// rdbStream reads what RDB files are made of; bad is set at their end.
type rdbStream struct {
	b   []byte
	bad bool
}

func (s *rdbStream) take(n uint64) []byte {
	if s.bad || n > uint64(len(s.b)) {
		s.bad = true
		return make([]byte, min(n, 8))
	}
	taken := s.b[:n]
	s.b = s.b[n:]
	return taken
}

func (s *rdbStream) byte() byte { return s.take(1)[0] }

// length reads a length, or with special the kind of a number that follows.
func (s *rdbStream) length() (n uint64, special bool) {
	first := s.byte()
	switch {
	case first>>6 == 0:
		return uint64(first & 63), false
	case first>>6 == 1:
		return uint64(first&63)<<8 | uint64(s.byte()), false
	case first == 0x80:
		return uint64(binary.BigEndian.Uint32(s.take(4))), false
	case first == 0x81:
		return binary.BigEndian.Uint64(s.take(8)), false
	}
	return uint64(first & 63), true
}

// text reads a string, which may be kept as a number.
func (s *rdbStream) text() string {
	n, special := s.length()
	if !special {
		return string(s.take(n))
	}
	switch n {
	case 0:
		return fmt.Sprint(int8(s.byte()))
	case 1:
		return fmt.Sprint(int16(binary.LittleEndian.Uint16(s.take(2))))
	case 2:
		return fmt.Sprint(int32(binary.LittleEndian.Uint32(s.take(4))))
	}
	s.bad = true // a packed string: no field of the header is one
	return ""
}

// redis reads the dump and the append-only files of Redis or Valkey, and what
// cluster and modules the folder tells of.
func (r *reader) redis() {
	dumps := []string{}
	for _, name := range r.names(".") {
		if strings.HasSuffix(name, ".rdb") {
			dumps = append(dumps, name)
		}
	}
	for _, folder := range r.names(".") {
		if strings.HasPrefix(folder, "appendonly") && r.isFolder(folder) {
			dumps = append(dumps, r.appendOnly(folder)...)
		}
	}
	if r.exists("appendonly.aof") {
		r.fact("append-only file", "one file, as before Redis 7.0", "appendonly.aof")
		dumps = append(dumps, "appendonly.aof")
	}
	for _, name := range dumps {
		r.dump(name)
	}
	if r.exists("nodes.conf") {
		r.s.Replication = append(r.s.Replication, "node of a cluster (nodes.conf)")
	}
}

// dump notes what a file states; that of the newest form counts.
func (r *reader) dump(name string) {
	b := r.head(name, 4096)
	d, err := ParseDump(b)
	if err != nil {
		if len(b) > 0 && !strings.HasSuffix(name, ".aof") {
			r.unread("/%s: %v", path.Join(r.dir, name), err)
		}
		return
	}
	r.fact("form", d.Form, name)
	r.fact("written by", d.Version(), name)
	r.fact("bits", d.Aux["redis-bits"], name)
	if d.Keys >= 0 {
		r.fact("keys of the first database", fmt.Sprint(d.Keys), name)
	}
	if formNumber(d.Form) >= formNumber(r.s.Form) {
		r.s.Form, r.s.Version = d.Form, d.Version()
	}
}

// formNumber is the number of a form such as "rdb 11"; none is zero.
func formNumber(form string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(form, "rdb "))
	return n
}

// appendOnly reads the manifest of append-only files and names their bases.
func (r *reader) appendOnly(folder string) (bases []string) {
	for _, name := range r.names(folder) {
		if !strings.HasSuffix(name, ".manifest") {
			continue
		}
		kinds := map[string]int{}
		for line := range strings.Lines(r.text(path.Join(folder, name))) {
			file, kind := manifestLine(line)
			if kind == "b" && strings.HasSuffix(file, ".rdb") && !strings.Contains(file, "/") {
				bases = append(bases, path.Join(folder, file))
			}
			kinds[kind]++
		}
		r.fact("append-only files", fmt.Sprintf("%d base, %d incremental, %d history", kinds["b"], kinds["i"], kinds["h"]), path.Join(folder, name))
	}
	return bases
}

// manifestLine reads a line as "file appendonly.aof.1.base.rdb seq 1 type b".
func manifestLine(line string) (file, kind string) {
	words := strings.Fields(line)
	for i := 0; i+1 < len(words); i += 2 {
		switch words[i] {
		case "file":
			file = strings.Trim(words[i+1], `"`)
		case "type":
			kind = words[i+1]
		}
	}
	return file, kind
}
