package migration

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/assess/ledger"
	"svc/backend/release"
	"svc/tools/migration/naming"
)

func TestOtherVersionsOfLanguagesAreSaid(t *testing.T) {
	is := is.New(t)
	rows := []Package{
		{Name: "php7.4-cli", Version: "7.4.33-1+deb11u5", Targets: []Target{{"php8.4-cli", "8.4.11-1"}}, Confidence: 0.9},
		{Name: "php-common", Version: "2:76", Targets: []Target{{"php-common", "2:96"}}, Confidence: 0.9},
		{Name: "perl", Version: "5.36.0-7", Targets: []Target{{"perl", "5.36.9-1"}}, Confidence: 0.9},
		{Name: "openjdk-17-jre-headless", Version: "17.0.1+5", Targets: []Target{{"openjdk-21-jre-headless", "21.0.8+9"}}, Confidence: 0.9},
		{Name: "ruby2.7", Version: "2.7.4", Targets: []Target{{"ruby3.3", "3.3.8"}}, Confidence: 0.5},
	}
	target, _ := release.Lookup("debian-13")
	in := Input{Assessment: &assess.Assessment{Release: "el-9"}, Target: target}
	found := languages(in, &Plan{Packages: rows})
	is.Equal(len(found), 1)
	is.True(strings.HasPrefix(found[0].Summary, "PHP 7.4 becomes 8.4, Java 17 becomes 21. "))

	// a metapackage's own version is not that of the language
	rows = []Package{
		{Name: "java-17-openjdk-headless", Version: "1:17.0.13.0.11-3", Targets: []Target{{"default-jre-headless", "2:1.21-76"}}, Confidence: 0.9},
		{Name: "mono-runtime", Version: "4.6", Targets: []Target{{"default-mono", "2:1.6"}}, Confidence: 0.9}, // none says which
	}
	found = languages(in, &Plan{Packages: rows})
	is.Equal(len(found), 1)
	is.True(strings.HasPrefix(found[0].Summary, "Java 17 becomes 21. "))
}

// TestAlternativesAreChosenByTheTargetsNames: what a person chose has the target's version,
// and the sum that was counted stays as it is.
func TestAlternativesAreChosenByTheTargetsNames(t *testing.T) {
	is := is.New(t)
	rows := []naming.Row{{Name: "php8.2-cli", Targets: []string{"php8.4-cli"}, Sure: true}}
	counted := &ledger.Sum{Noticed: []ledger.Notice{{Kind: "alternative", Command: "update-alternatives --set 'php' '/usr/bin/php8.2'"}, {Kind: "swap", Command: "mkswap /php8.2"}}}
	r := naming.NewReferences(rows, naming.New(rows, nil), "debian-13")
	got := counted.Choosing(func(command string) string { now, _, _ := r.Text(command); return now })
	is.Equal(got.Noticed[0].Command, "update-alternatives --set 'php' '/usr/bin/php8.4'")
	is.Equal(got.Noticed[1], counted.Noticed[1])
	is.Equal(counted.Noticed[0].Command, "update-alternatives --set 'php' '/usr/bin/php8.2'")
}
