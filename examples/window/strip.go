package main

import (
	"fmt"
	"image/color"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/vector"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A strip is what the window tells about the last ticks. The session's goroutine calls all methods.
type strip struct {
	seat    lockstep.Player
	news    string
	differs bool
	marks   [stripTicks]mark // of tick t at t % stripTicks
}

const stripTicks = 400

// A mark is one tick of the strip.
type mark struct {
	tick             lockstep.Tick
	events           int  // of the game: hits, deaths and others
	orders           int  // of this player
	checked, differs bool // the state was compared with the server's; it differed
}

func (s *strip) mark(t lockstep.Tick) *mark {
	m := &s.marks[t%stripTicks]
	if m.tick != t {
		*m = mark{tick: t}
	}
	return m
}

// observe counts the events of the game.
func (s *strip) observe(t lockstep.Tick, _ any) { s.mark(t).events++ }

// sample marks a tick.
func (s *strip) sample(c *player.Client) {
	now := c.Simulation()
	m := s.mark(now.Tick())
	m.checked, m.differs = uint32(now.Tick())%uint32(now.Header().Settings.CheckEvery) == 0, s.differs
}

// handle notes what happens to the connection and to the player's commands.
func (s *strip) handle(_ *player.Client, event any) {
	switch e := event.(type) {
	case player.Welcomed:
		s.seat, s.news = e.Seat, ""
	case lockstep.Receipt:
		if e.Reason == lockstep.Accepted {
			s.mark(e.Tick).orders++
		} else {
			s.news = "rejected: " + e.Reason.String()
		}
	case player.Desynced:
		s.differs, s.news = true, "this copy of the match differs from the server's"
	case player.Healed:
		s.differs, s.news = false, ""
	case player.ConnectionLost, player.Ended:
		s.news = fmt.Sprintf("%T: %+v", e, e)
	}
}

var checks = map[bool]color.RGBA{false: {60, 160, 80, 255}, true: {255, 40, 40, 255}} // by whether the states differ

// draw draws the last ticks, the newest at the right: events of the game, checks at the top, own orders in color.White.
func (s *strip) draw(to *ebiten.Image, now lockstep.Tick) {
	column, bottom := float32(to.Bounds().Dx())/stripTicks, float32(to.Bounds().Dy())
	vector.DrawFilledRect(to, 0, bottom-28, column*stripTicks, 28, color.RGBA{0, 0, 0, 180}, false)
	for _, m := range s.marks {
		if m.tick == 0 || m.tick > now || m.tick+stripTicks <= now {
			continue
		}
		x := column*stripTicks - float32(now-m.tick+1)*column
		if m.orders > 0 {
			vector.DrawFilledRect(to, x, bottom-24, column, 24, color.White, false)
		}
		height := float32(min(m.events, 20))
		vector.DrawFilledRect(to, x, bottom-height, column, height, color.RGBA{250, 200, 70, 255}, false)
		if m.checked {
			vector.DrawFilledRect(to, x, bottom-28, column, 4, checks[m.differs], false)
		}
	}
}
