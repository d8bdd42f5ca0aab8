package client

import (
	"context"
	"errors"
	"net/url"
	"strings"
)

// A fetch returns the body of the answer to a GET request. It follows no redirect, and shows the token of the session. The error is errTooLong
// if the body has more than limit bytes; then fetch reads no more than that, and what the system has read already.
type fetch func(ctx context.Context, address string, limit int64) ([]byte, error)

// errTooLong is the error of an answer with more bytes than wanted.
var errTooLong = errors.New("the answer is longer than it may be")

// A place is where a server has a match, in its HTTP interface.
type place struct {
	url    url.URL
	prefix string // path before "/matches/", escaped
	match  string // path of the match, escaped
}

// placeOf returns the place of the match whose WebSocket is at an address, or false if the address has another form.
func placeOf(address string) (p place, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return place{}, false
	}
	u.Scheme = strings.Replace(u.Scheme, "ws", "http", 1)
	u.Fragment, u.RawFragment = "", ""
	match, ok := strings.CutSuffix(u.EscapedPath(), "/play")
	if !ok {
		return place{}, false
	}
	name := strings.LastIndexByte(match, '/') + 1 // the path before a server may have matches too, and a match any name
	prefix, ok := strings.CutSuffix(match[:name], "/matches/")
	if !ok || name == len(match) {
		return place{}, false
	}
	return place{*u, prefix, match}, true
}

// about returns the address of what the server knows of the match.
func (p place) about(what string) string { return p.at(p.match + "/" + what) }

// asset returns the address of an asset.
func (p place) asset(sum string) string { return p.at(p.prefix + "/assets/" + sum) }

// at returns the address of an escaped path. A query stays: a proxy may need it.
func (p place) at(path string) string {
	p.url.RawPath = path
	p.url.Path, _ = url.PathUnescape(path) // its parts are those of a parsed URL
	return p.url.String()
}
