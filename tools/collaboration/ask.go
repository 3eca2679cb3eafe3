// Package collaboration is what an account and the team of svc tell each other:
// questions, findings, releases.
package collaboration

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"svc/backend/api"
	"svc/backend/sliced"
	"svc/tools/guide"
	"svc/tools/tool"
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
	Nearest  []AskPassage    `json:"nearest,omitempty"`  // of the guide, where none surely answers: one of them may
	Topics   string          `json:"topics,omitempty"`   // of the guide, where none of these does: svc://guide/TOPIC, or ask the topic alone
}

// AskPassage is a passage of the guide.
type AskPassage struct {
	Place string `json:"place"`
	Text  string `json:"text"`
}

// nearestPassages are those that may answer a question.
func nearestPassages(question string) []AskPassage {
	return sliced.Map(guide.Nearest(question, 3), func(p guide.Passage) AskPassage { return AskPassage{p.ID, p.Text} })
}

// answered joins the passages that answer a question: mostly one; where two are as near,
// both, each below its title.
func answered(passages []guide.Passage) (answer, place string) {
	var texts, places []string
	for _, p := range passages {
		places = append(places, fmt.Sprintf("%s: %s", p.ID, p.Title))
		if len(passages) > 1 {
			p.Text = p.Title + ". " + p.Text
		}
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n\n"), "guide, " + strings.Join(places, "; ")
}

// AskQuestion answers a question from the guide, or files it with the team.
func AskQuestion(ctx context.Context, env *tool.Env, in AskInput) (AskResult, error) {
	stripped := api.QuestionRequest{Question: tool.Excerpt(env.Strip(in.Question), api.MaxText)}
	if err := stripped.Check(); err != nil {
		return AskResult{}, &tool.InputError{Tool: "svc_ask_question", Err: err}
	}
	answer, place := answered(guide.Answer(in.Question))
	switch {
	case answer != "" && !in.Confirm:
		return AskResult{}, &tool.NeedsConfirm{
			Would: fmt.Sprintf("send nothing, and answer from svc's %s: <<<%s>>>", place, answer),
			Cost:  "It costs nothing, and claims no licence seat.",
		}
	case answer != "":
		return AskResult{Answered: true, Answer: answer, Place: place}, nil
	case !in.Confirm:
		near := sliced.Map(nearestPassages(in.Question), func(p AskPassage) string { return "svc://guide/" + p.Place })
		return AskResult{}, unsent(ctx, env, "file a question that the guide does not surely answer (nearest: "+cmp.Or(strings.Join(near, ", "), "nothing")+")", stripped.Question)
	}
	filing := *env
	alone, err := alone(ctx, env)
	if err != nil {
		return AskResult{}, err
	}
	if alone {
		filing.Admit = nil // the cap keeps others from being flooded, and nobody else reads it
	}
	q, err := file(ctx, &filing, api.AskQuestion, stripped)
	if err != nil {
		return AskResult{}, err
	}
	filed := questionResult(env, q)
	return AskResult{Question: &filed, Readers: readers(ctx, env), Nearest: nearestPassages(in.Question), Topics: strings.Join(guide.Topics(), " ")}, nil
}
