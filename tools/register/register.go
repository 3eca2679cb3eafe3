// Package register is what this user calls the machines that a service knows by
// digests alone: fingerprint to name, place and move, in a file that is never sent.
package register

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"svc/backend/osfile"
)

// Bounds: of a line, and of the file, which is rewritten without what later lines
// replace once it is longer.
const (
	maxLine = 16 << 10
	maxFile = 8 << 20
)

// Machine is a machine as this user knows it. Nothing in it is a secret, and none of
// it leaves this host.
type Machine struct {
	Fingerprint string `json:"fingerprint"`
	Name        string `json:"name,omitempty"`    // its host name
	Place       string `json:"place,omitempty"`   // where it was read last: image:/srv/web.qcow2
	Release     string `json:"release,omitempty"` // slug
	Target      string `json:"target,omitempty"`  // slug of the release that a move was written for
	Out         string `json:"out,omitempty"`     // folder of that move
	Seen        string `json:"seen,omitempty"`    // YYYY-MM-DD
	People      string `json:"people,omitempty"`  // its accounts that no package made, with spaces between
}

// Register is one file of JSON lines; of a machine's lines the later adds to those
// before. The zero value keeps nothing.
type Register struct{ File string }

// Note adds what is known of a machine, unless it is known. Processes may note at once.
func (r Register) Note(m Machine) error {
	if r.File == "" || m.Fingerprint == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(r.File), 0o700); err != nil {
		return fmt.Errorf("noting a machine: %w", err)
	}
	lock, err := os.OpenFile(r.File+".lock", os.O_CREATE|os.O_RDWR|osfile.NoFollow, 0o600)
	if err != nil {
		return fmt.Errorf("noting a machine: %w", err)
	}
	defer lock.Close() // which ends the lock
	if err := wait(lock); err != nil {
		return fmt.Errorf("noting a machine: %w", err)
	}
	known, size, err := r.read()
	if err != nil {
		return err
	}
	merged := known[m.Fingerprint].with(m)
	if merged == known[m.Fingerprint] {
		return nil
	}
	known[m.Fingerprint] = merged
	if size > maxFile {
		return r.rewrite(known)
	}
	return r.add(merged)
}

// patience is how long another process may hold the register.
const patience = 5 * time.Second

// wait takes the lock of a file.
func wait(f *os.File) error {
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		locked, err := osfile.TryLock(f)
		switch {
		case locked || err != nil:
			return err
		case time.Now().After(end):
			return errors.New("another process holds the register")
		}
	}
}

// with is what is known of a machine and what is new of it.
func (m Machine) with(n Machine) Machine {
	for _, f := range []struct{ old, new *string }{
		{&m.Fingerprint, &n.Fingerprint}, {&m.Name, &n.Name}, {&m.Place, &n.Place}, {&m.Release, &n.Release}, {&m.Target, &n.Target}, {&m.Out, &n.Out}, {&m.Seen, &n.Seen}, {&m.People, &n.People},
	} {
		if *f.new != "" {
			*f.old = *f.new
		}
	}
	return m
}

func (r Register) add(m Machine) error {
	b, err := json.Marshal(m)
	if err != nil || len(b) > maxLine {
		return err // what is longer has no name that helps anybody
	}
	f, err := os.OpenFile(r.File, os.O_CREATE|os.O_WRONLY|os.O_APPEND|osfile.NoFollow, 0o600)
	if err != nil {
		return fmt.Errorf("noting a machine: %w", err)
	}
	// A line that a crash cut short ends here, not in this one.
	_, err = f.Write(append(append([]byte("\n"), b...), '\n'))
	return errors.Join(err, f.Close())
}

func (r Register) rewrite(known map[string]Machine) error {
	var b bytes.Buffer
	for _, m := range known {
		line, err := json.Marshal(m)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	return osfile.Write(r.File, b.Bytes(), 0o600)
}

// Known are all machines that were noted, by fingerprint; none where there is no file.
// A line that can't be read counts for nothing.
func (r Register) Known() (map[string]Machine, error) {
	known, _, err := r.read()
	return known, err
}

func (r Register) read() (known map[string]Machine, size int64, err error) {
	known = map[string]Machine{}
	if r.File == "" {
		return known, 0, nil
	}
	f, err := os.Open(r.File)
	if errors.Is(err, fs.ErrNotExist) {
		return known, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("reading the register of machines: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 2*maxLine)
	for lines.Scan() {
		size += int64(len(lines.Bytes())) + 1
		var m Machine
		if json.Unmarshal(lines.Bytes(), &m) == nil && m.Fingerprint != "" {
			known[m.Fingerprint] = known[m.Fingerprint].with(m)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, 0, fmt.Errorf("reading the register of machines: %w", err)
	}
	return known, size, nil
}
