// Package service has what an operator of the service calls.
package service

import (
	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend/license"
)

// Admin is `svc admin`.
func (p Commands) Admin() *ffcli.Command {
	return p.Group("svc admin", "run the service: accounts, tokens, capacity, releases, index",
		p.Group("svc admin account", "accounts",
			p.accountCreate(), p.accountSet(),
			p.storeCommand("list", "svc admin account list", "list the accounts", nil, p.accountList),
			p.storeIDCommand("show", "svc admin account show ID", "show one account", nil, p.accountShow), p.accountIsolate()),
		p.Group("svc admin token", "tokens", p.tokenCreate(), p.tokenList(), p.tokenDisable()),
		p.Group("svc admin grant", "licence grants", p.grantAdd(), p.grantList("grant", "licence grants", func(h license.Holdings) []license.Grant { return h.Licenses }), p.grantRevoke()),
		p.Group("svc admin pov", "proofs of value", p.povAdd(), p.grantList("pov", "proofs of value", func(h license.Holdings) []license.Grant { return h.POVs }), p.povConvert()),
		p.Group("svc admin release", "releases of the product", p.releaseStage(), p.releasePublish()),
		p.Group("svc admin finding", "findings of accounts", p.findingList()),
		p.Group("svc admin question", "questions of accounts", p.questionList()),
		p.indexCommand(),
		p.advisoriesCommand(),
		p.checkCommand(),
		p.backupCommand(),
		p.pruneCommand(),
		p.storeCommand("spread", "svc admin spread", "spread a PostgreSQL store over the servers of its Citus; end every svc serve first", nil, p.spread),
		p.storeCommand("audit", "svc admin audit", "show what operators did", nil, p.audit),
		p.Group("svc admin key", "signing keys", p.keyRotate()),
	)
}
