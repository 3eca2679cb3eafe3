package migration_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"svc/.ci/e2e"
)

var all = flag.Bool("all", false, "prove a verification by cosign too, which is built from source")

// cosign is the version of the one that proves. It is built once: that takes some minutes.
const cosign = "v2.6.5"

// prover proves a folder by programs that know nothing of svc: by README's own recipe, as
// it stands there.
type prover struct {
	*move
	recipe, path string
}

func newProver(m *move) prover {
	folder := filepath.Join(e2e.Cache(), "cosign")
	m.Call(0, `[ -x "$1/cosign" ] && [ "$(cat "$1/version")" = "$2" ] || {
		GOBIN=$1 GOFLAGS=-mod=mod go install "github.com/sigstore/cosign/v2/cmd/cosign@$2"
		echo "$2" >"$1/version"
	}`, folder, cosign)
	_, section, _ := strings.Cut(m.read("../../../README.md"), "\n### Proof without svc\n")
	_, block, _ := strings.Cut(section, "\n```sh\n")
	recipe, _, found := strings.Cut(block, "\n```\n")
	m.is.True(found)
	return prover{m, recipe, folder + ":" + os.Getenv("PATH")}
}

// proves says what of the folder is not proven by a key. What was added is printed as lines
// that are no JSON.
func (p prover) proves(folder, key string) error {
	c := exec.Command("bash", "-e", "-c", p.recipe)
	c.Dir, c.Env = p.Path(folder), append(os.Environ(), "PATH="+p.path, "KEY="+p.Path(key))
	out, err := c.Output()
	var predicate struct {
		Fingerprint string `json:"vm_fingerprint"`
	}
	if err = errors.Join(err, json.Unmarshal(out, &predicate)); err != nil || predicate.Fingerprint == "" {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// tampered are changes of a folder that was signed, as commands of the shell.
var tampered = []string{
	"echo >>parity.json",
	"rm assessment.json",
	"touch ansible.cfg",
	"sed -i 1d manifest.sha256",
	"sed -i y/0123456789abcdef/123456789abcdef0/ manifest.salt",
	"jq -c '.payload |= (@base64d | fromjson | .predicate.parity |= not | tojson | @base64)' attestation.dsse.json >changed && mv changed attestation.dsse.json",
}

// isProven: a verification's folder is proven by the service's key and no other, and not
// when something of it was changed.
func (p prover) isProven(folder string) {
	const key = "data/svc/keys/embedded.pem"
	p.is.NoErr(p.proves(folder, key))
	for _, change := range tampered {
		p.Shell(0, `rm -rf "$2" && cp -a "$1" "$2" && cd "$2" && eval "$3"`, p.Path(folder), p.Path("tampered"), change)
		if p.proves("tampered", key) == nil {
			p.t.Errorf("the recipe takes what was changed: %s", change)
		}
	}
	p.Shell(0, `openssl genpkey -algorithm ed25519 | openssl pkey -pubout >"$1"`, p.Path("other.pem"))
	p.is.True(p.proves(folder, "other.pem") != nil)
}
