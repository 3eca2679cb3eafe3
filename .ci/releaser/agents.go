package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// agents makes what clients of agents install: a bundle with the programs, a plugin
// for clients that find svc on the machine, and the entry of the registry.
func (r *release) agents() error {
	bundle := "svc_" + r.version + ".mcpb"
	manifest, err := r.stamped("packaging/mcpb/manifest.json")
	if err != nil {
		return err
	}
	members := []member{{name: "manifest.json", mode: 0o644, content: manifest}, {name: "server/svc", mode: 0o755, from: "packaging/mcpb/svc"}}
	for _, p := range r.platforms {
		name := filepath.Base(r.program(p))
		if p.os == "windows" {
			name += ".exe"
		}
		members = append(members, member{name: "server/" + name, mode: 0o755, from: r.program(p)})
	}
	if err := r.artifact(bundle, func(w io.Writer) error { return writeZip(w, members, r.time) }); err != nil {
		return err
	}
	if members, err = r.plugin(); err != nil {
		return err
	}
	if err := r.artifact("svc_"+r.version+"_plugin.zip", func(w io.Writer) error { return writeZip(w, members, r.time) }); err != nil {
		return err
	}
	return r.registryEntry(bundle)
}

// plugin is one folder that Claude Code, Codex and Gemini CLI each know by a manifest
// of their own.
func (r *release) plugin() (members []member, err error) {
	root := "packaging/plugin"
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		m := member{name: path.Join("svc", filepath.ToSlash(rel)), mode: 0o644, from: name}
		if strings.HasSuffix(name, "plugin.json") || strings.HasSuffix(name, "gemini-extension.json") {
			m.from = ""
			m.content, err = r.stamped(name)
		}
		members = append(members, m)
		return err
	})
	return members, err
}

// stamped is a manifest with the version, and with what the owner says.
func (r *release) stamped(name string) ([]byte, error) {
	m, err := readManifest(name)
	if err != nil {
		return nil, err
	}
	m["version"] = r.version
	if gemini := strings.HasSuffix(name, "gemini-extension.json"); !gemini {
		if r.owner.license != "" {
			m["license"] = r.owner.license
		}
		if r.owner.home != "" {
			m["homepage"] = r.owner.home
		}
	}
	return encode(m)
}

// registryEntry is server.json. Where files will be is the owner's to say: without a
// home it names no package.
func (r *release) registryEntry(bundle string) error {
	m, err := readManifest("packaging/server.json")
	if err != nil {
		return err
	}
	m["version"] = r.version
	if r.owner.registryName != "" {
		m["name"] = r.owner.registryName
	}
	if r.owner.home != "" {
		digest, err := r.digest(bundle)
		if err != nil {
			return err
		}
		m["websiteUrl"] = r.owner.home
		m["packages"] = []any{map[string]any{
			"registryType": "mcpb", "identifier": r.download(bundle), "version": r.version, "fileSha256": digest,
			"transport": map[string]any{"type": "stdio"},
		}}
	}
	b, err := encode(m)
	if err != nil {
		return err
	}
	return r.artifact("server.json", func(w io.Writer) error { _, err := w.Write(b); return err })
}

func readManifest(name string) (m map[string]any, err error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// encode is JSON as people read it.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}
