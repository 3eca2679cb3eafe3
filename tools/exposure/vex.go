package exposure

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"svc/backend/api"
	"svc/backend/release"
	"svc/backend/sliced"
)

// VEX is a document of vulnerabilities in the form of CycloneDX 1.6.
type VEX struct {
	Format          string             `json:"bomFormat"`
	SpecVersion     string             `json:"specVersion"`
	Serial          string             `json:"serialNumber"`
	Version         int                `json:"version"`
	Metadata        vexMetadata        `json:"metadata"`
	Components      []vexComponent     `json:"components"`
	Vulnerabilities []vexVulnerability `json:"vulnerabilities"`
}

type vexMetadata struct {
	Timestamp string `json:"timestamp"`
	Tools     struct {
		Components []vexComponent `json:"components"`
	} `json:"tools"`
	Component  vexComponent  `json:"component"`
	Properties []vexProperty `json:"properties,omitempty"`
}

type vexProperty struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type vexComponent struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref,omitempty"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	PURL    string `json:"purl,omitempty"`
}

type vexVulnerability struct {
	ID             string          `json:"id"`
	Ratings        []vexRating     `json:"ratings"`
	Description    string          `json:"description,omitempty"`
	Recommendation string          `json:"recommendation,omitempty"`
	Advisories     []vexAdvisory   `json:"advisories,omitempty"`
	Analysis       vexAnalysis     `json:"analysis"`
	Affects        []vexAffected   `json:"affects"`
	seen           map[string]bool // components, by reference
}

type vexRating struct {
	Severity string `json:"severity"`
	Method   string `json:"method,omitempty"`
	Vector   string `json:"vector,omitempty"`
}

type vexAdvisory struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

type vexAnalysis struct {
	State    string   `json:"state"`
	Response []string `json:"response,omitempty"`
}

type vexAffected struct {
	Ref      string       `json:"ref"`
	Versions []vexVersion `json:"versions"`
}

type vexVersion struct {
	Version string `json:"version"`
	Status  string `json:"status"`
}

// NewVEX makes a document of sorted matches: a vulnerability for each CVE. That
// a version is affected is known; whether it can be exploited on the machine is
// for a person to say, so every analysis is in triage.
func NewVEX(s Subject, matches []api.CVEMatch, now time.Time) VEX {
	distro, version := release.Split(s.Release)
	d := VEX{Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Components: []vexComponent{}, Vulnerabilities: []vexVulnerability{}}
	d.Metadata.Timestamp = now.UTC().Format(time.RFC3339)
	d.Metadata.Tools.Components = []vexComponent{{Type: "application", Name: "svc", Version: s.Tool}}
	d.Metadata.Component = vexComponent{Type: "operating-system", Ref: s.Release, Name: distro, Version: version}
	d.Metadata.Properties = append(d.Metadata.Properties, sliced.Map(s.Warnings, func(w string) vexProperty { return vexProperty{"svc:warning", w} })...)
	refs, byID := map[string]bool{}, map[string]int{}
	for _, m := range matches {
		ref := packageURL(s.Release, m.Package, m.Version)
		if !refs[ref] {
			refs[ref] = true
			d.Components = append(d.Components, vexComponent{"library", ref, m.Package, m.Version, ref})
		}
		for _, id := range names(m) {
			i, known := byID[id]
			if !known {
				i = len(d.Vulnerabilities)
				byID[id] = i
				d.Vulnerabilities = append(d.Vulnerabilities, newVulnerability(id, m))
			}
			d.Vulnerabilities[i].add(ref, m)
		}
	}
	slices.SortFunc(d.Components, func(a, b vexComponent) int { return cmp.Compare(a.Ref, b.Ref) })
	d.Serial = serial(d)
	return d
}

// serial is a UUID (version 8) of the content.
func serial(d VEX) string {
	h := sha256.New()
	fmt.Fprintf(h, "%v", d) // maps print sorted, so equal content is equal text
	b := h.Sum(nil)[:16]
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func newVulnerability(id string, m api.CVEMatch) vexVulnerability {
	v := vexVulnerability{ID: id, Ratings: []vexRating{{Severity: m.Severity}}, Description: m.Summary, Analysis: vexAnalysis{State: "in_triage"}, seen: map[string]bool{}}
	if m.CVSS != "" {
		v.Ratings[0].Method, v.Ratings[0].Vector = cvssMethod(m.CVSS), m.CVSS
	}
	switch m.Status {
	case "fixed":
		v.Analysis.Response = []string{"update"}
	case "end_of_life":
		v.Analysis.Response = []string{"will_not_fix"}
	}
	return v
}

// cvssMethods are how CycloneDX calls the versions of CVSS.
var cvssMethods = map[string]string{"CVSS:4.0": "CVSSv4", "CVSS:3.1": "CVSSv31", "CVSS:3.0": "CVSSv3"}

func cvssMethod(vector string) string {
	version, _, _ := strings.Cut(vector, "/")
	return cmp.Or(cvssMethods[version], "CVSSv2")
}

// add notes one more package, and the advisory that says so.
func (v *vexVulnerability) add(ref string, m api.CVEMatch) {
	if m.URL != "" && !slices.ContainsFunc(v.Advisories, func(a vexAdvisory) bool { return a.URL == m.URL }) {
		v.Advisories = append(v.Advisories, vexAdvisory{m.Advisory, m.URL})
	}
	if v.seen[ref] {
		return
	}
	v.seen[ref] = true
	v.Affects = append(v.Affects, vexAffected{ref, []vexVersion{{m.Version, "affected"}}})
	if m.FixedVersion != "" {
		v.Affects[len(v.Affects)-1].Versions = append(v.Affects[len(v.Affects)-1].Versions, vexVersion{m.FixedVersion, "unaffected"})
	}
}

// packageURL is a package by its purl; rpm's epoch is a qualifier.
func packageURL(slug, name, version string) string {
	r, _ := release.Lookup(slug)
	distro, _ := release.Split(slug)
	kind := cmp.Or(string(r.Family.Conventions().Format), "rpm")
	qualifiers := "?distro=" + url.QueryEscape(slug)
	if epoch, rest, found := strings.Cut(version, ":"); found && kind == "rpm" {
		version, qualifiers = rest, qualifiers+"&epoch="+url.QueryEscape(epoch)
	}
	return fmt.Sprintf("pkg:%s/%s/%s@%s%s", kind, distro, url.QueryEscape(name), url.QueryEscape(version), qualifiers)
}
