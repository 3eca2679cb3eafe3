package agent

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"svc/tools/tool"
)

// slow is a tool that takes its time, and counts how often it began and ended.
func slow(takes time.Duration, began, ended *atomic.Int64) tool.Tool {
	return tool.Tool{Name: "svc_slow", Hints: tool.Hints{Idempotent: true}, Call: func(ctx context.Context, _ *tool.Env, _ json.RawMessage) (any, error) {
		began.Add(1)
		select {
		case <-time.After(takes):
			ended.Add(1)
			return "result", nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
}

func TestALongCallIsPickedUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var began, ended atomic.Int64
		made := (&flights{}).patient(slow(2*time.Minute, &began, &ended))
		var working *StillWorking
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := made.Call(ctx, nil, json.RawMessage(`{}`))
			is.True(errors.As(err, &working))
			cancel() // the end of an answered call ends no work
			time.Sleep(time.Second)
		}
		v, err := made.Call(t.Context(), nil, json.RawMessage(`{}`))
		is.NoErr(err)
		is.Equal(v, "result")
		is.Equal(began.Load(), int64(1))
		_, err = made.Call(t.Context(), nil, json.RawMessage(`{}`)) // that one was taken: this is another
		is.True(errors.As(err, &working))
		is.Equal(began.Load(), int64(2))
		time.Sleep(keeping + time.Minute)
	})
}

func TestCancellationReachesTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var began, ended atomic.Int64
		made := (&flights{}).patient(slow(time.Hour, &began, &ended))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		_, err := made.Call(ctx, nil, nil)
		is.True(errors.Is(err, context.Canceled))
		is.Equal(time.Since(start), time.Second)
		is.Equal(ended.Load(), int64(0))
	})
}

func TestWhatNobodyPicksUpEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var began, ended atomic.Int64
		f := &flights{}
		made := f.patient(slow(time.Hour, &began, &ended))
		_, err := made.Call(t.Context(), nil, nil)
		is.True(err != nil)
		time.Sleep(keeping + time.Second)
		synctest.Wait()
		is.Equal(ended.Load(), int64(0))
		is.Equal(len(f.left), 0)
	})
}

func TestCallsThatCountTwiceAreNotShared(t *testing.T) {
	is := is.New(t)
	calls := 0
	made := (&flights{}).patient(tool.Tool{Call: func(context.Context, *tool.Env, json.RawMessage) (any, error) { calls++; return nil, nil }})
	for range 2 {
		_, err := made.Call(t.Context(), nil, nil)
		is.NoErr(err)
	}
	is.Equal(calls, 2)
}
