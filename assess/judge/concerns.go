package judge

import (
	"cmp"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/backend/pkgversion"
	"svc/backend/tsv"
	"svc/backend/visible"
)

// factCheck is a finding about facts of an area that match.
type factCheck struct {
	area             string
	key, value       *lazyregexp.Regexp
	finding, summary string
}

//go:embed facts.tsv
var factRows string

// factChecks are facts that a person must know of before a move.
var factChecks = tsv.List(factRows, 5, func(c []string) factCheck {
	return factCheck{c[0], lazyregexp.New(c[1]), lazyregexp.New(c[2]), c[3], c[4]}
})

// findFacts makes one finding of all facts that a check matches.
func findFacts(r *assess.Reading) {
	for _, c := range factChecks() {
		var said []string
		f := found(c.finding, c.summary, nil)
		for _, fact := range r.A.Facts {
			if fact.Area == c.area && c.key.MatchString(fact.Key) && c.value.MatchString(fact.Value) {
				said = append(said, strings.TrimSpace(fact.Key+" "+fact.Value))
				f.Evidence, f.Related = append(f.Evidence, fact.Evidence), append(f.Related, assess.Resource{Scheme: "file", Name: fact.Evidence.Path})
			}
		}
		if len(said) == 0 {
			continue
		}
		if !strings.HasSuffix(c.summary, ".") {
			f.Summary += " " + assess.Some(said) + "."
		}
		f.Evidence, f.Related = f.Evidence[:min(len(f.Evidence), 20)], slices.Compact(f.Related)
		r.Finding(f)
	}
}

// findKernelArguments finds what people start the kernel with.
func findKernelArguments(r *assess.Reading) {
	for _, f := range r.Facts("boot") {
		if !strings.HasPrefix(f.Key, "GRUB_CMDLINE") && f.Key != "arguments" {
			continue
		}
		if own := ownArguments(f.Value); len(own) > 0 {
			r.Finding(found("kernel.arguments", "Beside the usual ones there are "+assess.Some(own)+"; they are not carried over.",
				[]assess.Resource{{Scheme: "file", Name: f.Evidence.Path}}, f.Evidence))
		}
	}
}

// soon is how long before its end a certificate is worth a word.
const soon = 30 * 24 * time.Hour

// findCertificates finds certificates that have ended or are about to, and
// authorities that people trust.
func findCertificates(r *assess.Reading) {
	checks := []struct {
		match func(assess.Certificate, time.Time) bool
		f     assess.Finding
	}{
		{func(_ assess.Certificate, end time.Time) bool { return end.Before(r.Options.Now) }, found("certificates.expired", "", nil)},
		{func(_ assess.Certificate, end time.Time) bool {
			return !end.Before(r.Options.Now) && end.Before(r.Options.Now.Add(soon))
		}, found("certificates.expiring", "", nil)},
		{func(c assess.Certificate, _ time.Time) bool {
			return strings.HasPrefix(c.Path, "/usr/local/share/ca-certificates/") || strings.HasSuffix(path.Dir(c.Path), "/anchors")
		}, found("certificates.own-authority", "", nil)},
	}
	for _, check := range checks {
		var said []string
		f := check.f
		for _, c := range r.A.Certificates {
			if end, err := time.Parse(time.RFC3339, c.NotAfter); err == nil && check.match(c, end) {
				said = append(said, fmt.Sprintf("%s (%s) until %s", c.Path, c.Subject, end.Format(time.DateOnly)))
				f.Evidence, f.Related = append(append(f.Evidence, assess.Evidence{Path: c.Path, Line: 0}), c.UsedBy...), append(f.Related, assess.Resource{Scheme: "file", Name: c.Path})
			}
		}
		if len(said) > 0 {
			f.Summary = assess.Some(said) + "."
			r.Finding(f)
		}
	}
}

// findJobs finds jobs that are closed to others, and those that wait to run
// once.
func findJobs(r *assess.Reading) {
	once := found("cron.once", "", nil)
	closed := found("cron.closed", "", nil)
	for _, job := range r.A.Cron {
		switch {
		case strings.HasPrefix(job.Schedule, "at "):
			once.Evidence = append(once.Evidence, job.Evidence)
		case job.Hidden:
			closed.Evidence = append(closed.Evidence, job.Evidence)
		}
	}
	if n := len(once.Evidence); n > 0 {
		once.Summary = assess.Plural(n, "job") + " of at: none is carried over."
		r.Finding(once)
	}
	if n := len(closed.Evidence); n > 0 {
		closed.Summary = assess.Plural(n, "job") + " may hold what others should not read."
		r.Finding(closed)
	}
}

// installers are package managers beside the system's.
var installers = strings.Fields("cargo cpan flatpak gem npm pip snap venv")

func findSoftware(r *assess.Reading) {
	for _, manager := range installers {
		var names []string
		f := found("software."+manager, "", nil)
		for _, s := range r.A.Software {
			if s.Manager == manager {
				names = append(names, strings.TrimSpace(s.Name+" "+s.Version))
				f.Evidence, f.Related = append(f.Evidence, s.Evidence), append(f.Related, assess.Resource{Scheme: "file", Name: s.Path})
			}
		}
		if len(names) > 0 {
			f.Summary = assess.Some(names) + ": none of it is carried over."
			f.Evidence, f.Related = f.Evidence[:min(len(f.Evidence), 20)], f.Related[:min(len(f.Related), 50)]
			r.Finding(f)
		}
	}
}

// major is the part of an engine's version that decides whether a server takes
// data as they are.
func major(engine, version string) string {
	parts := strings.SplitN(version, ".", 3)
	if engine == "postgresql" && assess.CompareNatural(parts[0], "10") >= 0 {
		return parts[0]
	}
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// findDataVersions finds data that the installed server would not take as they
// are.
func findDataVersions(r *assess.Reading) {
	for _, d := range r.A.Databases {
		related := []assess.Resource{{Scheme: "database", Name: d.Engine + ":" + d.Directory}}
		if d.Engine == "slapd" && d.DataVersion == "hdb" {
			r.Finding(found("database.slapd-backend", fmt.Sprintf("%s is of the hdb or bdb backend, which OpenLDAP 2.5 and later don't have.", visible.Name(d.Directory)),
				related, d.Evidence))
		}
		p := r.Installed(d.Package)
		if p == nil || !assess.PlainVersion.MatchString(d.DataVersion) || !slices.Contains([]string{"postgresql", "mariadb", "mysql"}, d.Engine) {
			continue
		}
		if has, says := major(d.Engine, pkgversion.Upstream(p.Version)), major(d.Engine, d.DataVersion); has != says {
			r.Finding(found("database.data-version", fmt.Sprintf("%s is of %s %s, and %s is %s.", visible.Name(d.Directory), d.Engine, visible.Name(d.DataVersion), visible.Name(p.Name), visible.Name(cmp.Or(pkgversion.Upstream(p.Version), p.Version))),
				related, d.Evidence))
		}
	}
}
