package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// bindTime is the time that a path of datagrams has to name its connection.
	bindTime = 5 * time.Second

	// handshakeTime is the longest time that QUIC gives a handshake.
	handshakeTime = 2 * bindTime

	// maxPathIdle is the time without a packet after which a path is closed. A client sends two a second or more.
	maxPathIdle = 10 * time.Second

	// pathWindow is how many bytes of streams a path may have sent and the server not read. Only datagrams matter.
	pathWindow = 8 << 10

	// pathStreams is the number of streams that a path may have open: one for the session, three of HTTP/3, and one that
	// names the connection.
	pathStreams = 8
)

var errHandshakes = errors.New("server: too many handshakes")

// A datagramServer has the paths of datagrams of a [Server].
type datagramServer struct {
	server *Server
	public string // see ServeDatagrams
	cert   *ownCertificate
	wt     *webtransport.Server
}

// ServeDatagrams serves paths of datagrams (WebTransport over HTTP/3) on a UDP socket until ctx ends. A player's client opens one next
// to its WebSocket. Lost packets then delay no other frames, as they do with TCP.
//
// GET /matches/NAME/datagrams tells clients where to connect: to public, a HOST:PORT, or a :PORT at the host of the WebSocket; "" is
// the port of c. It also has the hash of the certificate, which the server makes itself.
func (s *Server) ServeDatagrams(ctx context.Context, c net.PacketConn, public string) error {
	if public == "" {
		_, port, err := net.SplitHostPort(c.LocalAddr().String())
		if err != nil {
			return err
		}
		public = ":" + port
	}
	d := &datagramServer{server: s, public: public, cert: &ownCertificate{}}
	if _, err := d.cert.current(time.Now()); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("CONNECT /matches/{name}/datagrams", d.open)
	mux.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) { pathOf(r).close() })
	d.wt = &webtransport.Server{
		H3:          &http3.Server{Handler: mux, MaxHeaderBytes: 4 << 10, ConnContext: d.accepted},
		CheckOrigin: func(*http.Request) bool { return true }, // the page of another site does not know the session
	}
	// Each address is validated before anything else happens, so that nobody makes us send more than was sent to us, and
	// nobody spends the budget of another address.
	t := &quic.Transport{Conn: c, VerifySourceAddress: func(net.Addr) bool { return true }, ConnContext: s.handshake}
	defer t.Close()
	l, err := t.Listen(&tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{http3.NextProtoH3},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return d.cert.current(time.Now()) },
	}, &quic.Config{
		HandshakeIdleTimeout: bindTime, MaxIdleTimeout: maxPathIdle,
		InitialStreamReceiveWindow: pathWindow, MaxStreamReceiveWindow: pathWindow,
		InitialConnectionReceiveWindow: 2 * pathWindow, MaxConnectionReceiveWindow: 2 * pathWindow,
		MaxIncomingStreams: pathStreams, MaxIncomingUniStreams: pathStreams,
		EnableDatagrams: true, EnableStreamResetPartialDelivery: true,
	})
	if err != nil {
		return err
	}
	defer l.Close()
	defer d.wt.Close() // first, so that clients are told
	if !s.datagrams.CompareAndSwap(nil, d) {
		return errors.New("server: it serves datagrams already")
	}
	defer s.datagrams.Store(nil)
	for {
		conn, err := l.Accept(ctx)
		if ctx.Err() != nil {
			return nil
		} else if err != nil {
			return err
		}
		go d.wt.ServeQUICConn(conn)
	}
}

// A datagramInfo tells a client where the datagrams of a match go. It is empty if there are none: a browser would report
// another status as an error.
type datagramInfo struct {
	Address     string `json:"address,omitempty"`            // HOST:PORT, or :PORT at the host of the WebSocket
	Certificate string `json:"certificate_sha256,omitempty"` // of the only certificate that the client may accept
}

// showDatagrams answers with the datagramInfo of the server.
func (s *Server) showDatagrams(w http.ResponseWriter, r *http.Request) {
	if s.registry.requested(w, r) == nil {
		return
	}
	var info datagramInfo
	if d := s.datagrams.Load(); d != nil {
		info = datagramInfo{d.public, d.cert.hash(time.Now())}
	}
	reply(w, http.StatusOK, info)
}

type pathKey struct{}

// pathOf returns the path of a request.
func pathOf(r *http.Request) *path { return r.Context().Value(pathKey{}).(*path) }

// accepted makes the path of a new QUIC connection.
func (d *datagramServer) accepted(ctx context.Context, c *quic.Conn) context.Context {
	if end, ok := c.Context().Value(handshakeKey{}).(func()); ok {
		end() // it is finished
	}
	remote := c.RemoteAddr().String()
	p := &path{quic: c, addr: wsmatch.AddressOf(remote), out: make(chan *buffer.Buffer, maxPathQueue)}
	if d.server.gates.paths.Add(p, d.server.gates.limits.Load().MaxUnauthenticated) {
		d.server.turned.away("crowd", remote)
	}
	p.bindTimer = time.AfterFunc(bindTime, func() { c.CloseWithError(pathUnbound, "no connection was named in time") })
	context.AfterFunc(c.Context(), func() {
		p.bindTimer.Stop()
		d.server.gates.paths.Remove(p)
	})
	return context.WithValue(ctx, pathKey{}, p)
}

// open accepts a WebTransport session, and serves it as the path of the connection that it names.
func (d *datagramServer) open(w http.ResponseWriter, r *http.Request) {
	s := d.server
	p := pathOf(r)
	if p.used.Swap(true) {
		p.close() // one request for each QUIC connection
		return
	}
	m := s.registry.requested(w, r)
	if m == nil {
		return
	}
	var err error
	if p.session, err = d.wt.Upgrade(w, r); err != nil {
		s.turned.away("handshake", r.RemoteAddr)
		p.close()
		return
	}
	c, wrong := p.bind(m)
	p.bindTimer.Stop()
	s.gates.paths.Remove(p)
	if wrong {
		s.access.countGuess(p.addr, r.RemoteAddr)
	}
	if c == nil {
		p.quic.CloseWithError(pathUnbound, "no connection has this session")
		return
	}
	defer m.post(input{conn: c, ended: p})
	defer p.close()
	go p.write()
	for {
		b, err := p.session.ReceiveDatagram(p.session.Context())
		if err != nil || !m.post(input{conn: c, datagram: b}) {
			return
		}
	}
}

// bind reads a session of the protocol from the first stream of the path, and makes it the path of the connection that plays
// with this session. It returns nil if there is none; wrong says that a session came, and nobody has it.
func (p *path) bind(m *Match) (c *conn, wrong bool) {
	ctx, cancel := context.WithTimeout(p.session.Context(), bindTime)
	defer cancel()
	stream, err := p.session.AcceptUniStream(ctx)
	if err != nil {
		return nil, false
	}
	stream.SetReadDeadline(time.Now().Add(bindTime))
	var token protocol.SessionToken
	if _, err := io.ReadFull(stream, token[:]); err != nil {
		return nil, false
	}
	bound := make(chan *conn, 1)
	gone := m.Do(ctx, func(h *host.Host) {
		id, _ := h.Info().PeerOf(token)
		c := m.conns[id]
		if c != nil && ctx.Err() == nil {
			c.path.close()
			c.path = p
		}
		bound <- c
	})
	if gone != nil {
		return nil, false
	}
	c = <-bound
	return c, c == nil
}

// Nothing ends a QUIC handshake from outside, so beyond these limits, in all and of an address, new ones are refused: their clients go on
// without datagrams, and try again.
const (
	maxHandshakes     = 256
	maxHandshakesEach = 32
)

// handshakeKey is the context key of the function that ends a handshake.
type handshakeKey struct{}

// handshake admits a QUIC handshake of a validated address. Its budget is not that of other connections, so that nobody has no
// WebSocket because of it.
func (s *Server) handshake(ctx context.Context, info *quic.ClientInfo) (context.Context, error) {
	remote := info.RemoteAddr.String()
	from := wsmatch.AddressOf(remote)
	if !s.gates.handshakes.Spend(from, 1, time.Now()) {
		s.turned.away("connecting", remote)
		return nil, errHandshakes
	}
	end, ok := s.gates.halfOpen.Take(from, maxHandshakes, maxHandshakesEach)
	if !ok {
		s.turned.away("crowd", remote)
		return nil, errHandshakes
	}
	context.AfterFunc(ctx, end)
	late := time.AfterFunc(handshakeTime, end) // QUIC forgets one whose number is taken
	return context.WithValue(ctx, handshakeKey{}, func() { late.Stop(); end() }), nil
}

const (
	// certificateLife is the validity of an own certificate. Browsers that know a certificate by its hash accept at most 14
	// days, of a key on the curve P-256 (W3C WebTransport, "custom certificate requirements").
	certificateLife = 13 * 24 * time.Hour

	// certificateUse is when the next one is made.
	certificateUse = 6 * 24 * time.Hour

	// clockError is by how much the clock of a client may be slow.
	clockError = 24 * time.Hour
)

// An ownCertificate is made by the server, which tells its clients the hash, and is made again in time.
type ownCertificate struct {
	mu   sync.Mutex
	cert *tls.Certificate
	made time.Time
}

// current returns the certificate for new connections.
func (o *ownCertificate) current(now time.Time) (*tls.Certificate, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cert != nil && now.Sub(o.made) < certificateUse {
		return o.cert, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, err
	}
	from := now.Add(-clockError)
	form := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "samestep"},
		NotBefore: from, NotAfter: from.Add(certificateLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	o.cert, o.made = &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, now
	return o.cert, nil
}

// hash returns the SHA-256 of the current certificate, in hexadecimal.
func (o *ownCertificate) hash(now time.Time) string {
	cert, err := o.current(now)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(cert.Certificate[0])
	return hex.EncodeToString(sum[:])
}
