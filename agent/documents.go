package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	documentScheme = "svc://document/"
	outScheme      = "svc://out/"
	maxDocuments   = 16      // of one session; the oldest goes first
	maxArtifact    = 1 << 20 // bytes of a file of an out folder that is read as a resource
)

// documents keeps the whole of what results were too small for, while the
// session lasts: in memory, and as files for those who can't read resources.
// It knows the folders that the session's calls wrote, too.
type documents struct {
	log     *slog.Logger
	mu      sync.Mutex
	names   []string // oldest first
	byURI   map[string][]byte
	dir     string            // of the files; "" until there is one
	folders map[string]string // by the name in their URI
}

// Put implements tools.Resources.
func (d *documents) Put(name string, document []byte) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	uri := documentScheme + name
	if d.byURI == nil {
		d.byURI = map[string][]byte{}
	}
	if _, known := d.byURI[uri]; !known {
		d.names = append(d.names, uri)
	}
	d.byURI[uri] = document
	d.write(uri)
	if len(d.names) > maxDocuments {
		d.forget(d.names[0])
		d.names = d.names[1:]
	}
	return uri
}

// file is where a document is on the disk, or "".
func (d *documents) file(uri string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dir == "" || d.byURI[uri] == nil {
		return ""
	}
	return d.path(uri)
}

func (d *documents) path(uri string) string {
	return filepath.Join(d.dir, filepath.Base(strings.TrimPrefix(uri, documentScheme))+".json")
}

// write puts a document on the disk, for this user alone. Without a disk there
// is the resource still.
func (d *documents) write(uri string) {
	var err error
	if d.dir == "" {
		d.dir, err = os.MkdirTemp("", "svc-mcp-")
	}
	if err == nil {
		err = os.WriteFile(d.path(uri), d.byURI[uri], 0o600)
	}
	if err != nil {
		d.log.Warn("writing the rest of a result", "error", err)
	}
}

func (d *documents) forget(uri string) {
	delete(d.byURI, uri)
	if err := os.Remove(d.path(uri)); err != nil {
		d.log.Warn("removing the rest of a result", "error", err)
	}
}

// close removes the files.
func (d *documents) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dir == "" {
		return
	}
	if err := os.RemoveAll(d.dir); err != nil {
		d.log.Warn("removing the rest of results", "error", err)
	}
	d.dir = ""
}

// folder makes the files of an out folder readable, and gives their URI's
// beginning.
func (d *documents) folder(out string) string {
	sum := sha256.Sum256([]byte(out))
	name := hex.EncodeToString(sum[:4])
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.folders == nil {
		d.folders = map[string]string{}
	}
	d.folders[name] = out
	return outScheme + name + "/"
}

// located adds to a result's JSON where the rest of it is: the file of the
// document that it names, or the resource of the folder that it wrote. uri is
// what to link.
func (d *documents) located(text []byte) (whole []byte, uri string) {
	var named struct {
		Resource  string            `json:"resource"`
		Out       string            `json:"out"`
		Artifacts []json.RawMessage `json:"artifacts"`
	}
	if json.Unmarshal(text, &named) != nil {
		return text, "" // a result that is no object names nothing
	}
	switch file := d.file(named.Resource); {
	case file != "":
		return member(text, "file", file), named.Resource
	case named.Resource == "" && named.Out != "" && len(named.Artifacts) > 0:
		uri = d.folder(named.Out)
		return member(text, "resource", uri), uri + "report.html"
	}
	return text, named.Resource
}

// member adds a member to the text of an object that has some.
func member(object []byte, name, value string) []byte {
	return fmt.Appendf(nil, "%s,%s:%s}", strings.TrimSuffix(string(object), "}"), line(name), line(value))
}

// read gives a document.
func (d *documents) read(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	d.mu.Lock()
	document, ok := d.byURI[strings.TrimSpace(req.Params.URI)]
	d.mu.Unlock()
	if !ok {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	return contents(req.Params.URI, "application/json", document), nil
}

// artifact gives a file of a folder that this session wrote: a regular one,
// below the folder, links included.
func (d *documents) artifact(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	name, file, _ := strings.Cut(strings.TrimPrefix(req.Params.URI, outScheme), "/")
	d.mu.Lock()
	dir, ok := d.folders[name]
	d.mu.Unlock()
	if !ok {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	b, err := below(dir, file)
	if err != nil {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	return contents(req.Params.URI, mimeTypes[filepath.Ext(file)], b), nil
}

var mimeTypes = map[string]string{".json": "application/json", ".yml": "application/yaml", ".html": "text/html", "": "text/plain"}

// below reads a file of a folder.
func below(dir, file string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxArtifact {
		return nil, fmt.Errorf("%s is no file of at most %d bytes", file, maxArtifact)
	}
	f, err := root.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxArtifact))
}

func contents(uri, mime string, b []byte) *mcp.ReadResourceResult {
	c := &mcp.ResourceContents{URI: uri, MIMEType: mime, Text: string(b)}
	if !utf8.Valid(b) {
		c.Text, c.Blob = "", b
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}
}
