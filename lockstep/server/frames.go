package server

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

const (
	// maxExtraFrames is how many frames that no message accounts for a connection may
	// send in a second.
	maxExtraFrames = 20

	// extraFramesAtOnce is the burst of maxExtraFrames. A new connection takes it from
	// what its address has left, so who connects again does not begin anew.
	extraFramesAtOnce = 60

	// maxAddressFrames is how many such frames the connections of an address may have
	// at once in a minute.
	maxAddressFrames = 8 * extraFramesAtOnce

	// fewExtraFrames is what a new connection has at once in any case: the frame that
	// closes it, and some.
	fewExtraFrames = 4

	// maxClosingBytes is how much is read of a connection that is being closed: what
	// is on its way, and the answer to the closing frame.
	maxClosingBytes = 64 << 10

	// freeFragment is how long a fragment is that costs nothing: its bytes are counted.
	freeFragment = 1 << 10
)

// errFrames ends a connection that sends too many frames.
var errFrames = errors.New("server: too many control frames or small fragments")

// A frames is the connection below a WebSocket. It counts the frames that no message
// accounts for: pings, pongs, and continuation frames that are short and do not end
// their message. The match counts the messages.
type frames struct {
	net.Conn
	extra *rate.Limiter
	early []byte // was read with the handshake

	header [14]byte // of the frame that begins
	have   int      // bytes in header
	skip   uint64   // bytes of a payload that are still to come
	failed bool

	closing atomic.Bool
	late    int // bytes read since then
}

// newFrames returns the frames of a connection that may send so many at once.
func newFrames(c net.Conn, atOnce int) *frames {
	f := &frames{Conn: c, extra: rate.NewLimiter(maxExtraFrames, extraFramesAtOnce)}
	f.extra.AllowN(time.Now(), extraFramesAtOnce-atOnce)
	return f
}

// Read implements [net.Conn].
func (f *frames) Read(b []byte) (int, error) {
	if f.failed {
		return 0, errFrames
	}
	n, err := copy(b, f.early), error(nil)
	if f.early = f.early[n:]; n == 0 {
		n, err = f.Conn.Read(b)
	}
	if f.closing.Load() {
		if f.late += n; f.late > maxClosingBytes {
			f.failed = true
		}
	}
	if f.count(b[:n]); f.failed {
		return 0, errFrames
	}
	return n, err
}

// count takes the bytes that came, and notes whether there are too many frames.
func (f *frames) count(b []byte) {
	for len(b) > 0 && !f.failed {
		if f.skip > 0 {
			n := min(f.skip, uint64(len(b)))
			f.skip, b = f.skip-n, b[n:]
			continue
		}
		f.header[f.have], b = b[0], b[1:]
		if f.have++; f.have < headerSize(f.header[1], f.have) {
			continue
		}
		f.skip, f.have = payloadSize(&f.header), 0
		control, fin, first := f.header[0]&8 != 0, f.header[0]&0x80 != 0, f.header[0]&0xf != 0
		if control || !fin && !first && f.skip < freeFragment {
			f.failed = !f.extra.AllowN(time.Now(), 1)
		}
	}
}

// headerSize returns the size of a frame's header, of which so many bytes are there
// and the second is b (RFC 6455, section 5.2).
func headerSize(b byte, have int) int {
	size := 2
	if have < size {
		return size
	}
	switch b & 0x7f {
	case 126:
		size += 2
	case 127:
		size += 8
	}
	if b&0x80 != 0 {
		size += 4 // the mask
	}
	return size
}

// payloadSize returns the size of the payload that a header announces.
func payloadSize(h *[14]byte) (n uint64) {
	n = uint64(h[1] & 0x7f)
	wide := 0
	switch n {
	case 126:
		wide = 2
	case 127:
		wide = 8
	default:
		return n
	}
	n = 0
	for _, b := range h[2 : 2+wide] {
		n = n<<8 | uint64(b)
	}
	return n
}

// A hijacked is a ResponseWriter that keeps the connection which is taken over.
type hijacked struct {
	http.ResponseWriter
	server *Server
	from   netip.Prefix

	conn   net.Conn
	frames *frames
}

// Hijack implements http.Hijacker. The connection that it returns counts frames, also
// those that the server of HTTP has read already.
func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.conn = c
	atOnce := h.server.frames.upTo(h.from, extraFramesAtOnce-fewExtraFrames, time.Now())
	f := newFrames(c, fewExtraFrames+atOnce)
	h.frames = f
	early, _ := rw.Reader.Peek(rw.Reader.Buffered())
	f.early = bytes.Clone(early)
	rw.Reader.Reset(f)
	return f, rw, nil
}
