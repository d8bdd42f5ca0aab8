package datagram_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// Over the stream a lost packet makes a tick late by a retransmission, and those behind it. With datagrams a tick comes 8 ms later,
// nearly always, or a tick later where frames are large. It costs at most three times the bytes of the stream alone, without losses
// less, and above a loss of 5 % more. Then 999 of 1,000 ticks are late by 260 ms at most, also where losses are in bursts.
func TestLossHoldsNothingBack(t *testing.T) {
	for i, row := range []struct {
		percent int // lost packets, of both
		burst   int // lost together
		coins   int // bytes of them in a command of each player, in each tick
		most    lockstep.Time
		cost    float64 // times the bytes of the stream alone
	}{
		{percent: 0, most: 40, cost: 1.5},
		{percent: 1, most: 48, cost: 2.6},
		{percent: 3, most: 48, cost: 2.6},
		{percent: 3, coins: 1, most: 48, cost: 2.6},
		{percent: 3, coins: 60, most: 90, cost: 3},
		{percent: 3, coins: 300, most: 90, cost: 3},
		{percent: 10, coins: 1, most: 56, cost: 4},
		{percent: 10, burst: 3, coins: 1, most: 98, cost: 4},
		{percent: 20, most: 56, cost: 4},
		{percent: 20, coins: 60, most: 230, cost: 4.2},
	} {
		if testenv.Small(t) && i%3 != 1 {
			continue
		}
		t.Run(fmt.Sprintf("%d percent are lost, commands of %d, bursts of %d", row.percent, row.coins, max(row.burst, 1)), func(t *testing.T) {
			m := newMatch(t, 2, host.Options{})
			loss := float64(row.percent) / 100
			stream, both := m.join(loss, false), m.join(loss, true)
			both.datagramsUp.burst, both.datagramsDown.burst = row.burst, row.burst
			m.run(10 * lockstep.Second)
			from, streamed, sent := m.now, stream.down.sizes, both.down.sizes+both.datagramsDown.sizes
			for range 60 * 20 {
				m.run(50 * ms)
				for _, s := range m.players {
					if row.coins == 1 {
						s.earn(&testgame.Earn{Coins: 3})
					} else if row.coins > 1 {
						s.earn(&testgame.Give{To: 1, Coins: make([]uint16, row.coins/2)})
					}
				}
			}
			cost := float64(both.down.sizes+both.datagramsDown.sizes-sent) / float64(stream.down.sizes-streamed)
			percentile := func(s *seat, per int) lockstep.Time {
				all := s.late(from)
				return all[len(all)*per/1000] / ms
			}
			t.Logf("50, 99, 99.9 %% of ticks are late by %d, %d, %d ms over the stream, and by %d, %d, %d ms with datagrams, for %.2f times the bytes",
				percentile(stream, 500), percentile(stream, 990), percentile(stream, 999),
				percentile(both, 500), percentile(both, 990), percentile(both, 999), cost)
			if got := percentile(both, 990); got > row.most+2 {
				t.Errorf("got %d ms at 99 %%, want at most %d", got, row.most)
			}
			if got := percentile(both, 999); row.percent == 10 && got > 40+260 {
				t.Errorf("got %d ms at 99.9 %%, want at most 300", got)
			}
			if got := percentile(stream, 990); row.percent > 0 && got < 240 {
				t.Errorf("got %d ms at 99 %% over the stream: the test shows nothing", got)
			}
			if cost > row.cost {
				t.Errorf("got %.2f times the bytes of the stream, want at most %.1f", cost, row.cost)
			}
			m.settle()
		})
	}
}

// A player acknowledges four datagrams with one where none is lost, also after a loss of long ago, and each for a while after a loss. The
// host does not take the wait for a loss: it sends no record a third time.
func TestAcknowledgements(t *testing.T) {
	m := newMatch(t, 3, host.Options{})
	clean, once, bad := m.join(0, true), m.join(0, true), m.join(0.03, true)
	m.run(10 * lockstep.Second)
	once.datagramsDown.losing = 1
	m.run(20 * lockstep.Second)
	type counts struct{ up, records int }
	before := map[*seat]counts{}
	for _, s := range m.players {
		before[s] = counts{s.datagramsUp.n, s.records}
	}
	const ticks = 400
	m.run(ticks * 50 * ms)
	for name, s := range map[string]*seat{"none": clean, "one": once} {
		if got := s.datagramsUp.n - before[s].up; got < ticks/4-5 || got > ticks/4+5 {
			t.Errorf("%s was lost: got %d acknowledgements of %d datagrams", name, got, ticks)
		}
		if got := s.records - before[s].records; got > ticks*5/2 {
			t.Errorf("%s was lost: got %d records in datagrams, want %d ticks and their checksums twice", name, got, ticks)
		}
	}
	if got := bad.datagramsUp.n - before[bad].up; got < ticks*6/10 {
		t.Errorf("got %d acknowledgements of %d datagrams, some of which are lost", got, ticks)
	}
	m.settle()
}

// Receipts travel with frames, and cost neither datagrams nor messages of the stream; with few frames they come as soon, and also
// when the path has gone.
func TestReceiptsTravelWithFrames(t *testing.T) {
	m := newMatch(t, 2, host.Options{})
	s := m.join(0, true)
	m.join(0, false)
	m.run(10 * lockstep.Second)
	sent, streamed := s.datagramsDown.n, s.down.n
	slowest := lockstep.Time(0)
	command := func() {
		s.earn(&testgame.Earn{Coins: 1})
		from, want := m.now, len(s.receipts)+1
		for len(s.receipts) < want && m.now < from+2*lockstep.Second {
			m.run(ms)
		}
		slowest = max(slowest, m.now-from)
	}
	const seconds = 40
	for range seconds {
		command()
		m.run(lockstep.Second - m.now%lockstep.Second + lockstep.Time(m.rand.IntN(50))*ms)
	}
	if got := s.datagramsDown.n - sent; got > seconds*20*105/100 {
		t.Errorf("got %d datagrams in about %d ticks", got, seconds*20)
	}
	if got := s.down.n - streamed; got > seconds*3/2 {
		t.Errorf("got %d messages of the stream in %d s", got, seconds)
	}
	if slowest > 135*ms {
		t.Errorf("a receipt came after %d ms, want at most the round trip of 80 and a tick", slowest/ms)
	}
	slowest = 0
	m.serve(func() { m.host.Admin().SetSpeed(m.now, 10) })
	m.run(lockstep.Second)
	for range 20 {
		command()
		m.run(lockstep.Time(m.rand.IntN(700)) * ms)
	}
	if slowest > 135*ms {
		t.Errorf("with two frames a second a receipt came after %d ms", slowest/ms)
	}
	m.serve(func() { m.host.Admin().SetSpeed(m.now, 100) })
	m.run(5 * lockstep.Second)
	s.datagramsDown.hole = true
	slowest = 0
	command()
	if slowest > 500*ms {
		t.Errorf("when the path has gone, a receipt came after %d ms", slowest/ms)
	}
	m.settle()
}

// Whatever a path does with datagrams, each player runs every tick, each command runs once and has one receipt, and no tick that
// has arrived waits for another way.
func TestBadPaths(t *testing.T) {
	for name, bad := range map[string]func(*link){
		"all arrive":             func(*link) {},
		"a third is lost":        func(l *link) { l.loss = 0.33 },
		"most are lost":          func(l *link) { l.loss = 0.9 },
		"all are lost":           func(l *link) { l.hole = true },
		"many come twice":        func(l *link) { l.double = 0.7 },
		"late by up to 2 s":      func(l *link) { l.jitter = 2 * lockstep.Second },
		"late, twice and lost":   func(l *link) { l.jitter, l.double, l.loss = lockstep.Second, 0.5, 0.2 },
		"large ones are lost":    func(l *link) { l.mtu = 60 },
		"slower than the stream": func(l *link) { l.delay = 300 * ms },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMatch(t, 3, host.Options{})
			m.join(0, false)
			for range 2 {
				s := m.join(0.05, true)
				bad(s.datagramsUp)
				bad(s.datagramsDown)
			}
			m.run(2 * lockstep.Second)
			for i := range 40 {
				for _, s := range m.players {
					for range s.m.rand.IntN(4) {
						s.earn(&testgame.Earn{Coins: uint16(i)})
					}
				}
				m.run(lockstep.Time(m.rand.IntN(400)) * ms)
			}
			m.settle()
		})
	}
}

// A path that loses all datagrams of one direction, or of both, delays ticks until the host notices, and then the stream goes
// on as if there were none. When the path is there again, datagrams go on.
func TestBlackHoles(t *testing.T) {
	for name, set := range map[string]func(s *seat, hole bool){
		"to the player": func(s *seat, hole bool) { s.datagramsDown.hole = hole },
		"to the host":   func(s *seat, hole bool) { s.datagramsUp.hole = hole },
		"both ways":     func(s *seat, hole bool) { s.datagramsUp.hole, s.datagramsDown.hole = hole, hole },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMatch(t, 2, host.Options{})
			s := m.join(0, true)
			other := m.join(0, false)
			m.run(5 * lockstep.Second)
			frames := func() (stream, datagrams int) {
				a, b := s.down.n, s.datagramsDown.n
				m.run(4 * lockstep.Second)
				return s.down.n - a, s.datagramsDown.n - b
			}
			if stream, datagrams := frames(); stream > 8 || datagrams < 79 {
				t.Errorf("on a good path: got %d messages of the stream and %d datagrams in 80 ticks", stream, datagrams)
			}
			set(s, true)
			from := m.now
			s.earn(&testgame.Earn{Coins: 1})
			m.run(lockstep.Second)
			if len(s.receipts) != 1 {
				t.Error("the command is not answered")
			}
			if stream, datagrams := frames(); stream < 79 || datagrams > 40 {
				t.Errorf("in the hole: got %d messages of the stream and %d datagrams in 80 ticks", stream, datagrams)
			}
			set(s, false)
			m.run(lockstep.Second)
			if stream, datagrams := frames(); stream > 8 || datagrams < 79 {
				t.Errorf("after the hole: got %d messages of the stream and %d datagrams in 80 ticks", stream, datagrams)
			}
			late := s.late(from)
			if most := late[len(late)-1] / ms; most > 420 {
				t.Errorf("a tick was %d ms late", most)
			}
			other.earn(&testgame.Earn{Coins: 2})
			m.settle()
		})
	}
}

// Frames and commands that fit into no datagram go over the stream at once, and those behind them keep their order.
func TestLargeFrames(t *testing.T) {
	m := newMatch(t, 2, host.Options{InputDelay: 1})
	s, other := m.join(0, true), m.join(0, true)
	m.run(3 * lockstep.Second)
	from := m.now
	for i := range 100 {
		give := &testgame.Give{To: 1, Coins: make([]uint16, []int{10, 200, 700, 900, 3000}[i%5])}
		for j := range give.Coins {
			give.Coins[j] = 999
		}
		s.earn(&testgame.Earn{Coins: 1})
		s.earn(give)
		other.earn(&testgame.Give{To: 0, Coins: make([]uint16, 100)})
		s.earn(&testgame.Earn{Coins: 2})
		m.run(120 * ms)
	}
	late := s.late(from)
	if most := late[len(late)-1] / ms; most > 42 {
		t.Errorf("a tick was %d ms late on a path that loses nothing", most)
	}
	for seq := lockstep.Sequence(2); seq <= s.submitted; seq++ {
		if s.receipts[seq].Tick < s.receipts[seq-1].Tick {
			t.Errorf("command %d runs in tick %d, the one before in %d", seq, s.receipts[seq].Tick, s.receipts[seq-1].Tick)
		}
	}
	m.settle()
}

// A stream that is silent for seconds, because its packets are lost again and again, ends no connection whose datagrams come. Control:
// without datagrams it does, and one that stays silent does.
func TestSilentStream(t *testing.T) {
	for _, row := range []struct {
		datagrams bool
		silence   lockstep.Time
		lost      bool
	}{{true, 9 * lockstep.Second, false}, {false, 9 * lockstep.Second, true}, {true, 30 * lockstep.Second, true}} {
		m := newMatch(t, 2, host.Options{})
		s := m.join(0, row.datagrams)
		m.join(0, false)
		m.run(5 * lockstep.Second)
		s.down.last = m.now + row.silence
		m.run(row.silence + 5*lockstep.Second)
		if lost := s.reconnects > 0; lost != row.lost {
			t.Errorf("datagrams %t, silent for %d s: %d connections were lost", row.datagrams, row.silence/lockstep.Second, s.reconnects)
		}
	}
}

// A player whose connection is cut goes on where its datagrams ended.
func TestReconnect(t *testing.T) {
	m := newMatch(t, 2, host.Options{})
	s := m.join(0.05, true)
	m.join(0, false)
	for range 20 {
		m.run(2500 * ms)
		m.serve(func() { m.host.Disconnect(m.now, s.id) })
		s.drop()
		s.earn(&testgame.Earn{Coins: 1})
	}
	m.settle()
	if got := m.host.Stats(); got.Resumes < 15 {
		t.Errorf("got %d connections that resume, want most of 20", got.Resumes)
	}
}
