package main

import (
	"context"
	"syscall/js"

	"github.com/seed-49bee653/samestep/examples/skirmish/web/live"
)

// game is the match that the page plays or watches, or nil.
var game *live.Game

// scratch is a buffer for data that goes to the page.
var scratch []byte

func init() {
	exports["join"] = func(args []js.Value) any { // url, token
		leave(false)
		game = live.Join(context.Background(), args[0].String(), args[1].String())
		return nil
	}
	exports["leave"] = func(args []js.Value) any { leave(args[0].Bool()); return nil } // for good?
	exports["frame"] = func(args []js.Value) any {                                     // array, width, height, above, below, pointer x and y, dots
		return fill(args[0], func(dst []byte) []byte {
			return game.Frame(dst, live.Screen{
				Width: whole(args[1]), Height: whole(args[2]), Above: whole(args[3]), Below: whole(args[4]),
				PointerX: whole(args[5]), PointerY: whole(args[6]), Dots: args[7].Bool(),
			})
		})
	}
	exports["fog"] = func(args []js.Value) any { // array
		return fill(args[0], func(dst []byte) []byte { return game.Fog(dst) })
	}
	exports["ground"] = func(args []js.Value) any { // array
		return fill(args[0], func(dst []byte) []byte { return game.Ground(dst) })
	}
	exports["status"] = func([]js.Value) any { // JSON, or ""
		if game == nil {
			return ""
		}
		return string(game.Status())
	}
	playing("click", func(args []js.Value) any { // x, y, add, twice
		game.Click(whole(args[0]), whole(args[1]), args[2].Bool(), args[3].Bool())
		return nil
	})
	playing("tap", func(args []js.Value) any { game.Tap(whole(args[0]), whole(args[1])); return nil })
	playing("drag", func(args []js.Value) any { // x0, y0, x1, y1, add
		game.Drag(whole(args[0]), whole(args[1]), whole(args[2]), whole(args[3]), args[4].Bool())
		return nil
	})
	playing("act", func(args []js.Value) any { // x, y, queued
		game.Act(whole(args[0]), whole(args[1]), args[2].Bool())
		return nil
	})
	playing("pan", func(args []js.Value) any { game.Pan(whole(args[0]), whole(args[1])); return nil })
	playing("zoom", func(args []js.Value) any { // thousandths, x, y
		game.Zoom(whole(args[0]), whole(args[1]), whole(args[2]))
		return nil
	})
	playing("lookAt", func(args []js.Value) any { // 1/65536 of the map
		game.LookAt(whole(args[0]), whole(args[1]))
		return nil
	})
	playing("key", func(args []js.Value) any { // code, shift, control; has it a function?
		return game.Key(args[0].String(), args[1].Bool(), args[2].Bool())
	})
	playing("button", func(args []js.Value) any { game.Do(args[0].String()); return nil })
	playing("say", func(args []js.Value) any { game.Say(args[0].String()); return nil })
	playing("corrupt", func([]js.Value) any { game.Corrupt(); return nil })
	playing("cut", func([]js.Value) any { game.Cut(); return nil })
}

// playing adds a function that does nothing while there is no match.
func playing(name string, f func(args []js.Value) any) {
	exports[name] = func(args []js.Value) any {
		if game == nil {
			return nil
		}
		return f(args)
	}
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

// whole returns a number of the page, truncated.
func whole(v js.Value) int64 { return int64(v.Float()) }

// fill copies the bytes that f appends to an array of the page, and returns their number. If that is more than the array
// holds, it copies nothing.
func fill(array js.Value, f func(dst []byte) []byte) any {
	if game == nil {
		return 0
	}
	scratch = f(scratch[:0])
	if len(scratch) > array.Length() {
		return len(scratch)
	}
	return js.CopyBytesToJS(array, scratch)
}
