package migration

import (
	"cmp"
	"fmt"
	"slices"

	"svc/assess"
	"svc/backend/api"
)

// services decides about every unit of the assessment.
func services(in Input, where places) []Service {
	all := []Service{}
	for _, u := range slices.Concat(in.Assessment.Services, in.Assessment.Timers) {
		all = append(all, service(in, where, u))
	}
	slices.SortFunc(all, func(a, b Service) int { return cmp.Compare(a.Unit, b.Unit) })
	return all
}

func service(in Input, where places, u assess.Unit) Service {
	s := Service{Unit: u.Name, To: u.Name, State: u.State, Local: u.Local}
	r, moved := where.units[u.Name]
	if moved && r.Action != api.ActionDrop && r.To != nil {
		s.To = *r.To
	}
	switch {
	case u.Local && u.State == "static":
		s.Reason = "It was written on the source; something else starts it."
	case u.Local:
		s.Apply, s.Reason = true, "It was written on the source."
	case moved && s.To == u.Name && r.To == nil:
		s.To, s.Reason = "", fmt.Sprintf("%s does not have this unit.", in.Target.Slug)
	case where.gone(u.Package):
		s.To, s.Reason = "", fmt.Sprintf("Its package %s has no sure counterpart in %s.", u.Package, in.Target.Slug)
	case u.Preset || u.State == "static":
		s.Reason = "Its package sets this state by itself."
	default:
		s.Apply, s.Reason = true, "It was set so on the source."
	}
	return s
}
