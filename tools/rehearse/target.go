//go:build linux

package rehearse

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"svc/assess/host/joined"
	"svc/backend/secret"
	"svc/backend/sliced"
	"svc/backend/visible"
	"svc/tools/dataplan"
	"svc/tools/migration"
	"svc/tools/rehearsal"
	"svc/tools/rehearsal/tap"
	"svc/tools/rehearsal/unpack"
	"svc/tools/report"
	"svc/tools/sandbox"
	"svc/tools/sandbox/base"
)

// ansible says what is missing to apply a role as a person would.
func ansible() error {
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		return errors.New("a rehearsal applies the role by Ansible, and there is no ansible-playbook here; nothing was done: install Ansible")
	}
	return nil
}

// makeBase makes the target's root, and on top of it a layer with the packages of
// the plan, which are kept: they hold nothing of the machine.
func (r *rehearsing) makeBase(ctx context.Context) (err error) {
	dir := r.in.Base
	if dir == "" {
		r.Env.Step("making a fresh "+r.Target.Slug, 0, 1)
		if dir, r.how, err = r.base.Make(ctx, filepath.Join(r.Env.Rehearsals, "roots")); err != nil {
			return err
		}
	} else {
		if dir, err = filepath.Abs(dir); err != nil {
			return err
		}
		if r.base, err = base.Of(r.Target.Slug, r.in.Archive); err != nil {
			return err
		}
		r.how = "a root of the user's own"
		if info, err := os.Stat(dir); err == nil && info.Mode().IsRegular() {
			r.how = "an image of the user's own"
			if dir, err = r.imageBase(ctx, dir, info); err != nil {
				return err
			}
		}
	}
	r.lower = []string{dir}
	layer, err := r.layer(ctx, dir)
	if layer != "" {
		r.lower = []string{layer, dir}
	}
	return err
}

// imageBase is the root on an image of the user's own, copied out of it and kept
// until the image is another.
func (r *rehearsing) imageBase(ctx context.Context, image string, info fs.FileInfo) (string, error) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s", image, info.Size(), info.ModTime()))
	at := filepath.Join(r.Env.Rehearsals, "roots", "image-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(at); err == nil {
		return at, nil
	}
	h, err := joined.Open(image, r.in.TrustImage)
	if err != nil {
		return "", fmt.Errorf("reading the base: %w", err)
	}
	defer h.Close()
	r.Env.Step("copying the base out of its image", 0, 1)
	part := filepath.Join(r.dir, "base")
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return "", err
	}
	if _, err := unpack.Copy(ctx, h.FS(), part, r.in.limit()); err != nil {
		return "", err
	}
	return at, os.Rename(part, at)
}

// installs are the words of a shell by which packages are installed. As in the role,
// sudo-ldap may take sudo's place.
var installs = map[string]string{ // by package manager
	"apt": "apt-get -qq update && %[3]s SUDO_FORCE_REMOVE=yes apt-get -y -qq -o APT::Install-Recommends=%[1]t -o Dpkg::Options::=--force-unsafe-io install -- %[2]s %[4]s && apt-get clean",
}

// quiet has packages start nothing as they are installed.
const quiet = "printf '#!/bin/sh\\nexit 101\\n' >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d"

// layer installs the packages of the plan. Where that fails there is none: the role
// then says what is wrong.
func (r *rehearsing) layer(ctx context.Context, dir string) (string, error) {
	words := installs[r.Target.Family.Conventions().Manager]
	if words == "" || len(r.Plan.Install) == 0 {
		return "", nil
	}
	packages := quoted(r.Plan.Install)
	command := fmt.Sprintf(words, r.Plan.System.Recommends, packages, r.unwanted(packages), r.recommended(packages))
	made, _ := os.Stat(dir + ".made")
	stamp := ""
	if made != nil {
		stamp = made.ModTime().String()
	}
	sum := sha256.Sum256([]byte(dir + "\x00" + stamp + "\x00" + command))
	parent := filepath.Join(r.Env.Rehearsals, "packages")
	at := filepath.Join(parent, hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(at); err == nil {
		now := time.Now()
		return sandbox.Written(at), os.Chtimes(at, now, now)
	}
	if err := forget(parent); err != nil {
		return "", err
	}
	r.Env.Step(fmt.Sprintf("installing %d packages", len(r.Plan.Install)), 0, 1)
	part := filepath.Join(r.dir, "packages")
	s, err := sandbox.Start(ctx, sandbox.Options{Lower: []string{dir}, Dir: part, Name: "target", Limits: r.in.Limits, Proxy: sandbox.Archives(r.base.Allowed, r.Env.Log), Plain: true})
	if err != nil {
		return "", err
	}
	got, err := s.Run(ctx, sandbox.Command{Words: []string{"sh", "-c", fmt.Sprintf("%s && (%s); s=$?; rm -f /usr/sbin/policy-rc.d; exit $s", quiet, command)}, Time: time.Hour, Network: true})
	if err := errors.Join(err, s.Close(), ctx.Err()); err != nil {
		return "", err
	}
	if got.Status != 0 {
		r.remark("The packages could not be installed at once, before the role: " + oneLine(tail(got.Text, 400)))
		return "", nil
	}
	for _, left := range []string{"/layers", "/root", "/data/work"} {
		if err := os.RemoveAll(part + left); err != nil {
			return "", err
		}
	}
	return sandbox.Written(at), os.Rename(part, at)
}

// unwanted keeps packages away that others recommend and the source is without, by the
// role's own script; the role takes its file away.
func (r *rehearsing) unwanted(packages string) string {
	if script := r.ofRole("unwanted.sh"); script != "" && len(r.Plan.System.Unwanted) > 0 {
		return fmt.Sprintf("%s /etc/apt/preferences.d/svc-unwanted %s -- %s &&", script, strings.Join(r.Plan.System.Unwanted, " "), packages)
	}
	return ""
}

// recommended are the packages that others only recommend and brought along on the source,
// by the role's own script.
func (r *rehearsing) recommended(packages string) string {
	if script := r.ofRole("recommended.sh"); script != "" && len(r.Plan.System.Dependencies) > 0 {
		return fmt.Sprintf("$(%s %s -- %s)", script, quoted(r.Plan.System.Dependencies), packages)
	}
	return ""
}

// quoted are names as words of a shell.
func quoted(names []string) string {
	return strings.Join(sliced.Map(names, visible.Word), " ")
}

// ofRole are the words by which a shell runs a script of the role.
func (r *rehearsing) ofRole(name string) string {
	script, has := r.Move.Files["role/files/"+name]
	if !has {
		return ""
	}
	return fmt.Sprintf("sh -c '%s' %s", strings.ReplaceAll(string(script), "'", `'\''`), name)
}

// Bounds of the layers of packages that are kept.
const (
	maxLayers   = 20
	maxLayerAge = 7 * 24 * time.Hour
)

// forget removes layers that are old, and the oldest of many.
func forget(parent string) error {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	all := sliced.FilterMap(entries, func(e fs.DirEntry) (fs.FileInfo, bool) {
		info, err := e.Info()
		return info, err == nil
	})
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for n, l := range all {
		if n >= maxLayers || time.Since(l.ModTime()) > maxLayerAge {
			if err := os.RemoveAll(filepath.Join(parent, l.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func tail(b []byte, n int) string {
	return secret.Mask(visible.Text(string(b[max(0, len(b)-n):])))
}

// playTime is how long a role may take.
const playTime = 40 * time.Minute

// applyRole applies the role by Ansible, which reaches the target as it reaches any
// machine: by a program that it takes for ssh.
func (r *rehearsing) applyRole(ctx context.Context) error {
	r.Env.Step("applying the role", 0, 1)
	work := filepath.Join(r.dir, "play")
	if err := r.lay(work); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, playTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ansible-playbook", "-i", "inventory", "site.yml")
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "ANSIBLE_CONFIG="+work+"/ansible.cfg", "ANSIBLE_NOCOWS=1", "ANSIBLE_PIPELINING=1", "ANSIBLE_STDOUT_CALLBACK=json", "ANSIBLE_RETRY_FILES_ENABLED=0", "ANSIBLE_SSH_TRANSFER_METHOD=piped", "ANSIBLE_LOCAL_TEMP="+work+"/tmp", "LC_ALL=C.UTF-8")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var said, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &sandbox.Beginning{To: &said, Most: maxPlay}, &sandbox.Beginning{To: &errs, Most: 1 << 20}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	r.log = []byte(visible.Lines(secret.Mask(said.String() + errs.String())))
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("running Ansible: %w", err)
	}
	r.role = played(said.Bytes(), errs.Bytes())
	return nil
}

// maxPlay bounds what Ansible says, in bytes.
const maxPlay = 64 << 20

// lay writes the role, and how its target is reached.
func (r *rehearsing) lay(work string) error {
	if err := os.MkdirAll(work, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(work)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, content := range r.Move.Files {
		if name == "role/tasks/accounts.yml" { // what a task says is masked here, and its reason must be seen
			content = bytes.ReplaceAll(content, []byte("no_log: true"), []byte("no_log: false"))
		}
		if err := errors.Join(root.MkdirAll(path.Dir(name), 0o700), root.WriteFile(name, content, 0o600)); err != nil {
			return err
		}
	}
	inventory := fmt.Sprintf("target ansible_connection=ssh ansible_ssh_executable=%s/ssh ansible_become=false ansible_python_interpreter=/usr/bin/python3 ansible_host=target\n", work)
	return errors.Join(root.WriteFile("ansible.cfg", nil, 0o600), root.WriteFile("inventory", []byte(inventory), 0o600), root.WriteFile("ssh", []byte(r.target.Script()), 0o700))
}

// played is what the JSON of Ansible says of the role.
func played(b, errs []byte) rehearsal.Role {
	role := rehearsal.Role{Failures: []string{}, Notes: []string{}}
	var said struct {
		Plays []struct {
			Tasks []struct {
				Task  struct{ Name string }
				Hosts map[string]struct {
					Failed      bool
					Unreachable bool
					Msg         json.RawMessage
					Stderr      string
					Results     []struct {
						Failed bool
						Msg    json.RawMessage
						Stderr string
					}
				}
			}
		}
		Stats map[string]struct{ OK, Changed, Failures, Unreachable int }
	}
	if i := bytes.IndexByte(b, '{'); i < 0 || json.Unmarshal(b[i:], &said) != nil || len(said.Stats) == 0 {
		role.Failures = append(role.Failures, oneLine(tail(append(b, errs...), 600)))
		return role
	}
	for _, s := range said.Stats {
		role.OK, role.Changed, role.Failed = s.OK, s.Changed, s.Failures+s.Unreachable
	}
	role.Applied = role.Failed == 0
	for _, p := range said.Plays {
		for _, t := range p.Tasks {
			for _, h := range t.Hosts {
				if h.Failed || h.Unreachable {
					said := slices.Concat(h.Msg, []byte(h.Stderr))
					for _, one := range h.Results { // of a loop: each says why itself
						if one.Failed {
							said = slices.Concat(said, []byte(" "), one.Msg, []byte(one.Stderr))
						}
					}
					role.Failures = append(role.Failures, t.Task.Name+": "+oneLine(tail(said, 600)))
				}
				var notes []string
				if strings.HasSuffix(t.Task.Name, "Say what a person should look at") && json.Unmarshal(h.Msg, &notes) == nil {
					role.Notes = append(role.Notes, sliced.Map(notes, func(n string) string { return tail([]byte(n), 400) })...)
				}
			}
		}
	}
	return role
}

// dataPlace is where the target has the scripts of the data's move.
const dataPlace = "/var/tmp/svc-data"

// moveData moves the data as a person would: by the scripts that svc writes, from the
// source's files, and of databases from the servers of the source's copy.
func (r *rehearsing) moveData(ctx context.Context) error {
	r.Env.Step("moving the data", 0, 1)
	plan := filepath.Join(r.dir, "data")
	in := dataplan.PlanInput{Machine: r.in.Machine, Target: r.in.Target, Out: plan, SourceOffline: true, Confirm: true}
	if _, err := dataplan.Plan(ctx, r.Env, in); err != nil {
		return fmt.Errorf("planning the data's move: %w", err)
	}
	if err := r.send(ctx, r.target, plan); err != nil {
		r.remark("The target takes no scripts, so its data were not moved: " + oneLine(err.Error()))
		return ctx.Err()
	}
	for _, script := range []string{"05-accounts.sh", "10-check.sh", "20-first-copy.sh", "30-before.sh", "40-copy.sh", "50-after.sh"} {
		step := r.script(ctx, r.target, script, "bash "+script, []string{"SOURCE_ROOT=" + sourcePlace, "NO_DEVICES=1", "STOP_HARD=1"}) // a sandbox makes none, and is thrown away
		if script == "50-after.sh" {
			r.data = append(r.data, rehearsal.Step{Name: "files, as the data's own comparison has them", OK: step.OK || step.Status == startsNot, Output: step.Output, About: stopped(step.Output)})
		}
		if !step.OK && script != "05-accounts.sh" {
			r.remark("The move of the files ended with " + script + ": " + strings.Join(step.Output[max(0, len(step.Output)-1):], ""))
			break
		}
	}
	r.script(ctx, r.target, "the way to the source's files", sourceShell, nil)
	for n, command := range report.BeforeDatabases(r.Plan, r.Assessment) {
		r.script(ctx, r.target, fmt.Sprintf("what databases need, %d", n+1), "PATH=/run/svc:$PATH; "+command, []string{"SOURCE_SSH=root@source"})
	}
	scripts, err := filepath.Glob(filepath.Join(plan, "databases", "*.sh"))
	if err != nil {
		return err
	}
	for _, s := range scripts {
		if err := r.moveDatabase(ctx, plan, "databases/"+filepath.Base(s)); err != nil {
			return err
		}
	}
	exports := report.Exports(r.Plan)
	if r.source != nil && r.source.observed != nil {
		exports = slices.Concat(report.Remade(r.Plan, r.Assessment), exports)
	}
	for _, e := range exports {
		if err := r.export(ctx, e); err != nil {
			return err
		}
	}
	for n, command := range report.AfterData(r.Plan, r.Assessment) {
		if m, ok := report.Of(r.Plan, command); ok {
			r.mend(ctx, m)
			continue
		}
		r.script(ctx, r.target, fmt.Sprintf("what follows from the data, %d", n+1), "PATH=/run/svc:$PATH; "+command, []string{"SOURCE_SSH=root@source"})
	}
	return nil
}

// mendTime is how long the command of a known trouble may take.
const mendTime = 10 * time.Minute

// mend runs the command of a known trouble where it is due. What it ends with is judged
// with the rest: the last time counts, and one that fails ends nothing.
func (r *rehearsing) mend(ctx context.Context, m report.Mend) {
	step := r.step(ctx, r.target, "to mend: "+m.Title, "PATH=/run/svc:$PATH; "+m.Command, []string{"SOURCE_SSH=root@source"}, mendTime)
	step.Name = m.Title
	r.mends = append(slices.DeleteFunc(r.mends, func(s rehearsal.Step) bool { return s.Name == m.Title }), step)
}

// mendAll runs commands of known troubles, in the target's own order.
func (r *rehearsing) mendAll(due func(*migration.Plan) []report.Mend) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, m := range due(r.Plan) {
			r.mend(ctx, m)
		}
		return nil
	}
}

// stopped are the services, without their ending, that 50-after.sh says it left stopped.
func stopped(output []string) (names []string) {
	for _, line := range output {
		if list, ok := strings.CutPrefix(line, "These stay stopped until their places are whole: "); ok {
			for unit := range strings.FieldsSeq(strings.ToLower(strings.TrimSuffix(list, "."))) {
				names = append(names, strings.TrimSuffix(unit, path.Ext(unit)))
			}
		}
	}
	return names
}

// spoken are words by which what depends on a database is told: of its script's engine.
func spoken(script []byte) []string {
	for program, words := range map[string][]string{"pg_dumpall": {"postgresql", "pgsql", "psql"}, "mariadb-dump": {"mariadb", "mysql"}, "slapcat": {"slapd", "ldap"}, "mongodump": {"mongo"}} {
		if bytes.Contains(script, []byte(program)) {
			return words
		}
	}
	return nil
}

// sourceShell makes what stands for ssh on the target: the source is the folder of its
// files, below which the target's own rsync reads what the source's would. A path stays
// relative to it, as rsync -R has it by "/./". Files are read by the target's own cat, too;
// nothing of the source is run there.
const sourceShell = "mkdir -p /run/svc && cat >/run/svc/ssh <<'SSH' && chmod 755 /run/svc/ssh\n" + `#!/bin/sh
set -f
[ "$1" != -l ] || shift 2
shift
eval "set -- $*"
case $1 in
rsync) path= ;;
cat) path=yes ;;
*) echo "a rehearsal does not run $1 of the source" >&2 && exit 126 ;;
esac
n=$#
while [ $n -gt 0 ]; do
	a=$1 n=$((n - 1))
	shift
	case $path$a in yes/*) a=` + sourcePlace + `/.$a ;; esac
	[ "$a" != . ] || path=yes
	set -- "$@" "$a"
done
exec "$@"
` + "SSH\n"

// startsNot is how 50-after.sh ends where the data are equal, and a service does not
// start: whether it runs in the end is asked of it.
const startsNot = 2

// localShell stands for ssh in the copy of the source: the source is where it is called.
const localShell = "mkdir -p /run/svc && printf '#!/bin/sh\\nwhile [ \"$1\" != -- ]; do shift; done\\nshift 2\\nexec \"$@\"\\n' >/run/svc/ssh && chmod 755 /run/svc/ssh"

// moveDatabase dumps a database in the source's copy, and loads it into the target.
func (r *rehearsing) moveDatabase(ctx context.Context, plan, script string) error {
	name := strings.TrimSuffix(path.Base(script), ".sh")
	text, err := os.ReadFile(filepath.Join(plan, script))
	if err != nil {
		return err
	}
	ended := func(s rehearsal.Step) {
		r.data = append(r.data, rehearsal.Step{Name: name, OK: s.OK, Output: s.Output, About: spoken(text)})
	}
	if r.source == nil || r.source.observed == nil {
		ended(rehearsal.Step{Output: []string{"The source's server does not run: there is no booted copy of it."}})
		return nil
	}
	if err := r.send(ctx, r.source, plan); err != nil {
		ended(rehearsal.Step{Output: []string{oneLine(err.Error())}})
		return ctx.Err()
	}
	if dumped := r.script(ctx, r.source, name+": dump", localShell+" && PATH=/run/svc:$PATH bash "+script+" dump", []string{"SOURCE_SSH=root@source"}); !dumped.OK {
		ended(dumped)
		return nil
	}
	if err := r.carry(ctx, name); err != nil {
		ended(rehearsal.Step{Output: []string{oneLine(err.Error())}})
		return ctx.Err()
	}
	steps := []string{"load", "check"}
	if bytes.Contains(text, []byte("\naccounts()")) {
		steps = []string{"load", "accounts", "check"}
	}
	for _, s := range steps {
		step := r.script(ctx, r.target, name+": "+s, "bash "+script+" "+s, nil)
		if s == "check" || !step.OK {
			ended(step)
			break
		}
	}
	return nil
}

// export brings what a server holds from the source's copy, by its own export.
func (r *rehearsing) export(ctx context.Context, e report.Export) error {
	if r.source == nil || r.source.observed == nil {
		r.data = append(r.data, rehearsal.Step{Name: e.Package, Output: []string{"The source's server does not run: there is no booted copy of it."}})
		return nil
	}
	if err := r.pipe(ctx, e.Source, "umask 077 && cat >"+dataPlace+"/"+e.File); err != nil {
		r.data = append(r.data, rehearsal.Step{Name: e.Package, Output: []string{oneLine(err.Error())}})
		return ctx.Err()
	}
	step := r.script(ctx, r.target, e.Package+": its export", "{ "+strings.Join(e.Commands, "; } && { ")+"; }", nil)
	r.data = append(r.data, rehearsal.Step{Name: e.Package, OK: step.OK, Output: step.Output})
	return nil
}

// carry takes the dump of a database from the source's copy to the target.
func (r *rehearsing) carry(ctx context.Context, name string) error {
	return r.pipe(ctx, "cd "+dataPlace+" && tar -c -- "+visible.Word(name)+".dump*", "exec tar -x --no-same-owner -C "+dataPlace)
}

// pipe has the target read what a command of a shell prints in the source's copy.
func (r *rehearsing) pipe(ctx context.Context, from, to string) error {
	return feed(ctx, r.target, "the target", to, func(w io.Writer) error {
		var said bytes.Buffer
		got, err := r.source.Run(ctx, sandbox.Command{Words: []string{"sh", "-c", from}, Stdout: w, Stderr: &sandbox.Beginning{To: &said, Most: 1 << 12}, Time: dataTime, Session: true})
		if err == nil && got.Status != 0 {
			err = fmt.Errorf("the source: %s", tail(said.Bytes(), 300))
		}
		return err
	})
}

// feed has a command of a shell in a machine read what is written.
func feed(ctx context.Context, m *booted, what, command string, write func(io.Writer) error) error {
	in, out := io.Pipe()
	go func() { out.CloseWithError(write(out)) }()
	got, err := m.Run(ctx, sandbox.Command{Words: []string{"sh", "-c", command}, Stdin: in, Time: dataTime, Session: true})
	in.Close()
	if err == nil && got.Status != 0 {
		err = fmt.Errorf("%s: %s", what, tail(got.Text, 300))
	}
	return err
}

// dataTime is how long a step of the data's move may take.
const dataTime = 30 * time.Minute

// script runs a step of the move in the folder of the data's scripts.
func (r *rehearsing) script(ctx context.Context, m *booted, name, command string, env []string) rehearsal.Step {
	return r.step(ctx, m, name, "cd "+dataPlace+" && "+command, env, dataTime)
}

// step runs a step of the move by a machine's bash, and notes it.
func (r *rehearsing) step(ctx context.Context, m *booted, name, command string, env []string, most time.Duration) rehearsal.Step {
	got, err := m.Run(ctx, sandbox.Command{Words: slices.Concat([]string{"env"}, env, []string{"bash", "-c", command}), Time: most, Network: true, Session: true})
	step := rehearsal.Step{Name: name, OK: err == nil && got.Status == 0, Status: got.Status, Output: []string{}}
	for l := range strings.Lines(string(got.Text[max(0, len(got.Text)-2000):])) {
		if l = strings.TrimSpace(l); l != "" {
			step.Output = append(step.Output, secret.Mask(visible.Text(l)))
		}
	}
	if err != nil {
		step.Output = append(step.Output, oneLine(err.Error()))
	}
	step.Output = step.Output[max(0, len(step.Output)-8):]
	r.steps = append(r.steps, step)
	return step
}

// send puts a folder of svc's own into a machine.
func (r *rehearsing) send(ctx context.Context, m *booted, dir string) error {
	return feed(ctx, m, "sending scripts", "mkdir -p "+dataPlace+" && exec tar -x --no-same-owner -C "+dataPlace, func(out io.Writer) error {
		w := tar.NewWriter(out)
		return errors.Join(w.AddFS(os.DirFS(dir)), w.Close())
	})
}

// ownTime is how long a program of a person's checks may take.
const ownTime = 15 * time.Minute

// ownChecks runs a person's checks on a machine: each program of the folder is one,
// or as many as it prints lines of TAP.
func (r *rehearsing) ownChecks(ctx context.Context, m *booted) (all []tap.Result) {
	if r.in.Checks == "" {
		return nil
	}
	entries, err := os.ReadDir(r.in.Checks)
	if err != nil {
		r.remark("The checks could not be read: " + oneLine(err.Error()))
		return nil
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(r.in.Checks, e.Name()))
		info, _ := e.Info()
		if err != nil || info == nil || info.Mode()&0o111 == 0 {
			continue
		}
		const run = "f=$(mktemp /run/svc-check.XXXXXX) && cat >$f && chmod 700 $f && $f </dev/null; s=$?; rm -f $f; exit $s"
		got, err := m.Run(ctx, sandbox.Command{Words: []string{"sh", "-c", run}, Stdin: bytes.NewReader(b), Time: ownTime, Session: true})
		if err != nil {
			all = append(all, tap.Result{Name: e.Name(), Text: oneLine(err.Error())})
			continue
		}
		all = append(all, tap.Parse(e.Name(), got.Status, printed(got.Text))...)
	}
	return all
}

// printed is what a check printed, as text of a machine; a bounded end of it.
func printed(b []byte) string { return visible.Lines(secret.Mask(string(b[max(0, len(b)-64<<10):]))) }
