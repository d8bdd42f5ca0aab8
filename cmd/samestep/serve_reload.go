package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// A tokenFile is the file of --tokens, and the tokens in it.
type tokenFile struct {
	path   string
	tokens *server.Tokens
}

// reloadOnHangup reads the file again at each SIGHUP, until stop is called. Without a file a SIGHUP ends the program.
func (f *tokenFile) reloadOnHangup(s *server.Server, log *slog.Logger) (stop func()) {
	if f == nil || len(hangup) == 0 {
		return func() {}
	}
	hung, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(hung, hangup...)
	go func() {
		defer close(done)
		for range hung {
			if err := f.reload(s, log); err != nil {
				log.Error("the list of tokens was not read; the old one stays valid", "path", f.path, "err", err)
			}
		}
	}()
	return func() {
		signal.Stop(hung)
		close(hung)
		<-done
	}
}

// reload reads the file again, and disconnects clients whose tokens are gone.
func (f *tokenFile) reload(s *server.Server, log *slog.Logger) error {
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer file.Close()
	gone, err := f.tokens.Reload(file)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ended, err := s.Expel(ctx, func(g *host.Grant) bool {
		_, found := slices.BinarySearch(gone, g.Subject)
		return found
	}, "the token is no longer valid")
	log.Warn("the list of tokens was read again", "path", f.path, "gone", len(gone), "ended", ended)
	return err
}
