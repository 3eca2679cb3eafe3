package server

import (
	"context"

	"svc/backend/api"
	"svc/backend/api/redact"
	"svc/backend/store"
)

func (s *Server) fileFinding(ctx context.Context, c caller, in api.FindingRequest) (api.Finding, error) {
	title, counts := redact.Text(in.Title)
	body, more := redact.Text(in.Body)
	add(counts, more)
	in.Title, in.Body = cut(title, api.MaxTitle), cut(body, api.MaxText)
	if in.Release != nil { // a host's name is spelt like a tag
		tag, more := redact.Text(*in.Release)
		add(counts, more)
		in.Release = &tag
	}
	return s.cfg.Store.FileFinding(ctx, c.AccountID, in, counts, c.replay)
}

// add counts redactions together.
func add(counts, more map[string]int) {
	for kind, n := range more {
		counts[kind] += n
	}
}

func (s *Server) findings(ctx context.Context, c caller, in api.ShortPage) (api.FindingList, error) {
	return s.cfg.Store.Findings(ctx, c.AccountID, shortPage(in))
}

func (s *Server) finding(ctx context.Context, c caller, in api.ByID) (api.Finding, error) {
	return s.cfg.Store.Finding(ctx, c.AccountID, in.ID)
}

func (s *Server) resolveFinding(ctx context.Context, _ caller, in api.ResolveFindingRequest) (api.Finding, error) {
	return s.cfg.Store.ResolveFinding(ctx, in.ID, in.Channel)
}

func (s *Server) askQuestion(ctx context.Context, c caller, in api.QuestionRequest) (api.Question, error) {
	question, counts := redact.Text(in.Question)
	return s.cfg.Store.AskQuestion(ctx, c.AccountID, cut(question, api.MaxText), counts, c.replay)
}

func (s *Server) questions(ctx context.Context, c caller, in api.ShortPage) (api.QuestionList, error) {
	return s.cfg.Store.Questions(ctx, c.AccountID, shortPage(in))
}

func (s *Server) question(ctx context.Context, c caller, in api.ByID) (api.Question, error) {
	return s.cfg.Store.Question(ctx, c.AccountID, in.ID)
}

func (s *Server) answerQuestion(ctx context.Context, _ caller, in api.AnswerRequest) (api.Question, error) {
	return s.cfg.Store.AnswerQuestion(ctx, in.ID, in.Answer)
}

func shortPage(in api.ShortPage) store.Page { return store.Page{Limit: in.Limit, Offset: in.Offset} }

// cut keeps a text within its limit: placeholders can be longer than what they
// stand for.
func cut(s string, most int) string {
	runes := []rune(s)
	return string(runes[:min(most, len(runes))])
}
