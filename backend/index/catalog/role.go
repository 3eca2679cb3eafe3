package catalog

import (
	"strings"

	"svc/backend/api"
	"svc/backend/lazyregexp"
)

// suffixes give the role by the end of a name, the first that fits counting.
var suffixes = []struct {
	suffix string
	role   api.Role
}{
	{"-dbgsym", api.RoleDebug},
	{"-dbg", api.RoleDebug},
	{"-dev", api.RoleDev},
	{"-headers", api.RoleDev},
	{"-docs", api.RoleDoc},
	{"-doc", api.RoleDoc},
	{"-manual", api.RoleDoc},
	{"-examples", api.RoleDoc},
	{"-i18n", api.RoleLang},
	{"-l10n", api.RoleLang},
	{"-locales", api.RoleLang},
	{"-locale", api.RoleLang},
	{"-common", api.RoleCommon},
	{"-data", api.RoleCommon},
	{"-clients", api.RoleClient},
	{"-client", api.RoleClient},
	{"-utils", api.RoleClient},
	{"-tools", api.RoleClient},
	{"-plugins", api.RolePlugin},
	{"-plugin", api.RolePlugin},
	{"-modules", api.RolePlugin},
	{"-server", api.RoleMain},
}

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
	for _, s := range suffixes {
		if strings.HasSuffix(unversioned, s.suffix) && !(module && s.role == api.RoleClient) {
			return s.role
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
	for _, s := range suffixes {
		if rest, ok := strings.CutSuffix(name, s.suffix); ok && s.role == role && rest != "" {
			return rest
		}
	}
	return name
}
