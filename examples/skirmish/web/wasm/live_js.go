package main

import (
	"context"

	"github.com/seed-49bee653/samestep/examples/skirmish/web/live"
	"github.com/seed-49bee653/samestep/page/program"
)

// game is the match that the page plays or watches, or nil. solo is the last one without a server, or nil.
var game, solo *live.Game

// addLive adds the functions of live matches.
func addLive(f program.Functions) {
	f["join"] = func(a program.Arguments) any { // url, token, by views?, match's id
		leave(false)
		game = live.Join(context.Background(), a[0].String(), a[1].String(), a[2].Bool(), a[3].String())
		return nil
	}
	f["solo"] = func(a program.Arguments) any { // name, request in JSON; "" or why not
		leave(false)
		g, err := live.Alone(a[0].String(), []byte(a[1].String()))
		if err != nil {
			return err.Error()
		}
		game, solo = g, g
		return ""
	}
	f["soloReplay"] = func(a program.Arguments) any { // array
		return program.Fill(a[0], func(dst []byte) []byte {
			if solo == nil {
				return dst
			}
			return append(dst, solo.Replay()...)
		})
	}
	f["leave"] = func(a program.Arguments) any { leave(a[0].Bool()); return nil } // for good?
	f.When(func() bool { return game != nil }, program.Functions{
		"frame": func(a program.Arguments) any { // array, width, height, above, below, pointer x and y, dots
			screen := live.Screen{Width: a.Int(1), Height: a.Int(2), Above: a.Int(3), Below: a.Int(4), PointerX: a.Int(5), PointerY: a.Int(6), Dots: a[7].Bool()}
			return program.Fill(a[0], func(dst []byte) []byte { return game.Frame(dst, screen) })
		},
		"fog":    func(a program.Arguments) any { return program.Fill(a[0], game.Fog) },
		"ground": func(a program.Arguments) any { return program.Fill(a[0], game.Ground) },
		"status": func(program.Arguments) any { return string(game.Status()) },                                           // JSON, or ""
		"key":    func(a program.Arguments) any { return game.Key(a[0].String(), a[1].Bool(), a[2].Bool()) },             // code, shift, control; has it a function?
		"click":  func(a program.Arguments) any { game.Click(a.Int(0), a.Int(1), a[2].Bool(), a[3].Bool()); return nil }, // x, y, add, twice
		"tap":    func(a program.Arguments) any { game.Tap(a.Int(0), a.Int(1)); return nil },
		"drag": func(a program.Arguments) any {
			game.Drag(a.Int(0), a.Int(1), a.Int(2), a.Int(3), a[4].Bool())
			return nil
		}, // x0, y0, x1, y1, add
		"act":     func(a program.Arguments) any { game.Act(a.Int(0), a.Int(1), a[2].Bool()); return nil }, // x, y, queued
		"ping":    func(a program.Arguments) any { game.Ping(a.Int(0), a.Int(1)); return nil },             // x, y
		"mode":    func(program.Arguments) any { return game.Mode() },                                      // of the next left-click; "" selects
		"aim":     func(a program.Arguments) any { return game.Aim(a.Int(0), a.Int(1)) },                   // x, y; what would a click do?
		"pan":     func(a program.Arguments) any { game.Pan(a.Int(0), a.Int(1)); return nil },
		"zoom":    func(a program.Arguments) any { game.Zoom(a.Int(0), a.Int(1), a.Int(2)); return nil }, // thousandths, x, y
		"lookAt":  func(a program.Arguments) any { game.LookAt(a.Int(0), a.Int(1)); return nil },         // 1/65536 of the map
		"button":  func(a program.Arguments) any { game.Do(a[0].String()); return nil },
		"say":     func(a program.Arguments) any { game.Say(a[0].String()); return nil },
		"ready":   func(a program.Arguments) any { game.SetReady(a[0].Bool()); return nil },
		"history": func(program.Arguments) any { return string(game.History()) }, // JSON, or ""
		"request": func(program.Arguments) any { return string(game.Request()) }, // JSON, or ""
		"corrupt": func(program.Arguments) any { game.Corrupt(); return nil },
		"cut":     func(program.Arguments) any { game.Cut(); return nil },
		"retry":   func(program.Arguments) any { game.Retry(); return nil },
	})
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
