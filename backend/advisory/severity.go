package advisory

import (
	"strings"

	gocvss20 "github.com/pandatix/go-cvss/20"
	gocvss30 "github.com/pandatix/go-cvss/30"
	gocvss31 "github.com/pandatix/go-cvss/31"
	gocvss40 "github.com/pandatix/go-cvss/40"
)

// severity grades an advisory; the order is that of gravity.
type severity uint8

const (
	unknown severity = iota
	low
	medium
	high
	critical
)

func (s severity) String() string {
	return [...]string{"unknown", "low", "medium", "high", "critical"}[min(s, critical)]
}

// words are the severities as distributions write them.
var words = map[string]severity{
	"critical": critical, "important": high, "high": high, "moderate": medium, "medium": medium,
	"low": low, "negligible": low, "minor": low,
}

// wordOf is the severity that a word or the beginning of a summary says:
// "Important: kernel security update", "low**".
func wordOf(text string) severity {
	word, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), ":")
	return words[strings.TrimRight(word, "* ")]
}

// rate is the severity of a CVSS vector's base score, by the bands of its own
// version: version 2 has none that is critical. ok is false for what is no
// vector.
func rate(vector string) (s severity, score float64, ok bool) {
	score, err := baseScore(vector)
	switch {
	case err != nil:
		return unknown, 0, false
	case score >= 9 && strings.HasPrefix(vector, "CVSS:"):
		return critical, score, true
	case score >= 7:
		return high, score, true
	case score >= 4:
		return medium, score, true
	}
	return low, score, true
}

func baseScore(vector string) (float64, error) {
	switch {
	case strings.HasPrefix(vector, "CVSS:4.0/"):
		return scored(vector, gocvss40.ParseVector, (*gocvss40.CVSS40).Score)
	case strings.HasPrefix(vector, "CVSS:3.1/"):
		return scored(vector, gocvss31.ParseVector, (*gocvss31.CVSS31).BaseScore)
	case strings.HasPrefix(vector, "CVSS:3.0/"):
		return scored(vector, gocvss30.ParseVector, (*gocvss30.CVSS30).BaseScore)
	}
	return scored(strings.Trim(vector, "()"), gocvss20.ParseVector, (*gocvss20.CVSS20).BaseScore)
}

func scored[V any](vector string, parse func(string) (V, error), score func(V) float64) (float64, error) {
	v, err := parse(vector)
	if err != nil {
		return 0, err
	}
	return score(v), nil
}
