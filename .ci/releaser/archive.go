package main

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zip"
)

// member is a file of an archive: from the disk, or with its content.
type member struct {
	name    string
	mode    fs.FileMode
	from    string
	content []byte
}

func (m member) read() ([]byte, error) {
	if m.from == "" {
		return m.content, nil
	}
	return os.ReadFile(m.from)
}

// artifact makes a file of the release.
func (r *release) artifact(name string, write func(w io.Writer) error) error {
	f, err := os.Create(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	r.artifacts = append(r.artifacts, name)
	return errors.Join(write(f), f.Close())
}

// archives packs the program of each platform with what belongs to it.
func (r *release) archives() error {
	for _, p := range r.platforms {
		name := "svc_" + r.version + "_" + p.os + "_" + p.arch
		program := member{name: "svc", mode: 0o755, from: r.program(p)}
		pack := writeTarball
		if p.os == "windows" {
			program.name, name, pack = "svc.exe", name+".zip", writeZip
		} else {
			name += ".tar.gz"
		}
		members := append([]member{program}, r.texts()...)
		if p.os != "windows" {
			members = append(members, r.shellFiles("man/man1", "completions")...)
		}
		if err := r.artifact(name, func(w io.Writer) error { return pack(w, members, r.time) }); err != nil {
			return err
		}
	}
	return nil
}

// texts are those that every archive has.
func (r *release) texts() (members []member) {
	for _, name := range []string{"README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE"} {
		if _, err := os.Stat(name); err == nil {
			members = append(members, member{name: name, mode: 0o644, from: name})
		}
	}
	return members
}

// shellFiles are the manual and the completions, in these folders.
func (r *release) shellFiles(man, completions string) (members []member) {
	pages, _ := filepath.Glob(filepath.Join(r.work, "man", "*.1")) // the pattern is sound
	for _, page := range pages {
		members = append(members, member{name: path.Join(man, filepath.Base(page)), mode: 0o644, from: page})
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		members = append(members, member{name: path.Join(completions, "svc."+shell), mode: 0o644, from: filepath.Join(r.work, "svc."+shell)})
	}
	return members
}

func writeTarball(w io.Writer, members []member, at time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.DefaultCompression)
	if err != nil {
		return err
	}
	return errors.Join(writeTar(z, members, at), z.Close())
}

// writeTar writes members in order of their names; folders come before their files.
func writeTar(w io.Writer, members []member, at time.Time) error {
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	t := tar.NewWriter(w)
	for _, m := range members {
		b, err := m.read()
		if err != nil {
			return err
		}
		h := &tar.Header{Name: m.name, Mode: int64(m.mode.Perm()), Size: int64(len(b)), ModTime: at, Format: tar.FormatPAX}
		if m.mode.IsDir() {
			h.Typeflag, h.Name = tar.TypeDir, m.name+"/"
			if m.name == stateFolder {
				h.Uid, h.Gid = imageUser, imageUser
			}
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(b); err != nil {
			return err
		}
	}
	return t.Close()
}

func writeZip(w io.Writer, members []member, at time.Time) error {
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	z := zip.NewWriter(w)
	for _, m := range members {
		b, err := m.read()
		if err != nil {
			return err
		}
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: at}
		h.SetMode(m.mode)
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(b); err != nil {
			return err
		}
	}
	return z.Close()
}
