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
	"slices"
	"sync/atomic"
	"time"

	"svc/backend/api"
)

// Feeds are the loaded advisories, by release. The zero value has none. It is
// safe for concurrent use.
type Feeds struct {
	path string
	own  bool
	log  *slog.Logger
	feed atomic.Pointer[Feed]
	// seen is the file that was looked at last, good or not.
	seen os.FileInfo
	// said is what was said last of a file that can't be used, and stale the
	// releases of which it was said that their advisories are old.
	said  string
	stale []string
}

// Load opens the feed of a file; none where path is empty. Where no file stands
// there, there are no advisories until one does and Watch finds it. With own the
// whole feed is checked and copied, so that a file which is written to, not
// replaced, harms nothing: that is for who serves others.
func Load(path string, own bool, log *slog.Logger) (*Feeds, error) {
	f := &Feeds{path: path, own: own, log: log}
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
	open := Open
	if f.own {
		open = openCopy
	}
	feed, err := open(f.path)
	if err == nil || errors.Is(err, ErrFormat) {
		f.seen = info // another fault, such as a full disk, may pass
	}
	if err != nil {
		return err
	}
	f.feed.Store(feed)
	return nil
}

// Watch looks for a newer file until ctx ends. One that can't be used is
// logged, and the feed before it stays. Who serves others is told, too, where
// there are no advisories, and where they become old.
func (f *Feeds) Watch(ctx context.Context, every time.Duration) {
	if f.own {
		f.warn(time.Now())
	}
	if f.path == "" {
		return
	}
	for tick := time.NewTicker(every); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case now := <-tick.C:
			f.look(now)
		}
	}
}

// look takes a newer file, and says what there is to say.
func (f *Feeds) look(now time.Time) {
	before := f.feed.Load()
	err := f.reload()
	feed := f.feed.Load()
	if feed != before {
		f.log.Info("advisories loaded", "version", feed.Version(), "built", feed.built.UTC())
	}
	if f.own && feed != nil {
		f.warn(now)
	}
	said := ""
	if err != nil && (feed != nil || !errors.Is(err, fs.ErrNotExist)) {
		said = err.Error()
	}
	if said != "" && said != f.said {
		kept := "none"
		if feed != nil {
			kept = feed.Version()
		}
		f.log.Error("the new advisories can't be used; those before stay", "cause", err, "kept", kept)
	}
	f.said = said
}

// warn says where there are no advisories, and once of which releases they are
// old.
func (f *Feeds) warn(now time.Time) {
	feed := f.feed.Load()
	if feed == nil {
		f.log.Warn("there are no advisories: a scan compares nothing, until svc advisories update, or svc admin advisories build, made a feed", "file", f.path)
		return
	}
	stale := feed.stale(now)
	if len(stale) > 0 && !slices.Equal(stale, f.stale) {
		f.log.Warn("the advisories are older than a week: build a newer feed with svc admin advisories build", "releases", stale)
	}
	f.stale = stale
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
