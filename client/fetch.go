//go:build !js

package client

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
)

// fetcher returns a function that fetches with the options' HTTP client, and one to call afterwards.
func (o *Options) fetcher() (get fetch, done func(), err error) {
	hc, done, err := o.httpClient(func(net.Conn) {})
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, address string, limit int64) ([]byte, error) {
		return getBody(ctx, hc, address, o.Token, limit)
	}, done, nil
}

// getBody is the fetch of an HTTP client, which shows a token.
func getBody(ctx context.Context, hc *http.Client, address, token string, limit int64) ([]byte, error) {
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if token != "" {
		ask.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := hc.Do(ask)
	if e := (*url.Error)(nil); errors.As(err, &e) {
		err = e.Err // it names an address, which may be long and the server's
	}
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(io.LimitReader(answer.Body, maxRefusal))
		return nil, refusal(answer.StatusCode, http.StatusOK, b)
	}
	b, err := io.ReadAll(io.LimitReader(answer.Body, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = errTooLong
	}
	return b, err
}
