package data

import (
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/host"
	"svc/backend/lazyregexp"
)

// setting is how a program is told where its data are: files, and what stands
// there before the folder.
type setting struct {
	files string // a pattern
	value *lazyregexp.Regexp
	kind  Kind
	what  string
}

// placed makes a setting; before is a pattern of what stands before the folder
// in its line.
func placed(files, before string, kind Kind, what string) setting {
	return setting{files, lazyregexp.New(`(?m)^\s*` + before + `["']?(/[^"'\s;#%$<,*?]*)`), kind, what}
}

var settings = []setting{
	placed("etc/postfix/main.cf", `(?:mail_spool_directory|virtual_mailbox_base)\s*=\s*`, Mail, "postfix"),
	placed("etc/postfix/main.cf", `queue_directory\s*=\s*`, Queue, "postfix"),
	placed("etc/dovecot/dovecot.conf", `mail_(?:location\s*=\s*\w+:|path\s*=\s*)`, Mail, "dovecot"),
	placed("etc/dovecot/conf.d/*.conf", `mail_(?:location\s*=\s*\w+:|path\s*=\s*)`, Mail, "dovecot"),
	placed("etc/imapd.conf", `partition-\w+:\s*`, Mail, "cyrus"),
	placed("etc/samba/smb.conf", `(?i:path|directory)\s*=\s*`, Served, "shared by Samba"),
	placed("etc/rsyncd.conf", `path\s*=\s*`, Served, "served by rsync"),
	placed("etc/vsftpd*.conf", `(?:anon|local)_root=`, Served, "served by FTP"),
	placed("etc/vsftpd/*.conf", `(?:anon|local)_root=`, Served, "served by FTP"),
	placed("etc/default/minio", `MINIO_VOLUMES=`, Served, "minio"),
	placed("etc/default/svnserve", `.*(?:-r|--root)[ =]`, Repository, "svn"),
	placed("etc/sysconfig/svnserve", `.*(?:-r|--root)[ =]`, Repository, "svn"),
	placed("etc/docker/daemon.json", `\{?\s*"(?:data-root|graph)"\s*:\s*`, Containers, "docker"),
	placed("etc/containers/storage.conf", `graphroot\s*=\s*`, Containers, "podman"),
	placed("etc/libvirt/storage/*.xml", `<path>`, Machines, "libvirt"),
	placed("etc/elasticsearch/elasticsearch.yml", `path\.data:\s*`, Database, "elasticsearch"),
	placed("etc/opensearch/opensearch.yml", `path\.data:\s*`, Database, "opensearch"),
	placed("etc/influxdb/influxdb.conf", `(?:wal-)?dir\s*=\s*`, Database, "influxdb"),
	placed("etc/neo4j/neo4j.conf", `(?:server|dbms)\.directories\.data\s*=\s*`, Database, "neo4j"),
	placed("etc/clickhouse-server/config.xml", `<path>`, Database, "clickhouse"),
	placed("etc/cassandra/cassandra.yaml", `(?:-|commitlog_directory:|saved_caches_directory:)\s+`, Database, "cassandra"),
}

// Bounds of what is read of programs' settings: of a file, in bytes, and of
// folders that it names.
const (
	maxSettings = 1 << 20
	maxNamed    = 200
)

// named are the folders that programs' own settings name.
func named(_ *assess.Assessment, fsys host.FS) (all []candidate) {
	for _, s := range settings {
		files, _ := fs.Glob(fsys, s.files) // the patterns are sound
		for _, file := range files {
			b, err := host.ReadFile(fsys, file, maxSettings)
			if err != nil {
				continue // that it could not be read, the assessment says
			}
			for _, dir := range s.folders(string(b)) {
				all = append(all, candidate{path: dir, kind: s.kind, what: s.what, evidence: "/" + file})
			}
		}
	}
	return all
}

// folders are those that a file names, up to what the program fills in itself.
func (s *setting) folders(text string) (all []string) {
	for _, m := range s.value.FindAllStringSubmatch(text, maxNamed) {
		all = append(all, path.Clean(m[1]))
	}
	return all
}

// container is what docker keeps of one.
type container struct {
	Name        string
	MountPoints map[string]struct {
		Type, Source string
		RW           bool
	}
}

// bound are the folders of the machine that containers write to.
func bound(a *assess.Assessment, fsys host.FS) (all []candidate) {
	for _, c := range a.Containers {
		if c.Engine != "docker" || c.Kind != "container" {
			continue
		}
		b, err := host.ReadFile(fsys, strings.TrimPrefix(c.Evidence.Path, "/"), maxSettings)
		if err != nil {
			continue // the assessment has read it, and says so where it could not
		}
		for _, dir := range boundFolders(b) {
			all = append(all, candidate{path: dir, kind: Containers, what: "volume of " + c.Name, evidence: c.Evidence.Path})
		}
	}
	return all
}

// boundFolders are those of a container's description, sorted by where it sees
// them.
func boundFolders(b []byte) (all []string) {
	var c container
	if json.Unmarshal(b, &c) != nil {
		return nil
	}
	for _, at := range slices.Sorted(maps.Keys(c.MountPoints)) {
		if m := c.MountPoints[at]; m.Type == "bind" && m.RW && len(all) < maxNamed {
			all = append(all, m.Source)
		}
	}
	return all
}
