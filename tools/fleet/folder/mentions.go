package folder

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"svc/backend/sliced"
	"svc/tools/fleet"
)

// Mentions keeps what the configuration of machines mentions, until the names of all
// are known. A machine may mention ten thousand words, of which hardly one names
// another: they wait in a file, so that memory does not grow with them.
type Mentions struct {
	file  *os.File
	parts map[string]part // by the name of the machine
	size  int64
}

type part struct{ at, bytes int64 }

// KeepMentions makes a place for them, which Close removes.
func KeepMentions() (*Mentions, error) {
	f, err := os.CreateTemp("", "svc-mentions-")
	if err != nil {
		return nil, fmt.Errorf("keeping what machines mention: %w; nothing was done: TMPDIR names another folder", err)
	}
	_ = os.Remove(f.Name()) // where a name can go before the file is closed: nothing is left of it then, whatever happens
	return &Mentions{file: f, parts: map[string]part{}}, nil
}

// Take moves the mentions of a machine out of it.
func (m *Mentions) Take(r *fleet.Read) error {
	b := make([]byte, 0, 8*len(r.Mentions))
	for _, word := range r.Mentions {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	if _, err := m.file.WriteAt(b, m.size); err != nil {
		return fmt.Errorf("keeping what machines mention: %w", err)
	}
	m.parts[r.Machine.Name] = part{m.size, int64(len(b))}
	m.size += int64(len(b))
	r.Mentions = nil
	return nil
}

// Return gives machines those of their mentions that are names of one of them.
func (m *Mentions) Return(read []fleet.Read) error {
	names := sliced.Set(sliced.FlatMap(read, func(r fleet.Read) []uint64 { return r.Names }))
	for i := range read {
		p := m.parts[read[i].Machine.Name]
		b := make([]byte, p.bytes)
		if _, err := m.file.ReadAt(b, p.at); err != nil {
			return fmt.Errorf("reading what machines mention: %w", err)
		}
		for ; len(b) > 0; b = b[8:] {
			if word := binary.LittleEndian.Uint64(b); names[word] {
				read[i].Mentions = append(read[i].Mentions, word)
			}
		}
	}
	return nil
}

// Close forgets them.
func (m *Mentions) Close() error {
	err := m.file.Close()
	if gone := os.Remove(m.file.Name()); !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
