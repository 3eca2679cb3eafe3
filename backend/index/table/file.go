package table

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// maxFile bounds the size of an index file.
const maxFile = 512 << 20

// ReadFile reads, checks and opens an index file.
func ReadFile(path string) (*File, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	if err := Verify(data); err != nil {
		return nil, fmt.Errorf("checking index %s: %w", path, err)
	}
	return Open(data)
}

func readFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("opening index: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("opening index: %w", err)
	}
	if info.Size() > maxFile {
		return "", fmt.Errorf("reading index: %s has more than %d bytes", path, maxFile)
	}
	var data strings.Builder
	data.Grow(int(info.Size()))
	if _, err := io.Copy(&data, io.LimitReader(f, maxFile)); err != nil {
		return "", fmt.Errorf("reading index: %w", err)
	}
	return data.String(), nil
}
