package main

import (
	"io"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestTextOfOperatorsIsUTF8 writes as a terminal in Latin-1 does. The service could
// not answer with such a text.
func TestTextOfOperatorsIsUTF8(t *testing.T) {
	is := is.New(t)
	home := t.TempDir()
	admin := func(args ...string) int {
		env := func(name string) string { return map[string]string{"HOME": home}[name] }
		return run(t.Context(), append([]string{"admin"}, args...), env, strings.NewReader(""), io.Discard, io.Discard)
	}
	is.Equal(admin("account", "create", "--name", "caf\xe9"), exitUsage)
	is.Equal(admin("account", "create", "--name", "café"), exitDone)
	is.Equal(admin("account", "set", "1", "--name", "caf\xe9"), exitUsage)
	is.Equal(admin("grant", "add", "--account", "1", "--seats", "1", "--until", "2099-01-01", "--note", "caf\xe9"), exitUsage)
	is.Equal(admin("release", "stage", "--tag", "v1", "--channel", "beta", "--notes", "caf\xe9"), exitUsage)
	is.Equal(admin("release", "stage", "--tag", "v\xe9", "--channel", "beta"), exitUsage)
}
