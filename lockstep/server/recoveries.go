package server

import (
	"context"
	"fmt"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// The least and the longest time after which clients of a recovering match come back.
const (
	leastWait   = time.Second
	longestWait = 10 * time.Second
)

// recoveries are the matches that are being recovered. The server's mutex guards them.
type recoveries struct {
	pending map[string]*View  // by name
	failed  map[string]string // the paths of logs that stay as they are, by the names of their matches
	unread  int               // that wait for their bans
	since   time.Time         // of the last Recover
	done    int               // since then
}

// wait reports whether the match of a name is recovering, and about how long a client should wait for it.
func (r *recoveries) wait(name string) (wait time.Duration, is bool) {
	if _, is = r.pending[name]; !is {
		return 0, false
	}
	if r.done > 0 {
		wait = time.Since(r.since) / time.Duration(r.done) * time.Duration(len(r.pending))
	}
	return min(max(wait, leastWait), longestWait).Round(time.Second), true
}

// turnAway tells a client when to come back to a recovering match, and closes its WebSocket.
func turnAway(ws *websocket.Conn, wait time.Duration) {
	text := fmt.Sprintf("the match is recovering, come back in %d s", wait/time.Second)
	var w protocol.Writer
	closing := protocol.Message{Kind: protocol.KindClosing, Code: uint8(protocol.CloseBusy), Text: text, RetryMS: uint32(wait / time.Millisecond)}
	if ws.Write(context.Background(), websocket.MessageBinary, w.Append(nil, &closing)) == nil {
		ws.Close(websocket.StatusNormalClosure, text)
	}
}
