package services

import "svc/tools/convert"

// RADIUS carries radiusd.conf over, which names the folders, the account and the service
// that the rpm families have: radiusd.conf of both packages, and freeradius.service, which
// makes its folder below /run by the name.
func RADIUS(in convert.Input) convert.Result {
	place := func(string) string { return "/etc/freeradius/3.0/radiusd.conf" }
	return convert.EachLine(in, place, func(_ *convert.Result, p *convert.Page, i int) {
		p.Substitute(i, convert.RewordingsOf("radiusd"))
	})
}
