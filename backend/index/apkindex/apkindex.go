// Package apkindex reads the lists of Alpine's repositories, APKINDEX.tar.gz: which
// packages they have, in which version and of which source.
package apkindex

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// File is what a repository calls its list, in a folder for each architecture.
const File = "APKINDEX.tar.gz"

// Bounds of a list; the largest of Alpine have some 5 MB.
const (
	maxBytes = 256 << 20
	maxLine  = 1 << 20
)

// Package is one of a repository.
type Package struct {
	Name, Version string
	Origin        string // the APKBUILD that it is made of
}

// Read reads a list: a tar file, with that of its signature before it. Whose signature it
// is, is not checked.
func Read(r io.Reader) ([]Package, error) {
	unpacked, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", File, err)
	}
	for entries := tar.NewReader(io.LimitReader(unpacked, maxBytes)); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s has no APKINDEX in it", File)
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", File, err)
		}
		if entry.Name == "APKINDEX" {
			return parse(entries)
		}
	}
}

// parse reads the text: paragraphs of lines, each a letter, a colon and a value.
func parse(r io.Reader) (all []Package, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var p Package
	end := func() {
		if p.Name != "" {
			all = append(all, p)
		}
		p = Package{}
	}
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), ":")
		switch {
		case lines.Text() == "":
			end()
		case !ok:
			return nil, fmt.Errorf("APKINDEX has a line without a colon: %.40q", lines.Text())
		case key == "P":
			p.Name = value
		case key == "V":
			p.Version = value
		case key == "o":
			p.Origin = value
		}
	}
	end()
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading APKINDEX: %w", err)
	}
	if len(all) == 0 {
		return nil, errors.New("APKINDEX names no package")
	}
	return all, nil
}
