package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestTokensAreCheckedBeforeTheNetwork(t *testing.T) {
	is := is.New(t)
	token := NewToken()
	is.Equal(len(token), 50)
	is.NoErr(CheckToken(token))
	is.True(token != NewToken())
	is.True(TokenHash(token) != TokenHash(NewToken()))
	for i := range token {
		other := byte('A')
		if token[i] == other {
			other = 'B'
		}
		typo := token[:i] + string(other) + token[i+1:]
		err := CheckToken(typo)
		is.Equal(CodeOf(err), Unauthenticated) // every one-character typo is found
		is.True(!strings.Contains(err.Error(), typo[4:]))
	}
	for _, bad := range []string{"", "svc_", token + "0", token[:49], strings.ToUpper(token), token + "\n"} {
		is.Equal(CodeOf(CheckToken(bad)), Unauthenticated)
	}
}
