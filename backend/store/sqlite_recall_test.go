package store

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/matryer/is"
)

// operator is the environment variable by which the test binary becomes another
// process that disables the tokens whose ids it is sent.
const operator = "SVC_TEST_OPERATOR"

// TestOperator is not a test but that process.
func TestOperator(t *testing.T) {
	address, ok := os.LookupEnv(operator)
	if !ok {
		t.Skip("this is a process of another test")
	}
	is := is.New(t)
	s, err := Open(t.Context(), address, Options{})
	is.NoErr(err)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var token int64
		_, err := fmt.Sscan(lines.Text(), &token)
		is.NoErr(err)
		is.NoErr(s.DisableToken(t.Context(), "test", token))
		fmt.Printf("\ndisabled %d\n", token)
	}
	is.NoErr(s.Close())
}

// TestSQLiteRecallsTokens disables tokens in another process: each holds, without
// a search, until then and not once more, whatever is recorded before and after.
func TestSQLiteRecallsTokens(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "svc.db")
	s, account := openForTest(t, path)
	claimed := 0
	claim := func() {
		claimed++
		is.NoErr(claimVM(t, s, account, claimed))
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestOperator$", "-test.timeout=1m")
	cmd.Env = append(os.Environ(), operator+"=sqlite:"+path)
	in, err := cmd.StdinPipe()
	is.NoErr(err)
	out, err := cmd.StdoutPipe()
	is.NoErr(err)
	is.NoErr(cmd.Start())
	lines := bufio.NewScanner(out)
	for i := range 200 {
		hash := sha256.Sum256(fmt.Append(nil, i))
		id, err := s.CreateToken(t.Context(), "test", account, hash)
		is.NoErr(err)
		if i%50 == 49 { // the log begins anew
			_, err := s.conn.execute(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
			is.NoErr(err)
		}
		for range 2 {
			who, err := s.Authenticate(t.Context(), hash)
			is.NoErr(err)
			is.Equal(who.TokenID, id)
			claim()
		}
		at, known := s.recall.position()
		is.True(known)
		_, recalled := s.recall.find(at, hash)
		is.True(recalled) // it is not looked for again
		_, err = fmt.Fprintln(in, id)
		is.NoErr(err)
		for said := fmt.Sprintf("disabled %d", id); lines.Text() != said && lines.Scan(); {
		}
		if i%2 == 0 {
			claim()
		}
		_, err = s.Authenticate(t.Context(), hash)
		is.True(errors.Is(err, ErrNotFound))
	}
	is.NoErr(in.Close())
	is.NoErr(cmd.Wait())
}

// TestRecallPasses takes a token over one commit, not over two.
func TestRecallPasses(t *testing.T) {
	at := func(commits uint32) (p position) {
		binary.NativeEndian.PutUint32(p[walIndexChange:], commits)
		return p
	}
	for after, want := range map[uint32]bool{6: true, 7: false, 5: true} {
		r := &recall{}
		r.keep(at(5), [32]byte{1}, Principal{})
		r.pass(at(5), at(after))
		_, found := r.find(at(after), [32]byte{1})
		is.New(t).Equal(found, want)
	}
}

// meddler has something done right after each commit.
type meddler struct {
	executor
	then func()
}

func (m meddler) execute(ctx context.Context, query string, args ...any) (int64, error) {
	n, err := m.executor.execute(ctx, query, args...)
	if query == "COMMIT" {
		m.then()
	}
	return n, err
}

// TestRecallDoesNotPassOthers disables a token in another process right after a
// commit: of something that was recorded, and of nothing.
func TestRecallDoesNotPassOthers(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "svc.db")
	s, account := openForTest(t, path)
	other, _ := openForTest(t, path)
	for i, c := range []Command{{AccountID: account}, {AccountID: -1}} {
		hash := [32]byte{byte(i)}
		token, err := s.CreateToken(t.Context(), "test", account, hash)
		is.NoErr(err)
		_, err = s.Authenticate(t.Context(), hash)
		is.NoErr(err)
		disable := func() { is.NoErr(other.DisableToken(t.Context(), "test", token)) }
		w := s.newWriter(meddler{s.conn, disable})
		work := &task[write]{t.Context(), write{entry: &entry{Command: c}}, make(chan error, 1)}
		s.commit(w, []*task[write]{work})
		is.NoErr(<-work.result)
		_, err = s.Authenticate(t.Context(), hash)
		is.True(errors.Is(err, ErrNotFound))
	}
}
