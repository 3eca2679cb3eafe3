package storetest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
)

// Open opens a store by an address.
type Open func(ctx context.Context, address string, o store.Options) (store.Store, error)

// Claim claims a seat; the request has the name of the VM.
func Claim(t testing.TB, s store.Store, account int64, vm int) {
	fingerprint := Fingerprint(vm)
	if _, err := s.Record(t.Context(), store.Command{RequestID: fingerprint, AccountID: account, Kind: api.License, Fingerprint: fingerprint, Source: api.OS{Distro: "a", Version: "1"}}); err != nil {
		t.Error(err)
	}
}

// claimant is the environment variable by which the test binary becomes a
// process that claims until it is killed.
const claimant = "SVC_TEST_CLAIMANT"

// Claimants claim at the same time.
const Claimants = 16

// RunClaimant is not a test but that process: it prints the number of every VM
// whose claim the store acknowledged. A package that calls Kill calls it in its
// TestClaimant.
func RunClaimant(t *testing.T, open Open) {
	address, ok := os.LookupEnv(claimant)
	if !ok {
		t.Skip("this is a process of other tests")
	}
	s := must(open(t.Context(), address, store.Options{}))(t)
	var wg sync.WaitGroup
	for client := range Claimants {
		wg.Go(func() {
			for vm := client; !t.Failed(); vm += Claimants {
				Claim(t, s, 1, vm)
				fmt.Printf("\nacknowledged %d\n", vm)
			}
		})
	}
	wg.Wait()
}

// Kill kills a process in the middle of its claims, when it has enough of them, and
// looks for every claim that it had an answer to. The store is new.
func Kill(t *testing.T, open Open, address string, enough int) {
	is := is.New(t)
	s := must(open(t.Context(), address, store.Options{}))(t)
	account := must(s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, Unlimited: true}))(t)
	is.NoErr(s.Close())
	cmd := exec.Command(os.Args[0], "-test.run=^TestClaimant$", "-test.timeout=1m")
	cmd.Env = append(os.Environ(), claimant+"="+address)
	out := must(cmd.StdoutPipe())(t)
	is.NoErr(cmd.Start())
	var acknowledged []int
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var vm int
		if n, _ := fmt.Sscanf(lines.Text(), "acknowledged %d", &vm); n == 0 {
			continue
		}
		if acknowledged = append(acknowledged, vm); len(acknowledged) == enough {
			is.NoErr(cmd.Process.Kill())
		}
	}
	is.True(cmd.Wait() != nil)
	is.True(len(acknowledged) >= enough)

	s = must(open(t.Context(), address, store.Options{}))(t)
	defer s.Close()
	for _, vm := range acknowledged {
		seated := must(s.Seated(t.Context(), account, Fingerprint(vm)))(t)
		is.True(seated) // no acknowledged claim is lost
	}
	problems := must(s.Check(t.Context()))(t)
	is.Equal(problems, []string{})
	c := must(s.Capacity(t.Context(), account))(t)
	is.True(c.BillableVMsUsed <= len(acknowledged)+Claimants)
	t.Logf("%d claims acknowledged, %d recorded", len(acknowledged), c.BillableVMsUsed)
}

// Bench measures claims of new VMs, by a number of clients for a number of accounts.
func Bench(b *testing.B, s store.Store, compare func(b *testing.B, clients int)) {
	var vms atomic.Int64
	for _, accounts := range []int{1, 1000} {
		ids := make([]int64, accounts)
		for i := range ids {
			ids[i] = must(s.CreateAccount(b.Context(), "bench", license.Account{Plan: api.PlanFree, Unlimited: true}))(b)
		}
		for _, clients := range []int{1, 64} {
			b.Run(fmt.Sprintf("accounts=%d/clients=%d", accounts, clients), func(b *testing.B) {
				var left atomic.Int64
				left.Store(int64(b.N))
				var wg sync.WaitGroup
				for range clients {
					wg.Go(func() {
						for left.Add(-1) >= 0 {
							vm := int(vms.Add(1))
							Claim(b, s, ids[vm%accounts], vm)
						}
					})
				}
				wg.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "claims/s")
				compare(b, clients)
			})
		}
	}
}
