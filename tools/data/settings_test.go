package data

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/tsv"
)

func TestSettingsNameFolders(t *testing.T) {
	is := is.New(t)
	files := map[string]string{
		"etc/postfix/main.cf": "# queue_directory = /no\nqueue_directory = /data/q\nvirtual_mailbox_base=/data/v\n", "etc/dovecot/conf.d/10-mail.conf": "  mail_location = maildir:/data/mail/%d/%n\n",
		"etc/samba/smb.conf": "[x]\n   path = /data/with space\n   Path = /data/share\n", "etc/docker/daemon.json": `{"data-root": "/data/docker"}`, "etc/containers/storage.conf": "graphroot = \"/data/podman\"\n",
		"etc/libvirt/storage/big.xml": "<pool>\n  <target>\n    <path>/data/machines</path>\n", "etc/elasticsearch/elasticsearch.yml": "path.data: /data/es\n", "etc/default/svnserve": "DAEMON_ARGS=\"-d -r /data/svn\"\n",
		"etc/cassandra/cassandra.yaml": "data_file_directories:\n    - /data/cassandra\n", "etc/vsftpd.conf": "local_root=/data/ftp/$USER\n",
		"var/lib/docker/containers/abcdef/config.v2.json": `{"Name": "/shop", "Config": {"Image": "x"}, "MountPoints": {
			"/data": {"Type": "bind", "Source": "/data/bound", "RW": true}, "/etc": {"Type": "bind", "Source": "/etc", "RW": true}, "/ro": {"Type": "bind", "Source": "/data/ro", "RW": false}}}`,
		"data/ro/f": "", "etc/fstab": "/dev/sdb1 /data/lun ext4 _netdev 0 0\n",
	}
	want := map[string]Place{
		"/data/q": {Kind: Queue, What: "postfix"}, "/data/v": {Kind: Mail, What: "postfix"}, "/data/mail": {Kind: Mail, What: "dovecot"}, "/data/share": {Kind: Served, What: "shared by Samba"}, "/data/docker": {Kind: Containers, What: "docker"},
		"/data/podman": {Kind: Containers, What: "podman"}, "/data/machines": {Kind: Machines, What: "libvirt"}, "/data/es": {Kind: Database, What: "elasticsearch"}, "/data/svn": {Kind: Repository, What: "svn"},
		"/data/cassandra": {Kind: Database, What: "cassandra"}, "/data/ftp": {Kind: Served, What: "served by FTP"}, "/data/bound": {Kind: Containers, What: "volume of shop"}, "/data/lun": {Kind: Remote, What: "/dev/sdb1"},
	}
	for dir := range want {
		files[dir[1:]+"/f"] = "x"
	}
	d := discovered(t, machine(t, files))
	for dir, p := range want {
		got := placeAt(t, d, dir)
		is.Equal([]any{dir, got.Kind, got.What}, []any{dir, p.Kind, p.What})
	}
	is.Equal(wayOf(placeAt(t, d, "/data/bound")).method, Rsync) // unlike the images of its engine
	for _, p := range d.Places {
		is.True(p.Path != "/data/ro" && p.Path != "/etc")
	}
}

func FuzzSettings(f *testing.F) {
	f.Add("queue_directory = /data/../../x\npath = '/y")
	f.Add(`{"Name": "/shop", "MountPoints": {"/data": {"Type": "bind", "Source": "/data", "RW": true}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		for row := range tsv.Rows(settingRows, 4) {
			for _, dir := range foldersBehind(row[3], text) {
				if !strings.HasPrefix(dir, "/") || strings.Contains(dir, "/../") {
					t.Fatalf("the folder %q", dir)
				}
			}
		}
		if n := len(boundFolders([]byte(text))); n > maxNamed {
			t.Fatalf("%d folders", n)
		}
	})
}
