package remote

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"svc/assess/host"
	"svc/backend/sliced"
)

//go:embed read.sh
var readScript string

// silence is how long the machine may owe an answer without an answer, or as many
// bytes as progress, coming: so one that sends a byte now and then is as good as
// silent.
const (
	silence  = 60 * time.Second
	progress = 4 << 10
)

// maxJunk bounds what a login shell prints before the first answer.
const maxJunk = 1 << 20

// errSilent ends a connection on which nothing comes any more.
var errSilent = fmt.Errorf("it sent nothing, or next to nothing, for %v", silence)

// errFrame ends a connection on which something else comes than was asked for.
var errFrame = errors.New("it sent more than was asked for")

// shell is a shell on another machine that answers questions of read.sh in the
// order in which they are put. It is safe for concurrent use: questions of
// several callers are under way at once.
type shell struct {
	cmd     *exec.Cmd
	name    string // for messages
	word    []byte // begins the last line of a frame
	said    *tail  // what ssh wrote to stderr
	out     *bufio.Reader
	asked   chan *question
	mu      sync.Mutex // orders questions
	in      io.WriteCloser
	owed    atomic.Int64 // answers that are under way
	timer   *time.Timer
	silent  atomic.Bool
	greeted atomic.Bool   // it has answered
	ending  chan struct{} // closed when nothing more is asked
	end     sync.Once
	done    chan struct{} // closed when the shell has ended
	err     error         // why; set before done is closed
}

// question waits for as many frames as there are limits. With a sink, that is
// given the body of the first frame as it comes, of any size, and nothing of it
// is kept.
type question struct {
	limits []int
	answer chan []frame
	sink   func(piece []byte) error
}

// frame is a part of an answer.
type frame struct {
	body   []byte
	failed bool
	reason string // as strerror has it, where it failed
}

// startShell starts a command that leads to a shell, and tells it how to read.
// The command is one of ctx.
func startShell(ctx context.Context, cmd *exec.Cmd, name string) (*shell, error) {
	s := &shell{cmd: cmd, name: name, word: []byte(rand.Text()), said: &tail{}, asked: make(chan *question, 1024), ending: make(chan struct{}), done: make(chan struct{})}
	cmd.Stderr = s.said
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		return nil, fmt.Errorf("reading %s over ssh: %w", name, err)
	}
	s.in, s.out = in, bufio.NewReaderSize(&alive{r: out, s: s}, 64<<10)
	s.timer = time.AfterFunc(silence, s.giveUp)
	go s.listen(ctx)
	if _, err := s.ask("WORD="+string(s.word)+"\n"+readScript, maxJunk); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// giveUp ends a shell that owes an answer and is silent.
func (s *shell) giveUp() {
	if s.owed.Load() > 0 {
		s.silent.Store(true)
		_ = s.cmd.Cancel() // it may have ended just now
	}
}

// alive puts off giving up whenever enough has come.
type alive struct {
	r    io.Reader
	s    *shell
	come int // bytes since it was last put off
}

func (a *alive) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if a.come += n; a.come >= progress {
		a.come = 0
		a.s.timer.Reset(silence)
	}
	return n, err
}

// ask puts a question and waits for its answer, whose frames have at most as
// many bytes as limits says.
func (s *shell) ask(line string, limits ...int) ([]frame, error) {
	return s.await(line, &question{limits: limits, answer: make(chan []frame, 1)})
}

// pour puts a question whose answer goes to sink, but for a last frame of at
// most limit bytes. No other question is answered meanwhile.
func (s *shell) pour(line string, sink func(piece []byte) error, limit int) (frame, error) {
	answer, err := s.await(line, &question{limits: []int{0, limit}, answer: make(chan []frame, 1), sink: sink})
	if err != nil {
		return frame{}, err
	}
	return answer[1], nil
}

func (s *shell) await(line string, q *question) ([]frame, error) {
	if err := s.put(q, line); err != nil {
		return nil, err
	}
	select {
	case a := <-q.answer:
		return a, nil
	case <-s.done:
	}
	select {
	case a := <-q.answer: // it came before the end
		return a, nil
	default:
		return nil, s.err
	}
}

func (s *shell) put(q *question, line string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer.Reset(silence)
	s.owed.Add(1)
	select {
	case s.asked <- q:
	case <-s.done:
		return s.err
	}
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		<-s.done // the reader says why
		return s.err
	}
	return nil
}

// listen hands out answers until the shell ends, and then says why it ended.
func (s *shell) listen(ctx context.Context) {
	err := s.handOut()
	s.timer.Stop()
	if !errors.Is(err, io.EOF) {
		_ = s.cmd.Cancel() // it may have ended by itself
	}
	_ = s.cmd.Wait() // ssh says more than its status does
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case s.silent.Load():
		err = errSilent
	case !errors.Is(err, errFrame):
		err = explain(s.name, s.said.String(), s.greeted.Load())
	}
	s.err = fmt.Errorf("reading %s over ssh: %w", s.name, err)
	close(s.done)
}

func (s *shell) handOut() error {
	for {
		var q *question
		select {
		case q = <-s.asked:
		case <-s.ending:
			return io.EOF
		}
		frames := make([]frame, len(q.limits))
		for i, limit := range q.limits {
			var err error
			if i == 0 && q.sink != nil {
				_, err = s.frame(q.sink)
			} else {
				frames[i], err = s.bounded(limit)
			}
			if err != nil {
				return err
			}
		}
		s.owed.Add(-1)
		s.timer.Reset(silence)
		s.greeted.Store(true)
		q.answer <- frames
	}
}

// bounded reads a frame of at most limit bytes.
func (s *shell) bounded(limit int) (frame, error) {
	var body []byte
	end, err := s.frame(func(piece []byte) error {
		if len(body)+len(piece) > limit+1 {
			return errFrame
		}
		body = append(body, piece...)
		return nil
	})
	if err != nil && !s.greeted.Load() {
		s.said.Write(body) // a login shell that is none says why
	}
	return newFrame(body, end), err
}

// frame reads up to the line that begins with the word, and gives take what is
// before it. End is what stands behind the word.
func (s *shell) frame(take func(piece []byte) error) (end string, err error) {
	for begins := true; ; {
		piece, err := s.out.ReadSlice('\n')
		if begins && bytes.HasPrefix(piece, s.word) && err == nil {
			return string(piece[len(s.word):]), nil
		}
		if err := take(piece); err != nil {
			return "", err
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return "", err
		}
		begins = err == nil
	}
}

// newFrame takes the newline off that the frame's last line began with.
func newFrame(body []byte, end string) frame {
	status, reason, _ := strings.Cut(strings.TrimSpace(end), " ")
	return frame{bytes.TrimSuffix(body, []byte("\n")), status != "" && status != "0", reason}
}

// errnos are the words of glibc and musl for what may go wrong with a file, and
// what read.sh says itself.
var errnos = map[string]error{
	"No such file or directory": syscall.ENOENT, "Permission denied": syscall.EACCES, "Operation not permitted": syscall.EPERM,
	"Not a directory": syscall.ENOTDIR, "Is a directory": syscall.EISDIR, "Invalid argument": syscall.EINVAL,
	"Too many levels of symbolic links": syscall.ELOOP, "Symbolic link loop": syscall.ELOOP,
	"File name too long": syscall.ENAMETOOLONG, "Filename too long": syscall.ENAMETOOLONG,
	"Input/output error": syscall.EIO, "I/O error": syscall.EIO, "No such device": syscall.ENODEV,
	"Stale file handle": syscall.ESTALE, "Stale NFS file handle": syscall.ESTALE, "No such process": syscall.ESRCH,
	"Transport endpoint is not connected": syscall.ENOTCONN, "Socket not connected": syscall.ENOTCONN,
	"Not a regular file": host.ErrNotRegular,
}

// err is the error of a frame that failed, as a system call would give it. The
// reason stands at the end of the frame where a program's words are its body.
func (f frame) err(op, name string) error {
	if !f.failed {
		return nil
	}
	reason := f.reason
	if i := bytes.LastIndex(f.body, []byte(": ")); reason == "" && i >= 0 {
		reason = strings.TrimSpace(string(f.body[i+2:]))
	}
	if errno, ok := errnos[reason]; ok {
		return &fs.PathError{Op: op, Path: name, Err: errno}
	}
	return &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("the machine says: %q", printable(reason))}
}

// Close ends the shell: it stops at the end of its input, and is stopped where
// it does not.
func (s *shell) Close() error {
	err := s.in.Close()
	s.end.Do(func() { close(s.ending) })
	select {
	case <-s.done:
	case <-time.After(2 * time.Second):
		_ = s.cmd.Cancel() // it may have ended just now
		<-s.done
	}
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}

// lost is why the shell can't answer any more; nil while it can.
func (s *shell) lost() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// quote makes one word of a shell of any bytes.
func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// line is a question of read.sh with the words that it is put with.
func line(question string, words ...string) string {
	return strings.Join(append([]string{question}, sliced.Map(words, quote)...), " ") + " </dev/null"
}

// tail keeps the last that was written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	const most = 4 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-most):]...)
	t.kept = append([]byte(nil), t.kept[max(0, len(t.kept)-most):]...)
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.kept))
}
