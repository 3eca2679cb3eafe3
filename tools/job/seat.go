package job

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"svc/backend/api"
	"svc/backend/client"
	"svc/tools/tool"
)

// CostOf says what the machine's seat costs, in US dollars.
func CostOf(ctx context.Context, env *tool.Env, a api.AuthorizeResponse) (string, error) {
	switch {
	case a.Denial != nil:
		return "A confirmed call would be refused now: " + a.Denial.Error + ".", nil
	case !a.WouldClaimSeat:
		return "It costs nothing: the machine " + a.VM + " has its licence seat.", nil
	}
	price, err := NextSeat(ctx, env)
	return "It claims one licence seat for the machine " + a.VM + ", for ever, at " + price + "; a repeat is free.", err
}

// NextSeat says what one more machine costs the account.
func NextSeat(ctx context.Context, env *tool.Env) (string, error) {
	account, err := tool.Call(ctx, env, api.GetAccount, api.None{})
	if err != nil {
		return "", err
	}
	capacity, err := tool.Call(ctx, env, api.GetCapacity, api.None{})
	if err != nil {
		return "", err
	}
	return PriceOf(account, capacity), nil
}

// PriceOf is the price of one more machine: the free quota is used first, then what
// was bought, then the On-Demand rate.
func PriceOf(a api.Account, c api.Capacity) string {
	free, left := a.FreeQuota-a.BillableInstances, SeatsLeft(c)
	switch {
	case a.Unlimited:
		return "0 USD: the account has no limit"
	case free > 0:
		return fmt.Sprintf("0 USD: one of the account's %d free machines, %d of which are left", a.FreeQuota, free)
	case left > 0:
		return fmt.Sprintf("%d USD a year, of the capacity that was bought: %d seats are left", a.Rate, left)
	case a.Plan == api.PlanFree:
		return "no price: the account is full, and does not pay for more"
	}
	return fmt.Sprintf("%d USD a year, the On-Demand rate, for it is beyond the capacity that was bought", api.OverageRate)
}

// SeatsLeft are the machines that an account has room for.
func SeatsLeft(c api.Capacity) int {
	return max(0, c.FreeQuota+c.LicensedSeats+c.ActivePOVSeats-c.BillableVMsUsed)
}

// Authorize asks for the gate's answer before any work is done.
func Authorize(ctx context.Context, c *client.Client, usage api.UsageRequest) error {
	_, err := Admitted(ctx, c, usage)
	return err
}

// Admitted is the gate's answer where it lets the event through.
func Admitted(ctx context.Context, c *client.Client, usage api.UsageRequest) (api.AuthorizeResponse, error) {
	answer, err := client.Call(ctx, c, api.Authorize, usage)
	if err != nil {
		return answer, err
	}
	if d := answer.Denial; d != nil {
		return answer, api.Errorf(d.Code, "%s", d.Error)
	}
	return answer, nil
}

// OperationKey is the idempotency key of an operation on a machine: a repeat with
// the same outcome is the same operation. The digest of the outcome does not show
// in it.
func OperationKey(secret []byte, usage api.UsageRequest, digest string) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("svc operation\x00" + usage.Fingerprint + "\x00" + string(usage.Kind) + "\x00" + digest))
	return hex.EncodeToString(mac.Sum(nil))
}
