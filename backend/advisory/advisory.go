// Package advisory matches a machine's packages against the advisories of its
// release. A feed is one file, built from advisories in the OSV format and read
// a few packages at a time.
package advisory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"svc/backend/api"
)

// Feeds are the loaded advisories, by release. The zero value has none. It is
// safe for concurrent use.
type Feeds struct {
	path string
	log  *slog.Logger
	feed atomic.Pointer[Feed]
	// seen is the file that was looked at last, good or not.
	seen os.FileInfo
}

// Load opens the feed of a file; none where path is empty. Where no file stands
// there, there are no advisories until one does and Watch finds it.
func Load(path string, log *slog.Logger) (*Feeds, error) {
	f := &Feeds{path: path, log: log}
	if path == "" {
		return f, nil
	}
	err := f.reload()
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// reload opens the file where it is not the one that was looked at last. A feed
// that is in use stays open until its last reader is done.
func (f *Feeds) reload() error {
	info, err := os.Stat(f.path)
	if err != nil {
		return fmt.Errorf("opening advisories: %w", err)
	}
	if f.seen != nil && os.SameFile(f.seen, info) && f.seen.ModTime().Equal(info.ModTime()) && f.seen.Size() == info.Size() {
		return nil
	}
	f.seen = info
	feed, err := Open(f.path)
	if err != nil {
		return err
	}
	f.feed.Store(feed)
	return nil
}

// Watch looks for a newer file until ctx ends. One that can't be used is
// logged, and the feed before it stays.
func (f *Feeds) Watch(ctx context.Context, every time.Duration) {
	if f.path == "" {
		return
	}
	for tick := time.NewTicker(every); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		before := f.feed.Load()
		err := f.reload()
		if now := f.feed.Load(); now != before {
			f.log.Info("advisories loaded", "version", now.Version(), "built", now.built.UTC())
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.log.Error("the new advisories can't be used; those before stay", "cause", err)
		}
	}
}

// Has reports whether there are advisories of a release.
func (f *Feeds) Has(release string) bool {
	feed := f.feed.Load()
	return feed != nil && feed.sections[where(release).release] != nil
}

// Match gives the feed of a release and the advisories that apply to the
// packages on a day. Where there is no feed for the release, loaded is false
// and nothing was compared: no match is then not "clean".
func (f *Feeds) Match(release string, packages []api.ScannedPackage, now time.Time) (Result, error) {
	feed := f.feed.Load()
	if feed == nil {
		return nothing(), nil
	}
	return feed.match(release, packages, now)
}
