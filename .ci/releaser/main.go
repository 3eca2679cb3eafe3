// Command releaser makes what people install: see ../release. It is no part of the
// program; its libraries are pinned in ../tools.mod.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// platforms are those of a release.
var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// maxProgram bounds the program, in bytes: more than half of it is the index.
const maxProgram = 90_000_000

// release is one that is being made.
type release struct {
	version   string
	out       string // folder of what is released
	work      string // folder of what it is made of
	commit    string
	time      time.Time // of the commit: no file has another
	owner     owner
	platforms []platform
	artifacts []string // names of files in out
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// semantic is a version as https://semver.org has it.
var semantic = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)

func run(args []string) error {
	if len(args) != 3 || !semantic.MatchString(args[0]) {
		return fmt.Errorf("name a version such as 1.2.3 and a folder, not %q; nothing was made", args)
	}
	r := &release{version: args[0], out: args[1], platforms: platforms}
	if entries, err := os.ReadDir(r.out); err != nil || len(entries) > 0 {
		return fmt.Errorf("%s must be an empty folder (%v); nothing was made", r.out, err)
	}
	if args[2] != "" {
		wanted := strings.Split(args[2], ",")
		r.platforms = slices.DeleteFunc(slices.Clone(platforms), func(p platform) bool { return !slices.Contains(wanted, p.String()) })
		if len(r.platforms) != len(wanted) {
			return fmt.Errorf("the platforms are %v, not %q; nothing was made", platforms, args[2])
		}
	}
	var err error
	if r.work, err = os.MkdirTemp("", "svc-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"source", r.source},
		{"programs", r.programs},
		{"manual and completions", r.generated},
		{"archives", r.archives},
		{"packages", r.packages},
		{"image", r.image},
		{"agents", r.agents},
		{"notes", r.notes},
		{"bill of materials", r.bom},
		{"provenance", r.provenance},
		{"checksums", r.sums},
	} {
		fmt.Fprintln(os.Stderr, "release:", step.name)
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// source reads what the release is made of. Outside of git, SOURCE_DATE_EPOCH is the
// time.
func (r *release) source() (err error) {
	if r.owner, err = readOwner("packaging/owner"); err != nil {
		return err
	}
	r.commit = git("rev-parse", "HEAD")
	at := os.Getenv("SOURCE_DATE_EPOCH")
	if at == "" {
		at = git("log", "-1", "--format=%ct")
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return fmt.Errorf("the time of the commit is not known: set SOURCE_DATE_EPOCH")
	}
	r.time = time.Unix(seconds, 0).UTC()
	return nil
}

// git is what git says, or "" where it says nothing.
func git(args ...string) string {
	out, _ := exec.Command("git", args...).Output()
	return strings.TrimSpace(string(out))
}

// owner is what the file packaging/owner says.
type owner struct{ license, home, maintainer, registryName string }

func readOwner(name string) (o owner, err error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return o, err
	}
	fields := map[string]*string{"LICENSE": &o.license, "HOME": &o.home, "MAINTAINER": &o.maintainer, "MCP_NAME": &o.registryName}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		field := fields[key]
		if field == nil {
			return o, fmt.Errorf("%s: there is no field %q", name, key)
		}
		*field = strings.TrimSpace(value)
	}
	return o, nil
}

// download is where a file of the release will be; "" where the owner has no home yet.
func (r *release) download(name string) string {
	if r.owner.home == "" {
		return ""
	}
	return strings.TrimSuffix(r.owner.home, "/") + "/releases/download/v" + r.version + "/" + name
}

// programs compiles svc for each platform, and for this machine.
func (r *release) programs() error {
	for _, p := range r.platforms {
		if err := r.compile(r.program(p), p.os, p.arch); err != nil {
			return err
		}
		info, err := os.Stat(r.program(p))
		if err != nil {
			return err
		}
		if info.Size() > maxProgram {
			return fmt.Errorf("the program for %s has %d bytes, more than %d", p, info.Size(), maxProgram)
		}
	}
	return r.compile(filepath.Join(r.work, "host"), "", "")
}

// program is where the program of a platform is.
func (r *release) program(p platform) string {
	return filepath.Join(r.work, "svc_"+p.os+"_"+p.arch)
}

func (r *release) compile(to, goos, goarch string) error {
	flags := fmt.Sprintf("-s -w -buildid= -X main.linkVersion=%s -X main.linkCommit=%s", r.version, r.commit)
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", to, "./cmd/svc")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOTOOLCHAIN=local")
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// generated has the program of this machine write its manual and completions.
func (r *release) generated() error {
	host := filepath.Join(r.work, "host")
	if err := exec.Command(host, "manual", "--out", filepath.Join(r.work, "man")).Run(); err != nil {
		return err
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script, err := exec.Command(host, "completion", shell).Output()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.work, "svc."+shell), script, 0o644); err != nil {
			return err
		}
	}
	return nil
}
