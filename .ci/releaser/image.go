package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"io/fs"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageUser is whom the image runs as.
const imageUser = 65532

// stateFolder is where the service of an image keeps its data.
const stateFolder = "var/lib/svc"

// image makes an OCI archive of one image for both architectures.
func (r *release) image() error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	linux := 0
	for _, p := range r.platforms {
		if p.os != "linux" {
			continue
		}
		linux++
		image, err := r.imageFor(p)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}}})
	}
	if linux == 0 {
		return nil
	}
	top := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{
		Add: index, Descriptor: v1.Descriptor{Annotations: map[string]string{
			"org.opencontainers.image.ref.name": "localhost/svc:" + r.version, "io.containerd.image.name": "localhost/svc:" + r.version,
		}},
	})
	dir := filepath.Join(r.work, "oci")
	if _, err := layout.Write(dir, top); err != nil {
		return err
	}
	var members []member
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		m := member{name: filepath.ToSlash(rel), mode: 0o644, from: name}
		if d.IsDir() {
			m.mode, m.from = fs.ModeDir|0o755, ""
		}
		members = append(members, m)
		return err
	})
	if err != nil {
		return err
	}
	return r.artifact("svc_"+r.version+"_oci.tar", func(w io.Writer) error { return writeTar(w, members, r.time) })
}

// imageFor is the image of one architecture: the program, the world's certificates,
// the account, and folders that it may write to.
func (r *release) imageFor(p platform) (v1.Image, error) {
	members := []member{
		{name: "etc", mode: fs.ModeDir | 0o755},
		{name: "etc/ssl", mode: fs.ModeDir | 0o755},
		{name: "etc/ssl/certs", mode: fs.ModeDir | 0o755},
		{name: "etc/passwd", mode: 0o644, content: []byte("root:x:0:0::/:/sbin/nologin\nsvc:x:65532:65532::/var/lib/svc:/sbin/nologin\n")},
		{name: "etc/group", mode: 0o644, content: []byte("root:x:0:\nsvc:x:65532:\n")},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: roots()},
		{name: "usr", mode: fs.ModeDir | 0o755},
		{name: "usr/bin", mode: fs.ModeDir | 0o755},
		{name: "usr/bin/svc", mode: 0o755, from: r.program(p)},
		{name: "var", mode: fs.ModeDir | 0o755},
		{name: "var/lib", mode: fs.ModeDir | 0o755},
		{name: stateFolder, mode: fs.ModeDir | 0o700},
	}
	var tar bytes.Buffer
	if err := writeTar(&tar, members, r.time); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(tar.Bytes())), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.time}, CreatedBy: ".ci/release"}}); err != nil {
		return nil, err
	}
	labels := map[string]string{"org.opencontainers.image.title": "svc", "org.opencontainers.image.version": r.version, "org.opencontainers.image.revision": r.commit}
	if r.owner.license != "" {
		labels["org.opencontainers.image.licenses"] = r.owner.license
	}
	if r.owner.home != "" {
		labels["org.opencontainers.image.source"] = r.owner.home
	}
	return mutate.ConfigFile(image, &v1.ConfigFile{
		OS: p.os, Architecture: p.arch, Created: v1.Time{Time: r.time},
		Config: v1.Config{
			User: "65532:65532", WorkingDir: "/var/lib/svc", Entrypoint: []string{"/usr/bin/svc"}, Cmd: []string{"serve", "--listen", "0.0.0.0:8443"},
			Env:          []string{"PATH=/usr/bin", "HOME=/var/lib/svc", "XDG_DATA_HOME=/var/lib", "XDG_STATE_HOME=/var/lib", "XDG_CACHE_HOME=/tmp"},
			ExposedPorts: map[string]struct{}{"8443/tcp": {}}, Volumes: map[string]struct{}{"/var/lib/svc": {}}, Labels: labels, StopSignal: "SIGTERM",
		},
		RootFS: v1.RootFS{Type: "layers", DiffIDs: must(image).RootFS.DiffIDs}, History: must(image).History,
	})
}

// must is the configuration of an image in memory, which can be had.
func must(image v1.Image) *v1.ConfigFile {
	c, err := image.ConfigFile()
	if err != nil {
		panic(err)
	}
	return c
}

// roots are the certificates of Mozilla's list that hold without a further condition.
func roots() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // to memory
		}
	}
	return b.Bytes()
}
