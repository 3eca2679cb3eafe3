package server

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
)

// instances has an account claim so many seats.
func (s *service) instances(account int64, n int) {
	s.t.Helper()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			_, err := s.db.Record(s.t.Context(), store.Command{
				RequestID: vm(i), AccountID: account, Kind: api.License, Fingerprint: vm(i), Source: api.OS{Distro: "centos", Version: "7"},
			})
			if err != nil {
				s.t.Error(err)
			}
		})
	}
	wg.Wait()
}

// vm is a fingerprint of which the beginning tells it from others.
func vm(n int) string { return fmt.Sprintf("%012x%052x", n, 0) }

// fetch asks without the checks of answers that are in memory when they begin.
func (s *service) fetch(path, token string) (*http.Response, string, error) {
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	is.New(s.t).NoErr(err)
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultTransport.RoundTrip(r)
	is.New(s.t).NoErr(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response, string(body), err
}

// TestStatement: whole, page by page and as CSV it tells of the same machines, each once.
func TestStatement(t *testing.T) {
	is := is.New(t)
	s := start(t)
	id, token := s.account(license.Account{Name: "large", FreeQuota: 100_000, VMLimit: 100_000})
	const n = linesAtOnce + 700
	s.instances(id, n)

	response, body, err := s.fetch("/v1/account/statement", token)
	is.NoErr(err)
	is.Equal(response.Header.Get("Content-Type"), "application/json")
	var whole api.Statement
	is.NoErr(json.Unmarshal([]byte(body), &whole))
	is.Equal([]int{whole.Instances, whole.FreeInstances, len(whole.Lines)}, []int{n, n, n})
	is.Equal(whole.NextCursor, "")
	seen := map[string]bool{}
	for _, l := range whole.Lines {
		seen[l.VM] = true
	}
	is.Equal(len(seen), n)

	var paged []api.StatementLine
	cursor := ""
	for {
		page := get[api.Statement](s, s.call("GET", "/v1/account/statement?limit=900&cursor="+cursor, token, nil))
		is.Equal(page.Instances, n)
		paged = append(paged, page.Lines...)
		if cursor = page.NextCursor; cursor == "" {
			break
		}
		is.Equal(len(page.Lines), 900)
	}
	is.Equal(paged, whole.Lines)

	response, body, err = s.fetch("/v1/account/statement?format=csv", token)
	is.NoErr(err)
	is.Equal(response.Header.Get("Content-Type"), csvType)
	is.Equal(response.Header.Get("Content-Disposition"), `attachment; filename="statement-1-2026-08-01.csv"`)
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	is.NoErr(err)
	is.Equal(len(rows), n+1)
	is.Equal(rows[1], whole.Lines[0].Cells())
	is.Equal(rows[n], whole.Lines[n-1].Cells())

	for query, why := range map[string]string{
		"format=xml": "format must be json or csv", "cursor=x": "must be a next_cursor", "cursor=1.-1": "must be a next_cursor",
		"cursor=1.0&offset=2": "cursor takes the place of offset",
	} {
		refused := s.call("GET", "/v1/account/statement?"+query, token, nil)
		is.Equal(refused.status, http.StatusBadRequest)
		is.True(strings.Contains(refused.refusal(t).Message, why))
	}
}

// failing is a store whose statements end in the midst.
type failing struct{ store.Store }

func (f failing) Statement(ctx context.Context, account int64, p store.Page) (api.Statement, error) {
	if p.From != nil {
		return api.Statement{}, errors.New("the disk is gone")
	}
	return f.Store.Statement(ctx, account, p)
}

// TestStatementThatBreaksOff is seen as such: the body has no end.
func TestStatementThatBreaksOff(t *testing.T) {
	is := is.New(t)
	s := start(t, func(c *Config) { c.Store = failing{c.Store} })
	id, token := s.account(license.Account{Name: "large", FreeQuota: 100_000, VMLimit: 100_000})
	s.instances(id, linesAtOnce+1)
	for _, path := range []string{"/v1/account/statement", "/v1/account/statement?format=csv"} {
		_, _, err := s.fetch(path, token)
		is.True(errors.Is(err, io.ErrUnexpectedEOF))
	}
	is.True(strings.Contains(s.log.String(), "the disk is gone"))
}
