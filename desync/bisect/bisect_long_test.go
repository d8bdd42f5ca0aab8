package bisect_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// TestBisectLong finds one inverted bit in one field of a thousand units, at one tick of an hour, from only the
// checksums of every tick and a keyframe each minute:
//
//	SAMESTEP_BISECT=100 go test ./desync -run TestBisectLong -v -timeout 2h
//
// SAMESTEP_BISECT is the number of bisected pairs of replays; without it they are few and short. The test logs the
// duration; the tick and field must be right in each. With SAMESTEP_BISECT_EVERY checks are less frequent: then the
// tick is known only to within a check, and not every field can be found.
func TestBisectLong(t *testing.T) {
	m := &longMatch{every: fromEnv("SAMESTEP_BISECT_EVERY", 1), ticks: 72_000, units: 1000}
	pairs := fromEnv("SAMESTEP_BISECT", 0)
	if pairs == 0 { // a taste
		pairs, m.ticks, m.units = 5, 400, 80
	}
	m.recordMatch(t)
	r := rand.New(rand.NewPCG(9, 9))
	var took []time.Duration
	checked, exact, named := 0, 0, 0
	for range pairs {
		b, tick, path := m.hurt(t, r)
		from := time.Now()
		found, err := bisect.Replays(openReplay(t, m.file), openReplay(t, b), m.game, bisect.Options{})
		took = append(took, time.Since(from))
		if err != nil {
			t.Fatal(err)
		}
		right := found.Cause == bisect.OriginB && found.Agreed < tick && tick <= found.Tick && found.Tick-found.Agreed <= lockstep.Tick(m.every)
		field := found.FieldsTick == found.Tick && found.Fields.Total == 1 && found.Fields.List[0].First.Path == path
		if right {
			checked++
		}
		if right && found.Exact {
			exact++
		}
		if right && field {
			named++
		}
		if !right || !field && m.every == 1 {
			t.Errorf("%s was changed after tick %d; got %s", path, tick, bisectionText(found))
		}
	}
	slices.Sort(took)
	t.Logf("%d of %d: the right ticks; %d of them one tick; %d the right field; median %v, longest %v",
		checked, pairs, exact, named, took[len(took)/2], took[len(took)-1])
}

func fromEnv(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// A longMatch is a match of eight bots and a thousand units.
type longMatch struct {
	every, ticks int
	units        uint16
	game         *lockstep.Game
	file         []byte
}

func (m *longMatch) recordMatch(tb testing.TB) {
	tb.Helper()
	m.game = lockstep.MustGame(skirmish.Rules())
	s := lockstep.DefaultSettings(8)
	s.CheckEvery = uint16(m.every)
	config := skirmish.Defaults(8, m.units)
	h, err := m.game.NewHeader(lockstep.MatchID{8}, s, &config)
	if err != nil {
		tb.Fatal(err)
	}
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	c, err := coordinator.New(m.game, h, w, coordinator.Options{InputDelay: 1})
	if err != nil {
		tb.Fatal(err)
	}
	payloads := m.game.NewPayloads()
	var bots []*skirmish.Bot
	var sequences [8]lockstep.Sequence
	for p := range lockstep.Player(8) {
		if _, err := c.Join(p); err != nil {
			tb.Fatal(err)
		}
		bots = append(bots, skirmish.NewBot(p, s.Seed))
	}
	for range m.ticks {
		for p, bot := range bots {
			for _, order := range bot.Think(lockstep.World[skirmish.World](c.Referee().Simulation())) {
				payload, err := payloads.EncodeAs(order.Kind, order.Value)
				if err != nil {
					tb.Fatal(err)
				}
				sequences[p]++
				c.Submit(lockstep.Player(p), sequences[p], order.Kind, payload)
			}
		}
		if _, err := c.Tick(); err != nil {
			tb.Fatal(err)
		}
	}
	finish(tb, c, w, "over")
	m.file = file.Bytes()
}

// hurt returns the replay of a recorder whose state had one bit inverted after a tick. It is simulated until the second
// keyframe after that. Later checksums and keyframes are made up, since no test reads them.
func (m *longMatch) hurt(tb testing.TB, r *rand.Rand) (file []byte, tick lockstep.Tick, path string) {
	tb.Helper()
	codec := state.MustCompile[skirmish.World]()
	for {
		tick = lockstep.Tick(1 + r.IntN(m.ticks-1))
		g := dots.Changed(tb, skirmish.Rules(), codec, tick, func(snapshot []byte) {
			v := randomLeaf(tb, r, codec.Schema(), snapshot)
			path = v.Path
			bit := r.IntN(8 * len(v.Bytes))
			if v.Node.Kind() == state.Bool {
				bit = 0
			}
			before := slices.Clone(snapshot)
			v.Bytes[bit/8] ^= 1 << (bit % 8)
			if d, _, err := desync.DiffStates(codec.Schema(), before, snapshot, ""); err == nil && d.Total == 1 {
				path = d.List[0].Path // as reports name it
			}
		})
		if file = m.retell(tb, g, tick); file != nil {
			return file, tick, path
		}
	}
}

// retell returns the replay of a recorder with game g. It returns nil if the game panics after the change at a tick, or
// if the difference vanished before the next check.
func (m *longMatch) retell(tb testing.TB, g *lockstep.Game, tick lockstep.Tick) []byte {
	tb.Helper()
	at := openReplay(tb, m.file)
	if _, err := at.Seek(tick - 1); err != nil {
		tb.Fatal(err)
	}
	f := g.NewFollower(lockstep.FollowerOptions{})
	own := make(map[lockstep.Tick]uint64)
	keyframes := make(map[lockstep.Tick][]byte)
	err := replay.Play(at, nil, func(rec *record.Record) error {
		if err := f.Apply(rec); err != nil && !errors.As(err, new(*lockstep.DesyncError)) {
			return err
		}
		switch rec.Kind {
		case record.KindChecksum:
			own[rec.Tick] = f.Simulation().Hash()
			if rec.Tick >= tick && rec.Tick < tick+lockstep.Tick(m.every) && own[rec.Tick] == rec.Hash {
				return errHealed
			}
		case record.KindKeyframe:
			own[rec.Tick], keyframes[rec.Tick] = f.Simulation().Hash(), f.Simulation().AppendState(nil)
			if rec.Tick >= tick+1200 {
				return errEnough
			}
		}
		return nil
	})
	if err == errHealed || errors.As(err, new(*lockstep.PanicError)) {
		return nil
	}
	if err != nil && err != errEnough {
		tb.Fatal(err)
	}
	return rewrite(tb, m.file, func(rec *record.Record) {
		switch hash, known := own[rec.Tick]; {
		case rec.Kind == record.KindChecksum && known:
			rec.Hash = hash
		case rec.Kind == record.KindChecksum && rec.Tick > tick:
			rec.Hash++
		case rec.Kind == record.KindKeyframe && known:
			rec.Keyframe.Hash, rec.Keyframe.State = hash, keyframes[rec.Tick]
		case rec.Kind == record.KindKeyframe && rec.Tick > tick:
			rec.Keyframe.Hash++
		}
	})
}

var (
	errEnough = errors.New("enough")
	errHealed = errors.New("healed")
)
