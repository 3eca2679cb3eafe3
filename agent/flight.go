package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"svc/tools/tool"
)

const (
	// attention is how long a call is answered in: many clients give up after a
	// minute.
	attention = 45 * time.Second
	// keeping is how long a result waits to be picked up.
	keeping = 10 * time.Minute
)

// StillWorking is a call that takes longer than clients wait for. Its work goes
// on.
type StillWorking struct{ Tool string }

func (e *StillWorking) Error() string {
	return fmt.Sprintf("%s is still at work, and goes on: repeat the very same call to get its result; that costs nothing more", e.Tool)
}

// flights are the calls whose work goes on after their answer. The same call
// again picks the result up.
type flights struct {
	mu   sync.Mutex
	left map[string]*flight // by tool and arguments
}

// flight is the work of one call.
type flight struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when value and err are set
	value  any
	err    error
}

// patient gives a tool whose long calls can be picked up again. A tool that
// does more when it is called twice stays as it is.
func (f *flights) patient(t tool.Tool) tool.Tool {
	if !t.Hints.Idempotent {
		return t
	}
	work := t.Call
	t.Call = func(ctx context.Context, env *tool.Env, args json.RawMessage) (any, error) {
		key := t.Name + "\x00" + string(args)
		flying := f.pickUp(key)
		if flying == nil {
			flying = launch(ctx, func(ctx context.Context) (any, error) { return work(ctx, env, args) })
		}
		return f.await(ctx, t.Name, key, flying)
	}
	return t
}

// launch starts work that may outlive the call.
func launch(ctx context.Context, work func(context.Context) (any, error)) *flight {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer cancel()
		defer close(f.done)
		f.value, f.err = work(ctx)
	}()
	return f
}

// await waits as long as clients do. A call that is cancelled takes its work
// with it, and ends when that has ended.
func (f *flights) await(ctx context.Context, tool, key string, flying *flight) (any, error) {
	stop := context.AfterFunc(ctx, flying.cancel)
	defer stop()
	timer := time.NewTimer(attention)
	defer timer.Stop()
	select {
	case <-flying.done:
		return flying.value, flying.err
	case <-timer.C:
		f.leave(key, flying)
		return nil, &StillWorking{tool}
	}
}

func (f *flights) pickUp(key string) *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	flying := f.left[key]
	delete(f.left, key)
	return flying
}

// leave keeps work for the next call; what nobody picks up is ended and
// forgotten.
func (f *flights) leave(key string, flying *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left == nil {
		f.left = map[string]*flight{}
	}
	f.left[key] = flying
	time.AfterFunc(keeping, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.left[key] == flying {
			delete(f.left, key)
			flying.cancel()
		}
	})
}
