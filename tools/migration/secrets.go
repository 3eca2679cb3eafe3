package migration

import (
	"fmt"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/secret"
	"svc/backend/visible"
)

// withhold leaves out what a converter or a merge wrote a secret into, where
// secrets are not wanted, and masks the lines that the plan shows.
func (p *Plan) withhold(in Input) {
	for i := range p.Configuration {
		c := &p.Configuration[i]
		if c.Text != nil && c.To != "" && !c.Secret && secret.Holds([]byte(*c.Text)) {
			c.Secret = true
			if !in.IncludeSecrets {
				c.To, c.Link, c.Action, c.Reason, c.Text, c.Merge = "", "", LeftOut, secretReason, nil, nil
			}
		}
		secret.MaskIn(&c.Edited)
		secret.MaskIn(&c.Changes)
		secret.MaskIn(&c.Refusals)
		secret.MaskIn(&c.Merge)
		secret.MaskIn(&c.Reason)
	}
}

// secrets names what stays behind, or what goes along.
func secrets(in Input, p *Plan) []assess.Finding {
	stays := files(p, func(c Config) bool { return c.Reason == secretReason }, found("configuration.secrets-left-out", "%d files hold secrets or are closed to others, and are not in the role: %s.", nil))
	goes := files(p, func(c Config) bool { return c.Secret && c.To != "" && c.Action != LeftOut && c.Action != Manual }, found("configuration.secrets-carried", "%d files of the role hold secrets or are closed to others: %s.", nil))
	all := slices.Concat(stays, goes, keys(in))
	for i := range all {
		locate(in, &all[i])
	}
	return all
}

// keys names the keys for logging in that stay behind, or go along, with the secrets
// in their options: a forced command, or its environment.
func keys(in Input) []assess.Finding {
	f := &assess.Gathering{Finding: found("accounts.keys-left-out", "%d keys for logging in have a secret in their options, and are not in the role: %s.", nil)}
	if in.IncludeSecrets {
		f.Key, f.Title = "accounts.keys-carried", "Secrets are in the keys for ssh"
		f.Summary = "%d keys of the role for logging in have a secret in their options: %s."
		f.Remediations = assess.Hints("Keep the out folder closed (it has mode 0700), and delete it when the move is done.")
	}
	for _, u := range in.Assessment.Users {
		for _, file := range u.KeyFiles() {
			for _, s := range secretsOf(in.Assessment, "/"+file) {
				f.Add(fmt.Sprintf("%s:%d", s.Evidence.Path, s.Evidence.Line), s.Evidence)
			}
		}
	}
	return counted(f)
}

// locate says in which lines of a finding's files the secrets stand.
func locate(in Input, f *assess.Finding) {
	lines := []string{}
	for _, r := range f.Related {
		for _, s := range secretsOf(in.Assessment, r.Name) {
			f.Evidence = append(f.Evidence, s.Evidence)
			if s.Evidence.Line > 0 {
				lines = append(lines, fmt.Sprintf("%s:%d (%s)", visible.Name(r.Name), s.Evidence.Line, s.Kind))
			}
		}
	}
	if len(lines) > 0 {
		f.Summary += " Found by what is in them: " + strings.Join(lines[:min(10, len(lines))], ", ") + "."
	}
}
