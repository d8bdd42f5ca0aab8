package client

import (
	"context"
	"errors"
	"strings"
	"syscall/js"
)

// errFetch: a browser does not say more.
var errFetch = errors.New("no whole answer came")

// fetcher returns a function that fetches with the browser, which has a cache of its own, and one to call afterwards.
func (o *Options) fetcher() (get fetch, done func(), err error) {
	return func(ctx context.Context, address string, limit int64) ([]byte, error) {
		return getBody(ctx, address, o.Token, limit)
	}, func() {}, nil
}

// getBody is the fetch of a browser, which shows a token to the server of its page. Others would have to allow the header first.
func getBody(ctx context.Context, address, token string, limit int64) (body []byte, err error) {
	if js.Global().Get("fetch").IsUndefined() {
		return nil, errors.New("there is no fetch here")
	}
	abort := js.Global().Get("AbortController").New()
	defer context.AfterFunc(ctx, func() { abort.Call("abort") })()
	defer abort.Call("abort") // of an answer that is not read to its end
	how := map[string]any{"signal": abort.Get("signal"), "redirect": "error", "credentials": "omit"}
	if page := js.Global().Get("location"); token != "" && page.Truthy() && strings.HasPrefix(address, page.Get("origin").String()+"/") {
		how["headers"] = map[string]any{"Authorization": "Bearer " + token}
	}
	body, err = readBody(js.Global().Call("fetch", address, how), limit)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return body, err
}

// readBody reads the answer that was promised.
func readBody(promised js.Value, limit int64) (body []byte, err error) {
	answer, ok := await(promised)
	if !ok {
		return nil, errFetch
	}
	if status := answer.Get("status").Int(); status != statusOK {
		text, _ := readAll(answer, maxRefusal)
		return nil, refusal(status, statusOK, text)
	}
	return readAll(answer, limit)
}

// readAll reads the body of an answer.
func readAll(answer js.Value, limit int64) (body []byte, err error) {
	if answer.Get("body").IsNull() {
		return nil, errFetch
	}
	reader := answer.Get("body").Call("getReader")
	for {
		chunk, ok := await(reader.Call("read"))
		switch {
		case !ok:
			return nil, errFetch
		case chunk.Get("done").Bool():
			return body, nil
		}
		part := chunk.Get("value")
		at, n := len(body), part.Get("length").Int()
		if int64(at)+int64(n) > limit {
			return nil, errTooLong
		}
		body = append(body, make([]byte, n)...)
		js.CopyBytesToGo(body[at:], part)
	}
}

// await waits for a promise, and reports whether it was kept.
func await(promise js.Value) (value js.Value, ok bool) {
	done := make(chan struct{})
	settle := func(kept bool) js.Func {
		return js.FuncOf(func(_ js.Value, args []js.Value) any {
			value, ok = args[0], kept
			close(done)
			return nil
		})
	}
	kept, broken := settle(true), settle(false)
	defer kept.Release()
	defer broken.Release()
	promise.Call("then", kept, broken)
	<-done
	return value, ok
}
