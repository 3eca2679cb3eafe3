package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend/api"
	"svc/tools/collaboration"
	"svc/tools/tool"
)

func pagingFlags(fs *flag.FlagSet, in *tool.Paging) {
	fs.IntVar(&in.Limit, "limit", 50, "entries to list, at most 100")
	fs.StringVar(&in.Cursor, "cursor", "", "next_cursor of the page before: lists what follows it")
}

func (p *program) findingsCommand() *ffcli.Command {
	var in tool.Paging
	fs := p.flagSet("findings")
	pagingFlags(fs, &in)
	return p.command(fs, "svc findings [ID]", "list the findings that this account reported, or show one", p.oneOrAll(p.finding, func(ctx context.Context) error {
		l, err := collaboration.ListFindings(ctx, p.toolEnv(), in)
		if err != nil {
			return err
		}
		return p.print(l, func(w *view) {
			viewReported(w, l.Findings)
			nextPage(w, l.NextCursor)
		})
	}), p.command(p.flagSet("export"), "svc findings export", "export this account's newest findings", noArgs(p.exportFindings)))
}

// oneOrAll runs one with the number that is given, and all without.
func (p *program) oneOrAll(one func(context.Context, collaboration.ByID) error, all func(context.Context) error) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		if len(args) == 0 {
			return all(ctx)
		}
		id, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil || len(args) > 1 {
			return usagef("expected one number, not %q", strings.Join(args, " "))
		}
		return one(ctx, collaboration.ByID{ID: id})
	}
}

func viewReported(w *view, findings []collaboration.FindingLine) {
	rows := [][]string{{"ID", "KIND", "STATUS", "RELEASE", "UPDATED", "TITLE"}}
	for _, f := range findings {
		rows = append(rows, []string{fmt.Sprint(f.ID), string(f.Kind), f.Status, orNone(f.Release), f.UpdatedAt, f.Title})
	}
	w.table(rows)
}

func nextPage(w *view, cursor string) {
	if cursor != "" {
		w.line("more: --cursor %s", cursor)
	}
}

func (p *program) finding(ctx context.Context, in collaboration.ByID) error {
	f, err := collaboration.GetFinding(ctx, p.toolEnv(), in)
	if err != nil {
		return err
	}
	return p.print(f, func(w *view) { viewFinding(w, &f) })
}

func viewFinding(w *view, f *collaboration.FindingResult) {
	w.line("finding %d, %s, %s: %s", f.ID, f.Kind, f.Status, f.Title)
	viewText(w, f.Body)
}

// viewText prints a text of several lines.
func viewText(w *view, text string) {
	for line := range strings.Lines(text) {
		w.line("  %s", strings.TrimRight(line, "\r\n"))
	}
}

func (p *program) exportFindings(ctx context.Context) error {
	r, err := collaboration.ExportCollaboration(ctx, p.toolEnv(), collaboration.ExportInput{})
	if err != nil {
		return err
	}
	return p.print(r, func(w *view) {
		rows := [][]string{{"ID", "STATUS", "RELEASE", "CREATED", "RESOLVED", "TITLE"}}
		for _, f := range r.Findings {
			rows = append(rows, []string{fmt.Sprint(f.ID), f.Status, orNone(f.Release), f.CreatedAt, orNone(f.ResolvedAt), f.Title})
		}
		w.table(rows)
	})
}

func (p *program) questionsCommand() *ffcli.Command {
	var in tool.Paging
	fs := p.flagSet("questions")
	pagingFlags(fs, &in)
	return p.command(fs, "svc questions [ID]", "list the questions that this account asked, or show one", p.oneOrAll(p.question, func(ctx context.Context) error {
		l, err := collaboration.ListQuestions(ctx, p.toolEnv(), in)
		if err != nil {
			return err
		}
		return p.print(l, func(w *view) {
			rows := [][]string{{"ID", "STATUS", "ASKED", "QUESTION"}}
			for _, q := range l.Questions {
				rows = append(rows, []string{fmt.Sprint(q.ID), q.Status, q.CreatedAt, strings.ReplaceAll(q.Question, "\n", " ")})
			}
			w.table(rows)
			nextPage(w, l.NextCursor)
		})
	}))
}

func (p *program) question(ctx context.Context, in collaboration.ByID) error {
	q, err := collaboration.GetQuestion(ctx, p.toolEnv(), in)
	if err != nil {
		return err
	}
	return p.print(q, func(w *view) {
		w.line("question %d, %s", q.ID, q.Status)
		viewText(w, q.Question)
		if q.Answer != "" {
			w.title("Answer, %s", q.AnsweredAt)
			viewText(w, q.Answer)
		}
	})
}

func (p *program) reportCommand() *ffcli.Command {
	var in collaboration.ReportFindingInput
	fs := p.flagSet("report")
	fs.StringVar((*string)(&in.Kind), "kind", "", "bug, coverage or measurement")
	fs.StringVar(&in.Title, "title", "", "one line")
	fs.StringVar(&in.Body, "body", "", "what happened, what was expected; - reads it from stdin")
	fs.BoolVar(&in.Confirm, "confirm", false, "file it; without this, what would be sent is shown")
	return p.command(fs, "svc report --kind KIND --title TITLE --body TEXT --confirm", "report a finding to the team; names of machines and paths are stripped",
		noArgs(func(ctx context.Context) (err error) {
			if in.Body, err = p.words(in.Body); err != nil {
				return err
			}
			f, err := collaboration.ReportFinding(ctx, p.toolEnv(), in)
			if err != nil {
				return err
			}
			return p.print(f, func(w *view) {
				viewFinding(w, &f)
				w.title("Filed as finding %d. %s", f.ID, p.whereWordsStay())
			})
		}))
}

func (p *program) askCommand() *ffcli.Command {
	var in collaboration.AskInput
	fs := p.flagSet("ask")
	fs.StringVar(&in.Question, "question", "", "the question; also as an argument, or - for stdin")
	fs.BoolVar(&in.Confirm, "confirm", false, "answer from the guide, or file the question; without this, what would be done is shown")
	return p.command(fs, "svc ask --confirm QUESTION", "ask the guide, and the team where that has no answer", func(ctx context.Context, args []string) (err error) {
		if in.Question, err = p.words(strings.TrimSpace(in.Question + " " + strings.Join(args, " "))); err != nil {
			return err
		}
		r, err := collaboration.AskQuestion(ctx, p.toolEnv(), in)
		if err != nil {
			return err
		}
		return p.print(r, func(w *view) {
			if r.Answered {
				viewText(w, r.Answer)
				w.line("(%s)", r.Place)
				return
			}
			viewNearest(w, r)
			w.title("Filed as question %d:", r.Question.ID)
			viewText(w, r.Question.Question)
			w.line("%s", p.whereWordsStay())
		})
	})
}

// viewNearest prints what of the guide may answer a question that it does not surely answer.
func viewNearest(w *view, r collaboration.AskResult) {
	w.line("The guide does not surely answer this. Nearest:")
	for _, near := range r.Nearest {
		w.title("%s", near.Place)
		viewText(w, near.Text)
	}
	w.title("Every topic: svc ask --confirm TOPIC")
	viewText(w, r.Topics)
}

// maxWords bounds a text on stdin, in bytes.
const maxWords = 1 << 20

// words are an argument's, or stdin's where that is "-".
func (p *program) words(arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	b, err := io.ReadAll(io.LimitReader(p.stdin, maxWords))
	if err != nil {
		return "", fmt.Errorf("reading stdin: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// whereWordsStay says who reads what was filed.
func (p *program) whereWordsStay() string {
	if p.settings.server == "" {
		return "No server is set: the words stay on this machine, in the service built into svc."
	}
	return "The team of " + p.settings.server + " reads it."
}

func (p *program) statusCommand() *ffcli.Command {
	return p.command(p.flagSet("status"), "svc status", "show the service's version and its releases", noArgs(func(ctx context.Context) error {
		s, err := collaboration.GetStatus(ctx, p.toolEnv(), collaboration.StatusInput{})
		if err != nil {
			return err
		}
		return p.print(s, func(w *view) {
			w.line("service %s %s", s.Service.Version, s.Service.Commit)
			viewNotes(w, s.History)
		})
	}))
}

func viewNotes(w *view, releases []api.Release) {
	for _, r := range releases {
		w.line("%s (%s), %s", r.Tag, r.Channel, r.PublishedAt)
		viewText(w, r.Notes)
	}
}

func (p *program) whatsNewCommand() *ffcli.Command {
	var in collaboration.WhatsNewInput
	fs := p.flagSet("whats-new")
	fs.StringVar(&in.Since, "since", "", "tag of a release, or a time; without it, everything")
	return p.command(fs, "svc whats-new [--since TAG|TIME]", "show what was released, and which of this account's findings were fixed", noArgs(func(ctx context.Context) error {
		r, err := collaboration.WhatsNew(ctx, p.toolEnv(), in)
		if err != nil {
			return err
		}
		return p.print(r, func(w *view) { viewNews(w, r.Releases, "Fixed", r.Fixes) })
	}))
}

func viewNews(w *view, releases []api.Release, title string, findings []collaboration.FindingLine) {
	if len(releases)+len(findings) == 0 {
		w.line("nothing new")
		return
	}
	viewNotes(w, releases)
	if len(findings) > 0 {
		w.title("%s", title)
		viewReported(w, findings)
	}
}

func (p *program) updatesCommand() *ffcli.Command {
	var in collaboration.UpdatesInput
	fs := p.flagSet("updates")
	fs.StringVar(&in.Cursor, "cursor", "", "cursor of the poll before; without it, everything")
	return p.command(fs, "svc updates [--cursor CURSOR]", "poll once for releases and findings that are new or changed", noArgs(func(ctx context.Context) error {
		r, err := collaboration.Updates(ctx, p.toolEnv(), in)
		if err != nil {
			return err
		}
		return p.print(r, func(w *view) {
			viewNews(w, r.Releases, "Findings", r.Findings)
			if r.Cursor != "" {
				w.line("next: --cursor '%s'", r.Cursor)
			}
		})
	}))
}
