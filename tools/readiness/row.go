package readiness

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash/fnv"
	"net/netip"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/host"
	"svc/backend/sliced"
	"svc/tools/fleet"
	"svc/tools/job"
	"svc/tools/machine"
	"svc/tools/migration"
	"svc/tools/move"
	"svc/tools/tool"
)

// row is a machine's line of the fleet.
func row(m *move.Move, member machine.Member, bytes int64, licensed bool) fleet.Machine {
	_, _, undecided := m.Namely()
	line := fleet.Machine{
		Name: member.Name, Place: member.Place, Source: m.Assessment.Release, Fingerprint: m.Assessment.Fingerprint,
		Packages: m.Plan.Sum.Total, Questions: len(undecided), Unknown: m.Plan.Sum.Unknown,
		Inhibitors: short(tool.Headlines(m.Plan.Inhibitors)), Databases: []string{}, DependsOn: []string{},
		DataBytes: bytes, Licensed: licensed,
	}
	stops := sliced.SetOf(m.Plan.Inhibitors, func(f assess.Finding) string { return f.Key })
	line.Findings = slices.DeleteFunc(short(tool.Headlines(slices.Concat(m.Plan.Findings, m.Assessment.Findings))), func(f fleet.Finding) bool { return stops[f.Key] })
	line.Manual = sliced.Count(m.Plan.Configuration, func(c migration.Config) bool {
		return c.Action == migration.Manual
	})
	line.Databases = append(line.Databases, sliced.Map(m.Assessment.Databases, func(db assess.Database) string {
		return strings.TrimSpace(db.Engine + " " + cmp.Or(db.DataVersion, db.Version))
	})...)
	slices.Sort(line.Databases)
	line.Databases = slices.Compact(line.Databases)
	return line
}

func short(headlines []tool.Headline) []fleet.Finding {
	return append([]fleet.Finding{}, sliced.Map(headlines, func(h tool.Headline) fleet.Finding {
		return fleet.Finding{Key: h.Key, Severity: h.Severity, Title: h.Title, Summary: h.Summary}
	})...)
}

// features are digests of what a machine is compared by with others: the names of
// its packages, its files of configuration with what becomes of them, its findings.
func features(m *move.Move) (all []uint64) {
	add := func(parts ...string) {
		h := fnv.New64a()
		for _, part := range parts {
			_, _ = h.Write(append([]byte(part), 0)) // which never fails
		}
		all = append(all, h.Sum64())
	}
	for _, p := range m.Assessment.Packages {
		add("package", p.Name)
	}
	for _, c := range m.Plan.Configuration {
		add("file", c.From, string(c.Action))
	}
	for _, f := range slices.Concat(m.Plan.Inhibitors, m.Plan.Findings, m.Assessment.Findings) {
		add("finding", f.Key)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// namesOf are the machine's own: its host name, and its addresses but for those that
// every machine has.
func namesOf(a *assess.Assessment) (all []string) {
	if name := strings.ToLower(a.System.Hostname); !everywhere[name] && len(name) > 2 {
		all = append(all, name)
	}
	for _, n := range a.Networks {
		for _, address := range n.Addresses {
			address, _, _ = strings.Cut(address, "/")
			if ip, err := netip.ParseAddr(address); err == nil && !ip.IsLoopback() && !ip.IsUnspecified() {
				all = append(all, ip.String())
			}
		}
	}
	return all
}

// everywhere are host names that say nothing of which machine it is.
var everywhere = map[string]bool{"": true, "localhost": true, "localhost.localdomain": true, "debian": true, "ubuntu": true, "server": true}

// Bounds of what is looked for in configuration.
const (
	maxMentioning = 256 << 10 // bytes of a file
	maxMentions   = 16 << 10  // words of a machine
)

// digests are those of words by a key of this user: what a machine's configuration
// says stands in no file of a fleet, and still can be found among others' names.
func digests(key []byte, words []string) []uint64 {
	all := []uint64{}
	mac := hmac.New(sha256.New, key)
	for _, word := range words {
		mac.Reset()
		mac.Write([]byte("svc mention\x00" + word))
		all = append(all, binary.BigEndian.Uint64(mac.Sum(nil)))
	}
	slices.Sort(all)
	return all
}

// mentioned are the words of the configuration that people wrote which may be names
// or addresses of other machines; of a machine that has very many, the first.
func mentioned(j *job.Job) []string {
	seen := map[string]bool{}
	for _, mount := range j.Assessment.Mounts {
		device, _, _ := strings.Cut(mount.Device, ":")
		seen[strings.ToLower(device)] = true
	}
	for _, c := range j.Assessment.Configuration {
		if c.Secret || c.Size > maxMentioning || c.Link != "" || c.SHA256 == "" || len(seen) > maxMentions {
			continue
		}
		b, err := host.ReadFile(j.Host.FS(), strings.TrimPrefix(c.Path, "/"), maxMentioning)
		if err != nil {
			continue // the assessment says what could not be read
		}
		fleet.Mentioned(c.Path, string(b), func(name string) { seen[name] = true })
	}
	own := namesOf(j.Assessment)
	all := []string{}
	for name := range seen {
		if !slices.Contains(own, name) && !everywhere[name] {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all[:min(len(all), maxMentions)]
}
