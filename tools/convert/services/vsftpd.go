package services

import (
	"slices"
	"strings"

	"svc/tools/convert"
)

// VSFTPD carries the settings of the rpm families' vsftpd over, whose lists and certificates
// stand in a folder of its own; and what Debian's own file says since its program's default
// is a folder that Debian has not: secure_chroot_dir.
func VSFTPD(in convert.Input) (r convert.Result) {
	s := convert.Settings{Comment: "#", Equals: true, Homes: convert.HomesOf("vsftpd")}.Towards(in)
	for _, f := range in.Files {
		p := s.Convert(f)
		for i := range p.Active() {
			if strings.EqualFold(strings.TrimSpace(p.Lines[i]), "background=yes") {
				p.Drop(i, "Debian's unit has it in the foreground, and would take it for ended.")
			}
		}
		if !slices.ContainsFunc(p.Lines, func(line string) bool { return strings.HasPrefix(line, "secure_chroot_dir=") }) {
			const empty = "secure_chroot_dir=/var/run/vsftpd/empty"
			p.Lines = append(p.Lines, empty)
			if n := len(p.Lines) - 2; n >= 0 && p.Lines[n] == "" { // the last line ends as the others do
				p.Lines[n], p.Lines[n+1] = empty, ""
			}
			p.Changes = append(p.Changes, convert.Change{Now: empty, Why: "Debian has no folder /usr/share/empty, which is the program's default."})
		}
		r.Close(p, s.Places.Move(f.Path))
	}
	return r
}
