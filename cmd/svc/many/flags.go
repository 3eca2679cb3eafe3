package many

import (
	"flag"

	"svc/tools/machine"
	"svc/tools/tool"
)

// MachineFlags name the machine that a command reads.
func MachineFlags(fs *flag.FlagSet, m *machine.Machine) {
	fs.StringVar(&m.Root, "root", "", "root folder of the machine, such as a mounted disk")
	fs.StringVar(&m.Image, "image", "", "disk image of the machine, powered off: raw, qcow2, vmdk, vhd, vhdx or vdi")
	TrustFlag(fs, &m.TrustImage)
	fs.StringVar(&m.SSH, "ssh", "", "ssh destination of the running machine: [user@]host[:port]")
}

// TrustFlag lets images name files elsewhere.
func TrustFlag(fs *flag.FlagSet, trust *bool) {
	fs.BoolVar(trust, "trust-image", false, "allow an image to name files outside its folder")
}

// HazardsFlag names tables of known trouble.
func HazardsFlag(fs *flag.FlagSet, folder *string) {
	fs.StringVar(folder, "hazards", "", "folder of tables (*.tsv) of known trouble of your own, beside the program's; see svc ask hazard-tables")
}

// DetailFlags say how much of a long result is shown: all of it, unless told.
func DetailFlags(fs *flag.FlagSet, detail *tool.Detail, limit *int) {
	*detail = tool.DetailFull
	fs.IntVar(limit, "limit", 0, "entries of each list in a summary")
	fs.Func("detail", "summary or full (default full)", func(s string) error {
		*detail = tool.Detail(s)
		return nil
	})
}
