package main

import (
	"context"

	"github.com/seed-49bee653/samestep/examples/skirmish/web/live"
)

// game is the match that the page plays or watches, or nil.
var game *live.Game

func init() {
	exports["join"] = func(a arguments) any { // url, token
		leave(false)
		game = live.Join(context.Background(), a[0].String(), a[1].String())
		return nil
	}
	exports["leave"] = func(a arguments) any { leave(a[0].Bool()); return nil } // for good?
	asking("frame", func(a arguments) any {                                     // array, width, height, above, below, pointer x and y, dots
		screen := live.Screen{Width: a.int(1), Height: a.int(2), Above: a.int(3), Below: a.int(4), PointerX: a.int(5), PointerY: a.int(6), Dots: a[7].Bool()}
		return fill(a[0], func(dst []byte) []byte { return game.Frame(dst, screen) })
	})
	asking("fog", func(a arguments) any { return fill(a[0], game.Fog) })
	asking("ground", func(a arguments) any { return fill(a[0], game.Ground) })
	asking("status", func(arguments) any { return string(game.Status()) })                            // JSON, or ""
	asking("key", func(a arguments) any { return game.Key(a[0].String(), a[1].Bool(), a[2].Bool()) }) // code, shift, control; has it a function?
	doing("click", func(a arguments) { game.Click(a.int(0), a.int(1), a[2].Bool(), a[3].Bool()) })    // x, y, add, twice
	doing("tap", func(a arguments) { game.Tap(a.int(0), a.int(1)) })
	doing("drag", func(a arguments) { game.Drag(a.int(0), a.int(1), a.int(2), a.int(3), a[4].Bool()) }) // x0, y0, x1, y1, add
	doing("act", func(a arguments) { game.Act(a.int(0), a.int(1), a[2].Bool()) })                       // x, y, queued
	doing("pan", func(a arguments) { game.Pan(a.int(0), a.int(1)) })
	doing("zoom", func(a arguments) { game.Zoom(a.int(0), a.int(1), a.int(2)) }) // thousandths, x, y
	doing("lookAt", func(a arguments) { game.LookAt(a.int(0), a.int(1)) })       // 1/65536 of the map
	doing("button", func(a arguments) { game.Do(a[0].String()) })
	doing("say", func(a arguments) { game.Say(a[0].String()) })
	doing("corrupt", func(arguments) { game.Corrupt() })
	doing("cut", func(arguments) { game.Cut() })
}

// asking adds a function that returns null while there is no match.
func asking(name string, f function) {
	exports[name] = func(a arguments) any {
		if game == nil {
			return nil
		}
		return f(a)
	}
}

// doing adds a function without a result, which does nothing while there is no match.
func doing(name string, f func(arguments)) {
	asking(name, func(a arguments) any { f(a); return nil })
}

// leave ends the match for this page. If forGood is set, it gives up the seat.
func leave(forGood bool) {
	switch {
	case game == nil:
		return
	case forGood:
		game.Leave()
	default:
		go game.Close() // waits for the socket, and must not block the page
	}
	game = nil
}
