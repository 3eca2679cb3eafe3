package naming

import (
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/api"
)

func TestInstancesOfAnyNameFollowMain(t *testing.T) {
	is := is.New(t)
	to := "postgresql@17-main.service"
	p := Places{units: map[string]api.Relocation{"postgresql@15-main.service": {From: "postgresql@15-main.service", To: &to}}}

	r, ok := p.Unit(assess.Unit{Name: "postgresql@15-app.service"})
	is.True(ok)
	is.Equal(*r.To, "postgresql@17-app.service")
	is.Equal(to, "postgresql@17-main.service")

	for _, other := range []string{"postgresql@14-app.service", "openvpn@15-app.service", "postgresql@15-app.socket"} {
		_, ok = p.Unit(assess.Unit{Name: other})
		is.True(!ok)
	}
}
