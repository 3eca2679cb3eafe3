package postgresql

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"svc/assess/conf"
	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/postgresql/session"
)

// beside are files of a data directory that are of the configuration.
var beside = []string{"postgresql.auto.conf", "server.crt", "server.key", "root.crt", "root.crl"}

// configuration is what brings the settings of the old cluster to another one.
type configuration struct{ *pgRun }

// configure gives a cluster the old one's configuration, in which lines that its
// server does not take are made comments.
func (g configuration) configure(ctx context.Context, c session.Cluster) error {
	if err := g.carry(c); err != nil {
		return fmt.Errorf("carrying the configuration over: %w", err)
	}
	var known []string
	for range maxUntaken {
		_, err := g.Run(ctx, g.as(c.Program("postgres"), "-D", c.Config, "-C", "data_directory"))
		if err == nil {
			return nil
		}
		names := untaken(err.Error())
		// What it complains of once more stands in a file that is not the cluster's alone.
		if !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(known, name) }) {
			return fmt.Errorf("PostgreSQL %s does not take the configuration: %w", c.Version, err)
		}
		known = append(known, names...)
		if err := g.comment(c, names); err != nil {
			return fmt.Errorf("adapting the configuration: %w", err)
		}
	}
	return fmt.Errorf("PostgreSQL %s does not take the configuration: see %s", c.Version, g.LogFile())
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
func (g configuration) carry(c session.Cluster) error {
	a := adaption{g.p.Old, c, g.p.Name}
	names, err := g.files(g.p.Old.Config)
	for _, name := range names {
		if name != "start.conf" {
			err = errors.Join(err, g.copyConfig(filepath.Join(g.p.Old.Config, name), filepath.Join(c.Config, name), a))
		}
	}
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

// files are the regular files of a configuration, and links, by their names below
// it. Where it is among the data, their names tell it apart.
func (g configuration) files(dir string) (names []string, err error) {
	inData := isCluster(dir)
	err = engine.Acting(g.p.Owner, dir, func() error {
		return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && inData && path != dir && e.Name() != "conf.d":
				return fs.SkipDir
			case e.IsDir(), inData && filepath.Ext(path) != ".conf":
				return nil
			case len(names) == maxConfigFiles:
				return fmt.Errorf("%s has more than %d files", dir, maxConfigFiles)
			}
			name, err := filepath.Rel(dir, path)
			names = append(names, name)
			return err
		})
	})
	return names, err
}

// copyConfig copies a file with its owner and mode; settings are adapted. What the
// account can't read is none of its server's.
func (g configuration) copyConfig(from, to string, a adaption) error {
	b, st, err := engine.ReadAs(g.p.Owner, from, maxConfigFile)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	if strings.HasSuffix(to, ".conf") {
		b = []byte(a.text(string(b)))
	}
	if err := engine.MakeFolderAs(g.p.Owner, filepath.Dir(to), 0o755); err != nil && !errors.Is(err, fs.ErrExist) { // such as conf.d
		return err
	}
	return engine.PutAs(g.p.Owner, to, b, st)
}

// replace writes a file anew, with the owner and the mode that it has, where its
// text changes.
func (g configuration) replace(name string, change func(text string) string) error {
	b, st, err := engine.ReadAs(g.p.Owner, name, maxConfigFile)
	if err != nil {
		return err
	}
	text := change(string(b))
	if text == string(b) {
		return nil
	}
	if err := engine.PutAs(g.p.Owner, name, []byte(text), st); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// comment makes comments of the lines of settings, wherever they stand.
func (g configuration) comment(c session.Cluster, settings []string) error {
	names, err := g.files(c.Config)
	for i, name := range names {
		names[i] = filepath.Join(c.Config, name)
	}
	for _, name := range append(names, filepath.Join(c.Data, "postgresql.auto.conf")) {
		if !strings.HasSuffix(name, ".conf") {
			continue
		}
		e := g.replace(name, func(text string) string { return commented(text, settings, c.Version) })
		if !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// settingOf is the name of a line's setting and its value; empty where it has none.
func settingOf(line string) (name, value string) {
	for s := range conf.PostgreSQL(line) {
		return s.Key, s.Value
	}
	return "", ""
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
	old, new session.Cluster
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
		out.WriteString(renamed(line, name, value, a.new.Major()))
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
