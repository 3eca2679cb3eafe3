package relocation

import (
	"iter"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/index/build"
	"svc/backend/release"
)

// TestNoAnswerNamesWhatTheTargetGaveUp: where a row says that a family has another
// unit from a release on, no row of another family leads there to the old one.
func TestNoAnswerNamesWhatTheTargetGaveUp(t *testing.T) {
	all, gone := families(), 0
	for software := range all.rows {
		for _, target := range release.All() {
			for r := range all.of(software) {
				if !r.sinceThen(target) || r.Kind != api.RelocateService || r.to == "" {
					continue
				}
				gone++
				for _, slug := range []string{"debian-12", "centos-7", "sles-12"} {
					source, _ := release.Lookup(slug)
					told, _ := all.between(software, source, target)
					for _, told := range told {
						if told.Place() == r.From && told.Kind == r.Kind && told.From != r.From {
							t.Errorf("%s to %s: %s is led to %s, which is %s there", source.Slug, target.Slug, told.From, r.From, r.to)
						}
					}
				}
			}
		}
	}
	if gone == 0 {
		t.Error("no family has renamed a unit")
	}
}

// TestNoFolderOfAllMoves: what stands in /etc itself has no row for the whole of
// it, in whichever direction.
func TestNoFolderOfAllMoves(t *testing.T) {
	all := families()
	for _, way := range [][2]string{{"centos-7", "debian-13"}, {"sles-15", "debian-13"}, {"debian-13", "almalinux-9"}, {"debian-13", "sles-15"}, {"centos-7", "almalinux-9"}} {
		source, _ := release.Lookup(way[0])
		target, _ := release.Lookup(way[1])
		for software := range all.rows {
			told, _ := all.between(software, source, target)
			for _, r := range told {
				if slices.Contains([]string{"/", "/etc", "/etc/pam.d", "/etc/ssh", "/etc/systemd/system", "/etc/cron.d", "/etc/logrotate.d", "/etc/security"}, r.From) {
					t.Errorf("%s: %s as a whole becomes %s", software, r.From, r.Place())
				}
			}
		}
	}
}

var (
	kinds   = []api.RelocationKind{api.RelocateFile, api.RelocateDir, api.RelocateService, api.RelocateUser, api.RelocateGroup, relocateAccount}
	actions = []api.RelocationAction{api.ActionCopy, api.ActionConvert, api.ActionManual, api.ActionDrop}
)

// TestEveryRowCanBeRead: a row has sides that are there, a place or a reason to
// drop it, and something to say.
func TestEveryRowCanBeRead(t *testing.T) {
	is := is.New(t)
	all := families()
	read, err := build.Rows("families.tsv", 9) // sorted, and all columns there
	is.NoErr(err)
	n := 0
	for software := range all.rows {
		for r := range all.of(software) {
			n++
			is.True(slices.Contains(kinds, r.Kind))
			is.True(slices.Contains(actions, r.Action))
			used := slices.ContainsFunc(release.All(), r.target.has) && slices.ContainsFunc(release.All(), r.source.has)
			if !used || r.From == "" || r.Note == "" || (r.to == "") != (r.Action == api.ActionDrop) {
				t.Errorf("%s: the row of %s can't be used: %+v", software, r.From, r)
			}
		}
	}
	is.Equal(n, len(read))
	for name, software := range all.names {
		if len(all.rows[software]) == 0 || len(all.rows[name]) > 0 && name != software {
			t.Errorf("the name %s leads to no rows, or hides its own", name)
		}
	}
}

// elsewhere are notes which say that a place is another, and nothing of a form.
var elsewhere = []string{
	"Debian keeps it in another place.", "SUSE keeps it in another place.", "Debian has a folder for it.", "Debian has the version in the path.",
	"The variables have the same names.", "Certificates.", "Certificates and keys.", "Keys.", "A key that was made on the source moves with its certificate.",
}

// TestWhatHasAnotherPlaceAloneIsCarried: where nothing but a place is said to differ, no
// person has anything to decide. Data and what a service makes anew are no configuration,
// and of two files that become one, a person chooses.
func TestWhatHasAnotherPlaceAloneIsCarried(t *testing.T) {
	all := families()
	for software := range all.rows {
		for r := range all.of(software) {
			becomeOne := r.source == "el" && r.From == "/etc/sysconfig/tomcat"
			if r.Action == api.ActionManual && strings.HasPrefix(r.From, "/etc/") && slices.Contains(elsewhere, r.Note) && !becomeOne {
				t.Errorf("%s: %s is left to a person, though only its place is another: %s", software, r.From, r.Note)
			}
		}
	}
}

// TestReviewedNames measures units and accounts on pairs that public roles
// state, where these are at hand: what has another name must be known by it,
// what keeps its name must not be led elsewhere.
func TestReviewedNames(t *testing.T) {
	families := families()
	releases := map[string]string{"el": "almalinux-9", "amzn": "amzn-2", "fedora": "fedora-42", "suse": "sles-15", "debian": "debian-13", "ubuntu": "ubuntu-24.04"}
	for file, kind := range map[string]api.RelocationKind{"cross_services.tsv": api.RelocateService, "cross_users.tsv": api.RelocateUser} {
		t.Run(file, func(t *testing.T) {
			is := is.New(t)
			total, found := 0, 0
			for _, c := range Truth(t, file) {
				if noise[[2]string{c[1], c[3]}] != "" || c[1] == "root" || c[3] == "root" {
					continue // who serves as root is led to no other account
				}
				total++
				source, _ := release.Lookup(releases[c[0]])
				target, _ := release.Lookup(releases[c[2]])
				if leads := families.leads(kind, c[1], source, target); slices.Contains(leads, strings.TrimSuffix(c[3], ".service")) || len(leads) == 0 && c[1] == c[3] {
					found++
				} else {
					t.Logf("not known: %s -> %s (%s, %s)", c[1], c[3], c[0], c[2])
				}
			}
			t.Logf("%d of %d", found, total)
			is.True(found*100 >= total*98)
		})
	}
}

// of reads all rows of software.
func (f familyRows) of(software string) iter.Seq[familyRow] {
	return func(yield func(familyRow) bool) {
		for _, rows := range f.rows[software] {
			for r := range rows.all() {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// leads are the names to which any software's rows lead from a name.
func (f familyRows) leads(kind api.RelocationKind, name string, source, target release.Release) []string {
	name = strings.TrimSuffix(name, ".service")
	found := []string{}
	for software := range f.rows {
		told, _ := f.between(software, source, target)
		for _, r := range told {
			if (r.Kind == kind || kind == api.RelocateUser && r.Kind == api.RelocateGroup) && strings.TrimSuffix(r.From, ".service") == name && r.To != nil {
				found = append(found, strings.TrimSuffix(*r.To, ".service"))
			}
		}
	}
	return found
}

// noise are pairs of the list that say no such thing: a role's settings put one
// beside the other for another reason.
var noise = map[[2]string]string{
	{"crond", "unbound"}:                      "the role of unbound restarts whatever is there",
	{"iscsid", "tgt"}:                         "one is of initiators, the other of targets",
	{"sshd-keygen.service", "auditd.service"}: "two lists of what must not run",
	{"sshd-keygen.target", "auditd.service"}:  "two lists of what must not run",
}

// Truth are the rows of a list of pairs; without it the test is skipped.
func Truth(t *testing.T, name string) [][]string {
	t.Helper()
	text, err := os.ReadFile("../../../../shared/data/truth/" + name)
	if err != nil {
		t.Skip("no reviewed pairs are here")
	}
	all := [][]string{}
	for line := range strings.Lines(string(text)) {
		if c := strings.Split(line, "\t"); len(c) > 4 && !strings.HasPrefix(line, "#") {
			all = append(all, c)
		}
	}
	return all
}

// TestUbuntuCountsAsDebian: what changed since a release of Debian holds between those of
// Ubuntu before and after it.
func TestUbuntuCountsAsDebian(t *testing.T) {
	is := is.New(t)
	unit := func(software, was, from, into string) string {
		source, _ := release.Lookup(from)
		target, _ := release.Lookup(into)
		told, _ := families().between(software, source, target)
		i := slices.IndexFunc(told, func(r api.Relocation) bool { return r.From == was })
		if i < 0 {
			return ""
		}
		return told[i].Place()
	}
	is.Equal(unit("spamassassin", "spamassassin.service", "ubuntu-20.04", "ubuntu-24.04"), "spamd.service")
	is.Equal(unit("tomcat", "/etc/tomcat9", "ubuntu-22.04", "ubuntu-24.04"), "/etc/tomcat10")
	is.Equal(unit("tomcat", "/etc/tomcat9", "ubuntu-20.04", "ubuntu-22.04"), "")
	is.Equal(unit("bind", "bind9.service", "ubuntu-18.04", "ubuntu-20.04"), "named.service")
	is.Equal(unit("bind", "bind9.service", "ubuntu-20.04", "ubuntu-24.04"), "")
	is.Equal(unit("tomcat", "/etc/tomcat9", "debian-11", "debian-13"), "/etc/tomcat10")
}
