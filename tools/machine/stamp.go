package machine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"svc/assess/host"
)

// Stamp changes with what a machine is read from, and costs far less than reading it.
// It is empty where nothing tells: of a machine that runs, which changes all the time,
// and where other file systems are mounted in a root, which a walk does not see.
func Stamp(ctx context.Context, m Machine) string {
	switch {
	case m.Image != "":
		return stampOfImage(m.Image)
	case m.Root != "":
		return stampOfRoot(ctx, m.Root)
	}
	return ""
}

// stampOfImage is of the sizes and times of an image's files.
func stampOfImage(image string) string {
	files := []string{image}
	if ext := filepath.Ext(image); strings.EqualFold(ext, ".vmdk") { // which may lie in several
		extents, _ := filepath.Glob(escapeGlob(strings.TrimSuffix(image, ext)) + "-*" + ext) // the pattern is sound
		files = append(files, extents...)
	}
	text := ""
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return ""
		}
		text += fmt.Sprintf("%d %d ", info.Size(), info.ModTime().UnixNano())
	}
	return strings.TrimSpace(text)
}

// stampOfRoot is of what the file system says of every file of a root.
func stampOfRoot(ctx context.Context, root string) string {
	h, err := host.OpenRoot(root)
	if err != nil || h.Live() {
		return ""
	}
	defer h.Close()
	s := treeStamp{sums: make([][4]uint64, host.Workers())}
	if err := host.Walk(ctx, h, []string{"."}, &s); err != nil || s.unknown.Load() {
		return ""
	}
	var all [4]uint64
	for _, sum := range s.sums {
		for i := range all {
			all[i] += sum[i]
		}
	}
	return fmt.Sprintf("%016x", all)
}

// treeStamp adds the digests of files up, in whatever order they are met.
type treeStamp struct {
	sums    [][4]uint64 // by worker
	unknown atomic.Bool
}

// Visit implements host.Visitor.
func (s *treeStamp) Visit(worker int, n *host.Node) bool {
	if n.Boundary {
		s.unknown.Store(true)
		return false
	}
	digest := sha256.Sum256(fmt.Appendf(nil, "%s\x00%o %d %d %d %d %d %d", n.Path(), n.Mode, n.Size, n.UID, n.GID, n.Modified, n.Changed, n.Number))
	for i := range s.sums[worker] {
		s.sums[worker][i] += binary.LittleEndian.Uint64(digest[8*i:])
	}
	return true
}

// Plain implements host.Plain.
func (s *treeStamp) Plain() {}

// Unread implements host.Visitor.
func (s *treeStamp) Unread(int, int, string, error) { s.unknown.Store(true) }
