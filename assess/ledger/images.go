package ledger

import (
	"encoding/json"
	"io/fs"
	"slices"

	"svc/assess"
	"svc/assess/host"
	"svc/backend/lazyregexp"
)

// Ageing is the kind of a notice of how the password of an account ages; what it says begins
// with the account.
const Ageing = "password ageing"

// Image is the kind of a notice of an image of containers, whose path is its name.
const Image = "image"

// madeHere are names of images that were built or imported on the machine, and never had
// another: localhost is what podman and buildah call where there is no registry.
var madeHere = lazyregexp.New(`^localhost/[a-z0-9][a-z0-9._/-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$`)

// images are those of the machine's storage that no registry has, by containers-storage's
// lists, one for each driver.
func images(fsys host.FS, _ *assess.Assessment) (all []Notice) {
	lists, _ := fs.Glob(fsys, "var/lib/containers/storage/*-images/images.json") // the pattern is sound
	for _, list := range lists {
		b, err := host.ReadFile(fsys, list, maxNotice)
		var has []struct{ Names []string }
		if err != nil || json.Unmarshal(b, &has) != nil {
			continue
		}
		for _, image := range has {
			for _, name := range image.Names {
				if madeHere.MatchString(name) && !slices.ContainsFunc(all, func(n Notice) bool { return n.Path == name }) {
					all = append(all, Notice{Image, name, "it was made on this machine, and no registry has it", "bring it by podman save and podman load, or build it anew on the target", ""})
				}
			}
		}
	}
	return all
}
