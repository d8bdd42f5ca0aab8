// Package logged makes the loggers of what servers and mirrors say about a match, or about a connection to it. Each such line names
// the match and its id, and the session, so that one search for an id finds the lines of all servers.
package logged

import (
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Match returns a logger for lines about a match. The id is "" if the caller does not know it.
func Match(log *slog.Logger, name, id string) *slog.Logger {
	if log = log.With("match", name); id != "" {
		log = log.With("id", id)
	}
	return log
}

// Session returns a logger for lines about a session. The id is "" if nobody knows it, and the line is then about a match or an address.
func Session(log *slog.Logger, id string) *slog.Logger {
	if id == "" {
		return log
	}
	return log.With("session", id)
}

// A Seat is a lockstep.Player in a line of a log. In JSON it is a number, as in the API; in text, the system is nobody: a spectator, or
// the match itself.
type Seat uint8

const nobody Seat = 255 // lockstep.System

// MarshalText implements [encoding.TextMarshaler].
func (s Seat) MarshalText() ([]byte, error) {
	if s == nobody {
		return []byte("nobody"), nil
	}
	return strconv.AppendUint(nil, uint64(s), 10), nil
}

// MarshalJSON implements [json.Marshaler].
func (s Seat) MarshalJSON() ([]byte, error) { return strconv.AppendUint(nil, uint64(s), 10), nil }

// SessionOf returns the id of the session that a request for a WebSocket shows, see [protocol.ShownID]. Without one it draws an id.
func SessionOf(r *http.Request) string {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Sec-Websocket-Protocol"), ","), ",") {
		if id, ok := strings.CutPrefix(strings.TrimSpace(part), protocol.ShownID); ok && protocol.IsSessionID(id) {
			return id
		}
	}
	return protocol.SessionID(rand.Uint64())
}
