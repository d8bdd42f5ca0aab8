package storage

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A nodeLog is the log of an embedded node, as lines of the program's own. It implements the Logger of nats-server.
type nodeLog struct {
	log   *slog.Logger
	fatal chan string // holds the first failure for which the node cannot start

	removed atomic.Bool // an operator has removed the node from its cluster: NATS tells it only so before it stops storing

	mu   sync.Mutex
	last map[string]time.Time // of each line, without its numbers
}

// repeatAfter is the shortest time between two lines that differ only in numbers, such as that a route failed again.
const repeatAfter = time.Minute

// wasRemoved is a part of the line with which NATS says that the node is none of the cluster any more.
const wasRemoved = "our server was removed from the cluster"

func newNodeLog(log *slog.Logger, name string) *nodeLog {
	return &nodeLog{log: log.With("node", name), fatal: make(chan string, 1), last: make(map[string]time.Time)}
}

// isNew reports whether a line was not logged for repeatAfter.
func (l *nodeLog) isNew(text string) bool {
	key := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, text)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for k, at := range l.last {
		if now.Sub(at) >= repeatAfter {
			delete(l.last, k)
		}
	}
	if _, known := l.last[key]; known {
		return false
	}
	l.last[key] = now
	return true
}

// Noticef implements the Logger of nats-server. The lines about peers and leaders are those of watchPeers.
func (l *nodeLog) Noticef(format string, v ...any) {
	l.log.Debug("storage node", "says", fmt.Sprintf(format, v...))
}

// Warnf implements the Logger of nats-server, which warns of much that is usual.
func (l *nodeLog) Warnf(format string, v ...any) {
	if text := fmt.Sprintf(format, v...); l.isNew(text) {
		l.log.Info("storage node", "says", text)
	}
}

// Errorf implements the Logger of nats-server.
func (l *nodeLog) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	if strings.Contains(text, wasRemoved) {
		l.removed.Store(true)
	}
	if l.isNew(text) {
		l.log.Error("storage node", "err", text)
	}
}

// Fatalf implements the Logger of nats-server. The node goes on, and [StartNode] stops it.
func (l *nodeLog) Fatalf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	select {
	case l.fatal <- text:
	default: // the first one is the cause
	}
}

// Debugf implements the Logger of nats-server.
func (l *nodeLog) Debugf(string, ...any) {}

// Tracef implements the Logger of nats-server.
func (l *nodeLog) Tracef(string, ...any) {}
