//go:build !js

package serving

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/agones"
)

// tellAgones tells the sidecar of Agones how the server is, until stop is called. It does nothing outside of Agones.
func tellAgones(s *server.Server, log *slog.Logger) (stop func(), err error) {
	port, ok := os.LookupEnv(agones.PortVariable)
	if !ok {
		return func() {}, nil
	}
	var matches played
	sidecar, err := agones.Start(agones.Options{
		Port: port, Log: log,
		Ready: func() bool { return len(s.NotReady()) == 0 },
		Used:  func() bool { return matches.look(s) },
	})
	if err != nil {
		return nil, err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := sidecar.Shutdown(ctx); err != nil {
			log.Error("Agones was not told of the end", "err", err)
		}
	}, nil
}

// played has the matches that are not over and that a person has joined. Each look at the server replaces it.
type played map[*server.Match]bool

func (p *played) look(s *server.Server) (any bool) {
	now := make(played)
	for _, m := range s.Matches() {
		if v := m.View(); v.Ended == "" && ((*p)[m] || slices.ContainsFunc(v.Players, isHuman)) {
			now[m] = true
		}
	}
	*p = now
	return len(now) > 0
}

func isHuman(p server.PlayerView) bool { return p.State != "bot" }
