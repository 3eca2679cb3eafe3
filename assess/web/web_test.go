package web

import (
	"testing"

	"github.com/matryer/is"
)

func TestParseNginx(t *testing.T) {
	is := is.New(t)
	sites := parseNginx("f", "http { upstream u { server 10.0.0.1; }\n server { listen 80; server_name a b; location / { root /no; } root /srv; }\nserver {\n listen 443 ssl;\n server_name \"c\"; # x\n}\n}")
	is.Equal(len(sites), 2)
	is.Equal(sites[0].Name, "a")
	is.Equal(sites[0].Root, "/srv")
	is.True(sites[1].TLS)
}
