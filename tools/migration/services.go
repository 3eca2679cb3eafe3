package migration

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/release"
	"svc/tools/migration/naming"
	"svc/tools/migration/valid"
)

// services decides about every unit of the assessment.
func services(in Input, where naming.Places, bad *valid.Refused) []Service {
	all := []Service{}
	for _, u := range slices.Concat(in.Assessment.Services, in.Assessment.Timers) {
		s := service(in, where, u)
		if !valid.UnitName.MatchString(u.Name) || !valid.UnitName.MatchString(s.To) && s.To != "" {
			s.To, s.Apply, s.Reason = "", false, "No unit can be called so."
			bad.Add("unit", u.Name)
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Service) int { return cmp.Compare(a.Unit, b.Unit) })
	return all
}

func service(in Input, where naming.Places, u assess.Unit) Service {
	if !in.inits().Same() || in.Target.Family.Conventions().Init == release.OpenRC {
		s := Service{Unit: u.Name, State: u.State, Local: u.Local}
		r, known := where.Unit(u)
		s.To, s.Apply, s.Reason = in.inits().Service(u, r.Place(), known, where.Gone(u.Package))
		return s
	}
	s := Service{Unit: u.Name, To: u.Name, State: u.State, Local: u.Local}
	if !u.Local && path.Ext(u.Name) == "" {
		s.To = u.Name + ".service" // a script or job: systemd would call it so
	}
	r, moved := where.Unit(u)
	if moved && r.Action != api.ActionDrop && r.To != nil {
		s.To = *r.To
	}
	switch {
	case u.Local && !carried(u):
		s.To, s.Reason = "", fmt.Sprintf("%s is not carried over: install what it belongs to, or write a unit for it.", u.Path)
	case u.Local && u.State == "static":
		s.Reason = "It was written on the source; something else starts it."
	case u.Local:
		s.Apply, s.Reason = true, "It was written on the source."
	case u.Manager == "xinetd", u.Manager == "inetd":
		s.To, s.Reason = "", "It is started by inetd: set it up on the target by hand."
	case in.inits().Along(u, where) != nil:
		s.To, s.Apply, s.Local, s.Reason = u.Name, true, true, in.inits().Because(u, where)
	case moved && r.To == nil:
		s.To, s.Reason = "", fmt.Sprintf("%s does not have this unit.", in.Target.Slug)
	case where.Gone(u.Package):
		s.To, s.Reason = "", fmt.Sprintf("Its package %s has no sure counterpart in %s.", u.Package, in.Target.Slug)
	case u.Preset && !moved && !sameLine(in) && where.Packages[u.Package].Relation == api.RelationReplaced:
		s.To, s.Reason = "", fmt.Sprintf("Its package %s has another program in its place in %s, which has units of its own.", u.Package, in.Target.Slug)
	case u.State == assess.StateStatic, u.State == assess.StateMasked && u.Preset, u.Preset && sameLine(in) && (u.State != "enabled" || u.Package == "" || where.Packages[u.Package].Base):
		s.Reason = "Its package sets this state by itself."
	case u.Preset:
		s.Apply, s.Reason = true, "The source's packages set this state by themselves; the target's may set another."
	default:
		s.Apply, s.Reason = true, "It was set so on the source."
	}
	return s
}

// withoutInit are the services that the target's init is not given.
func withoutInit(in Input, p *Plan) []assess.Finding {
	return in.inits().Finding(slices.Concat(in.Assessment.Services, in.Assessment.Timers), func(unit string) bool {
		return slices.ContainsFunc(p.Services, func(s Service) bool { return s.Unit == unit && s.To != "" })
	})
}

// carried reports whether the role brings a unit that was written on the
// source, and the target's systemd starts it.
func carried(u assess.Unit) bool {
	if u.Manager == "systemd" || u.Manager == "" {
		return u.Path == "" || strings.HasPrefix(u.Path, "/etc/")
	}
	return u.Manager == "sysv" && strings.Contains(u.Path, "/init.d/")
}
