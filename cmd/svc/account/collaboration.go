package account

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend/api"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/program"
	"svc/tools/collaboration"
	"svc/tools/tool"
)

func pagingFlags(fs *flag.FlagSet, in *tool.Paging) {
	fs.IntVar(&in.Limit, "limit", 50, "entries to list, at most 100")
	fs.StringVar(&in.Cursor, "cursor", "", "next_cursor of the page before: lists what follows it")
}

// Findings is `svc findings`.
func (p Commands) Findings() *ffcli.Command {
	var in tool.Paging
	fs := p.FlagSet("findings")
	pagingFlags(fs, &in)
	return p.Command(fs, "svc findings [ID]", "list the findings that this account reported, or show one", p.oneOrAll(p.finding, func(ctx context.Context) error {
		l, err := collaboration.ListFindings(ctx, p.ToolEnv(), in)
		return p.Answer(l, err, func(w *program.View) {
			viewReported(w, l.Findings)
			nextPage(w, l.NextCursor)
		})
	}), p.Command(p.FlagSet("export"), "svc findings export", "export this account's newest findings", program.NoArgs(p.exportFindings)))
}

// oneOrAll runs one with the number that is given, and all without.
func (p Commands) oneOrAll(one func(context.Context, collaboration.ByID) error, all func(context.Context) error) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		if len(args) == 0 {
			return all(ctx)
		}
		id, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil || len(args) > 1 {
			return exit.Usagef("expected one number, not %q", strings.Join(args, " "))
		}
		return one(ctx, collaboration.ByID{ID: id})
	}
}

func viewReported(w *program.View, findings []collaboration.FindingLine) {
	program.List(w, []string{"ID", "KIND", "STATUS", "RELEASE", "UPDATED", "TITLE"}, findings, func(f collaboration.FindingLine) []string {
		return []string{fmt.Sprint(f.ID), string(f.Kind), f.Status, program.OrNone(f.Release), f.UpdatedAt, f.Title}
	})
}

func nextPage(w *program.View, cursor string) {
	if cursor != "" {
		w.Line("more: --cursor %s", cursor)
	}
}

func (p Commands) finding(ctx context.Context, in collaboration.ByID) error {
	f, err := collaboration.GetFinding(ctx, p.ToolEnv(), in)
	return p.Answer(f, err, func(w *program.View) { viewFinding(w, &f) })
}

func viewFinding(w *program.View, f *collaboration.FindingResult) {
	w.Line("finding %d, %s, %s: %s", f.ID, f.Kind, f.Status, f.Title)
	viewText(w, f.Body)
}

// viewText prints a text of several lines.
func viewText(w *program.View, text string) {
	for line := range strings.Lines(text) {
		w.Line("  %s", strings.TrimRight(line, "\r\n"))
	}
}

func (p Commands) exportFindings(ctx context.Context) error {
	r, err := collaboration.ExportCollaboration(ctx, p.ToolEnv(), collaboration.ExportInput{})
	return p.Answer(r, err, func(w *program.View) {
		program.List(w, []string{"ID", "STATUS", "RELEASE", "CREATED", "RESOLVED", "TITLE"}, r.Findings, func(f collaboration.ExportedFinding) []string {
			return []string{fmt.Sprint(f.ID), f.Status, program.OrNone(f.Release), f.CreatedAt, program.OrNone(f.ResolvedAt), f.Title}
		})
	})
}

// Questions is `svc questions`.
func (p Commands) Questions() *ffcli.Command {
	var in tool.Paging
	fs := p.FlagSet("questions")
	pagingFlags(fs, &in)
	return p.Command(fs, "svc questions [ID]", "list the questions that this account asked, or show one", p.oneOrAll(p.question, func(ctx context.Context) error {
		l, err := collaboration.ListQuestions(ctx, p.ToolEnv(), in)
		return p.Answer(l, err, func(w *program.View) {
			program.List(w, []string{"ID", "STATUS", "ASKED", "QUESTION"}, l.Questions, func(q collaboration.QuestionLine) []string {
				return []string{fmt.Sprint(q.ID), q.Status, q.CreatedAt, strings.ReplaceAll(q.Question, "\n", " ")}
			})
			nextPage(w, l.NextCursor)
		})
	}))
}

func (p Commands) question(ctx context.Context, in collaboration.ByID) error {
	q, err := collaboration.GetQuestion(ctx, p.ToolEnv(), in)
	return p.Answer(q, err, func(w *program.View) {
		w.Line("question %d, %s", q.ID, q.Status)
		viewText(w, q.Question)
		if q.Answer != "" {
			w.Title("Answer, %s", q.AnsweredAt)
			viewText(w, q.Answer)
		}
	})
}

// Report is `svc report`.
func (p Commands) Report() *ffcli.Command {
	var in collaboration.ReportFindingInput
	fs := p.FlagSet("report")
	fs.StringVar((*string)(&in.Kind), "kind", "", "bug, coverage or measurement")
	fs.StringVar(&in.Title, "title", "", "one line")
	fs.StringVar(&in.Body, "body", "", "what happened, what was expected; - reads it from stdin")
	fs.BoolVar(&in.Confirm, "confirm", false, "file it; without this, what would be sent is shown")
	return p.Command(fs, "svc report --kind KIND --title TITLE --body TEXT --confirm", "report a finding to the team; names of machines and paths are stripped",
		program.NoArgs(func(ctx context.Context) (err error) {
			if in.Body, err = p.words(in.Body); err != nil {
				return err
			}
			f, err := collaboration.ReportFinding(ctx, p.ToolEnv(), in)
			return p.Answer(f, err, func(w *program.View) {
				viewFinding(w, &f)
				w.Title("Filed as finding %d. %s", f.ID, p.whereWordsStay())
			})
		}))
}

// Ask is `svc ask`.
func (p Commands) Ask() *ffcli.Command {
	var in collaboration.AskInput
	fs := p.FlagSet("ask")
	fs.StringVar(&in.Question, "question", "", "the question; also as an argument, or - for stdin")
	fs.BoolVar(&in.Confirm, "confirm", false, "answer from the guide, or file the question; without this, what would be done is shown")
	return p.Command(fs, "svc ask --confirm QUESTION", "ask the guide, and the team where that has no answer", func(ctx context.Context, args []string) (err error) {
		if in.Question, err = p.words(strings.TrimSpace(in.Question + " " + strings.Join(args, " "))); err != nil {
			return err
		}
		r, err := collaboration.AskQuestion(ctx, p.ToolEnv(), in)
		return p.Answer(r, err, func(w *program.View) {
			if r.Answered {
				viewText(w, r.Answer)
				w.Line("(%s)", r.Place)
				return
			}
			viewNearest(w, r)
			w.Title("Filed as question %d:", r.Question.ID)
			viewText(w, r.Question.Question)
			w.Line("%s", p.whereWordsStay())
		})
	})
}

// viewNearest prints what of the guide may answer a question that it does not surely answer.
func viewNearest(w *program.View, r collaboration.AskResult) {
	w.Line("The guide does not surely answer this. Nearest:")
	for _, near := range r.Nearest {
		w.Title("%s", near.Place)
		viewText(w, near.Text)
	}
	w.Title("Every topic: svc ask --confirm TOPIC")
	viewText(w, r.Topics)
}

// maxWords bounds a text on stdin, in bytes.
const maxWords = 1 << 20

// words are an argument's, or stdin's where that is "-".
func (p Commands) words(arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	b, err := io.ReadAll(io.LimitReader(p.Stdin, maxWords))
	if err != nil {
		return "", fmt.Errorf("reading stdin: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// whereWordsStay says who reads what was filed.
func (p Commands) whereWordsStay() string {
	if p.Settings.Server == "" {
		return "No server is set: the words stay on this machine, in the service built into svc."
	}
	return "The team of " + p.Settings.Server + " reads it."
}

// Status is `svc status`.
func (p Commands) Status() *ffcli.Command {
	return p.Command(p.FlagSet("status"), "svc status", "show the service's version and its releases", program.NoArgs(func(ctx context.Context) error {
		s, err := collaboration.GetStatus(ctx, p.ToolEnv(), collaboration.StatusInput{})
		return p.Answer(s, err, func(w *program.View) {
			w.Line("service %s %s", s.Service.Version, s.Service.Commit)
			viewNotes(w, s.History)
		})
	}))
}

func viewNotes(w *program.View, releases []api.Release) {
	for _, r := range releases {
		w.Line("%s (%s), %s", r.Tag, r.Channel, r.PublishedAt)
		viewText(w, r.Notes)
	}
}

// WhatsNew is `svc whats-new`.
func (p Commands) WhatsNew() *ffcli.Command {
	var in collaboration.WhatsNewInput
	fs := p.FlagSet("whats-new")
	fs.StringVar(&in.Since, "since", "", "tag of a release, or a time; without it, everything")
	return p.Command(fs, "svc whats-new [--since TAG|TIME]", "show what was released, and which of this account's findings were fixed", program.NoArgs(func(ctx context.Context) error {
		r, err := collaboration.WhatsNew(ctx, p.ToolEnv(), in)
		return p.Answer(r, err, func(w *program.View) { viewNews(w, r.Releases, "Fixed", r.Fixes) })
	}))
}

func viewNews(w *program.View, releases []api.Release, title string, findings []collaboration.FindingLine) {
	if len(releases)+len(findings) == 0 {
		w.Line("nothing new")
		return
	}
	viewNotes(w, releases)
	if len(findings) > 0 {
		w.Title("%s", title)
		viewReported(w, findings)
	}
}

// Updates is `svc updates`.
func (p Commands) Updates() *ffcli.Command {
	var in collaboration.UpdatesInput
	fs := p.FlagSet("updates")
	fs.StringVar(&in.Cursor, "cursor", "", "cursor of the poll before; without it, everything")
	return p.Command(fs, "svc updates [--cursor CURSOR]", "poll once for releases and findings that are new or changed", program.NoArgs(func(ctx context.Context) error {
		r, err := collaboration.Updates(ctx, p.ToolEnv(), in)
		return p.Answer(r, err, func(w *program.View) {
			viewNews(w, r.Releases, "Findings", r.Findings)
			if r.Cursor != "" {
				w.Line("next: --cursor '%s'", r.Cursor)
			}
		})
	}))
}
