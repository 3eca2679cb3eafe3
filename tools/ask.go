package tools

import (
	"context"
	"fmt"

	"svc/backend/api"
	"svc/tools/guide"
)

// AskInput is the input of AskQuestion.
type AskInput struct {
	Question string `json:"question" jsonschema:"in words; names of machines and paths are stripped"`
	Confirm  bool   `json:"confirm,omitempty" jsonschema:"true answers, or files it"`
}

// AskResult is an answer of the guide, or a question that was filed.
type AskResult struct {
	Answered bool            `json:"answered"`           // here and now
	Answer   string          `json:"answer,omitempty"`   // of the guide
	Place    string          `json:"place,omitempty"`    // of that answer in the guide
	Question *QuestionResult `json:"question,omitempty"` // as it was filed
	Readers  string          `json:"readers,omitempty"`  // who reads what was filed
}

func askQuestionTool() Tool {
	return define(Tool{
		Name:  "svc_ask_question",
		Title: "Ask a question",
		Description: "Answers from svc's guide (billing, seats, confirm, exit codes, finding keys, caveats …) where that is sure, with the place, and sends nothing; " +
			"else files the question with the team, stripped of names, and gives its id. Needs confirm=true.",
		Hints: Hints{},
	}, AskQuestion)
}

// AskQuestion answers a question from the guide, or files it with the team.
func AskQuestion(ctx context.Context, env *Env, in AskInput) (AskResult, error) {
	stripped := api.QuestionRequest{Question: excerpt(env.strip(in.Question), api.MaxText)}
	if err := stripped.Check(); err != nil {
		return AskResult{}, &InputError{Tool: "svc_ask_question", Err: err}
	}
	passage, sure := guide.Answer(in.Question)
	place := fmt.Sprintf("guide, %s: %s", passage.ID, passage.Title)
	switch {
	case sure && !in.Confirm:
		return AskResult{}, &NeedsConfirm{
			Would: fmt.Sprintf("send nothing, and answer from svc's %s: <<<%s>>>", place, passage.Text),
			Cost:  "It costs nothing, and claims no licence seat.",
		}
	case sure:
		return AskResult{Answered: true, Answer: passage.Text, Place: place}, nil
	case !in.Confirm:
		return AskResult{}, env.unconfirmed(ctx, "file a question that the guide does not answer", stripped.Question)
	}
	q, err := file(ctx, env, api.AskQuestion, stripped)
	if err != nil {
		return AskResult{}, err
	}
	filed := questionResult(env, q)
	return AskResult{Question: &filed, Readers: env.readers(ctx)}, nil
}
