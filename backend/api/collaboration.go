package api

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// FindingKinds are the kinds of a finding.
var FindingKinds = []string{"bug", "coverage", "measurement"}

// Channels are the release channels.
var Channels = []string{"stable", "beta"}

// FindingRequest files a finding.
type FindingRequest struct {
	Kind    string  `json:"kind"`
	Title   string  `json:"title"`
	Body    string  `json:"body"`
	Release *string `json:"release,omitempty"` // the release tag it was seen in
}

// Check applies the lengths of the contract.
func (r FindingRequest) Check() error {
	if !slices.Contains(FindingKinds, r.Kind) {
		return Errorf(BadKind, "kind must be one of %s", strings.Join(FindingKinds, ", "))
	}
	if err := checkText("title", r.Title, MaxTitle); err != nil {
		return err
	}
	if r.Release != nil && !isOSLabel(*r.Release) {
		return Errorf(MalformedRequest, "release must be 1 to 64 of A-Z a-z 0-9 . _ -")
	}
	return checkText("body", r.Body, MaxText)
}

// Finding is a bug, a gap in coverage or a measurement that an account reported.
type Finding struct {
	ID         int64          `json:"id"`
	Kind       string         `json:"kind"`
	Title      string         `json:"title"`
	Body       string         `json:"body"`
	Status     string         `json:"status"`  // open or fixed
	Release    *string        `json:"release"` // the tag it is fixed in, or was seen in while open
	CreatedAt  string         `json:"created_at"`
	UpdatedAt  string         `json:"updated_at"`
	ResolvedAt *string        `json:"resolved_at"`
	Redactions map[string]int `json:"redactions"` // what was stripped, by kind
}

// FindingList is a page of findings.
type FindingList struct {
	Findings []Finding `json:"findings"`
	Limit    int       `json:"limit"`
	Offset   int       `json:"offset"`
	Count    int       `json:"count"`
	HasMore  bool      `json:"has_more"`
}

// ResolveFindingRequest marks a finding fixed.
type ResolveFindingRequest struct {
	ID      int64  `json:"-" path:"id"`
	Channel string `json:"channel"` // stable or beta
}

// Check refuses an unknown channel.
func (r ResolveFindingRequest) Check() error {
	if !slices.Contains(Channels, r.Channel) {
		return Errorf(MalformedRequest, "channel must be stable or beta")
	}
	return nil
}

// QuestionRequest files a question.
type QuestionRequest struct {
	Question string `json:"question"`
}

// Check applies the lengths of the contract.
func (r QuestionRequest) Check() error { return checkText("question", r.Question, MaxText) }

// Question is a question and, once there is one, its answer.
type Question struct {
	ID         int64          `json:"id"`
	Question   string         `json:"question"`
	Status     string         `json:"status"` // open or answered
	Answer     *string        `json:"answer"`
	CreatedAt  string         `json:"created_at"`
	AnsweredAt *string        `json:"answered_at"`
	Redactions map[string]int `json:"redactions"`
}

// QuestionList is a page of questions.
type QuestionList struct {
	Questions []Question `json:"questions"`
	Limit     int        `json:"limit"`
	Offset    int        `json:"offset"`
	Count     int        `json:"count"`
	HasMore   bool       `json:"has_more"`
}

// AnswerRequest writes the team's answer.
type AnswerRequest struct {
	ID     int64  `json:"-" path:"id"`
	Answer string `json:"answer"`
}

// Check applies the lengths of the contract.
func (r AnswerRequest) Check() error { return checkText("answer", r.Answer, MaxText) }

func checkText(what, s string, most int) error {
	if n := utf8.RuneCountInString(s); strings.TrimSpace(s) == "" || n > most {
		return Errorf(MalformedRequest, "%s must have 1 to %d characters, not %d", what, most, n)
	}
	return nil
}

// VersionResponse is the public release status.
type VersionResponse struct {
	Service  ServiceVersion  `json:"service"`
	Releases ChannelReleases `json:"releases"`
	History  []Release       `json:"history"` // newest first, at most 20
}

// ServiceVersion is the version of the program that serves.
type ServiceVersion struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
}

// ChannelReleases is the newest published release of each channel, or null.
type ChannelReleases struct {
	Stable *Release `json:"stable"`
	Beta   *Release `json:"beta"`
}

// Release is a published release of the product.
type Release struct {
	Tag         string `json:"tag"`
	Channel     string `json:"channel"`
	PublishedAt string `json:"published_at"`
	Notes       string `json:"notes"`
}
