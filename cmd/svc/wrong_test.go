package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/cmd/svc/exit"
)

var update = flag.Bool("update", false, "write what is printed into the golden files")

// rawWords are those of Go, of system calls and of libraries, which nobody should
// have to know.
var rawWords = regexp.MustCompile(`dial tcp|listen tcp|\b[l]?stat [/.\w]|\bopen [/.]|no such file or directory|is a directory|not a directory|invalid character|jsontext|(^|[ :])(json|zip|tls): |unmarshal|unexpected EOF|strconv|x509|context canceled|exit status|<nil>|goroutine|no such thing`)

// logLines are those of the service's log, which have the time.
var logLines = regexp.MustCompile(`(?m)^\{"time":.*\n`)

// TestWrongCalls makes the calls of testdata/wrong.golden, all in a folder with the
// same few files, and compares what svc says of each. With -update it writes what svc
// says now: a call is added as a line "$ svc …". $F are the project's machines.
func TestWrongCalls(t *testing.T) {
	is := is.New(t)
	fixtures, err := filepath.Abs("../../fixtures/hosts")
	is.NoErr(err)
	golden, err := filepath.Abs("testdata/wrong.golden")
	is.NoErr(err)
	want, err := os.ReadFile(golden)
	is.NoErr(err)
	dir := t.TempDir()
	t.Chdir(dir)
	env := func(name string) string {
		return map[string]string{"HOME": filepath.Join(dir, "home"), "PATH": os.Getenv("PATH")}[name]
	}
	wrongFiles(is)
	var got strings.Builder
	calls := 0
	for line := range strings.Lines(string(want)) {
		call, ok := strings.CutPrefix(strings.TrimSpace(line), "$ svc ")
		if !ok {
			continue
		}
		calls++
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(strings.ReplaceAll(call, "$F", fixtures)), env, strings.NewReader(""), &stdout, &stderr)
		said := strings.NewReplacer(fixtures, "$F", dir, "$W").Replace(stderr.String())
		said = logLines.ReplaceAllString(said, "")
		if raw := rawWords.FindString(said); raw != "" {
			t.Errorf("svc %s: %q is not ours:\n%s", call, raw, said)
		}
		if code == exit.Done || said == "" {
			t.Errorf("svc %s: %d, and it says %q: is it a wrong call?", call, code, said)
		}
		fmt.Fprintf(&got, "$ svc %s\n[%d] %s\n", call, code, said)
	}
	is.True(calls >= 100)
	if *update {
		is.NoErr(os.WriteFile(golden, []byte(got.String()), 0o644))
		return
	}
	before := strings.Split(string(want), "$ svc ")
	for i, now := range strings.Split(got.String(), "$ svc ") {
		if now != before[i] {
			t.Errorf("svc says\n%s\nand said\n%s", now, before[i])
		}
	}
}

// wrongFiles makes, where it stands, what the wrong calls name.
func wrongFiles(is *is.I) {
	for name, text := range map[string]string{
		"text": "hello\n", "nothing": "", "zeros": strings.Repeat("\x00", 1<<20), "noise": strings.Repeat("\x91\x02\xfe\x77", 1<<16), "text.qcow2": "hello\n",
		"cut.qcow2": cutImage(), "other.json": `{"a":1}`, "broken.json": `{"a":`, "bad.zip": "PK\x03\x04junk", "full/x": "x\n",
		"colour.cfg": "colour red\n", "maybe.cfg": "json maybe\n", "bad.pem": "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "hosts": "/nowhere\n",
	} {
		is.NoErr(os.MkdirAll(filepath.Dir(name), 0o755))
		is.NoErr(os.WriteFile(name, []byte(text), 0o644))
	}
	is.NoErr(os.Mkdir("empty", 0o755))
}

// cutImage is a qcow2 whose reference counts tell of 32 clusters of 64 KiB, of which
// the file has the first four.
func cutImage() string {
	const cluster = 64 << 10
	b := make([]byte, 4*cluster)
	copy(b, "QFI\xfb")
	for at, v := range map[int]uint32{4: 3, 20: 16, 28: 1 << 20, 36: 1, 44: 3 * cluster, 52: cluster, 56: 1, 96: 4, 100: 104} {
		binary.BigEndian.PutUint32(b[at:], v)
	}
	binary.BigEndian.PutUint64(b[cluster:], 2*cluster)
	for c := range 32 {
		binary.BigEndian.PutUint16(b[2*cluster+2*c:], 1)
	}
	return string(b)
}
