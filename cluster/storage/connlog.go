package storage

import (
	"errors"
	"log/slog"

	"github.com/nats-io/nats.go"
)

// handlers bring what happens to a connection into the program's log. The library would write it to the standard error output.
func handlers(log *slog.Logger, refused func(error)) []nats.Option {
	return []nats.Option{
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) {
			switch {
			case !errors.Is(err, nats.ErrPermissionViolation):
				subject := ""
				if s != nil {
					subject = s.Subject
				}
				log.Warn("storage", "err", err, "subject", subject)
			case refused != nil:
				refused(err)
			default:
				log.Error("the storage refuses what the role of this key may not do", "err", err)
			}
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // otherwise this program has closed the connection
				log.Warn("the connection to the storage is lost", "err", err)
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) { log.Info("connected to the storage again", "address", c.ConnectedUrlRedacted()) }),
	}
}
