package naming

import (
	"testing"

	"github.com/matryer/is"
)

// TestPlacesThatAreCalledOtherwise come with the folder above them, which no package of the
// target may have.
func TestPlacesThatAreCalledOtherwise(t *testing.T) {
	is := is.New(t)
	text := "log_error = /var/log/mysql/error.log\n# old = /var/lib/old\ntmp = /var/lib/tmp\nx = /var/www\n"
	is.Equal(WrittenIn(text, [][2]string{{"log-error=/var/log/mariadb/mariadb.log", "log_error = /var/log/mysql/error.log"}, {"a /var/lib/a /var/lib/b", "a /var/lib/c"}}), []Written{
		{"/var/log/mysql", "/var/log/mariadb"},
		{"/var/log/mysql/error.log", "/var/log/mariadb/mariadb.log"},
		{"/var/log/mysql", "/var/log/mysql"},
		{"/var/log/mysql/error.log", "/var/log/mysql/error.log"},
		{"/var/lib/tmp", "/var/lib/tmp"},
	})
}

// TestLocalesOfLangpacks are made where the source has them.
func TestLocalesOfLangpacks(t *testing.T) {
	is := is.New(t)
	there := func(name string) bool { return name != "/usr/lib/locale/fr_FR.utf8" }
	is.Equal(LangpackLocales([]string{"glibc", "glibc-langpack-en", "glibc-langpack-de", "glibc-langpack-fr"}, there), []string{"en_US.UTF-8", "de_DE.UTF-8"})
}
