package client

import (
	"context"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A link is one connection with its two goroutines.
type link struct {
	ws      *websocket.Conn
	arrived chan []byte
	gone    chan error // once, when nothing arrives any more
	out     chan []byte
	stop    chan struct{} // closed when nobody takes what arrives any more
}

func newLink(ws *websocket.Conn) *link {
	ws.SetReadLimit(lockstep.MaxServerMessage)
	l := &link{
		ws: ws, arrived: make(chan []byte, maxUnread), gone: make(chan error, 1),
		out: make(chan []byte, maxUnsent), stop: make(chan struct{}),
	}
	go l.read()
	go l.write()
	return l
}

// read takes messages from the socket. It waits while too many are unread,
// which the server notices by our acks.
func (l *link) read() {
	for {
		_, b, err := l.ws.Read(context.Background())
		if err != nil {
			l.gone <- err
			return
		}
		select {
		case l.arrived <- b:
		case <-l.stop:
			return
		}
	}
}

// write sends messages until the link is closed, and then closes the socket.
func (l *link) write() {
	for b := range l.out {
		if l.ws.Write(context.Background(), websocket.MessageBinary, b) != nil {
			l.ws.CloseNow()
			for range l.out { // nobody must wait for a dead socket
			}
			return
		}
	}
	abort := time.AfterFunc(closeTimeout, func() { l.ws.CloseNow() })
	l.ws.Close(websocket.StatusNormalClosure, "")
	abort.Stop()
}

// close ends the link after what was given to it is sent.
func (l *link) close() {
	close(l.stop)
	close(l.out)
}
