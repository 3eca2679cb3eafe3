package main

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// notes takes those of this version out of the changelog; before a version has its
// own, those that wait.
func (r *release) notes() error {
	b, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	text, ok := section(string(b), r.version)
	if !ok {
		if text, ok = section(string(b), "Unreleased"); !ok {
			return fmt.Errorf("CHANGELOG.md has no section of %s", r.version)
		}
	}
	return r.artifact("svc_"+r.version+"_notes.md", func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
}

// section is what stands below the heading of a version.
func section(changelog, version string) (text string, ok bool) {
	for part := range strings.SplitSeq("\n"+changelog, "\n## ") {
		heading, body, _ := strings.Cut(part, "\n")
		if name, _, _ := strings.Cut(heading, " "); name == version {
			return strings.TrimSpace(body) + "\n", true
		}
	}
	return "", false
}

// bom lists what the programs are made of, as CycloneDX has it: what the linker wrote
// into them.
func (r *release) bom() error {
	modules := map[string]cdx.Component{}
	for _, p := range r.platforms {
		info, err := buildinfo.ReadFile(r.program(p))
		if err != nil {
			return err
		}
		for _, m := range info.Deps {
			purl := "pkg:golang/" + m.Path + "@" + m.Version
			c := cdx.Component{BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: purl, Scope: cdx.ScopeRequired}
			modules[purl] = c
		}
	}
	goVersion := strings.TrimPrefix(runtime.Version(), "go")
	std := cdx.Component{BOMRef: "pkg:golang/std@" + goVersion, Type: cdx.ComponentTypeLibrary, Name: "std", Version: goVersion, PackageURL: "pkg:golang/std@" + goVersion, Scope: cdx.ScopeRequired}
	modules[std.BOMRef] = std
	main := cdx.Component{BOMRef: "svc", Type: cdx.ComponentTypeApplication, Name: "svc", Version: r.version}
	if r.owner.license != "" {
		main.Licenses = &cdx.Licenses{{License: &cdx.License{ID: r.owner.license}}}
	}
	var components []cdx.Component
	var refs []string
	for ref, c := range modules {
		components, refs = append(components, c), append(refs, ref)
	}
	slices.SortFunc(components, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	slices.Sort(refs)
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &main}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: "svc", Dependencies: &refs}}
	return r.artifact("svc_"+r.version+".cdx.json", func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	})
}

// provenance says of what and how the files were made: an in-toto statement with
// SLSA's predicate; as a signed envelope too, where there is a key.
func (r *release) provenance() error {
	type subject struct {
		Name   string            `json:"name"`
		Digest map[string]string `json:"digest"`
	}
	var subjects []subject
	for _, name := range slices.Sorted(slices.Values(r.artifacts)) {
		digest, err := r.digest(name)
		if err != nil {
			return err
		}
		subjects = append(subjects, subject{name, map[string]string{"sha256": digest}})
	}
	source := map[string]any{"name": "svc", "digest": map[string]string{"gitCommit": r.commit}}
	if r.owner.home != "" {
		source["uri"] = "git+" + r.owner.home
	}
	statement, err := encode(map[string]any{
		"_type": "https://in-toto.io/Statement/v1", "subject": subjects, "predicateType": "https://slsa.dev/provenance/v1",
		"predicate": map[string]any{
			"buildDefinition": map[string]any{
				"buildType":            "urn:svc:build:release:v1",
				"externalParameters":   map[string]any{"version": r.version, "platforms": fmt.Sprint(r.platforms)},
				"internalParameters":   map[string]any{"go": runtime.Version()},
				"resolvedDependencies": []any{source},
			},
			"runDetails": map[string]any{"builder": map[string]any{"id": "urn:svc:builder:.ci/release"}},
		},
	})
	if err != nil {
		return err
	}
	err = r.artifact("svc_"+r.version+".provenance.json", func(w io.Writer) error { _, err := w.Write(statement); return err })
	file := os.Getenv("SVC_PROVENANCE_KEY")
	if err != nil || file == "" {
		return err
	}
	key, err := readKey(file)
	if err != nil {
		return err
	}
	signer, err := dsse.NewEnvelopeSigner(key)
	if err != nil {
		return err
	}
	envelope, err := signer.SignPayload(context.Background(), "application/vnd.in-toto+json", statement)
	if err != nil {
		return err
	}
	return r.artifact("svc_"+r.version+".intoto.jsonl", func(w io.Writer) error { return json.NewEncoder(w).Encode(envelope) })
}

// signingKey signs with Ed25519.
type signingKey struct{ ed25519.PrivateKey }

func readKey(file string) (k signingKey, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return k, err
	}
	block, _ := pem.Decode(b)
	if block == nil {
		return k, fmt.Errorf("%s holds no PEM", file)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return k, err
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return k, fmt.Errorf("%s holds no Ed25519 key", file)
	}
	return signingKey{key}, nil
}

func (k signingKey) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(k.PrivateKey, data), nil
}

func (k signingKey) KeyID() (string, error) {
	der, err := x509.MarshalPKIXPublicKey(k.Public())
	digest := sha256.Sum256(der)
	return hex.EncodeToString(digest[:]), err
}

// digest is the SHA-256 of a file of the release.
func (r *release) digest(name string) (string, error) {
	f, err := os.Open(filepath.Join(r.out, name))
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}

// sums lists all files, in the form of sha256sum.
func (r *release) sums() error {
	names := slices.Sorted(slices.Values(r.artifacts))
	return r.artifact("SHA256SUMS", func(w io.Writer) error {
		for _, name := range names {
			digest, err := r.digest(name)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%s  %s\n", digest, name); err != nil {
				return err
			}
		}
		return nil
	})
}
