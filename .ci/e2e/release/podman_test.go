package release_test

import (
	"os"
	"testing"

	"github.com/matryer/is"

	"svc/.ci/e2e"
)

// engine is podman's, with runc, as crun refuses hosts with both kinds of cgroups; with
// limits of its own, as root of a guest may not raise those that it has.
const engine = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
[network]
network_backend = "netavark"
`

// podman has the compose example run: the image as it is released, and in the place of the
// one of PostgreSQL, which a registry has, one of Debian's.
func (r *release) podman(t *testing.T) {
	w := r.In(t)
	w.Call(0, `needs podman:podman runc:runc podman-compose:podman-compose
		[ -e /usr/lib/podman/netavark ] || needs no-such-program:netavark
		[ -e /usr/lib/podman/aardvark-dns ] || needs no-such-program:aardvark-dns`)
	w.Files(w.Dir, map[string]string{
		"containers.conf": engine,
		"storage.conf":    "[storage]\ndriver = \"overlay\"\ngraphroot = \"" + w.Path("podman") + "\"\nrunroot = \"" + w.Path("podman-run") + "\"\n",
	})
	t.Setenv("CONTAINERS_CONF", w.Path("containers.conf"))
	t.Setenv("CONTAINERS_STORAGE_CONF", w.Path("storage.conf"))
	w.Hold("true", "podman rm -f -a -t 1; podman system reset --force")

	w.Run(0, "podman", "load", "-i", r.file("*_oci.tar"))
	image := []string{"run", "--rm", "--network", "none"}
	w.Run(0, "podman", append(image, "--read-only", "--cap-drop", "ALL", "localhost/svc:1.0.0", "version")...)
	is.New(t).Equal(w.Run(0, "podman", "image", "inspect", "-f", "{{.User}}", "localhost/svc:1.0.0").Line(), "65532:65532") // it is no root's
	w.Run(127, "podman", append(image, "--entrypoint", "/bin/sh", "localhost/svc:1.0.0", "-c", "true")...)                  // and has no shell
	postgresql(t, w)
	r.composes(t, w)
}

// composes runs the example as it is.
func (r *release) composes(t *testing.T, w *e2e.Work) {
	t.Setenv("SVC_VERSION", "1.0.0")
	t.Setenv("POSTGRES_PASSWORD", "secret")
	up := []string{"-f", "../../../packaging/compose.yaml", "-p", "e2e", "up", "-d"}
	w.Run(0, "podman-compose", append(up, "db")...)
	w.Until("podman", "exec", "e2e_db_1", "/usr/lib/postgresql/17/bin/pg_isready", "-q", "-h", "127.0.0.1", "-U", "svc")
	w.Shell(0, `podman-compose "$@" || true`, up...) // this one waits for no health, and says that the first is there
	w.Until("curl", "-sf", "-m", "5", "-o", "/dev/null", "http://127.0.0.1:8443/v1/health")
	w.Run(0, "podman", "exec", "e2e_svc_1", "/usr/bin/svc", "admin", "account", "create", "--name", "acme", "--plan", "pro") // beside it
	names := w.Run(0, "podman", "exec", "e2e_db_1", "/usr/lib/postgresql/17/bin/psql", "-U", "svc", "-tAc", "select name from accounts where name = 'acme'")
	is.New(t).Equal(names.Line(), "acme") // PostgreSQL has it
	w.Run(0, "podman", "restart", "-t", "10", "e2e_svc_1")
	w.Until("sh", "-c", "podman exec e2e_svc_1 /usr/bin/svc admin account list --json | grep -q acme") // as before
}

// start takes the variables that PostgreSQL's own image takes.
const start = `#!/bin/sh
set -e
export PGDATA=/var/lib/postgresql/data PATH=/usr/lib/postgresql/17/bin:$PATH
if [ "$(id -u)" = 0 ]; then chown postgres: "$PGDATA" && exec setpriv --reuid postgres --regid postgres --init-groups "$0"; fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
	echo "$POSTGRES_PASSWORD" >/tmp/password
	initdb -U "$POSTGRES_USER" --pwfile /tmp/password -A scram-sha-256 >/dev/null
	printf 'local all all trust\nhost all all all scram-sha-256\n' >"$PGDATA/pg_hba.conf"
	echo "create database $POSTGRES_USER" | postgres --single -D "$PGDATA" postgres >/dev/null
fi
exec postgres -c listen_addresses='*'
`

// postgresql makes the image that the example takes from a registry.
func postgresql(t *testing.T, w *e2e.Work) {
	root := w.Path("postgresql")
	w.Call(0, `minimal "$1" trixie postgresql-17; settled "$1"`, root)
	w.Files(root, map[string]string{"usr/local/bin/start": start})
	is.New(t).NoErr(os.Chmod(root+"/usr/local/bin/start", 0o755))
	w.Shell(0, `tar -C "$1" -c . | podman import --change 'ENTRYPOINT ["/usr/local/bin/start"]' - docker.io/library/postgres:17`, root)
}
