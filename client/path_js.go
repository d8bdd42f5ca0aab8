package client

import (
	"context"
	"errors"
	"sync"
	"syscall/js"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// errNoPath: a browser does not say more.
var errNoPath = errors.New("there is no path of datagrams")

// ignored takes the failure of a promise whose outcome does not matter.
var ignored = js.FuncOf(func(js.Value, []js.Value) any { return nil })

// dialPath opens a WebTransport of the browser, and tells the server whose it is. Browsers have one only on pages that came over HTTPS
// or from this machine.
func dialPath(ctx context.Context, info pathInfo, token protocol.SessionToken, _ *Options) (*path, error) {
	class := js.Global().Get("WebTransport")
	if class.IsUndefined() {
		return nil, errNoPath
	}
	hash := map[string]any{"algorithm": "sha-256", "value": bytesToJS(info.hash)}
	wt, err := construct(class, info.url, map[string]any{"serverCertificateHashes": []any{hash}, "congestionControl": "low-latency"})
	if err != nil {
		return nil, err
	}
	wt.Get("closed").Call("catch", ignored)
	end := sync.OnceFunc(func() { wt.Call("close") })
	defer context.AfterFunc(ctx, end)()
	opened := func() bool {
		if _, ok := await(wt.Get("ready")); !ok {
			return false
		}
		stream, ok := await(wt.Call("createUnidirectionalStream"))
		if !ok {
			return false
		}
		w := stream.Call("getWriter")
		w.Call("write", bytesToJS(token[:])).Call("catch", ignored)
		_, ok = await(w.Call("close"))
		return ok
	}
	if !opened() || ctx.Err() != nil {
		wt.Get("ready").Call("catch", ignored)
		end()
		return nil, errNoPath
	}
	return newPath(wt, end), nil
}

// newPath returns the path of a WebTransport, with the goroutine that reads from it.
func newPath(wt js.Value, end func()) *path {
	p := &path{arrived: make(chan []byte, maxUnreadDatagrams), gone: make(chan struct{}), close: end}
	w := wt.Get("datagrams").Get("writable").Call("getWriter")
	w.Get("closed").Call("catch", ignored)
	p.send = func(b []byte) {
		if room := w.Get("desiredSize"); room.Type() == js.TypeNumber && room.Float() > -maxUnsentDatagrams {
			w.Call("write", bytesToJS(b)).Call("catch", ignored)
		}
	}
	r := wt.Get("datagrams").Get("readable").Call("getReader")
	go func() {
		defer close(p.gone)
		for {
			chunk, ok := await(r.Call("read"))
			if !ok || chunk.Get("done").Bool() {
				return
			}
			value := chunk.Get("value")
			b := make([]byte, value.Get("length").Int())
			js.CopyBytesToGo(b, value)
			select {
			case p.arrived <- b:
			default:
			}
		}
	}()
	return p
}

func bytesToJS(b []byte) js.Value {
	v := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(v, b)
	return v
}
