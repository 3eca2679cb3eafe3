package tools

import (
	"archive/tar"
	"bytes"
	"crypto/md5"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"svc/tools/evidence"
	"svc/tools/migration"
	"svc/tools/move"
	"svc/tools/tool"
)

// debWith is a folder with a package of one file.
func debWith(t *testing.T, pkg, name, text string) string {
	t.Helper()
	is := is.New(t)
	var data, b bytes.Buffer
	w := tar.NewWriter(&data)
	is.NoErr(w.WriteHeader(&tar.Header{Name: "." + name, Typeflag: tar.TypeReg, Size: int64(len(text)), Mode: 0o644}))
	_, err := w.Write([]byte(text))
	is.NoErr(err)
	is.NoErr(w.Close())
	fmt.Fprintf(&b, "!<arch>\n%-48s%-10d`\n%s", "data.tar", data.Len(), data.Bytes())
	dir := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(dir, pkg+"_1%3a10.0-1_amd64.deb"), b.Bytes(), 0o600))
	return dir
}

// editedHost is the fixture with an sshd_config that a person edited, and what
// ucf keeps of it.
func editedHost(t *testing.T, base, ours string) string {
	t.Helper()
	root := copyHost(t)
	for name, text := range map[string]string{
		"etc/ssh/sshd_config": ours, "var/lib/ucf/cache/:etc:ssh:sshd_config": base,
		"var/lib/ucf/hashfile": fmt.Sprintf("%x  /etc/ssh/sshd_config\n", md5.Sum([]byte(base))),
		"var/lib/ucf/registry": "openssh-server /etc/ssh/sshd_config\n",
	} {
		is.New(t).NoErr(os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		is.New(t).NoErr(os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	return root
}

// sshdRow is what the plan in a folder says of sshd_config.
func sshdRow(t *testing.T, out string) (row migration.Config) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(out, evidence.PlanFile))
	is.New(t).NoErr(err)
	var p migration.Plan
	is.New(t).NoErr(json.Unmarshal(text, &p))
	for _, c := range p.Configuration {
		if c.From == "/etc/ssh/sshd_config" {
			row = c
		}
	}
	return row
}

const (
	oldDefault = "# 11\nUsePAM yes\nChallengeResponseAuthentication no\n\n#PermitRootLogin no\n\nX11Forwarding yes\n"
	newDefault = "# 13\nUsePAM yes\nKbdInteractiveAuthentication no\n\n#PermitRootLogin prohibit-password\n\nX11Forwarding yes\nPrintMotd no\n"
)

func TestEditedFilesAreMergedIntoTheTargetsOwn(t *testing.T) {
	is := is.New(t)
	in := confirmed(t)
	in.Root = editedHost(t, oldDefault, "# 11\nUsePAM yes\nChallengeResponseAuthentication yes\n\nPermitRootLogin no\n\nX11Forwarding yes\n")
	in.TargetArchives = []string{debWith(t, "openssh-server", "/usr/share/openssh/sshd_config", newDefault)}
	env := newEnv(t)
	env.Cache = t.TempDir()
	first := migrate(t, env, in)
	row := sshdRow(t, in.Out)
	is.Equal(row.Action, migration.Merge)
	is.Equal(row.Merge.Base.Path, "/var/lib/ucf/cache/:etc:ssh:sshd_config")
	is.Equal(row.Merge.Target.Version, "1:10.0-1")
	is.Equal(len(row.Merge.Changes), 2)
	written, err := filepath.Glob(in.Out + "/role/files/*-sshd_config")
	is.NoErr(err)
	is.Equal(len(written), 1)
	text, err := os.ReadFile(written[0])
	is.NoErr(err)
	is.Equal(string(text), "# 13\nUsePAM yes\nKbdInteractiveAuthentication yes\n\n#PermitRootLogin prohibit-password\nPermitRootLogin no\n\nX11Forwarding yes\nPrintMotd no\n")
	is.Equal(migrate(t, env, in).PlanDigest, first.PlanDigest)
	in.TargetArchives = []string{debWith(t, "openssh-server", "/usr/share/openssh/sshd_config", newDefault+"# other\n")}
	is.True(migrate(t, env, in).PlanDigest != first.PlanDigest) // what was used is part of the plan
	in.TargetArchives = nil
	migrate(t, env, in)
	row = sshdRow(t, in.Out)
	is.Equal(row.Action, migration.Convert) // without packages as ever
	is.True(row.Merge == nil)
}

func TestAClashIsAQuestion(t *testing.T) {
	is := is.New(t)
	in := confirmed(t)
	in.Root = editedHost(t, oldDefault, "# 11\nUsePAM no\nChallengeResponseAuthentication no\n\n#PermitRootLogin no\n\nX11Forwarding yes\n")
	in.TargetArchives = []string{debWith(t, "openssh-server", "/usr/share/openssh/sshd_config", "UsePAM maybe\n")}
	env := newEnv(t)
	r := migrate(t, env, in)
	row := sshdRow(t, in.Out)
	is.Equal(row.Action, migration.Convert)
	is.True(len(row.Merge.Clashes) > 0)
	found := false
	for _, f := range r.Findings {
		found = found || f.Key == "configuration.merge-clash"
	}
	is.True(found)
	page, err := os.ReadFile(filepath.Join(in.Out, evidence.ReportFile))
	is.NoErr(err)
	is.True(bytes.Contains(page, []byte("<pre>UsePAM no</pre>")))
	is.True(bytes.Contains(page, []byte("<pre>UsePAM maybe</pre>")))
}

func TestArchivesThatCanNotBeRead(t *testing.T) {
	is := is.New(t)
	in := confirmed(t)
	in.SourceArchives = []string{t.TempDir()}
	_, err := move.Migrate(t.Context(), newEnv(t), in)
	var input *tool.InputError
	is.True(errors.As(err, &input)) // the target's are missing
	in.Archives = move.Archives{TargetArchives: []string{t.TempDir()}}
	_, err = move.Migrate(t.Context(), newEnv(t), in)
	is.True(err != nil) // no packages are there
	broken := debWith(t, "openssh-server", "/etc/x", "x")
	is.NoErr(os.WriteFile(filepath.Join(broken, "openssh-server_1%3a10.0-1_amd64.deb"), []byte("no package"), 0o600))
	in.Root, in.TargetArchives = editedHost(t, oldDefault, oldDefault+"Port 2222\n"), []string{broken}
	_, err = move.Migrate(t.Context(), newEnv(t), in)
	is.True(err != nil)
	_, err = os.Stat(in.Out)
	is.True(errors.Is(err, os.ErrNotExist)) // nothing was written
}
