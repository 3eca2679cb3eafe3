package main

import (
	"io"
	"os"
	"path"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // the formats
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// completionFiles are where the shells of packages look.
var completionFiles = map[string]string{
	"svc.bash": "/usr/share/bash-completion/completions/svc",
	"svc.zsh":  "/usr/share/zsh/vendor-completions/_svc",
	"svc.fish": "/usr/share/fish/vendor_completions.d/svc.fish",
}

// packages makes a .deb and an .rpm for each platform of Linux.
func (r *release) packages() error {
	for _, p := range r.platforms {
		if p.os != "linux" {
			continue
		}
		for _, format := range []string{"deb", "rpm"} {
			if err := r.pack(p, format); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) pack(p platform, format string) error {
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	maintainer := r.owner.maintainer
	if maintainer == "" {
		maintainer = "svc <svc@localhost>" // a package has to have one
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "svc", Arch: p.arch, Platform: "linux", Version: r.version, Release: "1", Section: "admin", Priority: "optional",
		Maintainer: maintainer, Homepage: r.owner.home, License: r.owner.license, MTime: r.time, DisableGlobbing: true,
		Description: "moves Linux machines between operating-system releases\nReads a machine from the outside, plans its move to another release or family,\nwrites the Ansible role that makes the move, and proves the result. With a server\nfor coding agents (MCP), and the service that many may share.",
		Overridables: nfpm.Overridables{
			Contents: r.contents(format),
			Scripts:  nfpm.Scripts{PostInstall: "packaging/scripts/postinstall", PreRemove: "packaging/scripts/preremove", PostRemove: "packaging/scripts/postremove"},
			RPM:      nfpm.RPM{BuildHost: "localhost", Compression: "gzip", Summary: "moves Linux machines between operating-system releases", Signature: nfpm.RPMSignature{PackageSignature: nfpm.PackageSignature{KeyFile: os.Getenv("SVC_RPM_KEY")}}},
			Deb:      nfpm.Deb{Compression: "xz"},
			Umask:    0o022,
		},
	})
	info.Contents = append(info.Contents, &files.Content{Source: r.program(p), Destination: "/usr/bin/svc", FileInfo: r.mode(0o755)})
	// Who installs only the program has no systemd that makes the account.
	if format == "deb" {
		info.Recommends = []string{"openssh-client"}
		info.Suggests = []string{"systemd", "ansible-core"}
	} else {
		info.Recommends = []string{"openssh-clients"}
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	return r.artifact(packager.ConventionalFileName(info), func(w io.Writer) error { return packager.Package(info, w) })
}

func (r *release) mode(m os.FileMode) *files.ContentFileInfo {
	return &files.ContentFileInfo{Mode: m, MTime: r.time, Owner: "root", Group: "root"}
}

// contents are the files of a package beside the program.
func (r *release) contents(format string) (all files.Contents) {
	add := func(from, to, kind string) {
		all = append(all, &files.Content{Source: from, Destination: to, Type: kind, FileInfo: r.mode(0o644)})
	}
	add("packaging/svc.service", "/usr/lib/systemd/system/svc.service", "")
	add("packaging/svc.socket", "/usr/lib/systemd/system/svc.socket", "")
	add("packaging/svc.sysusers", "/usr/lib/sysusers.d/svc.conf", "")
	add("packaging/config", "/etc/svc/config", files.TypeConfigNoReplace)
	add("packaging/compose.yaml", "/usr/share/doc/svc/examples/compose.yaml", "")
	for _, m := range r.texts() {
		add(m.from, "/usr/share/doc/svc/"+m.name, "")
	}
	for _, m := range r.shellFiles("/usr/share/man/man1", "") {
		to := m.name
		if at, ok := completionFiles[path.Base(m.name)]; ok {
			if to = at; format == "rpm" && path.Base(m.name) == "svc.zsh" {
				to = "/usr/share/zsh/site-functions/_svc"
			}
		}
		add(m.from, to, "")
	}
	return all
}
