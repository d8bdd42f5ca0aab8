package client

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const (
	// maxAssetList is how many bytes the answer with a match's list of assets may have.
	maxAssetList = record.MaxAssets * 1 << 10

	// assetListTime is how long a session waits for the list, and assetTime for all assets of it, besides a second for each
	// minAssetRate of their bytes.
	assetListTime = 10 * time.Second
	assetTime     = 30 * time.Second
	minAssetRate  = 16 << 10
)

// A loader has the assets of a session's match.
type loader struct {
	options *Options
	own     func(lockstep.Asset) ([]byte, error) // of the game that the program has given

	mu       sync.Mutex
	contents map[string][]byte // of the match, by sum
}

// read is the source of the session's game.
func (l *loader) read(a lockstep.Asset) ([]byte, error) {
	l.mu.Lock()
	b := l.contents[a.SHA256]
	l.mu.Unlock()
	if b != nil {
		return b, nil
	}
	if l.options.Assets != nil {
		if b, err := l.options.Assets.Read(a); err == nil && a.CheckContent(b) == nil {
			return b, nil
		}
	}
	if b, err := l.own(a); err == nil {
		return b, nil
	}
	return nil, fmt.Errorf("%w: the server did not list it", record.ErrNoAsset)
}

// load fetches the assets of the match whose WebSocket is at an address: those that its server lists, and that are not here.
// The list is only a hint: the header of the match decides what its simulation needs. What has come stays after an error.
func (l *loader) load(ctx context.Context, address string) error {
	var list []lockstep.Asset
	soon, cancel := context.WithTimeout(ctx, assetListTime)
	defer cancel()
	p, err := l.options.ask(soon, address, "assets", maxAssetList, &list)
	if errors.Is(err, errForeign) {
		return nil // so all assets must be here
	}
	if err == nil {
		err = record.CheckAssets(list)
	}
	if err != nil {
		return fmt.Errorf("the match's list of assets: %w", err)
	}
	get, done, err := l.options.fetcher()
	if err != nil {
		return err
	}
	defer done()
	total, kept := uint32(0), make(map[string][]byte) // not what no list has: lists that change must not fill the memory
	l.mu.Lock()
	for _, a := range list {
		total += a.Size // the list has at most record.MaxAssetBytes
		if b := l.contents[a.SHA256]; b != nil {
			kept[a.SHA256] = b
		}
	}
	l.contents = kept
	l.mu.Unlock()
	ctx, cancel = context.WithTimeout(ctx, assetTime+time.Duration(total/minAssetRate)*time.Second)
	defer cancel()
	for _, a := range list {
		b, err := l.content(ctx, get, p, a)
		if err != nil {
			return err
		}
		l.mu.Lock()
		l.contents[a.SHA256] = b
		l.mu.Unlock()
	}
	return nil
}

// content returns the checked content of an asset, from here or from the server.
func (l *loader) content(ctx context.Context, get fetch, p place, a lockstep.Asset) ([]byte, error) {
	if b, err := l.read(a); err == nil && a.CheckContent(b) == nil {
		return b, nil
	}
	b, err := get(ctx, p.at(p.prefix+"/assets/"+a.SHA256), int64(a.Size))
	if err != nil {
		return nil, &record.AssetError{Asset: a, Err: bounded(err, int64(a.Size))}
	}
	if err := a.CheckContent(b); err != nil {
		return nil, err
	}
	if l.options.Assets != nil {
		_ = l.options.Assets.Write(a, b) // this session has the content
	}
	return b, nil
}

// bounded adds to errTooLong how long the answer may be.
func bounded(err error, limit int64) error {
	if errors.Is(err, errTooLong) {
		return fmt.Errorf("%w: want at most %d bytes", err, limit)
	}
	return err
}

// A fetch returns the body of the answer to a GET request. It follows no redirect, and shows the token of the session. The error is errTooLong
// if the body has more than limit bytes; then fetch reads no more than that, and what the system has read already.
type fetch func(ctx context.Context, address string, limit int64) ([]byte, error)

// errTooLong is the error of an answer with more bytes than wanted.
var errTooLong = errors.New("the answer is longer than it may be")

// errForeign is the error of an address that is not that of a match on a server of ours.
var errForeign = errors.New("not a server of ours")

// ask decodes the JSON that the server tells about the match whose WebSocket is at an address.
func (o *Options) ask(ctx context.Context, address, what string, limit int64, answer any) (place, error) {
	p, ok := placeOf(address)
	if !ok {
		return p, errForeign
	}
	get, done, err := o.fetcher()
	if err != nil {
		return p, err
	}
	defer done()
	text, err := get(ctx, p.at(p.match+"/"+what), limit)
	if err == nil {
		err = json.Unmarshal(text, answer)
	}
	return p, bounded(err, limit)
}

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

// at returns the address of an escaped path. A query stays: a proxy may need it.
func (p place) at(path string) string {
	p.url.RawPath = path
	p.url.Path, _ = url.PathUnescape(path) // its parts are those of a parsed URL
	return p.url.String()
}

// Statuses of HTTP. A program for a browser must not link net/http for them: it is half of its size.
const (
	statusOK  = 200
	statusBad = 400 // and above
)

// maxRefusal is how many bytes of an answer with an error are read.
const maxRefusal = 1 << 10

// refusal returns the error of an HTTP answer with another status than the wanted one: the message in its body, if the
// server is one of ours.
func refusal(status, want int, body []byte) error {
	var problem struct {
		Error struct{ Message string }
	}
	if status >= statusBad && json.Unmarshal(body, &problem) == nil && problem.Error.Message != "" {
		return fmt.Errorf("%s (status %d)", problem.Error.Message, status)
	}
	return fmt.Errorf("got status %d, want %d", status, want)
}

// findPath asks the server of a match for the address of its datagrams.
func findPath(ctx context.Context, address string, o *Options) (info pathInfo, err error) {
	var answer struct {
		Address     string `json:"address"`
		Certificate string `json:"certificate_sha256"`
	}
	p, err := o.ask(ctx, address, "datagrams", maxPathInfo, &answer)
	if err != nil {
		return info, err
	}
	if answer.Address == "" {
		return info, errors.New("the server has no datagrams")
	}
	to, err := url.Parse("https://" + answer.Address)
	if err != nil || to.Port() == "" || to.Host != answer.Address {
		return info, fmt.Errorf("got the address %q, want HOST:PORT", answer.Address)
	}
	if to.Hostname() == "" {
		to.Host = strings.TrimSuffix(p.url.Host, ":"+p.url.Port()) + answer.Address
	}
	if info.hash, err = hex.DecodeString(answer.Certificate); err != nil || len(info.hash) != 32 {
		return info, fmt.Errorf("got the hash %q of a certificate, want 64 hexadecimal digits", answer.Certificate)
	}
	to.RawPath = p.match[len(p.prefix):] + "/datagrams"
	to.Path, _ = url.PathUnescape(to.RawPath)
	info.url = to.String()
	return info, nil
}
