package services

import (
	"cmp"
	"slices"
	"strings"

	"svc/tools/convert"
)

// sambaPlaces are where the families keep what smb.conf names.
var sambaPlaces = convert.HomesOf("samba").Debian()

// systemNames are accounts of the source's own system with what the target calls
// them.
func systemNames(in convert.Input) map[string]string {
	switch {
	case convert.FromDebian(in):
		return map[string]string{"www-data": "apache", "sudo": "wheel"}
	case convert.WithinRPM(in):
		return nil
	}
	return map[string]string{"apache": "www-data", "nginx": "www-data", "wheel": "sudo"}
}

// Samba drops and renames options that Samba has no more, and names accounts as
// the target does. Shares stay as they are.
func Samba(in convert.Input) (r convert.Result) {
	s := convert.Settings{Program: "samba", Comment: "#", Equals: true, Places: sambaPlaces}.Towards(in)
	s.Own = func(p *convert.Page, i int, name, value string) bool { return sambaSetting(&r, p, i, name, value, in) }
	for _, f := range in.Files {
		r.Close(s.Convert(f), f.Path)
	}
	return r
}

func sambaSetting(r *convert.Result, p *convert.Page, i int, name, value string, in convert.Input) bool {
	folded := convert.Fold(name)
	switch {
	case strings.HasPrefix(name, "["), strings.HasPrefix(name, ";"), continues(p, i):
		return true
	case (folded == "full_audit:success" || folded == "full_audit:failure") && convert.HasSince("samba", "4.22", in.Target):
		auditLine(p, i, name, value)
		return true
	case strings.Contains(name, ":"):
		return true // an option of a module, which alone knows it
	case folded == "security" && (strings.EqualFold(value, "share") || strings.EqualFold(value, "server")):
		p.Refuse(i, "Samba 4.0 has no security = "+value+": users log in by name; map to guest and guest ok open a share to all.")
		return true
	case folded == "vfsobjects", folded == "vfsobject":
		modulesLine(r, p, i, value, in)
		return true
	case convert.Lists("samba-accounts", folded):
		p.Replace(i, name+" = "+sambaNames(value, systemNames(in)), "Accounts of the system have other names.")
		return true
	}
	return false
}

// continues reports whether a line goes on from the one above.
func continues(p *convert.Page, i int) bool {
	return i > 0 && strings.HasSuffix(p.Lines[i-1], `\`)
}

// sambaNames are the names of a list as the target has them.
func sambaNames(list string, names map[string]string) string {
	words := strings.FieldsFunc(list, func(c rune) bool { return c == ' ' || c == ',' || c == '\t' })
	for _, word := range words {
		bare := strings.TrimLeft(word, "@+&")
		if now, ok := names[bare]; ok {
			list = replaceWord(list, word, strings.TrimSuffix(word, bare)+now)
		}
	}
	return list
}

// replaceWord puts another word in the place of one of a list.
func replaceWord(list, word, now string) string {
	for i := 0; i < len(list); i++ {
		end := i + len(word)
		if strings.HasPrefix(list[i:], word) && (i == 0 || strings.ContainsRune(" ,\t", rune(list[i-1]))) && (end == len(list) || strings.ContainsRune(" ,\t", rune(list[end]))) {
			list = list[:i] + now + list[end:]
			i += len(now)
		}
	}
	return list
}

// modulesLine checks that the target has the modules of a share.
func modulesLine(r *convert.Result, p *convert.Page, i int, value string, in convert.Input) {
	for name := range strings.FieldsFuncSeq(value, func(c rune) bool { return c == ' ' || c == ',' || c == '\t' }) {
		bare, _, _ := strings.Cut(name, ":")
		switch bare = strings.ToLower(bare); {
		case convert.WordsOf("samba-packages")[bare].Now != "" && convert.DebianFamily(in.Target):
			r.Packages = append(r.Packages, convert.WordsOf("samba-packages")[bare].Now)
		case !convert.Known()["samba-vfs"][convert.Fold(bare)]:
			p.Refuse(i, "Samba 4.22 has no module "+bare+".")
		}
	}
}

// auditLine writes operations that vfs_full_audit logs as the target's calls them. It lets
// nobody into a share that names another, which was passed over before 4.16.
func auditLine(p *convert.Page, i int, name, value string) {
	var now []string
	for word := range strings.FieldsFuncSeq(value, func(c rune) bool { return c == ' ' || c == ',' || c == '\t' }) {
		bare := strings.TrimPrefix(word, "!")
		is := cmp.Or(convert.WordsOf("samba-audit")[bare].Now, bare)
		if is = strings.TrimSuffix(word, bare) + is; convert.Known()["samba-audit"][convert.Fold(strings.TrimPrefix(is, "!"))] && !slices.Contains(now, is) {
			now = append(now, is)
		}
	}
	if text := cmp.Or(strings.Join(now, " "), "none"); text != strings.Join(strings.Fields(strings.ReplaceAll(value, ",", " ")), " ") {
		p.Replace(i, name+" = "+text, "vfs_full_audit of Samba 4.22 has these operations, and refuses who connects where one is named that it has not.")
	}
}
