package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/cmd/svc/exit"
)

// operator runs svc admin with a store in a folder of its own.
type operator struct{ home string }

// admin gives what the command printed, and its exit code.
func (o operator) admin(t *testing.T, args ...string) (printed string, code int) {
	env := func(name string) string { return map[string]string{"HOME": o.home}[name] }
	var out bytes.Buffer
	code = run(t.Context(), append([]string{"admin"}, args...), env, strings.NewReader(""), &out, io.Discard)
	return out.String(), code
}

// TestTextOfOperatorsIsUTF8 writes as a terminal in Latin-1 does. The service could
// not answer with such a text.
func TestTextOfOperatorsIsUTF8(t *testing.T) {
	is := is.New(t)
	o := operator{t.TempDir()}
	code := func(args ...string) int {
		_, code := o.admin(t, args...)
		return code
	}
	is.Equal(code("account", "create", "--name", "caf\xe9"), exit.Usage)
	is.Equal(code("account", "create", "--name", "café"), exit.Done)
	is.Equal(code("account", "set", "1", "--name", "caf\xe9"), exit.Usage)
	is.Equal(code("grant", "add", "--account", "1", "--seats", "1", "--until", "2099-01-01", "--note", "caf\xe9"), exit.Usage)
	is.Equal(code("release", "stage", "--tag", "v1", "--channel", "beta", "--notes", "caf\xe9"), exit.Usage)
	is.Equal(code("release", "stage", "--tag", "v\xe9", "--channel", "beta"), exit.Usage)
}

func TestAnAddressThatIsNoStoreIsUsage(t *testing.T) {
	_, code := operator{t.TempDir()}.admin(t, "account", "list", "--db", "mysql://x")
	is.New(t).Equal(code, exit.Usage)
}

// TestWhenAReleaseWasStaged is the same when it is staged and when it is published.
func TestWhenAReleaseWasStaged(t *testing.T) {
	is := is.New(t)
	o := operator{t.TempDir()}
	staged, _ := o.admin(t, "release", "stage", "--tag", "v1", "--channel", "beta", "--json")
	published, _ := o.admin(t, "release", "publish", "--tag", "v1", "--json")
	const field = `"staged_at": `
	_, before, found := strings.Cut(staged, field)
	_, after, _ := strings.Cut(published, field)
	is.True(found)
	is.Equal(strings.Fields(before)[0], strings.Fields(after)[0])
}
