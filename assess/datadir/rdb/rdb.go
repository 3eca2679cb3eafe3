// Package rdb reads what the beginning of a dump of Redis or Valkey states. It is pure.
package rdb

import (
	"encoding/binary"
	"errors"
	"fmt"
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

// ErrFormat means that a file is no RDB.
var ErrFormat = errors.New("not an RDB file")

// The codes of an RDB file that come before its keys.
const (
	opAux      = 0xfa
	opResize   = 0xfb
	opSelectDB = 0xfe
)

// maxAux bounds the fields that are read.
const maxAux = 100

// Parse reads the header of an RDB file of Redis or Valkey.
func Parse(b []byte) (Dump, error) {
	d := Dump{Aux: map[string]string{}, Keys: -1}
	digits, rest, ok := magic(b)
	n, err := strconv.ParseUint(digits, 10, 16)
	if !ok || err != nil {
		return d, ErrFormat
	}
	d.Form = fmt.Sprintf("rdb %d", n)
	s := &stream{b: rest}
	for len(d.Aux) < maxAux {
		switch code := s.byte(); {
		case s.bad:
			return d, nil // the beginning of a file may be cut anywhere
		case code == opAux:
			key, value := s.text(), s.text()
			if s.bad {
				return d, nil
			}
			d.Aux[key] = value
		case code == opSelectDB:
			s.length()
			if s.byte() == opResize {
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

// magic splits the version off: REDIS0011, VALKEY080.
func magic(b []byte) (digits string, rest []byte, ok bool) {
	for _, mark := range []string{"REDIS", "VALKEY"} {
		if len(b) >= 9 && strings.HasPrefix(string(b[:9]), mark) {
			return string(b[len(mark):9]), b[9:], true
		}
	}
	return "", nil, false
}

// stream reads what RDB files are made of; bad is set at their end.
type stream struct {
	b   []byte
	bad bool
}

func (s *stream) take(n uint64) []byte {
	if s.bad || n > uint64(len(s.b)) {
		s.bad = true
		return make([]byte, min(n, 8))
	}
	taken := s.b[:n]
	s.b = s.b[n:]
	return taken
}

func (s *stream) byte() byte { return s.take(1)[0] }

// length reads a length, or with special the kind of a number that follows.
func (s *stream) length() (n uint64, special bool) {
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
func (s *stream) text() string {
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
