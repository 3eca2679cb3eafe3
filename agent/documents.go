package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc/agent/lineguard"
	"svc/backend/osfile"
	"svc/backend/visible"
	"svc/tools/artifact"
)

const (
	documentScheme = "svc://document/"
	outScheme      = "svc://out/"
	maxDocuments   = 64                 // that are kept; the oldest go first
	maxAge         = 7 * 24 * time.Hour // of one that is kept
	maxArtifact    = 16 << 20           // bytes of a file of an out folder that is read as a resource
	maxListed      = 1000               // files of an out folder that are listed
)

// documents keeps the whole of what results were too small for, and where calls
// wrote their folders: in files of this user alone, so that a later session can
// read them by the same links. A name has the digest of what it names in it, so
// that none is ever another machine's.
type documents struct {
	log *slog.Logger
	dir string // where they are kept
	mu  sync.Mutex
}

// Put implements tool.Resources.
func (d *documents) Put(name string, document []byte) string {
	document = visible.JSON(document)
	sum := sha256.Sum256(document)
	name += "-" + hex.EncodeToString(sum[:6])
	d.keep(name, document)
	return documentScheme + name
}

// keep writes a file. Without a disk there is what the result shows, and no more.
func (d *documents) keep(name string, content []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := os.MkdirAll(d.dir, 0o700)
	if err == nil {
		err = osfile.Write(d.path(name), content, 0o600)
	}
	if err != nil {
		d.log.Warn("keeping the rest of a result", "error", err)
		return
	}
	d.prune()
}

// path is where a document or the note of a folder is kept.
func (d *documents) path(name string) string { return filepath.Join(d.dir, name+".json") }

// prune removes what is old, and the oldest of what is too much.
func (d *documents) prune() {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		d.log.Warn("looking at what is kept of results", "error", err)
		return
	}
	var kept []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && strings.HasSuffix(info.Name(), ".json") {
			kept = append(kept, info)
		}
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for i, info := range kept {
		if i >= maxDocuments || time.Since(info.ModTime()) > maxAge {
			// Another session may have removed it.
			if err := os.Remove(filepath.Join(d.dir, info.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				d.log.Warn("removing the rest of a result", "error", err)
			}
		}
	}
}

// kept is a form that names have: nothing that leads out of the folder.
var kept = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// get reads what is kept under a name, and where that is.
func (d *documents) get(name string) (content []byte, file string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !kept.MatchString(name) {
		return nil, "", false
	}
	file = d.path(name)
	content, err := os.ReadFile(file)
	return content, file, err == nil
}

// written is the note of a folder that a call wrote: whose files it has shows by
// one of them, which is in the folder still.
type written struct {
	Out    string `json:"out"`
	File   string `json:"file"` // below out
	SHA256 string `json:"sha256"`
}

// artifactOf is one of a result's artifacts.
type artifactOf struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// folder makes the files of an out folder readable, and gives the URI of the
// folder and of the file that a person would open first.
func (d *documents) folder(out string, artifacts []artifactOf) (uri, first string) {
	of := artifacts[0]
	for _, a := range artifacts {
		// A document tells machines apart, and stays while what is in it does.
		if strings.HasSuffix(a.Path, ".json") && !strings.HasSuffix(a.Path, ".dsse.json") {
			of = a
			break
		}
	}
	file, err := filepath.Rel(out, of.Path)
	if err != nil {
		return "", ""
	}
	note := lineguard.Line(written{out, file, of.SHA256})
	sum := sha256.Sum256([]byte(note))
	name := hex.EncodeToString(sum[:8])
	d.keep("out-"+name, []byte(note))
	uri = outScheme + name + "/"
	for _, name := range []string{"report.html", "README.txt"} {
		if slices.ContainsFunc(artifacts, func(a artifactOf) bool { return a.Path == filepath.Join(out, name) }) {
			return uri, uri + name
		}
	}
	return uri, uri
}

// located adds to a result's JSON where the rest of it is: the file of the
// document that it names, or the resource of the folder that it wrote. uri is
// what to link.
func (d *documents) located(text []byte) (whole []byte, uri string) {
	var named struct {
		Resource  string       `json:"resource"`
		Out       string       `json:"out"`
		Artifacts []artifactOf `json:"artifacts"`
	}
	if json.Unmarshal(text, &named) != nil {
		return text, "" // a result that is no object names nothing
	}
	_, file, ok := d.get(strings.TrimPrefix(named.Resource, documentScheme))
	switch {
	case ok:
		return member(text, "file", file), named.Resource
	case named.Resource == "" && named.Out != "" && len(named.Artifacts) > 0:
		folder, first := d.folder(named.Out, named.Artifacts)
		return member(text, "resource", folder), first
	}
	return text, named.Resource
}

// member adds a member to the text of an object that has some.
func member(object []byte, name, value string) []byte {
	return fmt.Appendf(nil, "%s,%s:%s}", strings.TrimSuffix(string(object), "}"), lineguard.Line(name), lineguard.Line(value))
}

// read gives a document.
func (d *documents) read(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := strings.TrimSpace(req.Params.URI)
	document, _, ok := d.get(strings.TrimPrefix(uri, documentScheme))
	if !ok {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	return contents(uri, "application/json", document), nil
}

// artifact gives a file of a folder that a call wrote, while it has what that call
// wrote: a regular one, below the folder, links included. Without a file it is
// the list of them.
func (d *documents) artifact(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	name, file, _ := strings.Cut(strings.TrimPrefix(uri, outScheme), "/")
	dir, ok := d.writtenTo(name)
	if !ok {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	if file == "" {
		return contents(uri, "text/plain", []byte(strings.Join(filesOf(dir), "\n")+"\n")), nil
	}
	b, err := below(dir, file)
	if err != nil {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	return contents(uri, mimeTypes[filepath.Ext(file)], b), nil
}

// writtenTo is the folder of a note, where it still has what the note is of.
func (d *documents) writtenTo(name string) (dir string, ok bool) {
	note, _, ok := d.get("out-" + name)
	var w written
	if !ok || json.Unmarshal(note, &w) != nil {
		return "", false
	}
	f, err := opened(w.Out, w.File)
	if err != nil {
		return "", false
	}
	defer f.Close()
	digest, err := artifact.DigestOf(f)
	return w.Out, err == nil && digest == w.SHA256
}

// filesOf are the names of the files below a folder.
func filesOf(dir string) (names []string) {
	_ = fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what can't be read is not listed
		case len(names) == maxListed:
			return fs.SkipAll
		case e.Type().IsRegular():
			names = append(names, name)
		}
		return nil
	})
	return names
}

var mimeTypes = map[string]string{".json": "application/json", ".yml": "application/yaml", ".html": "text/html", "": "text/plain"}

// opened is a regular file below a folder, links included.
func opened(dir, file string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", file)
	}
	if err != nil {
		return nil, err
	}
	return root.Open(file)
}

// below reads a file of a folder.
func below(dir, file string) ([]byte, error) {
	f, err := opened(dir, file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxArtifact+1))
	if err == nil && len(b) > maxArtifact {
		err = fmt.Errorf("%s is longer than %d bytes", file, maxArtifact)
	}
	return b, err
}

// contents is what a resource holds, with what is hidden in it spelt out; bytes
// that are no text are as they are.
func contents(uri, mime string, b []byte) *mcp.ReadResourceResult {
	c := &mcp.ResourceContents{URI: uri, MIMEType: mime}
	switch {
	case mime == "application/json" && json.Valid(b):
		c.Text = string(visible.JSON(b))
	case utf8.Valid(b):
		c.Text = visible.Lines(string(b))
	default:
		c.Blob = b
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}
}
