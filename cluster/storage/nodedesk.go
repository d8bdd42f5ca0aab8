package storage

import (
	"encoding/json"
	"fmt"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Requests of NATS in the system account.
const (
	evacuateServer = "$JS.API.SERVER.EVACUATE"
	stepDownServer = "$JS.API.META.LEADER.STEPDOWN"
	removeServer   = "$JS.API.SERVER.REMOVE"
)

// A nodeAnswer is what a node says of itself and of its cluster.
type nodeAnswer struct {
	Name    string   `json:"name"`
	Leader  string   `json:"leader"` // of the cluster; "" without a majority
	Problem string   `json:"problem,omitempty"`
	Free    int64    `json:"free"` // bytes on its disk; -1: unknown
	Members []member `json:"members"`
}

// deskTime is how long NATS may take to change the nodes of a cluster.
const deskTime = 10 * time.Second

// setDesk adds the system account to the options of a server, with one user that is drawn anew: its key never leaves this process.
func setDesk(n *nats.Options) (client.Option, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	key, err := pair.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	system := nats.NewAccount(nats.DEFAULT_SYSTEM_ACCOUNT)
	n.Accounts, n.SystemAccount = append(n.Accounts, system), system.Name
	n.Nkeys = append(n.Nkeys, &nats.NkeyUser{Nkey: key, Account: system})
	return client.Nkey(key, pair.Sign), nil
}

// openDesk lets a server answer operators in an account until it is shut down. answer is what its node says of itself.
func openDesk(s *nats.Server, as client.Option, account string, answer func() nodeAnswer) error {
	streams, err := s.LookupAccount(account)
	if err != nil {
		return err
	}
	system := s.SystemAccount()
	for _, subject := range []string{nodesSubject, drainSubject, removeSubject} {
		if err := system.AddServiceExportWithResponse(subject, nats.Streamed, nil); err != nil {
			return err
		}
		if err := streams.AddServiceImport(system, subject, subject); err != nil {
			return err
		}
	}
	desk, err := client.Connect("", client.InProcessServer(s), as, client.NoReconnect())
	if err != nil {
		return err
	}
	_, err = desk.Subscribe(nodesSubject, func(m *client.Msg) {
		b, err := json.Marshal(answer())
		if err != nil {
			panic(err) // texts and numbers only
		}
		_ = m.Respond(b)
	})
	for subject, request := range map[string]string{drainSubject: evacuateServer, removeSubject: removeServer} {
		if err == nil {
			_, err = desk.QueueSubscribe(subject, subject, func(m *client.Msg) {
				if s.ClusterAddr() == nil {
					_ = m.Respond([]byte(`{"error": {"code": 400, "description": "the node is alone"}}`))
					return
				}
				if subject == removeSubject {
					stepAside(s, desk, m.Data)
				}
				answer, err := desk.Request(request, m.Data, deskTime/2)
				if err != nil {
					_ = m.Respond(fmt.Appendf(nil, `{"error": {"code": 503, "description": %q}}`, err))
					return
				}
				_ = m.Respond(answer.Data)
			})
		}
	}
	if err == nil {
		err = desk.Flush()
	}
	return err
}

// stepAside lets another node lead the others, if the one of a request to remove it leads them: it would not learn that it is removed.
func stepAside(s *nats.Server, desk *client.Conn, request []byte) {
	var r struct {
		Peer string `json:"peer_id"`
	}
	if json.Unmarshal(request, &r) != nil {
		return // NATS answers with the error
	}
	leads := func() bool {
		js, err := s.Jsz(nil)
		return err == nil && js.Meta != nil && js.Meta.Peer == r.Peer
	}
	for end := time.Now().Add(deskTime); leads() && time.Now().Before(end); time.Sleep(deskTime / 100) {
		_, _ = desk.Request(stepDownServer, nil, deskTime)
	}
}
