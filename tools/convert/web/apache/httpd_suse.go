package apache

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/tools/convert"
)

// httpdHomes are where SUSE keeps what httpd's configuration names.
var httpdHomes = convert.HomesOf("httpd")

// httpdFiles are where it keeps the files themselves; its own httpd.conf stays.
var httpdFiles = convert.HomesOf("httpd-files")

// confFolder is where the target's httpd.conf looks for what a person wrote.
func confFolder(in convert.Input) string { return httpdFiles.Of(in).Move("/etc/httpd/conf.d") }

// fileThere is where a file of the rpm families' places stands on the target: SUSE has
// a folder for virtual hosts.
func fileThere(in convert.Input, file, text string) string {
	if convert.ToSUSE(in) && path.Dir(file) == "/etc/httpd/conf.d" && VirtualHost.MatchString(text) {
		return "/etc/apache2/vhosts.d/" + path.Base(file)
	}
	return httpdFiles.Of(in).Move(file)
}

// loadModules loads the modules that are needed beside those of SUSE's
// APACHE_MODULES, each with those that it needs first.
func (h *httpdRun) loadModules() {
	text, from := "# Modules that the files beside and those of vhosts.d need; APACHE_MODULES of /etc/sysconfig/apache2 has the others.\n", ""
	var load func(module, file string)
	load = func(module, file string) {
		if convert.Lists("httpd-modules-suse", module) || strings.HasPrefix(module, "mpm_") || strings.Contains(text, " "+module+"_module ") {
			return
		}
		for _, first := range httpdModules()[module] {
			load(first, file)
		}
		from = cmp.Or(from, file)
		text += "<IfModule !" + module + "_module>\n    LoadModule " + module + "_module /usr/lib64/apache2/mod_" + module + ".so\n</IfModule>\n"
	}
	for _, module := range slices.Sorted(maps.Keys(h.modules)) {
		files := h.modules[module]
		if i := slices.IndexFunc(files, func(f string) bool { return len(h.Refusals[f]) == 0 }); i >= 0 {
			if name := convert.WordsOf("httpd-packages-suse")[module].Now; name != "" {
				h.Packages = append(h.Packages, name)
			}
			load(module, files[i])
		}
	}
	if from != "" {
		h.Files = append(h.Files, convert.File{Path: "/etc/apache2/conf.d/00-modules.conf", Text: text, From: from, Mode: "0644"})
	}
}
