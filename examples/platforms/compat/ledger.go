//go:build !js

package compat

import "sync"

// Bounds of a ledger.
const (
	ledgerTicks = 32 // checked ticks that it remembers
	maxSums     = 8  // different checksums of a tick
)

// A listener hears of differing checksums.
type listener interface{ notify(message []byte) }

// ledgers are those of all matches that have connections.
type ledgers struct {
	mu sync.Mutex
	of map[string]*ledger // by match
}

func newLedgers() *ledgers { return &ledgers{of: make(map[string]*ledger)} }

// join returns the ledger of a match, with one more listener.
func (a *ledgers) join(match string, who listener) *ledger {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.of[match]
	if l == nil {
		l = newLedger()
		a.of[match] = l
	}
	l.add(who)
	return l
}

// part takes a listener out of a ledger, which ends with the last one.
func (a *ledgers) part(match string, who listener) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of[match].remove(who) {
		delete(a.of, match)
	}
}

// A ledger has the checksums of a match by tick, as the server and the clients compute them. All connections of the match
// share it.
type ledger struct {
	mu    sync.Mutex
	ticks map[int64]*tally
	all   map[listener]struct{}
}

// A tally is what is known of a tick.
type tally struct {
	sums map[string]map[string]struct{} // the players who reported it, by checksum
	told bool
}

func newLedger() *ledger {
	return &ledger{ticks: make(map[int64]*tally), all: make(map[listener]struct{})}
}

func (l *ledger) add(who listener) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all[who] = struct{}{}
}

// remove takes a listener out, and reports whether it was the last one.
func (l *ledger) remove(who listener) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, who)
	return len(l.all) == 0
}

// compute records the server's own checksum of a tick. Each connection's copy of the match gives it.
func (l *ledger) compute(tick, every int64, sum string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for old := range l.ticks {
		if old <= tick-ledgerTicks*every {
			delete(l.ticks, old)
		}
	}
	l.record(tick, serverLabel, sum)
}

// report records a player's checksum of a tick, where the player's copy of the match is at tick now. It returns false for
// a tick that is not checked, forgotten, or too far ahead, and for one checksum too many.
func (l *ledger) report(tick, now, every int64, who, sum string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if tick <= 0 || tick%every != 0 || tick <= now-ledgerTicks*every || tick > now+1+every {
		return false
	}
	return l.record(tick, who, sum)
}

// record stores a player's checksum of a tick, and tells everybody when two differ for the first time.
func (l *ledger) record(tick int64, who, sum string) bool {
	t := l.ticks[tick]
	if t == nil {
		t = &tally{sums: make(map[string]map[string]struct{})}
		l.ticks[tick] = t
	}
	if t.sums[sum] == nil {
		if len(t.sums) == maxSums && who != serverLabel {
			return false
		}
		t.sums[sum] = make(map[string]struct{})
	}
	t.sums[sum][who] = struct{}{}
	if len(t.sums) > 1 && !t.told {
		t.told = true
		groups := make(map[string][]string)
		for each, players := range t.sums {
			for player := range players {
				groups[each] = append(groups[each], player)
			}
		}
		report := reportMessage(tick, groups)
		for who := range l.all {
			who.notify(report)
		}
	}
	return true
}
