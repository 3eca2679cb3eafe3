// Package download fetches files by HTTP into folders that keep them: on from
// where an earlier fetch broke off, again only where the server has another,
// and never in place of a good file before the new one is whole and checked.
package download

import (
	"cmp"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"svc/backend/osfile"
)

// Limits of a download.
const (
	maxDownload  = 8 << 30 // bytes
	maxAttempts  = 5
	headerWait   = 30 * time.Second
	stallTimeout = 60 * time.Second // without a byte
	retryWait    = 500 * time.Millisecond
)

// copyOf is what is known of a downloaded file; it stands beside it.
type copyOf struct {
	URL          string `json:"url"`
	ETag         string `json:"etag"`
	LastModified string `json:"last_modified"`
	SHA256       string `json:"sha256"` // of the whole file; empty while it is not whole
	// checks are the digests that the server gives, by name, in base64.
	Checks map[string]string `json:"checks"`
}

// Request is a file to fetch.
type Request struct {
	URL    string // a fragment #sha256=… is the digest that the file must have
	SHA256 string // the same, in hexadecimal; plain http needs one of them, or Signed
	Signed bool   // the caller checks a signature of what comes
	Dir    string // where the file and what is known of it stay
	// Progress is told the bytes that are there and those of the whole; may be nil.
	Progress func(what string, done, total int)
}

// fetcher downloads one URL into a folder that keeps it for the next time.
type fetcher struct {
	url      *url.URL
	want     string // SHA-256, or ""
	dir      string
	progress func(what string, done, total int)
	client   *http.Client
	state    copyOf
}

// Fetch gives the path of the fetched file. Its errors leave what was there
// before as it was; what came of the file stays for the next try.
func Fetch(ctx context.Context, r Request) (string, error) {
	f, err := newFetcher(r)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return "", err
	}
	f.load()
	if f.want != "" && f.state.SHA256 == f.want {
		return f.path(whole), nil
	}
	for attempt := 1; ; attempt++ {
		err = f.fetch(ctx)
		var final *finalError
		if err == nil || attempt == maxAttempts || errors.As(err, &final) || ctx.Err() != nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryWait << attempt):
		}
	}
	return f.path(whole), err
}

func newFetcher(r Request) (*fetcher, error) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return nil, err
	}
	want := cmp.Or(r.SHA256, strings.TrimPrefix(u.Fragment, "sha256="))
	u.Fragment = ""
	if u.Scheme != "https" && (u.Scheme != "http" || want == "" && !r.Signed && !loopback(u.Hostname())) {
		return nil, errors.New("only https is safe: add #sha256=DIGEST to fetch over http, or use a file")
	}
	name := sha256.Sum256([]byte(u.String()))
	return &fetcher{
		url: u, want: want, dir: filepath.Join(r.Dir, hex.EncodeToString(name[:8])), progress: r.Progress, client: newHTTPClient(),
	}, nil
}

// Missing reports whether an error is that the server has no such file.
func Missing(err error) bool {
	var status *statusError
	return errors.As(err, &status) && (status.code == http.StatusNotFound || status.code == http.StatusGone)
}

// statusError is an answer that is no file.
type statusError struct {
	code   int
	status string
}

func (e *statusError) Error() string { return e.status }

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func newHTTPClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = headerWait
	transport.DisableCompression = true // lengths and ranges are those of the file
	return &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > 10 || via[0].URL.Scheme == "https" && r.URL.Scheme != "https" {
			return errors.New("redirected too often, or away from https")
		}
		return nil
	}}
}

// finalError is a failure that a repeat does not help.
type finalError struct{ error }

func (e *finalError) Unwrap() error { return e.error }

// The files of a download.
const (
	whole   = "file"
	partial = "part"
	about   = "about.json"
)

func (f *fetcher) path(name string) string { return filepath.Join(f.dir, name) }

// load reads what is known from the last time; without that all begins anew.
func (f *fetcher) load() {
	b, err := os.ReadFile(f.path(about))
	if err != nil || json.Unmarshal(b, &f.state) != nil || f.state.URL != f.url.String() {
		f.state = copyOf{URL: f.url.String()}
	}
	if f.state.SHA256 != "" && digestOf(f.path(whole), sha256.New()) != f.state.SHA256 {
		f.state = copyOf{URL: f.url.String()}
	}
}

func (f *fetcher) save() error {
	b, err := json.Marshal(f.state)
	if err != nil {
		return err
	}
	return osfile.Write(f.path(about), b, 0o644)
}

// fetch asks once, and takes what comes.
func (f *fetcher) fetch(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url.String(), nil)
	if err != nil {
		return err
	}
	have := f.conditions(request)
	response, err := f.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotModified && f.state.SHA256 != "":
		return f.check(f.path(whole))
	case response.StatusCode == http.StatusPartialContent && startOf(response) == have:
	case response.StatusCode == http.StatusOK:
		have = 0
	case response.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return errors.Join(errors.New(response.Status), os.Remove(f.path(partial)))
	case response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusTooManyRequests:
		return errors.New(response.Status)
	default:
		return &finalError{&statusError{response.StatusCode, response.Status}}
	}
	f.remember(response.Header)
	if err := f.save(); err != nil {
		return err
	}
	stall := time.AfterFunc(stallTimeout, cancel)
	defer stall.Stop()
	body := &alive{Reader: response.Body, stall: stall, done: int(have), total: int(have + response.ContentLength), report: f.report}
	if err := f.take(body, have, response.ContentLength); err != nil {
		return err
	}
	return f.keep()
}

// conditions asks for a change of the whole file, or for the rest of a part; it
// gives the length of the part.
func (f *fetcher) conditions(r *http.Request) int64 {
	r.Header.Set("User-Agent", "svc")
	if f.state.SHA256 != "" {
		setHeader(r.Header, "If-None-Match", f.state.ETag)
		if f.state.ETag == "" {
			setHeader(r.Header, "If-Modified-Since", f.state.LastModified)
		}
		return 0
	}
	info, err := os.Stat(f.path(partial))
	strong := f.state.ETag != "" && !strings.HasPrefix(f.state.ETag, "W/")
	if err != nil || info.Size() == 0 || !strong {
		return 0
	}
	r.Header.Set("Range", fmt.Sprintf("bytes=%d-", info.Size()))
	r.Header.Set("If-Range", f.state.ETag)
	return info.Size()
}

func setHeader(h http.Header, name, value string) {
	if value != "" {
		h.Set(name, value)
	}
}

// startOf is where a part of a file begins, or -1.
func startOf(r *http.Response) int64 {
	rest, ok := strings.CutPrefix(r.Header.Get("Content-Range"), "bytes ")
	first, _, cut := strings.Cut(rest, "-")
	n, err := strconv.ParseInt(first, 10, 64)
	if !ok || !cut || err != nil {
		return -1
	}
	return n
}

// remember notes what the server says of the file.
func (f *fetcher) remember(h http.Header) {
	f.state = copyOf{URL: f.url.String(), ETag: h.Get("ETag"), LastModified: h.Get("Last-Modified"), Checks: map[string]string{}}
	for _, field := range []string{"Repr-Digest", "Digest", "X-Goog-Hash"} {
		for _, value := range h.Values(field) {
			for part := range strings.SplitSeq(value, ",") {
				name, digest, _ := strings.Cut(strings.TrimSpace(part), "=")
				f.state.Checks[strings.ToLower(name)] = strings.Trim(digest, ":")
			}
		}
	}
}

// alive puts the end of a stalled download off with every byte, and reports.
type alive struct {
	io.Reader
	stall       *time.Timer
	done, total int
	report      func(done, total int)
}

func (a *alive) Read(p []byte) (int, error) {
	a.stall.Reset(stallTimeout)
	n, err := a.Reader.Read(p)
	a.done += n
	a.report(a.done, a.total)
	return n, err
}

func (f *fetcher) report(done, total int) {
	if f.progress != nil && total > 0 {
		f.progress("fetching "+path.Base(f.url.Path), min(done, total), total)
	}
}

// take writes the body after the part that is there.
func (f *fetcher) take(body io.Reader, have, length int64) error {
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if have == 0 {
		flags |= os.O_TRUNC
	}
	file, err := os.OpenFile(f.path(partial), flags, 0o644)
	if err != nil {
		return err
	}
	n, err := io.Copy(file, io.LimitReader(body, maxDownload-have+1))
	err = errors.Join(err, file.Close())
	switch {
	case err != nil:
		return err
	case have+n > maxDownload:
		return &finalError{fmt.Errorf("it has more than %d bytes", int64(maxDownload))}
	case length >= 0 && n != length:
		return io.ErrUnexpectedEOF
	}
	return nil
}

// keep checks the whole part and makes it the file.
func (f *fetcher) keep() error {
	if err := f.check(f.path(partial)); err != nil {
		return errors.Join(err, os.Remove(f.path(partial)))
	}
	if err := os.Rename(f.path(partial), f.path(whole)); err != nil {
		return err
	}
	f.state.SHA256 = digestOf(f.path(whole), sha256.New())
	return f.save()
}

// check compares a file with the digests that the user and the server gave.
func (f *fetcher) check(path string) error {
	if got := digestOf(path, sha256.New()); f.want != "" && got != f.want {
		return &finalError{fmt.Errorf("its SHA-256 is %s, not %s", got, f.want)}
	}
	for name, digest := range map[string]hash.Hash{"sha-256": sha256.New(), "md5": md5.New()} {
		want, err := base64.StdEncoding.DecodeString(f.state.Checks[name])
		if err != nil || len(want) == 0 {
			continue
		}
		if got := digestOf(path, digest); got != hex.EncodeToString(want) {
			return fmt.Errorf("its %s is %s, and the server says %x", name, got, want)
		}
	}
	return nil
}

// digestOf is a file's digest in hexadecimal; "" where it can't be read.
func digestOf(path string, h hash.Hash) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	if _, err := io.Copy(h, file); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
