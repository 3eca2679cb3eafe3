package inspect

import (
	"cmp"
	"crypto/md5"
	"database/sql"
	"encoding/binary"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/assess/host"
	"svc/backend/release"
	"svc/backend/tsv"
)

// knownTroubles are troubles of upgrades as others list them: an id, the step, what
// happens, how a disk shows it, how bad it is, and who says so.
const knownTroubles = "../../../shared/data/known_issues.tsv"

// TestKnownTroublesAreSaid builds for each known trouble a machine that shows it, and
// sees that one of the findings that testdata names is there, and that what stops its
// source's own tool stops a move here.
func TestKnownTroublesAreSaid(t *testing.T) {
	text, err := os.ReadFile(knownTroubles)
	if err != nil {
		t.Skip("the list of known troubles is not here")
	}
	machines := map[string][]string{}
	for c := range rowsOf(t, "testdata/known.tsv", 4) {
		machines[c[0]] = c
	}
	said, listed := 0, 0
	for line := range strings.Lines(string(text)) {
		c := strings.Split(strings.TrimSpace(line), "\t")
		if len(c) != 6 || line[0] == '#' {
			continue
		}
		listed++
		t.Run(c[0], func(t *testing.T) {
			m := machines[c[0]]
			if m == nil {
				t.Fatal("testdata/known.tsv has no machine that shows it")
			}
			if m[1] == "none" {
				t.Skip("a root does not show it")
			}
			from, to, _ := strings.Cut(c[1], " to ")
			findings := findingsOf(t, from, to, m[3])
			i := slices.IndexFunc(findings, func(f assess.Finding) bool { return slices.Contains(strings.Fields(m[1]), f.Key) })
			if i < 0 {
				t.Fatalf("%s: none of %s is said, but %s", c[2], m[1], keysOf(findings))
			}
			said++
			stops := slices.ContainsFunc(findings, func(f assess.Finding) bool { return f.Inhibitor && slices.Contains(strings.Fields(m[1]), f.Key) })
			if want := m[2] == "stops"; stops != want {
				t.Errorf("%s by %s: it stops the move: %v", c[2], m[1], stops)
			}
		})
	}
	t.Logf("%d of %d are said", said, listed)
}

// TestTroublesOfReleaseNotesAreSaid: so do machines of another list, which were written
// without a look at the tables.
func TestTroublesOfReleaseNotesAreSaid(t *testing.T) {
	for c := range rowsOf(t, "testdata/notes.tsv", 5) {
		t.Run(c[0]+" "+c[1]+" "+c[2], func(t *testing.T) {
			findings := findingsOf(t, c[0], c[1], c[4])
			i := slices.IndexFunc(findings, func(f assess.Finding) bool { return f.Key == c[2] })
			if i < 0 {
				t.Fatalf("not %s is said, but %s", c[2], keysOf(findings))
			}
			if want := c[3] == "stops"; findings[i].Inhibitor != want {
				t.Errorf("it stops the move: %v", findings[i].Inhibitor)
			}
		})
	}
}

// rowsOf are the rows of a table of testdata.
func rowsOf(tb testing.TB, name string, n int) iter.Seq[[]string] {
	text, err := os.ReadFile(name)
	is.New(tb).NoErr(err)
	return tsv.Rows(string(text), n)
}

func keysOf(findings []assess.Finding) (keys []string) {
	for _, f := range findings {
		keys = append(keys, f.Key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// findingsOf assesses a machine of a release that a row describes on its way to another.
func findingsOf(t *testing.T, from, to, description string) []assess.Finding {
	t.Helper()
	is := is.New(t)
	source, target := knownRelease(t, from), knownRelease(t, to)
	h, err := host.OpenRoot(describedRoot(t, source, description))
	is.NoErr(err)
	defer h.Close()
	a, err := Assess(t.Context(), h, assess.Options{Now: today, Target: target.Slug})
	is.NoErr(err)
	is.Equal(a.Release, source.Slug)
	return a.Findings
}

// knownRelease is a release by its name, or by its family's and its version: el-8.
func knownRelease(t *testing.T, name string) release.Release {
	t.Helper()
	name = cmp.Or(map[string]string{"el-6": "centos-6", "el-7": "centos-7"}[name], strings.Replace(name, "el-", "almalinux-", 1))
	r, ok := release.Lookup(name)
	is.New(t).True(ok) // the release is known
	return r
}

// describedRoot is a machine as tables of hazards describe examples: packages and
// versions, files and their text, links, enabled units and perhaps the package that owns
// them (unit: squid.service of squid).
func describedRoot(tb testing.TB, r release.Release, description string) string {
	tb.Helper()
	_, version, _ := strings.Cut(r.Slug, "-")
	files := map[string]string{"etc/machine-id": testID, "etc/os-release": fmt.Sprintf("ID=%s\nVERSION_ID=%q\n", r.ID, version)}
	links, packages, conffiles, arch, owners := map[string]string{}, [][2]string{}, "", "amd64", map[string]string{}
	for part := range strings.SplitSeq(description, " ;; ") {
		word, rest, _ := strings.Cut(part, " ")
		name, isFile := strings.CutPrefix(strings.TrimSuffix(word, ":"), "/")
		switch {
		case isFile && strings.HasPrefix(rest, "-> "):
			links[name] = strings.TrimPrefix(rest, "-> ")
		case isFile:
			files[name] = strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(rest) + "\n"
		case word == "unit:":
			unit, owner, owned := strings.Cut(rest, " of ")
			if rest = unit; owned {
				owners[owner] = "/usr/lib/systemd/system/" + unit
			}
			files["usr/lib/systemd/system/"+rest] = "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"
			links["etc/systemd/system/multi-user.target.wants/"+rest] = "/usr/lib/systemd/system/" + rest
		case word == "own:":
			conffiles += fmt.Sprintf(" %s %x\n", rest, md5.Sum([]byte("as it was shipped\n")))
		case word == "arch:":
			arch = rest
		default:
			packages = append(packages, [2]string{word, rest})
		}
	}
	packages = append(packages, [2]string{"base", "1"})
	var status strings.Builder
	for _, p := range packages {
		fmt.Fprintf(&status, "Package: %s\nStatus: install ok installed\nArchitecture: %s\nVersion: %s\n", p[0], arch, p[1])
		if p[0] == "base" && conffiles != "" {
			status.WriteString("Conffiles:\n" + conffiles)
		}
		status.WriteString("\n")
	}
	if r.Family == release.Debian || r.Family == release.Ubuntu {
		files["var/lib/dpkg/status"] = status.String()
		files["var/lib/dpkg/arch"] = arch + "\n"
		for owner, unit := range owners {
			files["var/lib/dpkg/info/"+owner+".list"] = unit + "\n"
		}
	}
	dir := writeRoot(tb, files)
	for name, to := range links {
		is.New(tb).NoErr(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		is.New(tb).NoErr(os.Symlink(to, filepath.Join(dir, name)))
	}
	if files["var/lib/dpkg/status"] == "" {
		writeRPM(tb, filepath.Join(dir, "var/lib/rpm/rpmdb.sqlite"), packages, owners)
	}
	return dir
}

// writeRPM makes a database of packages and their versions, in rpm's form of SQLite.
func writeRPM(tb testing.TB, name string, packages [][2]string, owners map[string]string) {
	tb.Helper()
	is := is.New(tb)
	is.NoErr(os.MkdirAll(filepath.Dir(name), 0o755))
	db, err := sql.Open("sqlite", name)
	is.NoErr(err)
	defer db.Close()
	_, err = db.ExecContext(tb.Context(), "CREATE TABLE Packages (hnum INTEGER PRIMARY KEY AUTOINCREMENT, blob BLOB NOT NULL)")
	is.NoErr(err)
	for _, p := range packages {
		_, err = db.ExecContext(tb.Context(), "INSERT INTO Packages (blob) VALUES (?)", rpmHeader(p[0], p[1], owners[p[0]]))
		is.NoErr(err)
	}
}

// rpmHeader is the least of a package's header: name, version, release, architecture,
// source, and the one file that it may own.
func rpmHeader(name, version, file string) []byte {
	var index, store []byte
	add := func(tag, kind uint32, value string) {
		for _, n := range []uint32{tag, kind, uint32(len(store)), 1} {
			index = binary.BigEndian.AppendUint32(index, n)
		}
		store = append(store, value...)
	}
	if file != "" {
		add(1116, 4, "\x00\x00\x00\x00") // first, as numbers stand at multiples of four
		add(1117, 8, filepath.Base(file)+"\x00")
		add(1118, 8, filepath.Dir(file)+"/\x00")
	}
	add(1000, 6, name+"\x00")
	add(1001, 6, version+"\x00")
	add(1002, 6, "1\x00")
	add(1022, 6, "x86_64\x00")
	add(1044, 6, name+"-"+version+"-1.src.rpm\x00")
	blob := binary.BigEndian.AppendUint32(nil, uint32(len(index)/16))
	blob = binary.BigEndian.AppendUint32(blob, uint32(len(store)))
	return slices.Concat(blob, index, store)
}
