package app

import (
	"context"
	"errors"
	"sync"

	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/drive"
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/outcome"
	"github.com/dsh-actor/dsh-actor/messages"
)

// traceParentVar carries the trace context of who started the process.
const traceParentVar = "TRACEPARENT"

// drive runs the session to its end, closes everything, and returns the exit code.
func (s *session) drive(ctx context.Context, prompt string, signals <-chan outcome.Cause) int {
	source := once(messages.Text(prompt))
	if s.flags.inputFormat != formatText {
		source = s.app.lines(s.writer, s.flags.replay)
	}
	end := drive.Run(ctx, drive.Config{
		Session: s.host.Session, Source: source, Printer: s.printer, Signals: signals,
		TraceParent: s.app.sys.Getenv(traceParentVar),
	})
	closing := s.close(ctx, end.Sealed, signals)
	s.log.Debug("end", "exitCode", end.ExitCode, "error", end.Err, "closing", closing)
	if end.Err != nil {
		s.app.complain(nil, end.Err)
	}
	if closing != nil {
		s.app.warn(closing.Error())
	}
	return end.ExitCode
}

// close ends the host and the printers. A signal now says that nobody wants to wait.
func (s *session) close(ctx context.Context, hurry bool, signals <-chan outcome.Cause) error {
	ctx, cancel := context.WithTimeout(ctx, drive.Grace)
	defer cancel()
	if hurry {
		cancel()
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-signals:
				cancel()
			case <-done:
				return
			}
		}
	})
	err := s.host.Close(ctx)
	close(done)
	wg.Wait()
	if s.array != nil {
		err = errors.Join(err, s.array.Close())
	}
	if s.view != nil {
		err = errors.Join(err, s.view.Close())
		s.app.view.Store(nil)
	}
	return err
}
