package agent

import (
	"context"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	documentScheme = "svc://document/"
	maxDocuments   = 16 // of one session; the oldest goes first
)

// documents keeps the whole of what results were too small for, while the
// session lasts.
type documents struct {
	mu    sync.Mutex
	names []string // oldest first
	byURI map[string][]byte
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
	if len(d.names) > maxDocuments {
		delete(d.byURI, d.names[0])
		d.names = d.names[1:]
	}
	return uri
}

func (d *documents) read(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	document, ok := d.byURI[strings.TrimSpace(req.Params.URI)]
	if !ok {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
		URI: req.Params.URI, MIMEType: "application/json", Text: string(document),
	}}}, nil
}
