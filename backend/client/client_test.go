package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/time/rate"

	"svc/backend/api"
)

// serve starts a real server of one handler and a client of it.
func serve(t *testing.T, h http.HandlerFunc) (*Client, string) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	token := api.NewToken()
	c, err := New(server.URL, token, Options{})
	is.New(t).NoErr(err)
	return c, token
}

func TestRequestsCarryWhatTheServiceNeeds(t *testing.T) {
	is := is.New(t)
	var got *http.Request
	var body []byte
	c, token := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		fmt.Fprint(w, `{"id":7,"new_field":1}`) // a newer service may say more
	})
	f, err := Call(t.Context(), c, api.ResolveFinding, api.ResolveFindingRequest{ID: 7, Channel: "beta"})
	is.NoErr(err)
	is.Equal(f.ID, int64(7))
	is.Equal(got.URL.Path, "/v1/findings/7/resolve")
	is.Equal(got.Header.Get("Authorization"), "Bearer "+token)
	is.Equal(got.Header.Get("Content-Type"), "application/json")
	is.Equal(got.Header.Get("Idempotency-Key"), "") // the endpoint takes none
	is.Equal(string(body), `{"channel":"beta"}`)

	_, err = Call(t.Context(), c, api.GetUsage, api.Page{Limit: 3, Offset: 6})
	is.NoErr(err)
	is.Equal(got.URL.RawQuery, "limit=3&offset=6")
	is.Equal(len(body), 0)
}

func TestRefusalsComeBackAsTheyWereMade(t *testing.T) {
	is := is.New(t)
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", "r1")
		w.WriteHeader(http.StatusPaymentRequired)
		fmt.Fprint(w, `{"error":"full","code":"SEAT_QUOTA"}`)
	})
	_, err := Call(t.Context(), c, api.GetAccount, api.None{})
	var refused *api.Error
	is.True(errors.As(err, &refused))
	is.Equal(*refused, api.Error{Code: api.SeatQuota, Message: "full", RequestID: "r1"})
}

func TestOneKeyForAllTries(t *testing.T) {
	is := is.New(t)
	var keys []string
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		switch len(keys) {
		case 1:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"error":"draining","code":"UNAVAILABLE"}`)
		case 2:
			conn, _, _ := w.(http.Hijacker).Hijack()
			conn.Close() // the answer is lost
		case 3:
			w.WriteHeader(http.StatusBadGateway) // not ours
		default:
			fmt.Fprint(w, `{"seated":true}`)
		}
	})
	out, err := Call(t.Context(), c, api.Enroll, api.EnrollRequest{})
	is.NoErr(err)
	is.True(out.Seated)
	is.Equal(len(keys), 4)
	is.True(keys[0] != "")
	for _, key := range keys {
		is.Equal(key, keys[0])
	}
	_, err = Call(t.Context(), c, api.Enroll, api.EnrollRequest{}, WithKey("mine"))
	is.NoErr(err)
	is.Equal(keys[4], "mine")
}

func TestWaitsAsLongAsTheServiceSays(t *testing.T) {
	is := is.New(t)
	var calls atomic.Int32
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, `{"error":"slower","code":"RATE_LIMITED"}`)
			return
		}
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"error":"slower","code":"RATE_LIMITED"}`)
	})
	start := time.Now()
	_, err := Call(t.Context(), c, api.GetAccount, api.None{})
	is.Equal(api.CodeOf(err), api.RateLimited) // an hour is not waited for
	is.Equal(calls.Load(), int32(2))
	is.True(time.Since(start) >= time.Second)
}

// TestManyCallsShareALimit makes more calls at once than the service takes in a second,
// and far more than each is tried again where the service fails.
func TestManyCallsShareALimit(t *testing.T) {
	const each, workers = 3, 12
	is := is.New(t)
	limit := rate.NewLimiter(10, 4)
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if !limit.Allow() {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, `{"error":"slower","code":"RATE_LIMITED"}`)
			return
		}
		fmt.Fprint(w, `{}`)
	})
	var waits, goesOn atomic.Int32
	c.OnLimit(func(begins bool) {
		if begins {
			waits.Add(1)
			return
		}
		goesOn.Add(1)
	})
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range each {
				if _, err := Call(t.Context(), c, api.GetAccount, api.None{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	is.Equal(len(c.line), 0)
	is.True(waits.Load() > 0 && waits.Load() == goesOn.Load()) // which is told
}

func TestRefusalsAreNotRepeated(t *testing.T) {
	is := is.New(t)
	var calls atomic.Int32
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, `{"error":"fault","code":"INTERNAL"}`)
	})
	_, err := Call(t.Context(), c, api.GetAccount, api.None{})
	is.Equal(api.CodeOf(err), api.Internal500)
	is.Equal(calls.Load(), int32(1))
}

func TestEndsWithItsContext(t *testing.T) {
	is := is.New(t)
	stop := make(chan struct{})
	c, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-stop:
		}
	})
	defer close(stop)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := Call(ctx, c, api.GetAccount, api.None{})
	is.True(errors.Is(err, context.DeadlineExceeded))
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	is := is.New(t)
	reached := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer elsewhere.Close()
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	_, err := Call(t.Context(), c, api.GetAccount, api.None{})
	is.True(err != nil)
	is.True(!reached)
}

func TestAnEndlessAnswerIsCut(t *testing.T) {
	is := is.New(t)
	chunk := []byte(strings.Repeat(" ", 1<<20))
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	_, err := Call(t.Context(), c, api.GetAccount, api.None{})
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "more than"))
}

func TestAnswersThatAreNotOurs(t *testing.T) {
	for name, answer := range map[string]string{"nothing": "", "html": "<html>", "a list": "[]", "two": "{}{}"} {
		t.Run(name, func(t *testing.T) {
			c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) })
			_, err := Call(t.Context(), c, api.GetAccount, api.None{})
			is.New(t).True(err != nil)
		})
	}
}

func TestWhereATokenMayGo(t *testing.T) {
	token := api.NewToken()
	for address, allowed := range map[string]bool{
		"https://svc.example.org":    true,
		"https://svc.example.org/x/": true,
		"http://localhost:8443":      true,
		"http://127.0.0.1:1":         true,
		"http://[::1]:1":             true,
		"http://svc.example.org":     false,
		"http://localhost.evil.org":  false,
		"http://127.0.0.1.evil.org":  false,
		"http://10.0.0.1":            false,
		"https://joe@example.org":    false,
		"https://example.org?x=1":    false,
		"ftp://example.org":          false,
		"svc.example.org":            false,
		"":                           false,
	} {
		t.Run(address, func(t *testing.T) {
			is := is.New(t)
			_, err := New(address, token, Options{})
			is.Equal(err == nil, allowed)
			is.True(err == nil || !strings.Contains(err.Error(), token))
		})
	}
}

func TestNoErrorHoldsTheToken(t *testing.T) {
	is := is.New(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	is.NoErr(listener.Close()) // nobody answers there
	token := api.NewToken()
	c, err := New("http://"+listener.Addr().String(), token, Options{})
	is.NoErr(err)
	_, err = Call(t.Context(), c, api.GetAccount, api.None{})
	is.True(err != nil)
	is.True(!strings.Contains(fmt.Sprintf("%+v %#v", err, err), token))
	_, err = New("https://example.org", token[:49], Options{})
	is.Equal(api.CodeOf(err), api.Unauthenticated) // a typo is caught before the network
}

func TestInProcess(t *testing.T) {
	is := is.New(t)
	c, err := InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		is.NoErr(err)
		is.True(strings.Contains(string(b), `"question":"why?"`))
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"id":3}`)
	}), api.NewToken())
	is.NoErr(err)
	q, err := Call(t.Context(), c, api.AskQuestion, api.QuestionRequest{Question: "why?"})
	is.NoErr(err)
	is.Equal(q.ID, int64(3))
}
