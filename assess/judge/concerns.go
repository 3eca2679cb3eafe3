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
	"svc/backend/sliced"
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
		g, summary := gather(c.finding), c.summary
		for _, fact := range r.A.Facts {
			if fact.Area == c.area && c.key.MatchString(fact.Key) && c.value.MatchString(fact.Value) {
				g.AddFile(strings.TrimSpace(fact.Key+" "+fact.Value), fact.Evidence)
			}
		}
		if !strings.HasSuffix(summary, ".") {
			summary += " " + assess.Some(g.Said) + "."
		}
		g.Evidence, g.Related = few(g.Evidence), slices.Compact(g.Related)
		r.Finding(g.Tell(summary)...)
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
		key   string
	}{
		{func(_ assess.Certificate, end time.Time) bool { return end.Before(r.Options.Now) }, "certificates.expired"},
		{func(_ assess.Certificate, end time.Time) bool {
			return !end.Before(r.Options.Now) && end.Before(r.Options.Now.Add(soon))
		}, "certificates.expiring"},
		{func(c assess.Certificate, _ time.Time) bool {
			return strings.HasPrefix(c.Path, "/usr/local/share/ca-certificates/") || strings.HasSuffix(path.Dir(c.Path), "/anchors")
		}, "certificates.own-authority"},
	}
	for _, check := range checks {
		g := gather(check.key)
		for _, c := range r.A.Certificates {
			if end, err := time.Parse(time.RFC3339, c.NotAfter); err == nil && check.match(c, end) {
				g.AddFile(fmt.Sprintf("%s (%s) until %s", c.Path, c.Subject, end.Format(time.DateOnly)), assess.Evidence{Path: c.Path})
				g.Evidence = append(g.Evidence, c.UsedBy...)
			}
		}
		r.Finding(g.Tell(assess.Some(g.Said) + ".")...)
	}
}

// importAuthorities brings authorities from a store of Java's, which is read without its
// password, into the target's own; where the system makes that anew of its anchors
// (update-ca-trust(8)), into these.
const importAuthorities = `! command -v keytool >/dev/null || ( set -e; t=$(mktemp -d); trap 'rm -r "$t"' EXIT; rsync -aL "$SOURCE_SSH":%s "$t"/store; d=; for f in /etc/pki/ca-trust/source/anchors /etc/pki/trust/anchors; do [ ! -d $f ] || d=$f; done; n=0; for a in %s; do n=$((n+1)); echo | keytool -exportcert -rfc -keystore "$t"/store -alias "$a" >"$t"/java-$n.crt 2>/dev/null; if [ -n "$d" ]; then cp "$t"/java-$n.crt $d; else keytool -list -cacerts -storepass changeit -alias "$a" >/dev/null 2>&1 || keytool -importcert -noprompt -cacerts -storepass changeit -alias "$a" -file "$t"/java-$n.crt; fi; done; if [ -n "$d" ]; then update-ca-trust 2>/dev/null || update-ca-certificates; fi )`

// findKeystores finds authorities that people gave to Java alone.
func findKeystores(r *assess.Reading) {
	stores := map[string]*assess.Gathering{}
	for _, f := range r.Facts("certificates") {
		g := stores[f.Evidence.Path]
		if g == nil {
			g = gather("certificates.java")
			stores[f.Evidence.Path] = g
		}
		g.AddFile(f.Value, f.Evidence)
	}
	for _, file := range assess.SortedKeys(stores) {
		g := stores[file]
		g.Evidence, g.Related = g.Evidence[:1], g.Related[:1]
		command := fmt.Sprintf(importAuthorities, visible.Word(file), strings.Join(sliced.Map(g.Said, visible.Word), " "))
		g.Remediations = []assess.Remediation{{Type: "command", Text: command, AfterData: true}}
		r.Finding(g.Tell("In " + file + ", by keytool: " + assess.Some(g.Said) + ". No package brings them.")...)
	}
}

// findJobs finds jobs that are closed to others, and those that wait to run
// once.
func findJobs(r *assess.Reading) {
	once, closed := gather("cron.once"), gather("cron.closed")
	for _, job := range r.A.Cron {
		switch {
		case strings.HasPrefix(job.Schedule, "at "):
			once.Add("", job.Evidence)
		case job.Hidden:
			closed.Add("", job.Evidence)
		}
	}
	r.Finding(once.Tell(assess.Plural(len(once.Said), "job") + " of at: none is carried over.")...)
	r.Finding(closed.Tell(assess.Plural(len(closed.Said), "job") + " may hold what others should not read.")...)
}

// installers are package managers beside the system's.
var installers = strings.Fields("cargo cpan flatpak gem npm pip snap venv")

func findSoftware(r *assess.Reading) {
	for _, manager := range installers {
		g := gather("software." + manager)
		for _, s := range r.A.Software {
			if s.Manager == manager {
				g.Add(strings.TrimSpace(s.Name+" "+s.Version), s.Evidence, assess.Resource{Scheme: "file", Name: s.Path})
			}
		}
		g.Evidence, g.Related = few(g.Evidence), g.Related[:min(len(g.Related), 50)]
		r.Finding(g.Tell(assess.Some(g.Said) + ": none of it is carried over.")...)
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
