//go:build !js

package compat

import (
	"sync"
	"time"
)

// maxQueued is the number of bytes that may wait for a socket.
const maxQueued = 512 << 10

// An outbox has the messages that wait for a socket. It takes no more than the socket reads: a client that does not read
// holds up its own copy of the match, and then loses its connection.
type outbox struct {
	mu     sync.Mutex
	list   [][]byte
	bytes  int
	more   chan struct{} // holds a value if there is something in the list
	room   chan struct{} // holds a value if something was taken
	closed chan struct{}
	once   sync.Once
}

func newOutbox() *outbox {
	return &outbox{more: make(chan struct{}, 1), room: make(chan struct{}, 1), closed: make(chan struct{})}
}

// put adds a message. It waits for room for some time, and returns false if there is none.
func (o *outbox) put(m []byte, patience time.Duration) bool {
	for {
		o.mu.Lock()
		if o.bytes == 0 || o.bytes+len(m) <= maxQueued {
			o.list, o.bytes = append(o.list, m), o.bytes+len(m)
			o.mu.Unlock()
			signal(o.more)
			return true
		}
		o.mu.Unlock()
		wait := time.NewTimer(patience)
		select {
		case <-o.room:
		case <-o.closed:
			return false
		case <-wait.C:
			return false
		}
		wait.Stop()
	}
}

// take waits for messages and returns them all. It returns nil once the outbox is closed and empty.
func (o *outbox) take() [][]byte {
	for {
		o.mu.Lock()
		list := o.list
		o.list, o.bytes = nil, 0
		o.mu.Unlock()
		if len(list) > 0 {
			signal(o.room)
			return list
		}
		select {
		case <-o.more:
		case <-o.closed:
			select {
			case <-o.more: // what came before
			default:
				return nil
			}
		}
	}
}

// close lets take return what there is, and then nil.
func (o *outbox) close() { o.once.Do(func() { close(o.closed) }) }

// signal wakes up the one who waits.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
