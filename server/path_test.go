//go:build !js

package server_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/kit/netsim"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// An attacker's QUIC connections to a stage.
type pathAttacker struct {
	t    *testing.T
	addr string
	hash []byte
}

func newPathAttacker(t *testing.T, s *stage, udp net.PacketConn) *pathAttacker {
	t.Helper()
	a := &pathAttacker{t: t, addr: udp.LocalAddr().String()}
	eventually(t, "the server tells where its datagrams go", func() bool {
		resp, err := s.client.Get("http://" + s.host + "/matches/duel/datagrams")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var info struct {
			Address     string `json:"address"`
			Certificate string `json:"certificate_sha256"`
		}
		if err := json.NewDecoder(resp.Body).Decode(&info); err != nil || resp.StatusCode != http.StatusOK || !strings.HasSuffix(a.addr, info.Address) {
			t.Fatalf("got %d %+v, %v, want the port of %s", resp.StatusCode, info, err, a.addr)
		}
		a.hash, err = hex.DecodeString(info.Certificate)
		return err == nil && len(a.hash) > 0
	})
	return a
}

// dial opens a QUIC connection.
func (a *pathAttacker) dial() *quic.Conn {
	a.t.Helper()
	conn, err := quic.DialAddr(a.t.Context(), a.addr, &tls.Config{
		InsecureSkipVerify: true, NextProtos: []string{http3.NextProtoH3},
		VerifyConnection: func(c tls.ConnectionState) error {
			if sum := sha256.Sum256(c.PeerCertificates[0].Raw); !bytes.Equal(sum[:], a.hash) {
				return errors.New("another certificate")
			}
			return nil
		},
	}, &quic.Config{EnableDatagrams: true, EnableStreamResetPartialDelivery: true, KeepAlivePeriod: time.Second})
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { conn.CloseWithError(0, "") })
	return conn
}

// open opens a WebTransport session to a path, and names the connection, unless the token is empty.
func (a *pathAttacker) open(path string, token []byte) (*webtransport.Session, *quic.Conn, error) {
	conn := a.dial()
	d := webtransport.Transport{DialAddr: func(context.Context, string, *tls.Config, *quic.Config) (*quic.Conn, error) { return conn, nil }}
	_, session, err := d.Dial(a.t.Context(), "https://"+a.addr+path, nil)
	if err != nil {
		return nil, conn, err
	}
	stream, err := session.OpenUniStream()
	if err == nil && len(token) > 0 {
		stream.Write(token)
		err = stream.Close()
	}
	return session, conn, err
}

// closedWith waits until a connection is closed, and checks the code.
func (a *pathAttacker) closedWith(conn *quic.Conn, want quic.ApplicationErrorCode) {
	a.t.Helper()
	<-conn.Context().Done()
	var e *quic.ApplicationError
	if err := context.Cause(conn.Context()); !errors.As(err, &e) || e.ErrorCode != want {
		a.t.Errorf("got %v, want code %d", err, want)
	}
}

// Paths that name no connection, or not theirs, end. They hurt no player.
func TestHostilePaths(t *testing.T) {
	t.Parallel()
	s := newStage(t, setup{})
	a := newPathAttacker(t, s, s.datagrams(t, netsim.Link{}))
	ada := s.join(t, ada, wander)
	eventually(t, "ada has datagrams", func() bool { return ada.byDatagrams() })

	var crowd []*quic.Conn
	for range 12 { // of one address, which may have 8
		crowd = append(crowd, a.dial())
	}
	for _, conn := range crowd[:3] {
		a.closedWith(conn, server.PathCrowd)
	}
	if _, conn, err := a.open("/matches/duel/datagrams", bytes.Repeat([]byte{1}, 16)); err != nil {
		t.Error(err)
	} else {
		a.closedWith(conn, server.PathUnbound)
	}
	if _, _, err := a.open("/matches/none/datagrams", nil); err == nil {
		t.Error("a match that is not there has datagrams")
	}
	if _, conn, err := a.open("/matches/duel/datagrams", nil); err != nil {
		t.Error(err)
	} else {
		a.closedWith(conn, server.PathUnbound) // it never names one
	}
	a.closedWith(crowd[11], server.PathUnbound) // it never asks for a session
	if !ada.byDatagrams() || has[player.ConnectionLost](ada) {
		t.Error("ada was disturbed")
	}
}

// A path belongs to the connection whose session it names, and the next one replaces it. A malformed datagram ends that connection
// like a malformed message.
func TestPathOfSession(t *testing.T) {
	t.Parallel()
	s := newStage(t, setup{})
	a := newPathAttacker(t, s, s.datagrams(t, netsim.Link{}))
	ada := s.join(t, ada, wander)
	eventually(t, "ada has datagrams", func() bool { return ada.byDatagrams() })
	token := func() []byte {
		var token protocol.SessionToken
		ada.Do(func(c *player.Client) { token, _ = c.SessionToken() })
		return token[:]
	}
	_, first, err := a.open("/matches/duel/datagrams", token())
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "ada opens another path", func() bool { return first.Context().Err() != nil && ada.byDatagrams() })
	a.closedWith(first, server.PathClosed)
	session, _, err := a.open("/matches/duel/datagrams", token())
	if err != nil {
		t.Fatal(err)
	}
	session.SendDatagram([]byte("no datagram"))
	eventually(t, "the connection ends", func() bool { return has[player.LostForGood](ada) })
	if err := told[player.LostForGood](ada)[0].Err; !strings.Contains(err.Error(), "closed by the server: malformed: lockstep: datagram") {
		t.Errorf("got %v, want a malformed datagram", err)
	}
}

// A QUIC connection has one session. Whoever asks for two at once loses it.
func TestOneSession(t *testing.T) {
	t.Parallel()
	s := newStage(t, setup{options: server.Options{Limits: server.Limits{MaxUnauthenticated: 100, MaxPerAddress: 200}}})
	a := newPathAttacker(t, s, s.datagrams(t, netsim.Link{}))
	for range 10 {
		conn := a.dial()
		client, err := new(webtransport.Transport).NewClientConn(conn)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			go client.Dial(t.Context(), "https://"+a.addr+"/matches/duel/datagrams", nil)
		}
		a.closedWith(conn, server.PathClosed)
	}
}

// A path takes no more memory than the bound says; here each has its other end in the same process.
func TestPathMemory(t *testing.T) {
	s := newStage(t, setup{options: server.Options{Limits: server.Limits{MaxUnauthenticated: 100, MaxPerAddress: 200}}})
	a := newPathAttacker(t, s, s.datagrams(t, netsim.Link{}))
	before := inMemory()
	n := 100
	if testenv.Small(t) {
		n = 25
	}
	for range n {
		if _, _, err := a.open("/matches/duel/datagrams", nil); err != nil {
			t.Fatal(err)
		}
	}
	each := (inMemory() - before) / n
	t.Logf("%d KiB for both ends of a path", each>>10)
	if each > server.PathMemory {
		t.Errorf("got %d bytes, want at most %d", each, server.PathMemory)
	}
}
