//go:build !js && !wasip1

package page_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/page/watch"
	"github.com/seed-49bee653/samestep/replay"
)

// On the page of a game without units, the link of a desync's report to a bundle that the server does not give asks for the file, and
// then selects the field that differs, at its tick.
func TestInspectLinkedBundle(t *testing.T) {
	file, err := os.ReadFile("../testdata/replays/duel.ssr")
	if err != nil {
		t.Fatal(err)
	}
	v, err := watch.Open(file, game)
	if err != nil {
		t.Fatal(err)
	}
	for v.Seek(400); !v.Work(100); {
	}
	other, now := v.States()
	e := &host.Evidence{Report: coordinator.DesyncReport{Tick: 400, Player: 1, Agreed: 380}, Exhibits: []host.Exhibit{{Tick: 400, Referee: now.AppendState(nil)}}}
	if err := other.CopyFrom(now); err != nil {
		t.Fatal(err)
	}
	lockstep.World[skirmish.World](other).Units[4].Health--
	e.Exhibits[0].Player = other.AppendState(nil)
	var bundle bytes.Buffer
	if err := replay.WriteBundle(&bundle, v.Header(), e, bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}

	s := newStage(t)
	b := browser.Open(t, s.URL+"/#/replay/duel-desync-400-player1.zip?t=400&unit=5&path=Units%5BID%3D5%5D.Health", "404")
	b.Shown("#viewer .said", "this server shows no bundle of that name to you")
	b.Drop("wrong.zip", []byte("no bundle"))
	b.Shown("#viewer .said", "wrong.zip cannot be watched")
	b.Drop("report.zip", bundle.Bytes())
	b.At(400)
	b.Shown(".differences", "Units[ID=5].Health")
	b.Until(`viewer.comparing && document.querySelector('#viewer .row[aria-selected="true"]')?.title === "Units[4].Health"`)
	b.Shot("bundle")
}
