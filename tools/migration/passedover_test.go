package migration

import (
	"testing"

	"github.com/matryer/is"
)

func TestEditedInitScriptsThatAUnitReplaces(t *testing.T) {
	is := is.New(t)
	p := &Plan{
		Configuration: []Config{
			{From: "/etc/init.d/served", Package: "served", Action: Copy}, {From: "/etc/init.d/own", Action: Copy}, {From: "/etc/init.d/old", Package: "old", Action: Copy},
		},
		Services: []Service{{Unit: "served", To: "served.service"}, {Unit: "own", To: "own", Local: true}, {Unit: "old", To: "old"}},
	}
	found := passedOver(Input{}, p)
	is.Equal(len(found), 1)
	is.Equal(found[0].Summary, "Units of the target's packages take the place of these scripts, which are not called: /etc/init.d/served is started by served.service.")
	is.Equal(len(passedOver(Input{}, &Plan{Services: p.Services})), 0)
}
