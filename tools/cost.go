package tools

import (
	"context"
	"fmt"

	"svc/backend/api"
)

// costOf says what the machine's seat costs, in US dollars.
func costOf(ctx context.Context, env *Env, a api.AuthorizeResponse) (string, error) {
	switch {
	case a.Denial != nil:
		return "A confirmed call would be refused now: " + a.Denial.Error + ".", nil
	case !a.WouldClaimSeat:
		return "It costs nothing: the machine " + a.VM + " has its licence seat.", nil
	}
	price, err := nextSeat(ctx, env)
	return "It claims one licence seat for the machine " + a.VM + ", for ever, at " + price + "; a repeat is free.", err
}

// nextSeat says what one more machine costs the account.
func nextSeat(ctx context.Context, env *Env) (string, error) {
	account, err := call(ctx, env, api.GetAccount, api.None{})
	if err != nil {
		return "", err
	}
	capacity, err := call(ctx, env, api.GetCapacity, api.None{})
	if err != nil {
		return "", err
	}
	return priceOf(account, capacity), nil
}

// priceOf is the price of one more machine: the free quota is used first, then what
// was bought, then the On-Demand rate.
func priceOf(a api.Account, c api.Capacity) string {
	free, left := a.FreeQuota-a.BillableInstances, seatsLeft(c)
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

// seatsLeft are the machines that an account has room for.
func seatsLeft(c api.Capacity) int {
	return max(0, c.FreeQuota+c.LicensedSeats+c.ActivePOVSeats-c.BillableVMsUsed)
}
