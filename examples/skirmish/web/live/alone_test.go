package live

import (
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A match without a server has the seats, the speed and the seed of its request. A wrong request is refused with the reason.
func TestAlone(t *testing.T) {
	const config = `"config":{"Units":33,"Size":64,"Crystals":300,"Cap":100,"Teams":3,"Workers":4}`
	g, err := Alone("Ann", []byte(`{"players":3,"bot":"hard","tick_rate":30,"seed":77,`+config+`}`))
	if err != nil {
		t.Fatal(err)
	}
	g.match.See(func(c *player.Client, _ player.Interpolation) {
		if s := c.Header().Settings; s.Players != 3 || s.TickRate() != 30 || s.Seed != 77 {
			t.Errorf("got %+v", s)
		}
	})
	g.Close()
	for request, want := range map[string]string{
		`{"players":3,"bot":"perfect",` + config + `}`:               `bot: got "perfect", want easy, normal or hard`,
		`{"players":300,"bot":"hard",` + config + `}`:                "a match: json",
		`{"players":2,"bot":"hard","config":{"Armies":3}}`:           "Armies",
		`{"players":2,"bot":"hard",` + config + `}`:                  "teams is 3, want 1 to 2",
		`{"players":2,"tick_rate":2000,"bot":"hard",` + config + `}`: "",
	} {
		if _, err := Alone("Ann", []byte(request)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", request, err, want)
		}
	}
}
