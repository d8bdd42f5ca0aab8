package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// beginTries begins to measure how long recoveries take.
func (reg *registry) beginTries(now time.Time) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	reg.recoveries.since, reg.recoveries.done = now, 0
}

// tried counts a try.
func (reg *registry) tried() {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	reg.recoveries.done++
}

// expect says that the match of a reserved name is being recovered.
func (reg *registry) expect(name string, v *View) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	reg.recoveries.pending[name] = v
}

// notRecovered reserves the name of a match that could not be resumed.
func (reg *registry) notRecovered(name string, f *failedMatch) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	reg.recoveries.failed[name] = f
	delete(reg.recoveries.pending, name)
}

// errNotFailed: there is nothing to try again.
var errNotFailed = errors.New("server: the match has not failed")

// retry tries again to resume a match that failed, and returns its view.
func (reg *registry) retry(name string) (*View, error) {
	reg.mu.Lock()
	f := reg.recoveries.failed[name]
	if f == nil || f.view == nil {
		reg.mu.Unlock()
		return nil, errNotFailed
	}
	delete(reg.recoveries.failed, name) // it reserves the name
	reg.mu.Unlock()
	v, err := f.again()
	if err != nil {
		reg.mu.Lock()
		defer reg.mu.Unlock()
		reg.recoveries.failed[name] = f
	}
	return v, err
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

// enter waits until another try may begin. It reports false if the server is shut down.
func (reg *registry) enter(alone bool) bool {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	for !reg.closed && !reg.recoveries.room.Enter(alone) {
		left := reg.recoveries.left
		reg.mu.Unlock()
		<-left
		reg.mu.Lock()
	}
	return !reg.closed
}

func (reg *registry) leave() {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	reg.recoveries.room.Leave()
	close(reg.recoveries.left)
	reg.recoveries.left = make(chan struct{})
}
