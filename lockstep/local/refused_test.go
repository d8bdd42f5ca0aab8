package local_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/local"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/replay"
)

// Two purchases of one tick, through a whole match: both are accepted, and the second is refused when it runs. The player hears it once,
// after its receipt, also with a prediction that computes the tick again and again; a bot's are not the player's. The replay is right.
func TestRefusedWhenItRan(t *testing.T) {
	for _, predict := range []lockstep.Tick{0, 8} {
		told, file := shopping(t, testgame.ShopRules(false), predict)
		if want := "[accepted 1 accepted 2 accepted 3 refused 2: no money left: got 3 coins, want 7]"; told != want {
			t.Errorf("predicting %d ticks: got %s, want %s", predict, told, want)
		}
		r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		if v, err := replay.Verify(r, lockstep.MustGame(testgame.ShopRules(false)), replay.VerifyOptions{}); err != nil || v.Checked < 2 {
			t.Errorf("verified %d checksums: %v", v.Checked, err)
		}
	}
}

func shopping(t *testing.T, rules lockstep.Rules[testgame.Shop, testgame.ShopConfig], predict lockstep.Tick) (told string, file []byte) {
	t.Helper()
	var log bytes.Buffer
	writer := replay.NewWriter(&log, replay.WriterOptions{})
	var events []string
	bot := func(s *lockstep.Simulation) []any {
		if s.Tick() == 20 {
			return []any{&testgame.Buy{Price: 6}, &testgame.Buy{Price: 6}}
		}
		return nil
	}
	m, err := local.New(lockstep.MustGame(rules), &testgame.ShopConfig{Coins: 10}, local.Options{
		Bots: []lockstep.Bot{nil, bot}, Log: writer, Client: player.Options{Predict: predict},
		Handle: func(e any) {
			switch e := e.(type) {
			case lockstep.Receipt:
				events = append(events, fmt.Sprintf("%.8s %d", e, e.Sequence))
			case player.Refused:
				events = append(events, fmt.Sprintf("refused %d: %s", e.Sequence, e.Reason))
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	play(t, m, 0, lockstep.Second)
	for _, price := range []uint32{7, 7, 3} {
		if _, err := m.Client().Submit(&testgame.Buy{Price: price}); err != nil {
			t.Fatal(err)
		}
	}
	play(t, m, lockstep.Second, 3*lockstep.Second)
	if err := m.Host().Admin().End(4*lockstep.Second, "enough"); err != nil {
		t.Fatal(err)
	}
	if err := m.Advance(4 * lockstep.Second); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(events), log.Bytes()
}
