package system

import (
	"path"
	"strings"

	"svc/tools/convert"
)

// Anchors carries people's own authorities into the folder that Debian's
// update-ca-certificates reads, which takes what ends in .crt and holds PEM: ca-certificates(8).
func Anchors(in convert.Input) (r convert.Result) {
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		if !strings.Contains(f.Text, "-----BEGIN CERTIFICATE-----") {
			p.Refuse(0, "It is no certificate in PEM: write it as one (openssl x509 -outform PEM).")
		}
		name := strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path)) + ".crt"
		if was := path.Base(f.Path); was != name {
			r.Note(f.Path, convert.Change{Was: was, Now: name, Why: "Debian's update-ca-certificates takes what ends in .crt."})
		}
		r.Close(p, "/usr/local/share/ca-certificates/"+name)
	}
	return r
}
