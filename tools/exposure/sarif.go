package exposure

import (
	"cmp"
	"fmt"
	"strings"

	"svc/backend/api"
)

// Subject is what a document is about, and who made it.
type Subject struct {
	Release  string // slug
	Database string // path of the package database, without a leading slash
	Tool     string // version of svc
	Warnings []string
}

// SARIF is a log in the form of SARIF 2.1.0.
type SARIF struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	Results     []sarifResult     `json:"results"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID         string          `json:"id"`
	Short      sarifText       `json:"shortDescription"`
	HelpURI    string          `json:"helpUri,omitempty"`
	Properties sarifProperties `json:"properties"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifProperties struct {
	Tags     []string `json:"tags"`
	Severity string   `json:"security-severity"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	Notifications []sarifNotification `json:"toolExecutionNotifications"`
}

type sarifNotification struct {
	Level   string    `json:"level"`
	Message sarifText `json:"message"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
	} `json:"physicalLocation"`
	Logical []sarifLogical `json:"logicalLocations"`
}

type sarifLogical struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// sarifGrades are the level of a severity, and the number by which readers of
// SARIF sort security results: the middle of its CVSS band.
var sarifGrades = map[string]struct{ level, score string }{
	"critical": {"error", "9.5"}, "high": {"error", "8.0"}, "medium": {"warning", "5.5"}, "low": {"note", "2.0"}, "unknown": {"note", "0.0"},
}

// NewSARIF makes a log of sorted matches: a rule for each advisory, a result for
// each package.
func NewSARIF(s Subject, matches []api.CVEMatch) SARIF {
	run := sarifRun{Results: []sarifResult{}, Invocations: []sarifInvocation{{Successful: true, Notifications: []sarifNotification{}}}}
	for _, w := range s.Warnings {
		run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, sarifNotification{"warning", sarifText{w}})
	}
	run.Tool.Driver = sarifDriver{Name: "svc", Version: s.Tool, Rules: []sarifRule{}}
	rules := map[string]int{}
	for _, m := range matches {
		i, known := rules[m.Advisory]
		if !known {
			i = len(rules)
			rules[m.Advisory] = i
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
				ID: m.Advisory, Short: sarifText{cmp.Or(m.Summary, m.Advisory)}, HelpURI: m.URL,
				Properties: sarifProperties{[]string{"security", "vulnerability"}, sarifGrades[Severities[Rank(m.Severity)]].score},
			})
		}
		r := sarifResult{
			RuleID: m.Advisory, RuleIndex: i, Level: sarifGrades[Severities[Rank(m.Severity)]].level, Message: sarifText{sentence(m)},
			Locations: make([]sarifLocation, 1), Fingerprints: map[string]string{"package/v1": s.Release + " " + m.Package + " " + m.Advisory},
		}
		r.Locations[0].Physical.Artifact.URI = s.Database
		r.Locations[0].Logical = []sarifLogical{{m.Package + " " + m.Version, "package"}}
		run.Results = append(run.Results, r)
	}
	return SARIF{"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []sarifRun{run}}
}

// sentence says a match to a person.
func sentence(m api.CVEMatch) string {
	what := fmt.Sprintf("%s %s: %s", m.Package, m.Version, m.Advisory)
	if cves := names(m); cves[0] != m.Advisory {
		what += " (" + strings.Join(cves, ", ") + ")"
	}
	switch m.Status {
	case "fixed":
		return what + ", fixed in " + m.FixedVersion
	case "end_of_life":
		return what + ", and there will be no fix: support has ended"
	}
	return what + ", not fixed yet"
}
