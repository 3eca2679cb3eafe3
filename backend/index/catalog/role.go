package catalog

import (
	"strings"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/lazyregexp"
)

// sections give the role where the name does not.
var sections = map[string]api.Role{
	"debug":        api.RoleDebug,
	"doc":          api.RoleDoc,
	"libdevel":     api.RoleDev,
	"localization": api.RoleLang,
}

// modules are the sections whose packages are a language's modules: one named
// for a client is no client of its source.
var modules = map[string]bool{
	"gnu-r": true, "java": true, "javascript": true, "perl": true, "php": true, "python": true, "ruby": true, "rust": true,
}

var (
	pluginName = lazyregexp.New(`-(?:plugin|module|mod)-`)
	langName   = lazyregexp.New(`-(?:l10n|locale|i18n|langpack)-`)
)

// roleOf is the job of a package within its source.
func roleOf(p *Package) api.Role {
	if p.Name == p.Source {
		return api.RoleMain
	}
	unversioned, module := stem(p.Name), modules[p.Section]
	for _, s := range record.DebEndings {
		if strings.HasSuffix(unversioned, s.Suffix) && !(module && s.Role == api.RoleClient) {
			return s.Role
		}
	}
	switch {
	case pluginName.MatchString(p.Name):
		return api.RolePlugin
	case langName.MatchString(p.Name):
		return api.RoleLang
	case (p.Section == "libs" || p.Section == "oldlibs") && strings.HasPrefix(p.Name, "lib"):
		return api.RoleLib
	}
	if role, ok := sections[p.Section]; ok {
		return role
	}
	return api.RoleMain
}

// trimRole cuts the end of a name that says its role.
func trimRole(name string, role api.Role) string {
	for _, s := range record.DebEndings {
		if rest, ok := strings.CutSuffix(name, s.Suffix); ok && s.Role == role && rest != "" {
			return rest
		}
	}
	return name
}
