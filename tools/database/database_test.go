package database

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/backend/api"
	"svc/backend/index"
	"svc/backend/release"
)

// engines are those on record.
var engines = []string{"mariadb", "mongodb", "mysql", "openldap", "postgresql", "redis", "sqlite", "valkey"}

// onRecord is the graph of the index that is part of the program.
func onRecord(t testing.TB) Graph {
	t.Helper()
	ix, err := index.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	record := map[string]api.UpgradeEdgesResponse{}
	for _, engine := range engines {
		if record[engine], err = ix.UpgradeEdges(engine); err != nil {
			t.Fatal(err)
		}
	}
	return NewGraph(record)
}

func place(s string) Place {
	engine, version, _ := strings.Cut(s, " ")
	return Place{engine, Version(version)}
}

// shown is a path as "method, method" with the versions it goes through.
func shown(p Path) string {
	steps := []string{}
	for _, s := range p.Steps {
		steps = append(steps, fmt.Sprintf("%s %s", s.To, s.Method))
	}
	return strings.Join(steps, " | ")
}

func TestKnownWays(t *testing.T) {
	g := onRecord(t)
	for _, c := range []struct {
		from, to string
		offline  bool
		want     []string // the paths, the best first
	}{
		{"postgresql 13", "postgresql 17", false, []string{
			"postgresql 17 pg_dump, pg_dumpall --globals-only and restore", "postgresql 17 logical replication",
			"postgresql 17 pg_upgrade, copying", "postgresql 17 pg_upgrade --link",
		}},
		{"postgresql 13", "postgresql 17", true, []string{"postgresql 17 pg_upgrade, copying", "postgresql 17 pg_upgrade --link"}},
		{"postgresql 9.0", "postgresql 17", true, []string{
			"postgresql 14 pg_upgrade, copying | postgresql 17 pg_upgrade, copying", "postgresql 14 pg_upgrade --link | postgresql 17 pg_upgrade --link",
		}},
		{"mysql 5.7", "mysql 8.4", true, []string{
			"mysql 8.0 in place: the new server on the old data | mysql 8.4 in place: the new server on the old data",
		}},
		{"mysql 8.0.20", "mysql 8.4", true, []string{
			"mysql 8.0 in place: the new server on the old data | mysql 8.4 in place: the new server on the old data",
		}},
		{"mysql 8.0", "mariadb 11.8", false, []string{"mariadb 11.8 mysqldump and load"}},
		{"mongodb 4.4", "mongodb 7.0", true, []string{
			"mongodb 5.0 binaries replaced, then setFeatureCompatibilityVersion | mongodb 6.0 binaries replaced, then setFeatureCompatibilityVersion | mongodb 7.0 binaries replaced, then setFeatureCompatibilityVersion",
		}},
		{"redis 7.0", "valkey 8.0", true, []string{"valkey 8.0 copy of dump.rdb or of the append-only files"}},
		{"redis 8.0", "valkey 8.0", false, []string{"valkey 8.0 logical copy, key by key"}},
		{"redis 8.0", "valkey 8.0", true, nil},
		{"redis 8.0", "valkey 9.1", true, []string{"valkey 9.1 copy of dump.rdb with rdb-version-check relaxed"}},
		{"postgresql 17", "postgresql 15", false, nil},
		{"redis 7.2", "redis 7.0", false, nil},
		{"openldap 2.4", "openldap 2.6", true, []string{"openldap 2.6 slapcat, then slapadd into an mdb database"}},
	} {
		t.Run(c.from+" to "+c.to, func(t *testing.T) {
			is := is.New(t)
			r := g.To(place(c.from), place(c.to), Move{Offline: c.offline})
			got := []string{}
			for _, p := range r.Paths {
				got = append(got, shown(p))
			}
			is.Equal(got, append([]string{}, c.want...))
			is.Equal(r.Possible, len(c.want) > 0)
			is.True(r.Possible || len(r.Barriers) > 0) // what would make it possible is said
		})
	}
}

func TestRedis8DoesNotCopyItsFilesToValkey8(t *testing.T) {
	is := is.New(t)
	el10, _ := release.Lookup("almalinux-10")
	r := onRecord(t).ToRelease(place("redis 8.0"), el10, Move{})
	is.Equal(r.Paths[0].Target.Place, place("valkey 8.0")) // EL 10 has no Redis
	is.Equal(shown(r.Paths[0]), "valkey 8.0 logical copy, key by key")
	is.True(slices.ContainsFunc(r.Barriers, func(b Barrier) bool {
		return strings.HasPrefix(b.Method, "copy of dump.rdb") && strings.Contains(b.Instead, "logical copy")
	}))
}

func TestToARelease(t *testing.T) {
	is := is.New(t)
	g := onRecord(t)
	to := func(from, slug string) Route {
		r, ok := release.Lookup(slug)
		is.True(ok)
		return g.ToRelease(place(from), r, Move{})
	}
	debian := to("mysql 8.0", "debian-13") // which has no MySQL
	is.Equal(debian.Paths[0].Target.Place, place("mariadb 11.8"))
	is.True(slices.ContainsFunc(debian.Offers, func(o Offer) bool { return o.Place == place("mysql 8.4") && o.How == "vendor" }))
	rocky := to("postgresql 13", "rocky-9.4")
	is.Equal(rocky.Offers[0], Offer{place("postgresql 13"), "default", "postgresql-server", rocky.Offers[0].Source})
	is.True(slices.ContainsFunc(rocky.Paths, func(p Path) bool { return p.Target.Package == "postgresql:18" }))
	mongo := to("mongodb 6.0", "debian-12") // only the vendor has it
	is.True(mongo.Possible)
	is.Equal(mongo.Paths[0].Target.How, "vendor")
	suse := to("postgresql 13", "sles-15") // no version of it is on record
	is.True(suse.Possible)                 // the vendor's
}

// someRoute draws two places that are on record.
func someRoute(t *rapid.T, g Graph) (from, to Place) {
	pick := func(name string) Place {
		engine := rapid.SampledFrom(engines).Draw(t, name)
		return Place{engine, rapid.SampledFrom(g.Series(engine)).Draw(t, name+" version")}
	}
	return pick("from"), pick("to")
}

func TestPathsAreChainsOfEdges(t *testing.T) {
	g := onRecord(t)
	rapid.Check(t, func(t *rapid.T) {
		from, to := someRoute(t, g)
		offline := rapid.Bool().Draw(t, "offline")
		for _, p := range g.Paths(from, Offer{Place: to}, Move{Offline: offline}) {
			at := from
			for i, s := range p.Steps {
				if s.From != at || !isEdge(g, s) || offline && s.State != "stopped" {
					t.Fatalf("step %d of %s is none: %+v", i, shown(p), s)
				}
				at = s.To
			}
			if at != to || len(p.Steps) == 0 || len(p.Steps) != p.Cost.Steps {
				t.Fatalf("%s ends at %s", shown(p), at)
			}
		}
	})
}

// isEdge reports whether a row of the record is the step, by the rows alone.
func isEdge(g Graph, s Step) bool {
	return slices.ContainsFunc(g.record[s.From.Engine].Edges, func(e api.UpgradeEdge) bool {
		return e.Method == s.Method && e.Risk == s.Risk && e.Downtime == s.Downtime && e.Back == s.Back && e.Rank == s.choice && s.From.Version.within(e.From) && slices.Contains(g.reach(s.From, e.To), s.To)
	})
}

// TestEveryMethodIsAWay: one that is none would be ranked last, whatever it is.
func TestEveryMethodIsAWay(t *testing.T) {
	g := onRecord(t)
	for _, engine := range engines {
		for _, e := range g.record[engine].Edges {
			if WayOf(e.Method) == "" {
				t.Errorf("%s: %q is no way", engine, e.Method)
			}
		}
	}
}

// TestEveryRowOfMethodsIsOnRecord: one that is not is a slip of the pen.
func TestEveryRowOfMethodsIsOnRecord(t *testing.T) {
	g := onRecord(t)
	for method, way := range methods() {
		known := slices.ContainsFunc(engines, func(engine string) bool {
			return slices.ContainsFunc(g.record[engine].Edges, func(e api.UpgradeEdge) bool { return e.Method == method })
		})
		if !known || !slices.Contains([]Way{Dump, Copy, Replica, InPlace}, way) {
			t.Errorf("%q, which is %q, is not on record", method, way)
		}
	}
}

// TestThereIsOneRanking: to a fresh host ways in place come last, and of one engine
// the best is what is recommended of it, whatever the version and the target.
func TestThereIsOneRanking(t *testing.T) {
	g := onRecord(t)
	rapid.Check(t, func(t *rapid.T) {
		from, _ := someRoute(t, g)
		to := rapid.SampledFrom(release.All()).Draw(t, "release")
		paths := g.ToRelease(from, to, Move{}).Paths
		onlyInPlace := false
		for _, p := range paths {
			inPlace := slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Way == InPlace })
			if onlyInPlace && !inPlace {
				t.Fatalf("%s to %s: %s comes after a way in place", from, to.Slug, shown(p))
			}
			onlyInPlace = inPlace
		}
		if len(paths) > 0 && paths[0].Target.Engine == from.Engine && from.Engine != "sqlite" && paths[0].Steps[0].Way != Recommended(from.Engine) {
			t.Fatalf("%s to %s: %s is first, and %s recommended", from, to.Slug, shown(paths[0]), Recommended(from.Engine))
		}
	})
}

func TestAnUpgradeInPlaceIsMadeInPlace(t *testing.T) {
	g := onRecord(t)
	for _, c := range []struct{ from, to, method string }{
		{"postgresql 13", "postgresql 17", "pg_upgrade, copying"},
		{"mariadb 10.5", "mariadb 10.11", "in place, then mariadb-upgrade"},
		{"mysql 8.0", "mysql 8.4", "in place: the new server on the old data"},
		{"mongodb 7.0", "mongodb 8.0", "binaries replaced, then setFeatureCompatibilityVersion"},
		{"redis 6.2", "redis 7.0", "copy of dump.rdb or of the append-only files"},
	} {
		fresh, here := g.To(place(c.from), place(c.to), Move{}), g.To(place(c.from), place(c.to), Move{InPlace: true})
		if got := here.Paths[0].Steps[0].Method; got != c.method {
			t.Errorf("%s to %s in place: %s", c.from, c.to, got)
		}
		if got := fresh.Paths[0].Steps[0].Way; got == InPlace {
			t.Errorf("%s to %s on a fresh host: %s", c.from, c.to, got)
		}
	}
}

func TestNoListedPathIsDominated(t *testing.T) {
	g := onRecord(t)
	rapid.Check(t, func(t *rapid.T) {
		from, to := someRoute(t, g)
		paths := g.Paths(from, Offer{Place: to}, Move{})
		for _, a := range paths {
			for _, b := range paths {
				if !reflect.DeepEqual(a, b) && total(a).covers(total(b)) {
					t.Fatalf("%s is nowhere worse than %s", shown(a), shown(b))
				}
			}
		}
	})
}

func total(p Path) cost {
	c := Move{}.cost(p.Steps[0])
	for _, s := range p.Steps[1:] {
		c = c.and(Move{}.cost(s))
	}
	return c
}

// TestToAReleaseIsChainsOfEdgesToWhatItOffers holds for every release on record,
// as it does for one version.
func TestToAReleaseIsChainsOfEdgesToWhatItOffers(t *testing.T) {
	g := onRecord(t)
	rapid.Check(t, func(t *rapid.T) {
		from, _ := someRoute(t, g)
		to := rapid.SampledFrom(release.All()).Draw(t, "release")
		offline := rapid.Bool().Draw(t, "offline")
		r := g.ToRelease(from, to, Move{Offline: offline})
		if r.Possible != (len(r.Paths) > 0) || !r.Possible && len(r.Barriers) == 0 {
			t.Fatalf("%s to %s: possible %v, %d paths, %d barriers", from, to.Slug, r.Possible, len(r.Paths), len(r.Barriers))
		}
		for _, p := range r.Paths {
			at := from
			for _, s := range p.Steps {
				if s.From != at || !isEdge(g, s) || offline && s.State != "stopped" {
					t.Fatalf("a step of %s is none: %+v", shown(p), s)
				}
				at = s.To
			}
			if at != p.Target.Place || !slices.Contains(r.Offers, p.Target) {
				t.Fatalf("%s ends at %s, which %s does not offer", shown(p), at, to.Slug)
			}
			for _, o := range r.Paths {
				if o.Target == p.Target && !reflect.DeepEqual(o, p) && total(o).covers(total(p)) {
					t.Fatalf("%s is nowhere worse than %s", shown(o), shown(p))
				}
			}
		}
		if !slices.IsSortedFunc(r.Paths, func(a, b Path) int { return a.Cost.Score - b.Cost.Score }) {
			t.Fatalf("%s to %s is not ranked", from, to.Slug)
		}
	})
}

// Every walk of a small graph is covered by a path that is found.
func TestNoWalkIsBetterThanWhatIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := smallGraph(t)
		from, to := Place{"a", "1"}, Place{"a", "4"}
		paths := g.Paths(from, Offer{Place: to}, Move{})
		walks(g, from, to, nil, func(steps []Step) {
			c := total(Path{Steps: steps})
			if !slices.ContainsFunc(paths, func(p Path) bool { return total(p).covers(c) }) {
				t.Fatalf("%s is better than all of %d paths", shown(Path{Steps: steps}), len(paths))
			}
		})
	})
}

// smallGraph has four versions and edges at random between them.
func smallGraph(t *rapid.T) Graph {
	r := api.UpgradeEdgesResponse{Engine: "a"}
	for i := 1; i <= 4; i++ {
		r.Series = append(r.Series, api.EngineSeries{Series: fmt.Sprint(i)})
	}
	for i := range rapid.IntRange(1, 9).Draw(t, "edges") {
		r.Edges = append(r.Edges, api.UpgradeEdge{
			From: fmt.Sprint(rapid.IntRange(1, 4).Draw(t, "from")), To: fmt.Sprint(rapid.IntRange(1, 4).Draw(t, "to")), Method: fmt.Sprint(i),
			Downtime: rapid.SampledFrom(Downtimes).Draw(t, "downtime"), Risk: rapid.SampledFrom(Risks).Draw(t, "risk"),
			Back: rapid.Bool().Draw(t, "back"), Rank: rapid.IntRange(1, 3).Draw(t, "rank"), State: "stopped",
		})
	}
	return NewGraph(map[string]api.UpgradeEdgesResponse{"a": r})
}

// walks calls f with each walk of up to four steps.
func walks(g Graph, at, to Place, steps []Step, f func([]Step)) {
	if len(steps) > 0 && at == to {
		f(steps)
	}
	if len(steps) == 4 {
		return
	}
	for _, s := range g.steps(at) {
		walks(g, s.To, to, append(slices.Clip(steps), s), f)
	}
}

func TestPathsAreDeterministic(t *testing.T) {
	g := onRecord(t)
	rapid.Check(t, func(t *rapid.T) {
		from, to := someRoute(t, g)
		if a, b := g.To(from, to, Move{}), g.To(from, to, Move{}); !reflect.DeepEqual(a, b) {
			t.Fatalf("%s to %s: %+v, then %+v", from, to, a, b)
		}
	})
}

func TestVersionsAreOrdered(t *testing.T) {
	is := is.New(t)
	for _, c := range []struct {
		a, b string
		want int
	}{{"8.0", "8.0.34", 1}, {"8.0", "8.1", -1}, {"10", "9.6", 1}, {"10.11", "10.2", 1}, {"13", "13", 0}, {"7", "7.0", 1}} {
		is.Equal(Version(c.a).Compare(Version(c.b)), c.want)
		is.Equal(Version(c.b).Compare(Version(c.a)), -c.want)
	}
	for _, c := range []struct {
		version, span string
		want          bool
	}{
		{"8.0.34", ">=8.0.34", true},
		{"8.0", ">=8.0.34", true},
		{"8.0.33", ">=8.0.34", false},
		{"7.2.15", "<=7.2", true},
		{"7.4", "<=7.2", false},
		{"8.0.40", ">=8.0.34,<8.1", true},
		{"8.1", ">=8.0.34,<8.1", false},
		{"9.6.24", "9.2..9.6", true},
		{"14.2", "9.2..14", true},
		{"15", "9.2..14", false},
		{"5.7.44", "5.7", true},
		{"5.70", "5.7", false},
		{"1", "any", true},
	} {
		if got := Version(c.version).within(c.span); got != c.want {
			t.Errorf("%s within %s: %v", c.version, c.span, got)
		}
	}
}

func FuzzParseVersion(f *testing.F) {
	for _, s := range []string{"13", "10.11.6-MariaDB-1", "5:7.0.15-1", "v8.0", "", "9999999999999999999", "1..2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, ok := ParseVersion(s)
		if ok && (v.Compare(v) != 0 || !v.within(string(v))) {
			t.Fatalf("%q is not itself", v)
		}
	})
}

func BenchmarkPaths(b *testing.B) {
	g := onRecord(b)
	for b.Loop() {
		g.To(place("mysql 5.5"), place("mariadb 11.8"), Move{})
	}
}
