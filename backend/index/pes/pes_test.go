package pes

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
)

const events = `{"timestamp": "x", "legal_notice": "y", "packageinfo": [
 {"id": "9003", "action": 6, "arches": ["x86_64"], "in_packageset": {"set_id": 1, "package": [{"name": "stays", "repository": "base", "module_stream": null}]},
  "out_packageset": {"set_id": 2, "package": [{"name": "stays", "repository": "appstream", "modulestreams": [{"name": "m", "stream": "1"}]}]},
  "initial_release": {"major_version": 7, "minor_version": 7, "os_name": "{os_name}"}, "release": {"major_version": 8, "minor_version": 0}},
 {"id": 2, "action": 4, "architectures": ["x86_64"], "in_packageset": {"package": [{"name": "alone"}]}, "out_packageset": {"package": [{"name": "other"}]},
  "initial_release": {"major_version": 7, "minor_version": 6}, "release": {"major_version": 8, "minor_version": 0}},
 {"id": 3, "action": 4, "in_packageset": {"package": [{"name": "keeps"}]}, "out_packageset": {"package": [{"name": "keeps-libs"}, {"name": "keeps"}]},
  "initial_release": {"major_version": 7, "minor_version": 6}, "release": {"major_version": 8, "minor_version": 0}},
 {"id": 4, "action": 1, "architectures": ["s390x"], "in_packageset": {"package": [{"name": "stays"}]}, "out_packageset": null,
  "initial_release": {"major_version": 7, "minor_version": 6}, "release": {"major_version": 8, "minor_version": 0}},
 {"id": 5, "action": 1, "in_packageset": {"package": [{"name": "twice"}]}, "out_packageset": null,
  "initial_release": {"major_version": 7, "minor_version": 6}, "release": {"major_version": 8, "minor_version": 0}},
 {"id": 6, "action": 3, "in_packageset": {"package": [{"name": "twice"}]}, "out_packageset": {"package": [{"name": "once"}]},
  "initial_release": {"major_version": 7, "minor_version": 6}, "release": {"major_version": 8, "minor_version": 0}},
 {"id": 7, "action": 7, "in_packageset": {"package": [{"name": "other"}]}, "out_packageset": {"package": [{"name": "later"}]},
  "initial_release": {"major_version": 8, "minor_version": 5}, "release": {"major_version": 8, "minor_version": 6}},
 {"id": 8, "action": 0, "in_packageset": {"package": [{"name": "nodejs"}]}, "out_packageset": {"package": [{"name": "nodejs"}]},
  "initial_release": null, "release": {"major_version": 8, "minor_version": 0}},
 {"id": 10, "action": 0, "in_packageset": {"package": [{"name": "here"}]}, "out_packageset": null,
  "initial_release": {"major_version": 7, "minor_version": 6}, "release": {"major_version": 8, "minor_version": 0}},
 {"id": 11, "action": 7, "in_packageset": {"package": [{"name": "ever"}]}, "out_packageset": {"package": [{"name": "new"}]},
  "initial_release": null, "release": {"major_version": 8, "minor_version": 4}},
 {"id": 12, "action": 1, "in_packageset": {"package": [{"name": "stays"}]}, "out_packageset": null,
  "initial_release": null, "release": {"major_version": 8, "minor_version": 4}},
 {"id": 9, "action": 1, "in_packageset": {"package": [{"name": "later"}]}, "out_packageset": {"package": []},
  "initial_release": {"major_version": 8, "minor_version": 6}, "release": {"major_version": 9, "minor_version": 0}}
]}`

func TestEventsBecomeTrails(t *testing.T) {
	is := is.New(t)
	all, err := Read(strings.NewReader(events))
	is.NoErr(err)
	is.Equal(len(all), 11) // but that of another architecture
	steps := Trails(all)
	for name, want := range map[string]struct {
		relation   api.Relation
		targets    string
		confidence float64
	}{
		"stays": {api.RelationSame, "stays", Confidence},
		"alone": {api.RelationRenamed, "later", Confidence}, // a split in one, renamed again within EL 8
		"keeps": {api.RelationSplit, "keeps keeps-libs", Confidence},
		"here":  {api.RelationSame, "here", Confidence},
		"ever":  {api.RelationRenamed, "new", Confidence}, // since when is not said
		"twice": {api.RelationReplaced, "once", conflicting},
	} {
		got := steps[7][name]
		is.Equal(got.Relation, want.relation)
		is.Equal(strings.Join(got.Targets, " "), want.targets)
		is.Equal(got.Confidence, want.confidence)
	}
	is.Equal(steps[8]["later"].Relation, api.RelationRemoved)
	is.Equal(steps[8]["other"].Relation, api.RelationRemoved) // by the name that it got within EL 8
	_, crosses := steps[7]["nodejs"]
	is.True(!crosses) // an event without a beginning
}

func TestReadRefusesWhatHasNoEvents(t *testing.T) {
	for _, text := range []string{"", "[]", "{}", `{"packageinfo": 1}`, `{"packageinfo": [{"action": "x"}]}`} {
		_, err := Read(strings.NewReader(text))
		is.New(t).True(err != nil)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(events)
	f.Add(`{"packageinfo": [{"action": 4, "in_packageset": {"package": [{"name": "a"}, {"name": "a"}]}, "release": {"major_version": -1}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, trails := range Trails(all) {
			for name, trail := range trails {
				if name == "" || (len(trail.Targets) == 0) != (trail.Relation == api.RelationRemoved) {
					t.Errorf("%q: %+v", name, trail)
				}
			}
		}
	})
}
