package service

import (
	"context"
	"flag"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend/api"
	"svc/backend/store"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/program"
)

func (p Commands) releaseStage() *ffcli.Command {
	var r store.Release
	return p.storeCommand("stage", "svc admin release stage --tag TAG --channel CHANNEL", "stage a release", func(fs *flag.FlagSet) {
		textVar(fs, &r.Tag, "tag", "tag of the release")
		fs.StringVar(&r.Channel, "channel", "", strings.Join(api.Channels, " or "))
		textVar(fs, &r.Notes, "notes", "what a user notices")
	}, func(ctx context.Context, s store.Store) error {
		if r.Tag == "" || !slices.Contains(api.Channels, r.Channel) {
			return exit.Usagef("release stage needs --tag, and --channel %s", strings.Join(api.Channels, " or "))
		}
		staged, err := s.StageRelease(ctx, actor(), r)
		return p.Answer(staged, err, func(w *program.View) { w.Line("%s is staged on %s", r.Tag, r.Channel) })
	})
}

func (p Commands) releasePublish() *ffcli.Command {
	tag := ""
	return p.storeCommand("publish", "svc admin release publish --tag TAG", "publish a staged release", func(fs *flag.FlagSet) {
		fs.StringVar(&tag, "tag", "", "tag of the release")
	}, func(ctx context.Context, s store.Store) error {
		if tag == "" {
			return exit.Usagef("release publish needs --tag")
		}
		r, err := s.PublishRelease(ctx, actor(), tag)
		return p.Answer(r, err, func(w *program.View) { w.Line("%s is published", r.Tag) })
	})
}

// findingList lists the findings of all accounts.
func (p Commands) findingList() *ffcli.Command {
	open := false
	return p.storeCommand("list", "svc admin finding list [--open]", "list the findings of all accounts, oldest first", func(fs *flag.FlagSet) {
		fs.BoolVar(&open, "open", false, "leave out those that are fixed")
	}, func(ctx context.Context, s store.Store) error {
		findings, err := s.EveryFinding(ctx, open)
		return listed(p, findings, err, func(w *program.View, f api.Finding) {
			w.Line("%d  %s  %s  %s  %s", f.ID, f.CreatedAt, f.Status, f.Kind, f.Title)
		})
	})
}

// questionList lists the questions of all accounts.
func (p Commands) questionList() *ffcli.Command {
	open := false
	return p.storeCommand("list", "svc admin question list [--open]", "list the questions of all accounts, oldest first", func(fs *flag.FlagSet) {
		fs.BoolVar(&open, "open", false, "leave out those that are answered")
	}, func(ctx context.Context, s store.Store) error {
		questions, err := s.EveryQuestion(ctx, open)
		return listed(p, questions, err, func(w *program.View, q api.Question) {
			w.Line("%d  %s  %s  %s", q.ID, q.CreatedAt, q.Status, q.Question)
		})
	})
}
