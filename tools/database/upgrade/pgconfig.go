package upgrade

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// beside are files of a data directory that are of the configuration.
var beside = []string{"postgresql.auto.conf", "server.crt", "server.key", "root.crt", "root.crl"}

// configure gives a cluster the old one's configuration, in which lines that its
// server does not take are made comments.
func (g *pgRun) configure(ctx context.Context, c cluster) error {
	if err := g.carry(c); err != nil {
		return fmt.Errorf("carrying the configuration over: %w", err)
	}
	for range maxUntaken {
		_, err := g.run(ctx, g.as(c.program("postgres"), "-D", c.Config, "-C", "data_directory"))
		if err == nil {
			return nil
		}
		names := untaken(err.Error())
		if len(names) == 0 {
			return fmt.Errorf("PostgreSQL %s does not take the configuration: %w", c.Version, err)
		}
		if err := g.comment(c, names); err != nil {
			return fmt.Errorf("adapting the configuration: %w", err)
		}
	}
	return fmt.Errorf("PostgreSQL %s does not take the configuration: see %s", c.Version, g.logFile())
}

// maxUntaken bounds how often the server is asked; it names some lines each time.
const maxUntaken = 50

// complaint is how a server names a setting that it does not take.
var complaint = regexp.MustCompile(`(?:unrecognized configuration parameter|invalid value for parameter) "([A-Za-z_][A-Za-z0-9_.]*)"`)

// untaken are the settings that a server has complained about.
func untaken(text string) (names []string) {
	for _, m := range complaint.FindAllStringSubmatch(text, -1) {
		if name := strings.ToLower(m[1]); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// carry copies the configuration's files, with the names of the new cluster.
func (g *pgRun) carry(c cluster) error {
	a := adaption{g.p.Old, c, g.p.Name}
	err := eachFile(g.p.Old.Config, func(name string) error {
		if name == "start.conf" {
			return nil
		}
		return g.copyConfig(filepath.Join(g.p.Old.Config, name), filepath.Join(c.Config, name), a)
	})
	for _, name := range beside {
		if e := g.copyConfig(filepath.Join(g.p.Old.Data, name), filepath.Join(c.Data, name), a); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// Bounds of a configuration.
const (
	maxConfigFiles = 500
	maxConfigFile  = 4 << 20
)

// eachFile calls fn with the regular files of a configuration, and with links,
// by their names below it. Where it is among the data, their names tell it apart.
func eachFile(dir string, fn func(name string) error) error {
	inData, count := isCluster(dir), 0
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && inData && path != dir && e.Name() != "conf.d":
			return fs.SkipDir
		case e.IsDir(), inData && filepath.Ext(path) != ".conf":
			return nil
		}
		if count++; count > maxConfigFiles {
			return fmt.Errorf("%s has more than %d files", dir, maxConfigFiles)
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return fn(name)
	})
}

// copyConfig copies a file with its owner and mode; settings are adapted.
func (g *pgRun) copyConfig(from, to string, a adaption) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	var st unix.Stat_t
	b, err := io.ReadAll(io.LimitReader(f, maxConfigFile+1))
	if err = errors.Join(err, unix.Fstat(int(f.Fd()), &st)); err != nil {
		return err
	}
	if len(b) > maxConfigFile {
		return fmt.Errorf("%s has more than %d bytes", from, maxConfigFile)
	}
	if strings.HasSuffix(to, ".conf") {
		b = []byte(a.text(string(b)))
	}
	if err := g.ownFolder(filepath.Dir(to)); err != nil {
		return err
	}
	err = renameio.WriteFile(to, b, fs.FileMode(st.Mode).Perm(), renameio.WithStaticPermissions(fs.FileMode(st.Mode).Perm()))
	return errors.Join(err, os.Lchown(to, int(st.Uid), int(st.Gid)))
}

// ownFolder makes a folder of a configuration, such as conf.d.
func (g *pgRun) ownFolder(dir string) error {
	if err := os.Mkdir(dir, 0o755); errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return err
	}
	return g.own(dir)
}

// replace writes a file anew, with the owner and the mode that it has.
func replace(name string, b []byte) error {
	var st unix.Stat_t
	if err := unix.Stat(name, &st); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	t, err := renameio.NewPendingFile(name, renameio.WithStaticPermissions(fs.FileMode(st.Mode).Perm()))
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	defer t.Cleanup() // does nothing once it stands
	_, err = t.Write(b)
	if err = errors.Join(err, t.Chown(int(st.Uid), int(st.Gid))); err == nil {
		err = t.CloseAtomicallyReplace()
	}
	if err = errors.Join(err, syncDir(filepath.Dir(name))); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// comment makes comments of the lines of settings, wherever they stand.
func (g *pgRun) comment(c cluster, names []string) error {
	one := func(name string) error {
		b, err := os.ReadFile(name)
		if err != nil || !strings.HasSuffix(name, ".conf") || !mentions(string(b), names) {
			return err
		}
		return replace(name, []byte(commented(string(b), names, c.Version)))
	}
	err := eachFile(c.Config, func(name string) error { return one(filepath.Join(c.Config, name)) })
	if e := one(filepath.Join(c.Data, "postgresql.auto.conf")); !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

// setting finds the name and the value of a line of postgresql.conf.
var setting = regexp.MustCompile(`^\s*([A-Za-z_][A-Za-z0-9_.]*)\s*(?:=\s*|\s)([^#\n]*)`)

// settingOf is the name of a line's setting and its value; empty where it has none.
func settingOf(line string) (name, value string) {
	m := setting.FindStringSubmatch(line)
	if m == nil {
		return "", ""
	}
	return strings.ToLower(m[1]), strings.Trim(strings.TrimSpace(m[2]), "'")
}

func mentions(text string, names []string) bool {
	for line := range strings.Lines(text) {
		if name, _ := settingOf(line); slices.Contains(names, name) {
			return true
		}
	}
	return false
}

// commented is a configuration without the settings of some names.
func commented(text string, names []string, version string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if name, _ := settingOf(line); slices.Contains(names, name) {
			fmt.Fprintf(&out, "# not taken by PostgreSQL %s: ", version)
		}
		out.WriteString(line)
	}
	return out.String()
}

// adaption is a configuration's way from a cluster to another.
type adaption struct {
	old, new cluster
	name     string
}

// named are settings that Debian names by version and cluster.
var named = []string{"cluster_name", "external_pid_file", "stats_temp_directory"}

// text is a configuration with the new cluster's names and directories, and with
// the settings that were renamed.
func (a adaption) text(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		line = within(within(line, a.old.Config, a.new.Config), a.old.Data, a.new.Data)
		name, value := settingOf(line)
		if slices.Contains(named, name) {
			for _, sign := range []string{"/", "-"} {
				line = strings.ReplaceAll(line, a.old.Version+sign+a.name, a.new.Version+sign+a.name)
			}
		}
		out.WriteString(renamed(line, name, value, a.new.major()))
	}
	return out.String()
}

// within replaces a directory by another, where it is named as a whole.
func within(line, old, replacement string) string {
	form := regexp.MustCompile(regexp.QuoteMeta(old) + `(['"/\s]|$)`)
	return form.ReplaceAllStringFunc(line, func(m string) string { return replacement + m[len(old):] })
}

// renamed is a line as a version wants it. What has no counterpart is left: the
// server is asked about it.
func renamed(line, name, value string, major int) string {
	switch {
	case name == "wal_keep_segments" && major >= 13:
		if n, err := strconv.Atoi(value); err == nil && n >= 0 {
			return fmt.Sprintf("wal_keep_size = %dMB # was wal_keep_segments = %d\n", 16*n, n)
		}
	case name == "force_parallel_mode" && major >= 16:
		return fmt.Sprintf("debug_parallel_query = %s # was force_parallel_mode\n", value)
	}
	return line
}
