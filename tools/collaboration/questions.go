package collaboration

import (
	"context"
	"fmt"

	"svc/backend/api"
	"svc/backend/sliced"
	"svc/tools/tool"
)

// QuestionLine is a question of this account in a list: the beginnings of its
// texts.
type QuestionLine struct {
	ID         int64  `json:"id"`
	Status     string `json:"status"` // open or answered
	Question   string `json:"question"`
	Answer     string `json:"answer,omitempty"`
	CreatedAt  string `json:"created_at"`
	AnsweredAt string `json:"answered_at,omitempty"`
}

func questionLine(q api.Question, most int) QuestionLine {
	return QuestionLine{q.ID, q.Status, tool.Excerpt(q.Question, most), tool.Excerpt(orEmpty(q.Answer), most), q.CreatedAt, orEmpty(q.AnsweredAt)}
}

// QuestionList is a page of questions.
type QuestionList struct {
	Questions []QuestionLine `json:"questions"`
	tool.Page
}

// QuestionResult is a question with its answer, once there is one.
type QuestionResult struct {
	QuestionLine
	Redactions map[string]int `json:"redactions"` // what was stripped, by kind
	tool.Cut
}

// lineLength is how much of a text a list shows, in characters.
const lineLength = 160

// ListQuestions lists this account's questions, newest first.
func ListQuestions(ctx context.Context, env *tool.Env, in tool.Paging) (QuestionList, error) {
	limit, offset, err := in.Page("svc_list_questions")
	if err != nil {
		return QuestionList{}, err
	}
	found, err := tool.Call(ctx, env, api.ListQuestions, api.ShortPage{Limit: limit, Offset: offset})
	if err != nil {
		return QuestionList{}, err
	}
	lines := append([]QuestionLine{}, sliced.Map(found.Questions, func(q api.Question) QuestionLine { return questionLine(q, lineLength) })...)
	lines, page := tool.Paged(env, lines, found.Offset, found.HasMore)
	return QuestionList{lines, page}, nil
}

// GetQuestion is one question of this account.
func GetQuestion(ctx context.Context, env *tool.Env, in ByID) (QuestionResult, error) {
	if err := in.check("svc_get_question"); err != nil {
		return QuestionResult{}, err
	}
	q, err := tool.Call(ctx, env, api.GetQuestion, api.ByID{ID: in.ID})
	if err != nil {
		return QuestionResult{}, err
	}
	return questionResult(env, q), nil
}

func questionResult(env *tool.Env, q api.Question) QuestionResult {
	r := QuestionResult{QuestionLine: questionLine(q, api.MaxText), Redactions: q.Redactions}
	if env.TooBig(r) {
		r.Cut = env.Rest(fmt.Sprintf("question-%d", q.ID), q)
		r.QuestionLine = questionLine(q, maxExcerpt)
	}
	return r
}
