// Package advisories_test scans a real machine of EL 8 on all advisories of its system, in
// little memory; and has a feed from a URL, one that a running service takes, and the
// documents for other programs against their schemas. With -all it builds osv-scanner, which
// takes minutes, and holds cve-scan against it, offline and on the same advisories: every
// difference has a reason, and svc is faster.
package advisories_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/.ci/e2e"
	"svc/backend/api"
	"svc/cmd/svc/exit"
)

func TestMain(m *testing.M) { e2e.Main(m) }

var all = flag.Bool("all", false, "hold it against osv-scanner, which is built from source")

// beside has a peer's answers beside svc's.
func beside(t *testing.T) {
	if !*all {
		t.Skip("only with -all")
	}
}

// server is a server of Debian 11.
const server = "../../../fixtures/hosts/debian-11-web"

// corpus is a folder with all advisories of AlmaLinux, as tar.zst.
func corpus() string {
	if dir := os.Getenv("SVC_OSV"); dir != "" {
		return dir
	}
	return "../../../../shared/data/osv"
}

// TestEL8 compares a real machine's package database on all advisories of AlmaLinux. It
// comes first: what this process holds when it starts svc counts as svc's.
func TestEL8(t *testing.T) {
	archives, err := filepath.Glob(corpus() + "/*.tar.zst")
	is.New(t).NoErr(err)
	if len(archives) == 0 {
		t.Skip("NOT COMPARED: a machine of EL 8, without the advisories of AlmaLinux in $SVC_OSV")
	}
	w := e2e.New(t)
	root, feed := el8(w), w.Path("alma.feed")
	builds(w, exit.Done, corpus(), feed)
	our := best(t, w, root, feed)
	t.Logf("svc %+v", our)
	is.New(t).True(our.memory <= 64<<20)
	t.Run("osv-scanner is slower, and every difference from it has a reason", func(t *testing.T) {
		beside(t)
		is := is.New(t)
		database(t, w, "AlmaLinux", corpus())
		image(t, root, w.Path("el8.tar"))
		theirs, their := osvScanner(t, w, w.Path("el8.tar"))
		t.Logf("osv-scanner %+v", their)
		is.True(their.processor > 20*our.processor)
		is.True(their.wall > 20*our.wall)
		explain(t, scan(w.In(t), root, feed), theirs, packages(w.In(t), root), documents(t, corpus()))
	})
	valid(t, w, root, feed)
}

// el8 is a real machine's package database, with a name.
func el8(w *e2e.Work) string {
	root := w.Path("el8")
	w.Files(root, map[string]string{"etc/os-release": "ID=\"almalinux\"\nVERSION_ID=\"8.4\"\n", "etc/machine-id": "0123456789abcdef0123456789abcdef\n"})
	module := w.Run(0, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/anchore/go-rpmdb").Line()
	w.Run(0, "install", "-D", module+"/pkg/testdata/centos8-modularitylabel/Packages", filepath.Join(root, "var/lib/rpm/Packages"))
	return root
}

const record = `{"id":"%s","modified":"%s","summary":"%[4]s - security update","upstream":["%[3]s"],"schema_version":"1.7.0",
 "severity":[{"type":"CVSS_V3","score":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H"}],
 "affected":[{"package":{"ecosystem":"Debian:11","name":"%[4]s"},"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":"%[5]s"}]}]}]}`

// advises writes an advisory of Debian 11, of today.
func advises(w *e2e.Work, id, cve, pkg, fixed string) {
	w.Files(w.Path("debian"), map[string]string{id + ".json": fmt.Sprintf(record, id, time.Now().UTC().Format(time.RFC3339), cve, pkg, fixed)})
}

// debian writes advisories of which some fix a package that has another version than its
// source, and builds a feed of them.
func debian(w *e2e.Work) (feed string) {
	advises(w, "DSA-9001-1", "CVE-2099-9001", "openssl", "1.1.1w-0+deb11u9")
	advises(w, "DSA-9002-1", "CVE-2099-9002", "lvm2", "2.03.11-2.2")
	advises(w, "DSA-9003-1", "CVE-2099-9003", "util-linux", "2.36.1-8+deb11u9")
	advises(w, "DSA-9004-1", "CVE-2099-9004", "apache2", "2.4.10-1")
	feed = w.Path("debian.feed")
	builds(w, exit.Done, w.Path("debian"), feed)
	return feed
}

func builds(w *e2e.Work, code int, osv, feed string) {
	w.SVC(code, "admin", "advisories", "build", "--osv", osv, "--out", feed)
}

func TestDebian(t *testing.T) {
	w := e2e.New(t)
	feed := debian(w)
	t.Run("every difference from osv-scanner has a reason", func(t *testing.T) {
		beside(t)
		database(t, w, "Debian", w.Path("debian"))
		image(t, server, w.Path("debian.tar"))
		theirs, _ := osvScanner(t, w, w.Path("debian.tar"))
		explain(t, scan(w.In(t), server, feed), theirs, packages(w.In(t), server), documents(t, w.Path("debian")))
	})
	t.Run("exit codes", func(t *testing.T) { codes(t, w, feed) })
	valid(t, w, server, feed)
}

// codes are those of the contract.
func codes(t *testing.T, w *e2e.Work, feed string) {
	none := w.Path("nothing.feed")
	for _, c := range []struct {
		name, feed string
		code       int
		failOn     []string
	}{
		{"what is grave enough", feed, exit.Differ, []string{"--fail-on", "high"}},
		{"what is not", feed, exit.Done, []string{"--fail-on", "critical"}},
		{"a threshold that nobody knows", feed, exit.Usage, []string{"--fail-on", "terrible"}},
		{"a threshold and nothing to compare with", none, exit.NotCompared, []string{"--fail-on", "low"}},
		{"nothing to compare with", none, exit.NotCompared, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			said := w.In(t).SVC(c.code, append([]string{"cve-scan", "--root", server, "--advisories", c.feed}, c.failOn...)...)
			if c.code == exit.NotCompared { // which is said on both streams
				is.True(strings.Contains(said.Out, "NOT COMPARED"))
				is.True(strings.Contains(said.Err, "NOTHING WAS COMPARED"))
			}
		})
	}
}

// TestURL builds a feed from a URL.
func TestURL(t *testing.T) {
	is := is.New(t)
	w := e2e.New(t)
	debian(w)
	zip := database(t, w, "Debian", w.Path("debian"))
	hour := time.Now().Add(-time.Hour) // the server tells its age in seconds
	is.NoErr(os.Chtimes(zip, hour, hour))
	var unchanged atomic.Int32
	files := http.FileServer(http.Dir(filepath.Dir(zip)))
	s := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		files.ServeHTTP(status{out, &unchanged}, r)
	}))
	t.Cleanup(s.Close)
	url, feed := s.URL+"/"+filepath.Base(zip), w.Path("url.feed")
	t.Run("a feed is built, and again without another download", func(t *testing.T) {
		builds(w.In(t), exit.Done, url, feed)
		builds(w.In(t), exit.Done, url, feed)
		is.Equal(unchanged.Load(), int32(1))
	})
	before, err := os.ReadFile(feed)
	is.NoErr(err)
	is.NoErr(os.Truncate(zip, 300))
	t.Run("a broken archive is an error", func(t *testing.T) { builds(w.In(t), exit.Failed, url, feed) })
	t.Run("so is another digest than asked for", func(t *testing.T) {
		builds(w.In(t), exit.Failed, url+"#sha256="+strings.Repeat("0", 64), feed)
	})
	t.Run("the feed is as it was", func(t *testing.T) {
		after, err := os.ReadFile(feed)
		is.NoErr(err)
		is.True(bytes.Equal(before, after))
	})
}

// status counts answers that a file has not changed.
type status struct {
	http.ResponseWriter
	unchanged *atomic.Int32
}

func (s status) WriteHeader(code int) {
	if code == http.StatusNotModified {
		s.unchanged.Add(1)
	}
	s.ResponseWriter.WriteHeader(code)
}

// TestReload has a running service take newer feeds, and leave broken ones.
func TestReload(t *testing.T) {
	is := is.New(t)
	w := e2e.New(t)
	feed, live := debian(w), w.Path("live.feed")
	t.Setenv("SVC_DB", "sqlite:"+w.Path("serve.db"))
	var made struct {
		Account int64 `json:"account_id"`
		Token   string
	}
	w.SVC(exit.Done, "admin", "account", "create", "--name", "e2e", "--plan", "internal", "--unlimited", "--json").JSON(&made)
	w.SVC(exit.Done, "admin", "token", "create", "--account", strconv.FormatInt(made.Account, 10), "--json").JSON(&made)
	service := w.StartService("--advisories", live, "--signing-key", w.Path("key.pem"))
	ask := func() api.CVEScanResponse { return ask(t, service.URL, made.Token) }
	t.Run("a service without advisories says so, to who asks, too", func(t *testing.T) {
		is.True(strings.Contains(service.Log(), "there are no advisories"))
		is.True(!ask().Feed.Loaded)
	})
	t.Run("it takes a feed that comes later", func(t *testing.T) {
		w.In(t).Run(0, "cp", feed, live+".new")
		is.NoErr(os.Rename(live+".new", live))
		eventually(t, func() bool { return has(ask(), "DSA-9001-1") })
	})
	t.Run("a half-written one is said, and the one before stays", func(t *testing.T) {
		is.NoErr(os.Truncate(live, 300)) // the very file
		eventually(t, func() bool { return strings.Contains(service.Log(), "can't be used") })
		is.True(has(ask(), "DSA-9001-1"))
	})
	t.Run("a newer one is taken without a restart", func(t *testing.T) {
		advises(w, "DSA-9005-1", "CVE-2099-9005", "openssl", "1.1.1w-0+deb11u8")
		builds(w.In(t), exit.Done, w.Path("debian"), live)
		eventually(t, func() bool { return has(ask(), "DSA-9005-1") })
	})
}

// ask scans a machine with an old openssl.
func ask(t *testing.T, url, token string) (answer api.CVEScanResponse) {
	is := is.New(t)
	body, err := json.Marshal(api.CVEScanRequest{
		Fingerprint: strings.Repeat("a", 64), Release: "debian-11",
		Packages: []api.ScannedPackage{{Name: "openssl", Version: "1.1.1w-0+deb11u1"}},
	})
	is.NoErr(err)
	r, err := http.NewRequest(http.MethodPost, url+"/v1/cve-scan", bytes.NewReader(body))
	is.NoErr(err)
	r.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
	response, err := http.DefaultClient.Do(r)
	is.NoErr(err)
	defer response.Body.Close()
	is.NoErr(json.NewDecoder(response.Body).Decode(&answer))
	return answer
}

// has reports whether an advisory matched.
func has(r api.CVEScanResponse, advisory string) bool {
	for _, m := range r.Matches {
		if m.Advisory == advisory {
			return true
		}
	}
	return false
}

// eventually waits for something to hold.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come")
		}
	}
}
