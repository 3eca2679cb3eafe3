package collaboration

import (
	"fmt"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/backend/api"
)

// TestPollsMissNothing writes entries in seconds that may repeat, and polls
// between them: each state of an entry is seen once.
func TestPollsMissNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := map[int]string{}
		seen := map[string]int{}
		cursor, second, want := "", 0, 0
		for step := range rapid.IntRange(1, 40).Draw(t, "steps") {
			second += rapid.IntRange(0, 1).Draw(t, "passes")
			entries[rapid.IntRange(0, 5).Draw(t, "entry")] = fmt.Sprintf("2026-08-07 12:00:%02d+00 %d", second, step)
			if step%rapid.IntRange(1, 3).Draw(t, "every") > 0 {
				continue
			}
			before, err := parsePosition(cursor)
			if err != nil {
				t.Fatal(err)
			}
			next := before
			for id := range 6 {
				if e, ok := entries[id]; ok && next.add(before, e[:len(stampLayout)], e) {
					seen[e]++
				}
			}
			cursor = next.String()
		}
		for e, n := range seen {
			if want = 1; n != want {
				t.Fatalf("%q was seen %d times", e, n)
			}
		}
		last, err := parsePosition(cursor)
		for _, e := range entries {
			if at := e[:len(stampLayout)]; err == nil && at < last.at && seen[e] == 0 {
				t.Fatalf("%q was missed", e)
			}
		}
	})
}

func TestMoment(t *testing.T) {
	is := is.New(t)
	history := []api.Release{{Tag: "v1.0.0", PublishedAt: "2026-08-07 12:30:00+00"}}
	for in, want := range map[string]string{
		"": "", "v1.0.0": "2026-08-07 12:30:00+00", "2026-08-07": "2026-08-07 00:00:00+00",
		"2026-08-07T14:30:00+02:00": "2026-08-07 12:30:00+00", "2026-08-07 12:30:00+00": "2026-08-07 12:30:00+00",
	} {
		got, err := moment(in, history)
		is.NoErr(err)
		is.Equal(got, want)
	}
	_, err := moment("v2", history)
	is.True(err != nil)
}
