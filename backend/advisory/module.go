package advisory

import (
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/sliced"
)

var (
	// streamName is name:stream as summaries have it.
	streamName = lazyregexp.New(`[A-Za-z0-9][\w.+-]*:[A-Za-z0-9][\w.+-]*`)
	// advisoryID is what looks like a stream and is none: ALSA-2022:5468.
	advisoryID = lazyregexp.New(`^[A-Z]+-(RU-|SU-|FU-)?[0-9]{4}`)
	// moduleOfPURL is the qualifier that names a module in a package URL.
	moduleOfPURL = lazyregexp.New(`[?&]rpmmod=([^&#]+)`)
)

// tagOf is the module build that a version belongs to, by the end of its
// release (module_el8.5.0+2812+ed912d05, module+el8.6.0+…), or "" for a package
// of no module.
func tagOf(version string) string {
	_, tag, found := strings.Cut(version, ".module")
	if !found || !strings.HasPrefix(tag, "_el") && !strings.HasPrefix(tag, "+el") {
		return ""
	}
	return tag[1:]
}

// streamsIn are the streams that a summary names.
func streamsIn(summary string) []string {
	return sliced.Filter(streamName.FindAllString(summary, -1), func(s string) bool {
		return !advisoryID.MatchString(s)
	})
}

// streamOf cuts a module's label, name:stream:version:context, to its stream.
func streamOf(label string) string {
	parts := strings.SplitN(label, ":", 3)
	return strings.Join(parts[:min(2, len(parts))], ":")
}

// resolveStreams fills in the streams of those modular rules of one package
// whose advisory names none: those of the same module build elsewhere, else
// those that the package is known in. What stays without is unknown.
func resolveStreams(rules []*rule) {
	byTag, all := map[string][]string{}, []string{}
	for _, r := range rules {
		if !r.modular {
			continue
		}
		for _, tag := range r.tags() {
			byTag[tag] = union(byTag[tag], r.streams)
		}
		all = union(all, r.streams)
	}
	for _, r := range rules {
		if r.modular && len(r.streams) == 0 {
			r.streams = narrowest(r.tags(), byTag)
			if len(r.streams) == 0 {
				r.streams = all
			}
		}
	}
}

// narrowest are the streams that all builds share, else those of any.
func narrowest(tags []string, byTag map[string][]string) []string {
	var shared, any []string
	for _, tag := range tags {
		streams := byTag[tag]
		if len(streams) == 0 {
			continue
		}
		if any == nil {
			shared = streams
		}
		shared, any = intersection(shared, streams), union(any, streams)
	}
	if len(shared) > 0 {
		return shared
	}
	return any
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func intersection(a, b []string) []string {
	return sliced.Filter(a, func(s string) bool { return slices.Contains(b, s) })
}
