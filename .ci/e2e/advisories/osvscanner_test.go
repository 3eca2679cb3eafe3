package advisories_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/matryer/is"

	"svc/.ci/e2e"
	"svc/assess"
	"svc/tools/cvescan"
)

// osvVersion is the osv-scanner that svc is held against: it is built from source once,
// and kept.
const osvVersion = "v2.5.0"

// match is an advisory that matched a package.
type match struct{ pkg, version, advisory string }

// newMatch knows no epoch of zero.
func newMatch(pkg, version, advisory string) match {
	return match{pkg, strings.TrimPrefix(version, "0:"), advisory}
}

// osvScanner scans an image by the advisories of the databases.
func osvScanner(t *testing.T, w *e2e.Work, image string) (map[match]bool, spent) {
	is := is.New(t)
	dir := filepath.Join(e2e.Cache(), "osv-scanner")
	if have, err := os.ReadFile(dir + "/version"); err != nil || strings.TrimSpace(string(have)) != osvVersion {
		w.Run(0, "env", "GOBIN="+dir, "GOFLAGS=-mod=mod", "go", "install", "github.com/google/osv-scanner/v2/cmd/osv-scanner@"+osvVersion)
		is.NoErr(os.WriteFile(dir+"/version", []byte(osvVersion), 0o644))
	}
	out := image + ".json"
	c := exec.Command(dir+"/osv-scanner", "scan", "image", "--offline", "--experimental-plugins", "os/rpm", "--experimental-plugins", "os/dpkg",
		"--archive", image, "--format", "json", "--all-packages", "--output-file", out)
	c.Env = append(os.Environ(), "OSV_SCALIBR_LOCAL_DB_CACHE_DIRECTORY="+w.Path("db"), "OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY="+w.Path("db"))
	took := measured(t, c)
	var report struct {
		Results []struct {
			Packages []struct {
				Package struct {
					Name, Version string
					OSName        string `json:"os_package_name"`
				}
				Vulnerabilities []struct{ ID string }
			}
		}
	}
	text, err := os.ReadFile(out)
	is.NoErr(err)
	is.NoErr(json.Unmarshal(text, &report))
	matches := map[match]bool{}
	for _, r := range report.Results {
		for _, p := range r.Packages {
			name := p.Package.OSName
			if name == "" {
				name = p.Package.Name
			}
			for _, v := range p.Vulnerabilities {
				matches[newMatch(name, p.Package.Version, v.ID)] = true
			}
		}
	}
	return matches, took
}

// scan is what svc says of the same machine: bug fixes and enhancements, too.
func scan(w *e2e.Work, root, feed string) map[match]bool {
	var result cvescan.Result
	w.SVC(0, "cve-scan", "--root", root, "--advisories", feed, "--json").JSON(&result)
	matches := map[match]bool{}
	for _, m := range slices.Concat(result.Matches, result.Updates) {
		matches[newMatch(m.Package, m.Version, m.Advisory)] = true
	}
	return matches
}

// packages are those that a machine has.
func packages(w *e2e.Work, root string) map[match]assess.Package {
	var a assess.Assessment
	w.SVC(0, "assess", "--root", root, "--json").JSON(&a)
	installed := map[match]assess.Package{}
	for _, p := range a.Packages {
		installed[newMatch(p.Name, p.Version, "")] = p
	}
	return installed
}

// explain finds a reason for each match that only one of them has, and fails the test
// where there is none.
func explain(t *testing.T, ours, theirs map[match]bool, installed map[match]assess.Package, advisories map[string][]document) {
	why, both := map[string]int{}, 0
	unexplained := func(whose string, m match) { t.Errorf("unexplained, of %s alone: %v", whose, m) }
	for m := range theirs {
		p, known := installed[match{m.pkg, m.version, ""}]
		switch reason := theirReason(p, fixes(advisories[m.advisory], m.pkg), streams(advisories[m.advisory])); {
		case ours[m]:
			both++
		case !known || reason == "":
			unexplained("osv-scanner", m)
		default:
			why[reason]++
		}
	}
	for m := range ours {
		p := installed[match{m.pkg, m.version, ""}]
		switch {
		case theirs[m]:
		case p.SourceVersion == "" || p.SourceVersion == m.version:
			unexplained("svc", m)
		default:
			why["ours: the source's version is not the package's"]++
		}
	}
	t.Logf("both: %d", both)
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		t.Logf("%s: %d", reason, why[reason])
	}
}

// theirReason is why osv-scanner alone says that an advisory is of a package: it knows
// nothing of modules.
func theirReason(p assess.Package, fixed []string, streams map[string]bool) string {
	modular := 0
	for _, version := range fixed {
		if strings.Contains(version, ".module") {
			modular++
		}
	}
	switch {
	case p.Module == "" && !strings.Contains(p.Version, ".module") && len(fixed) > 0 && modular == len(fixed):
		return "theirs: a plain package, and the fix is a module's"
	case p.Module != "" && modular > 0 && !streams[p.Module]:
		return "theirs: another stream of the module"
	}
	return ""
}

// document is an advisory of OSV.
type document struct {
	ID, Summary string
	Affected    []struct {
		Package struct{ Name string }
		Ranges  []struct{ Events []struct{ Fixed string } }
	}
}

// documents are the advisories of a folder by their ids.
func documents(t *testing.T, folder string) map[string][]document {
	all := map[string][]document{}
	each(t, folder, func(_ string, text []byte) {
		var d document
		is.New(t).NoErr(json.Unmarshal(text, &d))
		all[d.ID] = append(all[d.ID], d)
	})
	return all
}

// each calls do for each advisory of a folder: its JSON files, and those of its archives.
func each(t *testing.T, folder string, do func(name string, text []byte)) {
	is := is.New(t)
	entries, err := os.ReadDir(folder)
	is.NoErr(err)
	for _, e := range entries {
		f, err := os.Open(filepath.Join(folder, e.Name()))
		is.NoErr(err)
		if strings.HasSuffix(e.Name(), ".tar.zst") {
			eachPacked(t, f, do)
		} else {
			text, err := io.ReadAll(f)
			is.NoErr(err)
			do(e.Name(), text)
		}
		is.NoErr(f.Close())
	}
}

// eachPacked does so for the JSON files of a tar.zst.
func eachPacked(t *testing.T, archive io.Reader, do func(name string, text []byte)) {
	is := is.New(t)
	z, err := zstd.NewReader(archive)
	is.NoErr(err)
	defer z.Close()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		is.NoErr(err)
		if strings.HasSuffix(h.Name, ".json") {
			text, err := io.ReadAll(r)
			is.NoErr(err)
			do(h.Name, text)
		}
	}
}

// fixes are the versions that fix a package.
func fixes(of []document, pkg string) (versions []string) {
	for _, d := range of {
		for _, a := range d.Affected {
			for _, r := range a.Ranges {
				for _, e := range r.Events {
					if a.Package.Name == pkg && e.Fixed != "" {
						versions = append(versions, e.Fixed)
					}
				}
			}
		}
	}
	return versions
}

var stream = regexp.MustCompile(`([\w.+-]+:[\w.+-]+)(?:,| and | security| bug| enh|$)`)

// streams are those of modules that advisories name.
func streams(of []document) map[string]bool {
	names := map[string]bool{}
	for _, d := range of {
		for _, found := range stream.FindAllStringSubmatch(d.Summary, -1) {
			names[found[1]] = true
		}
	}
	return names
}

// database puts a folder's advisories where osv-scanner looks for them.
func database(t *testing.T, w *e2e.Work, name, folder string) (file string) {
	is := is.New(t)
	file = w.Path("db/osv-scalibr", name, "all.zip")
	is.NoErr(os.MkdirAll(filepath.Dir(file), 0o755))
	f, err := os.Create(file)
	is.NoErr(err)
	z := zip.NewWriter(f)
	n := 0
	each(t, folder, func(name string, text []byte) {
		n++
		entry, err := z.Create(fmt.Sprintf("%d-%s", n, filepath.Base(name)))
		is.NoErr(err)
		_, err = entry.Write(text)
		is.NoErr(err)
	})
	is.NoErr(z.Close())
	is.NoErr(f.Close())
	return file
}

// image writes a folder as a container image of one layer, which is how osv-scanner
// reads a system.
func image(t *testing.T, root, file string) {
	is := is.New(t)
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	is.NoErr(w.AddFS(os.DirFS(root)))
	is.NoErr(w.Close())
	f, err := os.Create(file)
	is.NoErr(err)
	defer f.Close()
	w = tar.NewWriter(f)
	for _, part := range []struct{ name, content string }{
		{"config.json", fmt.Sprintf(`{"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": ["sha256:%x"]}, "history": [{"created_by": "ADD root"}]}`, sha256.Sum256(layer.Bytes()))},
		{"layer.tar", layer.String()},
		{"manifest.json", `[{"Config": "config.json", "RepoTags": ["root:1"], "Layers": ["layer.tar"]}]`},
	} {
		is.NoErr(w.WriteHeader(&tar.Header{Name: part.name, Size: int64(len(part.content)), Mode: 0o644}))
		_, err := io.WriteString(w, part.content)
		is.NoErr(err)
	}
	is.NoErr(w.Close())
}

// spent is what a command took.
type spent struct {
	processor, wall time.Duration
	memory          int64
}

// measured runs a command that finds something, or nothing.
func measured(t *testing.T, c *exec.Cmd) spent {
	began := time.Now()
	_ = c.Run() // its exit code is looked at
	wall, ended := time.Since(began), c.ProcessState
	if ended == nil || ended.ExitCode() != 0 && ended.ExitCode() != 1 {
		t.Fatalf("%s: %v", c, ended)
	}
	return spent{ended.UserTime() + ended.SystemTime(), wall, ended.SysUsage().(*syscall.Rusage).Maxrss << 10}
}

// best is the scan of svc that took the least of the processor, of five.
func best(t *testing.T, w *e2e.Work, root, feed string) spent {
	var took []spent
	for range 5 {
		took = append(took, measured(t, w.Command("cve-scan", "--root", root, "--advisories", feed, "--json")))
	}
	return slices.MinFunc(took, func(a, b spent) int { return int(a.processor - b.processor) })
}
