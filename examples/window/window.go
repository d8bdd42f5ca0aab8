package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"
	"os"
	"slices"
	"time"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/ebitenutil"
	"github.com/hajimehoshi/ebiten/v2/inpututil"
	"github.com/hajimehoshi/ebiten/v2/vector"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A window draws the match and takes the player's input. Ebitengine calls its methods from one goroutine; they look at the
// match in the session's goroutine, by Session.Do, and only read it.
type window struct {
	session       *client.Session
	strip         strip
	width, height int
	x, y, zoom    float32 // place in the middle, in cells; pixels of a cell
	placed        bool    // the own base was in the middle once
	drag          image.Point
	selected      []skirmish.UnitID // ascending
	ground        *ebiten.Image     // a pixel for each cell
	pixels        []byte
	shot          string // file of the screenshot
	shotAt        time.Time
	done          bool // the screenshot is written
}

// Layout makes a pixel of the picture one of the window.
func (w *window) Layout(width, height int) (int, int) {
	w.width, w.height = width, height
	return width, height
}

// Update takes the input, 60 times a second. The server decides in which tick a command runs, for everybody at once.
func (w *window) Update() error {
	if w.done {
		return ebiten.Termination
	}
	return w.session.Do(func(c *player.Client) {
		if v, ok := c.Interpolation(); ok {
			w.input(c, lockstep.World[skirmish.World](v.Current))
		}
	})
}

func (w *window) input(c *player.Client, world *skirmish.World) {
	w.scroll(world)
	at := image.Pt(ebiten.CursorPosition())
	if inpututil.IsMouseButtonJustPressed(ebiten.MouseButtonLeft) {
		w.drag = at
	}
	if inpututil.IsMouseButtonJustReleased(ebiten.MouseButtonLeft) {
		w.choose(world, image.Rectangle{w.drag, at}.Canon().Inset(-8))
	}
	who := skirmish.Who{Units: w.selected}
	switch {
	case len(w.selected) == 0:
	case inpututil.IsMouseButtonJustPressed(ebiten.MouseButtonRight):
		c.Submit(aimed(world, who, w.place(at)))
	case inpututil.IsKeyJustPressed(ebiten.KeyS):
		c.Submit(&skirmish.Stop{Who: who})
	case inpututil.IsKeyJustPressed(ebiten.KeyT):
		c.Submit(&skirmish.Train{Building: w.selected[0], Kind: skirmish.Worker, Count: 1}) // the rules refuse other units
	}
}

// aimed returns the command for units that are sent to a place: to mine the crystal there, or to attack on the way.
func aimed(world *skirmish.World, who skirmish.Who, at fixed.Vec2) any {
	for i := range world.Crystals {
		if world.Crystals[i].Pos.InRange(at, fixed.One) {
			return &skirmish.Gather{Who: who, Crystal: uint16(i)}
		}
	}
	return &skirmish.AttackMove{Who: who, To: skirmish.PointAt(at)}
}

// choose selects the own units in a rectangle of pixels.
func (w *window) choose(world *skirmish.World, r image.Rectangle) {
	w.selected = w.selected[:0]
	for i := range world.Units {
		u := &world.Units[i]
		x, y := w.screen(u.Pos)
		if u.Owner == w.seat(world) && image.Pt(int(x), int(y)).In(r) && len(w.selected) < skirmish.MaxListed {
			w.selected = append(w.selected, u.ID)
		}
	}
}

// scroll moves and zooms the view, which begins at the own base.
func (w *window) scroll(world *skirmish.World) {
	_, wheel := ebiten.Wheel()
	w.zoom = min(max(w.zoom*(1+float32(wheel)/10), 4), 64)
	for key, way := range map[ebiten.Key][2]float32{ebiten.KeyLeft: {-12, 0}, ebiten.KeyRight: {12, 0}, ebiten.KeyDown: {0, -12}, ebiten.KeyUp: {0, 12}} {
		if ebiten.IsKeyPressed(key) {
			w.x, w.y = w.x+way[0]/w.zoom, w.y+way[1]/w.zoom
		}
	}
	base := func(u skirmish.Unit) bool { return u.Kind == skirmish.Base && u.Owner == w.seat(world) }
	if i := slices.IndexFunc(world.Units, base); i >= 0 && !w.placed {
		w.x, w.y, w.placed = world.Units[i].Pos.X.Float32(), world.Units[i].Pos.Y.Float32(), true
	}
}

// seat returns the seat of this player, or the one that a spectator watches.
func (w *window) seat(world *skirmish.World) uint8 {
	return uint8(w.strip.seat) % uint8(len(world.Players))
}

// screen returns the pixel of a place, and place the place of a pixel.
func (w *window) screen(at fixed.Vec2) (x, y float32) {
	return (at.X.Float32()-w.x)*w.zoom + float32(w.width)/2, (w.y-at.Y.Float32())*w.zoom + float32(w.height)/2
}

func (w *window) place(p image.Point) fixed.Vec2 {
	x, y := (float32(p.X)-float32(w.width)/2)/w.zoom+w.x, (float32(w.height)/2-float32(p.Y))/w.zoom+w.y
	return fixed.Vec2{X: fixed.FromRatio(int64(x*256), 256), Y: fixed.FromRatio(int64(y*256), 256)} // only for a command
}

// save writes the screenshot.
func (w *window) save(from *ebiten.Image) {
	pixels := image.NewRGBA(from.Bounds())
	from.ReadPixels(pixels.Pix)
	file, err := os.Create(w.shot)
	check(err)
	check(png.Encode(file, pixels))
	check(file.Close())
	w.done = true
}

var (
	owners  = [4]color.RGBA{{80, 160, 255, 255}, {240, 90, 80, 255}, {250, 200, 70, 255}, {170, 110, 240, 255}}
	crystal = color.RGBA{110, 230, 220, 255}
)

// Draw draws the match as it was between its last two ticks.
func (w *window) Draw(to *ebiten.Image) {
	to.Fill(color.Black)
	w.session.Do(func(c *player.Client) {
		if v, ok := c.Interpolation(); ok {
			w.drawMatch(to, v)
		}
	})
	if w.shot != "" && w.placed && !w.done && time.Now().After(w.shotAt) {
		w.save(to)
	}
}

func (w *window) drawMatch(to *ebiten.Image, v player.Interpolation) {
	now, before := lockstep.World[skirmish.World](v.Current), lockstep.World[skirmish.World](v.Previous)
	me := &now.Players[w.seat(now)]
	w.drawGround(to, now, me.Team)
	for _, c := range now.Crystals {
		if x, y := w.screen(c.Pos); c.Amount > 0 && now.Knows(me.Team, c.Pos) {
			vector.DrawFilledCircle(to, x, y, w.zoom/2, crystal, true)
		}
	}
	k := 0
	for i := range now.Units {
		u := now.Units[i]
		if !now.Sees(me.Team, u.Pos) {
			continue
		}
		for k < len(before.Units) && before.Units[k].ID < u.ID {
			k++
		}
		if k < len(before.Units) && before.Units[k].ID == u.ID {
			from := before.Units[k].Pos
			u.Pos = fixed.Vec2{X: player.Lerp(from.X, u.Pos.X, v.Fraction), Y: player.Lerp(from.Y, u.Pos.Y, v.Fraction)}
		}
		w.drawUnit(to, &u)
	}
	w.strip.draw(to, v.Current.Tick())
	ebitenutil.DebugPrint(to, fmt.Sprintf("tick %d   crystals %d   units %d   %s", v.Current.Tick(), me.Crystals, me.Units, w.strip.news))
}

// drawUnit draws a copy of a unit, at its place between two ticks.
func (w *window) drawUnit(to *ebiten.Image, u *skirmish.Unit) {
	x, y := w.screen(u.Pos)
	radius, hue := u.Kind.Traits().Radius.Float32()*w.zoom, owners[u.Owner%4]
	if u.Kind.Building() {
		vector.DrawFilledRect(to, x-radius, y-radius, 2*radius, 2*radius, hue, true)
	} else {
		vector.DrawFilledCircle(to, x, y, radius, hue, true)
	}
	if _, chosen := slices.BinarySearch(w.selected, u.ID); chosen {
		vector.StrokeCircle(to, x, y, radius+3, 2, color.White, true)
	}
}

// drawGround draws a pixel for each cell, magnified: darker where nobody looks, black where nobody was.
func (w *window) drawGround(to *ebiten.Image, now *skirmish.World, team uint8) {
	side := int(now.Map.Size)
	if w.ground == nil || w.ground.Bounds().Dx() != side {
		w.ground = ebiten.NewImage(side, side)
	}
	w.pixels = w.pixels[:0]
	for c := range side * side {
		x, y := c%side, side-1-c/side // the top row first
		at, bright := fixed.Vec2{X: fixed.FromInt(int64(x)), Y: fixed.FromInt(int64(y))}, byte(0)
		if now.Sees(team, at) {
			bright = 3
		} else if now.Knows(team, at) {
			bright = 2
		}
		if now.Map.Rock(x, y) {
			w.pixels = append(w.pixels, 30*bright, 30*bright, 31*bright, 255)
		} else {
			w.pixels = append(w.pixels, 18*bright, 24*bright, 17*bright, 255)
		}
	}
	w.ground.WritePixels(w.pixels)
	var o ebiten.DrawImageOptions
	o.GeoM.Scale(float64(w.zoom), float64(w.zoom))
	left, top := w.screen(fixed.Vec2{Y: fixed.FromInt(int64(side))})
	o.GeoM.Translate(float64(left), float64(top))
	to.DrawImage(w.ground, &o)
}

// check ends the program after an error.
func check(err error) {
	if err != nil {
		log.Fatal("window: ", err)
	}
}
