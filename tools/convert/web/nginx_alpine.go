package web

import (
	"slices"
	"strings"

	"svc/tools/convert"
)

// nginxAlpine carries nginx from Debian's family to Alpine, and back.
func nginxAlpine(in convert.Input) convert.Result {
	return nginxEnabled(in, "/etc/nginx/http.d", "http.d", nginxLineAlpine)
}

func nginxLineAlpine(p *convert.Page, i int, in convert.Input) {
	line := strings.TrimSpace(p.Lines[i])
	// Without the certificate of the rpm families' packages.
	snippets := slices.DeleteFunc(slices.Clone(convert.RewordingsOf("nginx-snippets")), func(s convert.Rewording) bool { return strings.Contains(s.Now, "/etc/pki/") })
	switch {
	case nginxRefused(p, i, line, in):
	case convert.FromApart(in):
		p.Reword(i, line, convert.RewordingsOf("nginx-from-alpine"))
	case p.Reword(i, line, convert.RewordingsOf("nginx-to-alpine")), nginxIncluded(p, i, line, snippets, nil), nginxOfDebian(p, i, line, in):
	case strings.Contains(line, "ssl-cert-snakeoil"):
		p.Refuse(i, "It is a certificate that Debian's package ssl-cert makes, which the target has not.")
	}
}
