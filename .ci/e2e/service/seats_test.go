package service_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/client"
)

// What the race for the last seats is about.
const (
	racers   = 64
	quota    = 40
	taken    = 32 // before the race
	vms      = 24 // run for the rest
	requests = 12 // of each client
	rounds   = 4
)

// asked is one call of the race; the VM is its number.
type asked struct {
	kind api.Kind
	vm   int
}

// told is its answer.
type told struct {
	code  api.Code
	claim bool
}

// oneAfterAnother is what the answers would be if calls did not meet: the state
// is the set of VMs that have a seat.
var oneAfterAnother = porcupine.Model{
	Init: func() any { return uint64(0) },
	Step: func(state, input, output any) (bool, any) {
		want, next := expect(state.(uint64), input.(asked))
		return output.(told) == want, next
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
}

func expect(seated uint64, a asked) (told, uint64) {
	switch {
	case seated&(1<<a.vm) != 0:
		return told{}, seated
	case taken+bits.OnesCount64(seated) < quota:
		return told{claim: true}, seated | 1<<a.vm
	}
	return told{code: api.SeatQuota}, seated
}

// TestLastSeats has many clients of three replicas run for an account's last
// seats.
func TestLastSeats(t *testing.T) {
	s := start(t, address(newCluster(t)), 3)
	for round := range rounds {
		race(t, s, round)
	}
	s.consistent(t)
	check(t, !porcupine.CheckOperations(oneAfterAnother, oneTooMany()), "control: a history with one seat too many is not linearizable")
}

// oneTooMany is what clients would be told if each looked before the other
// wrote.
func oneTooMany() (history []porcupine.Operation) {
	for vm := range quota - taken + 1 {
		history = append(history, porcupine.Operation{ClientId: vm, Input: asked{api.License, vm}, Call: 0, Output: told{claim: true}, Return: 1})
	}
	return history
}

func race(t *testing.T, s *service, round int) {
	is := is.New(t)
	account, token := s.account(t, "--free-quota", strconv.Itoa(quota))
	b := newBalancer(s.addresses())
	t.Cleanup(b.transport.CloseIdleConnections)
	c, err := client.New("http://127.0.0.1", token, client.Options{Transport: b})
	is.NoErr(err)
	for range taken {
		_, err := client.Call(t.Context(), c, api.Enroll, api.EnrollRequest{Fingerprint: fingerprint(), Source: api.OS{Distro: "centos", Version: "7"}})
		is.NoErr(err)
	}
	var prints [vms]string
	for i := range prints {
		prints[i] = fingerprint()
	}
	history := compete(t, c, prints[:])
	claims := 0
	for _, o := range history {
		if o.Output.(told).claim {
			claims++
		}
	}
	seats := len(s.query(t, fmt.Sprintf("SELECT fingerprint, kind FROM seats WHERE account_id = %d", account)))
	check(t, claims == quota-taken && seats == quota, "round %d: %d clients, %d calls, %d free seats: %d claimed, %d of %d seats in the store", round, racers, len(history), quota-taken, claims, seats, quota)
	b.only(t, strconv.Itoa(http.StatusOK), strconv.Itoa(http.StatusPaymentRequired))
	begun := time.Now()
	result := porcupine.CheckOperationsTimeout(oneAfterAnother, history, 30*time.Second)
	check(t, result == porcupine.Ok, "round %d: the history is linearizable: %v, %v", round, result, time.Since(begun).Round(time.Millisecond))
}

// compete lets all clients begin at once.
func compete(t *testing.T, c *client.Client, prints []string) (history []porcupine.Operation) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	gun, epoch := make(chan struct{}), time.Now()
	for racer := range racers {
		wg.Go(func() {
			<-gun
			for range requests {
				a := asked{kinds[rand.IntN(len(kinds))], rand.IntN(len(prints))}
				begun := time.Since(epoch).Nanoseconds()
				got, err := a.ask(t, c, prints[a.vm])
				ended := time.Since(epoch).Nanoseconds()
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: racer, Input: a, Call: begun, Output: got, Return: ended})
				mu.Unlock()
			}
		})
	}
	close(gun)
	wg.Wait()
	return history
}

// kinds are what the clients ask for; License is enroll.
var kinds = []api.Kind{api.Migration, api.Verify, api.License, api.CVEScanKind}

func (a asked) ask(t *testing.T, c *client.Client, print string) (got told, err error) {
	source := api.OS{Distro: "centos", Version: "7"}
	switch a.kind {
	case api.License:
		var out api.EnrollResponse
		out, err = client.Call(t.Context(), c, api.Enroll, api.EnrollRequest{Fingerprint: print, Source: source})
		got.claim = err == nil && !out.AlreadyLicensed
	default:
		in := api.UsageRequest{Kind: a.kind, Fingerprint: print, Source: source}
		if a.kind.Targeted() {
			in.Target = &api.OS{Distro: "debian", Version: "12"}
		}
		var out api.UsageResponse
		out, err = client.Call(t.Context(), c, api.Usage, in)
		got.claim = out.SeatClaimed
	}
	if code := api.CodeOf(err); code == api.SeatQuota {
		return told{code: code}, nil
	}
	return got, err
}
