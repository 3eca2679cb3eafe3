package advisory

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/backend/api"
)

// advisoryOf is a record of a CVE in Debian's apache2, fixed in a version.
func advisoryOf(cve, fixed string) string {
	return fmt.Sprintf(`{"id":"DEBIAN-%s","modified":%q,"upstream":[%[1]q],"affected":[{"package":{"ecosystem":"Debian:12","name":"apache2"},
		"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":%[3]q}]}]}]}`, cve, time.Now().UTC().Format(time.RFC3339), fixed)
}

// watched are feeds whose log is read, and the file they are loaded from.
type watched struct {
	*Feeds
	t    *testing.T
	file string
	log  bytes.Buffer
}

func watch(t *testing.T, feed string) *watched {
	t.Helper()
	w := &watched{t: t, file: filepath.Join(t.TempDir(), "feed")}
	if feed != "" {
		w.replace(feed)
	}
	var err error
	w.Feeds, err = Load(w.file, true, slog.New(slog.NewTextHandler(&w.log, nil)))
	is.New(t).NoErr(err)
	return w
}

// replace puts a copy of a feed in the file's place by renaming.
func (w *watched) replace(feed string) {
	is := is.New(w.t)
	b, err := os.ReadFile(feed)
	is.NoErr(err)
	is.NoErr(os.WriteFile(w.file+".new", b, 0o644))
	is.NoErr(os.Rename(w.file+".new", w.file))
}

// write writes into the file itself, as cp does.
func (w *watched) write(content []byte) {
	is.New(w.t).NoErr(os.WriteFile(w.file, content, 0o644))
}

// said looks at the file, and gives what was logged.
func (w *watched) said() string {
	w.log.Reset()
	w.look(time.Now())
	return w.log.String()
}

// found are the advisories of an old apache2.
func (w *watched) found() (ids string) {
	r, err := w.Match("debian-12", []api.ScannedPackage{{Name: "apache2", Version: "2.4.1-1"}}, time.Now())
	is.New(w.t).NoErr(err)
	for _, m := range r.Matches {
		ids += m.Advisory
	}
	return ids
}

func TestAFeedIsReplacedWhileInUse(t *testing.T) {
	is := is.New(t)
	first, _ := buildOf(t, map[string]string{"a.json": advisoryOf("CVE-2026-1", "2.4.9-1")})
	second, _ := buildOf(t, map[string]string{"a.json": advisoryOf("CVE-2026-2", "2.4.9-1")})
	w := watch(t, first)
	is.Equal(w.said(), "") // nothing is new

	w.replace(second)
	is.True(strings.Contains(w.said(), "advisories loaded"))
	is.Equal(w.found(), "DEBIAN-CVE-2026-2")
	w.replace(first)
	is.True(strings.Contains(w.said(), "advisories loaded"))
	is.Equal(w.found(), "DEBIAN-CVE-2026-1")
}

func TestABrokenFeedLeavesTheOneBefore(t *testing.T) {
	is := is.New(t)
	first, _ := buildOf(t, map[string]string{"a.json": advisoryOf("CVE-2026-1", "2.4.9-1")})
	second, _ := buildOf(t, map[string]string{"a.json": advisoryOf("CVE-2026-2", "2.4.9-1")})
	good, err := os.ReadFile(second)
	is.NoErr(err)
	flipped := bytes.Clone(good)
	flipped[headerSize+2] ^= 1
	w := watch(t, first)
	for what, content := range map[string][]byte{
		"half written": good[:len(good)/2], "a byte is wrong": flipped, "empty": nil, "something else": []byte("<html>502 Bad Gateway</html>"),
		"cut in its header": good[:headerSize-1],
	} {
		w.write(content) // into the very file that is in use
		said := w.said()
		is.True(strings.Contains(said, "can't be used"))               // what
		is.True(strings.Contains(said, w.Feeds.feed.Load().Version())) // and the one that is kept
		is.Equal(w.said(), "")                                         // once
		if w.found() != "DEBIAN-CVE-2026-1" {
			t.Errorf("%s: the feed before is gone", what)
		}
	}
	is.NoErr(os.Remove(w.file))
	is.True(strings.Contains(w.said(), "no such file"))
	is.Equal(w.said(), "")
	is.Equal(w.found(), "DEBIAN-CVE-2026-1")

	w.write(good) // whole at last
	is.True(strings.Contains(w.said(), "advisories loaded"))
	is.Equal(w.found(), "DEBIAN-CVE-2026-2")
}

func TestAFeedThatComesLater(t *testing.T) {
	is := is.New(t)
	w := watch(t, "")
	w.warn(time.Now())
	is.True(strings.Contains(w.log.String(), "there are no advisories"))
	is.Equal(w.said(), "") // no file is no fault
	r, err := w.Match("debian-12", []api.ScannedPackage{{Name: "apache2", Version: "1"}}, time.Now())
	is.NoErr(err)
	is.True(!r.Feed.Loaded)
	feed, _ := buildOf(t, map[string]string{"a.json": advisoryOf("CVE-2026-1", "2.4.9-1")})
	w.replace(feed)
	is.True(strings.Contains(w.said(), "advisories loaded"))
	is.Equal(w.found(), "DEBIAN-CVE-2026-1")
}

func TestAnOldFeedIsSaidOnce(t *testing.T) {
	is := is.New(t)
	feed, _ := buildOf(t, map[string]string{"a.json": advisoryOf("CVE-2026-1", "2.4.9-1")})
	w := watch(t, feed)
	w.look(time.Now().Add(6 * 24 * time.Hour))
	is.Equal(w.log.String(), "")
	w.look(time.Now().Add(8 * 24 * time.Hour))
	w.look(time.Now().Add(9 * 24 * time.Hour))
	is.Equal(strings.Count(w.log.String(), "older than a week"), 1)
	is.True(strings.Contains(w.log.String(), "debian-12"))
}

func TestADamagedFeedIsNoAnswer(t *testing.T) {
	is := is.New(t)
	feed, _ := buildOf(t, map[string]string{"a.json": advisoryOf("CVE-2026-1", "2.4.9-1")})
	good, err := os.ReadFile(feed)
	is.NoErr(err)
	asked := []api.ScannedPackage{{Name: "apache2", Version: "2.4.1-1"}}
	for i := range good {
		damaged := bytes.Clone(good)
		damaged[i] ^= 0x55
		f, err := newFeed(bytes.NewReader(damaged), int64(len(damaged)))
		if err != nil {
			continue
		}
		r, err := f.match("debian-12", asked, time.Now())
		if err == nil && len(r.Matches) != 1 {
			t.Fatalf("with byte %d changed the machine is clean", i)
		}
	}
}
