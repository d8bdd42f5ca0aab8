//go:build !js

package clustertool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/storage"
)

// A roleError is what the storage has refused because of the role of the key.
type roleError struct {
	want    storage.Role
	refused error
}

func (e *roleError) Error() string {
	_, what, _ := strings.Cut(e.refused.Error(), "Permissions Violation for ")
	return fmt.Sprintf("the role of this key may not do this, want a key of the role %s: the storage refuses: %s", e.want, what)
}

func (e *roleError) Unwrap() error { return e.refused }

// refusal returns a context for the start of a program that uses the storage. It ends with a [roleError] when the storage refuses
// something: the program would wait for an answer that does not come. What is refused after started is logged.
func refusal(ctx context.Context, role storage.Role, log *slog.Logger) (starting context.Context, refused func(error), started func()) {
	starting, cancel := context.WithCancelCause(ctx)
	return starting, func(err error) {
		if starting.Err() == nil {
			cancel(&roleError{role, err})
		} else if refusedIn(starting) == nil {
			log.Error("storage", "err", &roleError{role, err})
		}
	}, func() { cancel(nil) }
}

// refusedIn returns what has ended a context of [refusal], or nil.
func refusedIn(starting context.Context) error {
	var refused *roleError
	if errors.As(context.Cause(starting), &refused) {
		return refused
	}
	return nil
}

// connected calls act with a connection of a role. The first refusal of the storage ends the verb.
func connected(c *cli.Context, role storage.Role, act func(*storage.Conn) error) error {
	log := plainLog(c)
	ctx, refused, done := refusal(c.Context, role, log)
	defer done()
	c.Context = ctx
	conn, err := dialAny(c, storage.DialOptions{Role: role, Log: log, Refused: refused})
	if err != nil {
		return err
	}
	defer conn.Close()
	err = act(conn)
	if why := refusedIn(ctx); why != nil {
		return why
	}
	return err
}

// plainLog returns the log of a verb that has no flags for it.
func plainLog(c *cli.Context) *slog.Logger {
	return slog.New(slog.NewTextHandler(c.App.ErrWriter, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
