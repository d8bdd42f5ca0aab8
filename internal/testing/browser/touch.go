//go:build !js && !wasip1

package browser

import (
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// Touch puts a finger on a place of the page, waits until an expression is true, and lifts the finger. The page must emulate
// a touch screen.
func (b *Tab) Touch(x, y float64, until string) {
	b.T.Helper()
	for _, p := range []input.DispatchTouchEventParams{
		{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: x, Y: y}}},
		{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}},
	} {
		if _, err := chromedp.Call(b.ctx, input.DispatchTouchEvent, p); err != nil {
			b.T.Fatal(err)
		}
		b.Until(until)
	}
}

// Hold presses a key, as KeyboardEvent.code has it, waits until an expression is true, and releases the key.
func (b *Tab) Hold(key, until string) {
	b.T.Helper()
	for _, sort := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: sort, Key: key, Code: key}); err != nil {
			b.T.Fatal(err)
		}
		if sort == input.DispatchKeyEventTypeRawKeyDown {
			b.Until(until)
		}
	}
}
