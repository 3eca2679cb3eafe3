// Package eval measures what an index answers on pairs whose counterpart is known, and
// on the packages of machines.
package eval

import (
	"io"
	"math"
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index"
	"svc/backend/index/course"
	"svc/backend/index/record"
	"svc/backend/release"
	"svc/backend/sliced"
)

// Score is how an index does on known pairs and on the packages of machines.
type Score struct {
	IndexVersion string           `json:"index_version"`
	Ways         map[string]Tally `json:"ways"`    // by source>target
	Methods      map[string]Tally `json:"methods"` // of known pairs, by what their file says of them
	// Evidence has the known pairs by what the index answers them from: confidences
	// are set so that those of each kind are right as often as they claim.
	Evidence map[string]Tally `json:"evidence"`
	// Directions has them by source>target family, and behind a blank by what the
	// index answers them from: a pair that several releases or files have counts once.
	Directions  map[string]Tally `json:"directions"`
	Total       Tally            `json:"total"`
	Calibration Bins             `json:"calibration"` // of known pairs, by tenths of the confidence
	// CalibrationError is the mean of |confidence - share right| over the bins,
	// weighed by their answers; DirectionErrors is that of each direction.
	CalibrationError float64            `json:"calibration_error"`
	DirectionErrors  map[string]float64 `json:"direction_errors"`
	Limits           map[string]Limit   `json:"limits"` // of the errors, by direction
	Wrong            []Miss             `json:"wrong"`
}

// Tally counts the packages that were asked for.
type Tally struct {
	Rows      int `json:"rows"`
	Resolved  int `json:"resolved"`
	Accounted int `json:"accounted"` // the relation is not unknown
	Sure      int `json:"sure"`      // with a confidence of 0.8 or more
	Judged    int `json:"judged"`    // answers to pairs whose counterpart is known
	Names     int `json:"names"`     // of those, with the right packages
	Both      int `json:"both"`      // and with the right relation
	SureRight int `json:"sure_right"`
	SureOf    int `json:"sure_of"` // judged answers with a confidence of 0.8 or more
	Skipped   int `json:"skipped"` // the index lacks a release or the package
	// Claimed is the sum of the confidences of the judged answers: that of
	// calibrated ones is the number of the right.
	Claimed float64 `json:"claimed"`
}

// Bin is a tenth of confidence.
type Bin struct {
	Answers    int     `json:"answers"`
	Right      int     `json:"right"`
	Confidence float64 `json:"confidence"` // the mean
}

// Bins are tenths of confidence.
type Bins []Bin

// Limit is what a direction's error cannot fall below: by rule, names that no list of the
// target has are not sure, however often they are right; and of few facts even an index that
// claims the truth of each kind finds some more right, or fewer.
//
// All such names are in tenths below sure, and no claim of theirs is above Unsure. Where a kind
// of them is right more often, its claim falls short by the difference at least: that is Gate, of
// claims that are each kind's own. Forced holds for any claims at all: the sum of what is right
// less what is claimed in these tenths is at least what is right of all such names, less Unsure
// for each of them, and less Unsure for each wrong answer of another kind, which might be put
// among them to hide it; and the error is no less than that sum.
type Limit struct {
	Judged    int     `json:"judged"`
	Held      int     `json:"held"` // names in no list of the target, of kinds that are right more often than they may claim
	HeldRight int     `json:"held_right"`
	Gate      float64 `json:"gate"`   // the least error that the rule leaves to claims which are each kind's own
	Forced    float64 `json:"forced"` // and to any claims
	Chance    float64 `json:"chance"` // the error to expect of as many facts where every claim is true
}

// limits are those of each direction, by the kinds of its answers.
func (e *Evaluation) limits() {
	forced := map[string]float64{}
	for key, t := range e.score.Directions {
		direction, evidence, ofKind := strings.Cut(key, " ")
		if !ofKind || t.Judged == 0 {
			continue
		}
		l := e.score.Limits[direction]
		l.Judged += t.Judged
		short := float64(t.Names) - course.Unsure*float64(t.Judged)
		switch {
		case !course.IsOutside(evidence):
			forced[direction] -= course.Unsure * float64(t.Judged-t.Names)
		case short > 0:
			l.Held, l.HeldRight, l.Gate = l.Held+t.Judged, l.HeldRight+t.Names, l.Gate+short
			fallthrough
		default:
			forced[direction] += short
		}
		e.score.Limits[direction] = l
	}
	for direction, l := range e.score.Limits {
		judged := float64(l.Judged)
		l.Gate, l.Forced, l.Chance = l.Gate/judged, max(0, forced[direction]/judged), e.spreads[direction].share(l.Judged)
		e.score.Limits[direction] = l
	}
}

// spread is the variance of the number of the right in each tenth of confidence, by its claims.
type spread [tenths]float64

// share is the sum of the deviations to expect, as a part of all answers.
func (s spread) share(answers int) float64 {
	sum := 0.0
	for _, variance := range s {
		sum += math.Sqrt(2 / math.Pi * variance)
	}
	return sum / float64(answers)
}

// tenth is the bin of a confidence.
func tenth(confidence float64) int { return int(math.Floor(confidence*10 + 1e-9)) }

// add counts a judged answer.
func (b Bins) add(right int, confidence float64) {
	bin := &b[tenth(confidence)]
	bin.Confidence = (bin.Confidence*float64(bin.Answers) + confidence) / float64(bin.Answers+1)
	bin.Answers++
	bin.Right += right
}

// error is how far confidence is from the share of the right.
func (b Bins) error() float64 {
	answers, sum := 0, 0.0
	for _, bin := range b {
		sum += math.Abs(bin.Confidence*float64(bin.Answers) - float64(bin.Right))
		answers += bin.Answers
	}
	if answers == 0 {
		return 0
	}
	return sum / float64(answers)
}

// Share is the part of the rows tried that are right in both.
func (t Tally) Share() float64 { return share(t.Both, t.Rows-t.Skipped) }

// Coverage is the part of the rows whose relation is not unknown.
func (t Tally) Coverage() float64 { return share(t.Accounted, t.Rows) }

// Precision is the part of the judged answers that are right.
func (t Tally) Precision() float64 { return share(t.Names, t.Judged) }

// Claim is the mean confidence of the judged answers, what Precision should be.
func (t Tally) Claim() float64 {
	if t.Judged == 0 {
		return 0
	}
	return t.Claimed / float64(t.Judged)
}

// SurePrecision is that of answers with a confidence of 0.8 or more.
func (t Tally) SurePrecision() float64 { return share(t.SureRight, t.SureOf) }

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Miss is a row on which the index answers otherwise, or not at all.
type Miss struct {
	Row        string       `json:"row"`
	Packages   []string     `json:"packages"`
	Relation   api.Relation `json:"relation"`
	Confidence float64      `json:"confidence"`
	Evidence   string       `json:"evidence"`
}

// Evaluation collects a Score from any number of files.
type Evaluation struct {
	ix       *index.Index
	score    *Score
	bins     map[string]Bins    // by direction
	spreads  map[string]spread  // by direction
	counted  map[answer]bool    // pairs that are counted in their direction
	verdicts map[answer]verdict // of people who looked at answers that no pair states
}

// answer is what a package becomes in a direction.
type answer struct{ direction, name, packages string }

// tenths are those of confidence, and certainty.
const tenths = 11

// New begins to measure an index.
func New(ix *index.Index) *Evaluation {
	score := &Score{
		IndexVersion: ix.Version(), Ways: map[string]Tally{}, Methods: map[string]Tally{}, Evidence: map[string]Tally{},
		Directions: map[string]Tally{}, DirectionErrors: map[string]float64{}, Wrong: []Miss{}, Calibration: make(Bins, tenths),
	}
	return &Evaluation{ix, score, map[string]Bins{}, map[string]spread{}, map[answer]bool{}, map[answer]verdict{}}
}

// Add asks what a file asks: known pairs, or the packages of a machine, where
// targets says where it goes. Verdicts on answers hold for the files after them. A file
// that is none of these measures nothing.
func (e *Evaluation) Add(r io.Reader, targets []string) error {
	rows, header, err := readTruth(r)
	if err != nil {
		return err
	}
	if areVerdicts(rows) {
		return e.judged(rows)
	}
	questions, err := questions(e.ix, rows, header, targets)
	if err != nil {
		return err
	}
	for _, q := range questions {
		if err := e.ask(q); err != nil {
			return err
		}
	}
	return nil
}

// ask puts a question to the index and counts the answer.
func (e *Evaluation) ask(q question) error {
	got, evidence, err := e.ix.Explain(q.source, q.name, q.target)
	if err != nil && api.CodeOf(err) != api.UnknownRelease {
		return err
	}
	names := q.names(got)
	asked := answer{q.direction(), q.name, strings.Join(names, " ")}
	t, right := e.tally(q, got, names)
	if !right && t.Judged == 1 && e.verdicts[asked] == bothFine {
		t.Names, t.Both, t.SureRight, right = 1, 1, t.SureOf, true
	}
	if q.wants != nil && !right && t.Skipped == 0 && (t.Judged == 1 || t.Accounted == 0) || q.wants == nil && t.Accounted == 0 {
		e.score.Wrong = append(e.score.Wrong, Miss{q.source + ">" + q.target + " " + q.row, names, got.Relation, got.Confidence, evidence})
	}
	way := q.source + ">" + q.target
	e.score.Ways[way] = e.score.Ways[way].plus(t)
	e.score.Total = e.score.Total.plus(t)
	if q.wants != nil {
		e.score.Methods[q.method] = e.score.Methods[q.method].plus(t)
		e.score.Evidence[evidence] = e.score.Evidence[evidence].plus(t)
		if t.Judged == 1 {
			e.score.Calibration.add(t.Names, got.Confidence)
		}
		if e.counted[asked] {
			return nil
		}
		e.counted[asked] = true
	}
	e.direct(asked.direction, evidence, t, got.Confidence)
	return nil
}

// direct counts an answer in its direction.
func (e *Evaluation) direct(direction, evidence string, t Tally, confidence float64) {
	for _, key := range []string{direction, direction + " " + evidence} {
		e.score.Directions[key] = e.score.Directions[key].plus(t)
	}
	if t.Judged == 1 {
		if e.bins[direction] == nil {
			e.bins[direction] = make(Bins, tenths)
		}
		e.bins[direction].add(t.Names, confidence)
		s := e.spreads[direction]
		s[tenth(confidence)] += confidence * (1 - confidence)
		e.spreads[direction] = s
	}
}

// direction is from which family to which a question goes; Ubuntu is of Debian's.
func (q question) direction() string {
	return familyOf(q.source) + ">" + familyOf(q.target)
}

func familyOf(slug string) string {
	r, _ := release.Lookup(slug)
	if r.Family == release.Ubuntu {
		return string(release.Debian)
	}
	return string(r.Family)
}

// names are those of an answer, in order, without what EPEL has where a pair says that
// nothing is left: such a pair tells of the distribution itself.
func (q question) names(got api.Translation) []string {
	names := append([]string{}, sliced.FilterMap(got.Packages, func(p api.TargetPackage) (string, bool) {
		return p.Name, !q.gone() || p.Repository != api.EPEL
	})...)
	slices.Sort(names)
	return names
}

func (e *Evaluation) tally(q question, got api.Translation, names []string) (t Tally, right bool) {
	t.Rows = 1
	if got.Canonical == "" {
		t.Skipped = 1
		return t, false
	}
	t.Resolved, t.Accounted = 1, record.BoolOrder(got.Relation != api.RelationUnknown)
	t.Sure = record.BoolOrder(got.Confidence >= course.SureConfidence)
	if q.wants == nil || t.Accounted == 0 || q.loose && got.Relation == api.RelationIncluded && len(names) == 0 {
		return t, false
	}
	right = slices.ContainsFunc(q.wants, func(want []string) bool {
		sorted := slices.Compact(slices.Sorted(slices.Values(want)))
		return slices.Equal(sorted, names) || q.method == across && slices.ContainsFunc(want, func(w string) bool { return slices.Contains(names, w) }) ||
			q.loose && len(names) > 0 && (within(names, want) || within(want, names))
	})
	t.Judged, t.Names = 1, record.BoolOrder(right)
	t.SureOf, t.SureRight, t.Claimed = t.Sure, record.BoolOrder(right)*t.Sure, got.Confidence
	elsewhere := len(names) == 0 && len(got.Packages) > 0 && q.relation == api.RelationRemoved
	right = right && (q.relation == "" || q.relation == got.Relation || elsewhere)
	t.Both = record.BoolOrder(right)
	return t, right
}

// within reports whether all of some names are among others.
func within(names, others []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(others, name) })
}

// Score is what was measured.
func (e *Evaluation) Score() *Score {
	e.score.CalibrationError = e.score.Calibration.error()
	for direction, bins := range e.bins {
		e.score.DirectionErrors[direction] = bins.error()
	}
	e.score.Limits = map[string]Limit{}
	e.limits()
	return e.score
}

func (t Tally) plus(o Tally) Tally {
	return Tally{
		t.Rows + o.Rows, t.Resolved + o.Resolved, t.Accounted + o.Accounted, t.Sure + o.Sure, t.Judged + o.Judged,
		t.Names + o.Names, t.Both + o.Both, t.SureRight + o.SureRight, t.SureOf + o.SureOf, t.Skipped + o.Skipped,
		t.Claimed + o.Claimed,
	}
}
