package storage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/storage"
)

// An attempt tries to change what the storage has.
type attempt struct {
	name  string
	do    func(context.Context, *storage.Conn) error
	may   []storage.Role // for whom it works
	quiet bool           // the storage gives no error, but does nothing; or the attempt does not ask
}

// target is the subject of a log, in which other matches than those of the test are.
const target = "samestep.log.1.0000"

// answer lets the storage send its answer to the subject of a log.
func answer(subject string, body []byte) func(context.Context, *storage.Conn) error {
	return func(_ context.Context, c *storage.Conn) error {
		if err := c.NATS.PublishRequest(subject, target, body); err != nil {
			return err
		}
		return c.NATS.Flush()
	}
}

// deliver makes a consumer that delivers the messages of a stream to the subject of a log.
func deliver(stream, filter, acks string) func(context.Context, *storage.Conn) error {
	return func(ctx context.Context, c *storage.Conn) error {
		body, err := json.Marshal(map[string]any{"stream_name": stream, "action": "create", "config": map[string]any{
			"name": "thief", "deliver_policy": "all", "ack_policy": acks, "deliver_subject": target, "filter_subject": filter,
		}})
		if err != nil {
			return err
		}
		return request(ctx, c, fmt.Sprintf("$JS.API.CONSUMER.CREATE.%s.thief.%s", stream, filter), body)
	}
}

// request sends a request of JetStream, and returns the error of its answer.
func request(ctx context.Context, c *storage.Conn, subject string, body []byte) error {
	m, err := c.NATS.RequestWithContext(ctx, subject, body)
	if err != nil {
		return err
	}
	var a struct{ Error *jetstream.APIError }
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return err
	}
	if a.Error != nil {
		return a.Error
	}
	return nil
}

func api(subject string) func(context.Context, *storage.Conn) error {
	return func(ctx context.Context, c *storage.Conn) error { return request(ctx, c, subject, nil) }
}

// passedOn sends a request that a node alone refuses, once it has come to the storage.
func passedOn(subject string) func(context.Context, *storage.Conn) error {
	return func(ctx context.Context, c *storage.Conn) error {
		err := request(ctx, c, subject, []byte(`{"peer_id": "nobody"}`))
		if errors.As(err, new(*jetstream.APIError)) {
			return nil
		}
		return err
	}
}

func publishTo(subject string) func(context.Context, *storage.Conn) error {
	return func(ctx context.Context, c *storage.Conn) error {
		_, err := c.JS.Publish(ctx, subject, []byte("forged"), jetstream.WithRetryAttempts(0))
		return err
	}
}

var (
	server       = []storage.Role{storage.ServerRole}
	serverAnd    = []storage.Role{storage.ServerRole, storage.OperatorRole}
	operatorOnly = []storage.Role{storage.OperatorRole}
	workerOnly   = []storage.Role{storage.WorkerRole}
)

var attempts = []attempt{
	{"append to a log", publishTo(target), server, false},
	{"write a lease", publishTo("$KV.samestep-servers.a-000000"), server, false},
	{"delete a lease", func(ctx context.Context, c *storage.Conn) error {
		m := nats.NewMsg("$KV.samestep-servers.a-000000")
		m.Header.Set("KV-Operation", "DEL")
		_, err := c.JS.PublishMsg(ctx, m, jetstream.WithRetryAttempts(0))
		return err
	}, server, false},
	{"change the directory", publishTo("$KV.samestep-matches.duel"), server, false},
	{"purge a log", api("$JS.API.STREAM.PURGE.samestep-log-0"), server, false},
	{"write a replay", publishTo("$O.samestep-replays.C.forged"), serverAnd, false},
	{"remove replays", api("$JS.API.STREAM.PURGE.OBJ_samestep-replays"), serverAnd, false},
	{"submit a job", publishTo("samestep.jobs.forged"), operatorOnly, false},
	{"remove jobs", api("$JS.API.STREAM.PURGE.samestep-jobs"), operatorOnly, false},
	{"remove results", api("$JS.API.STREAM.PURGE.KV_samestep-results"), operatorOnly, false},
	{"look at the nodes", api("samestep.storage.nodes"), serverAnd, false},
	{"remove a node", passedOn("samestep.storage.remove"), operatorOnly, false},
	{"drain a node", passedOn("samestep.storage.drain"), operatorOnly, false},
	{"remove a node by itself", passedOn("$JS.API.SERVER.REMOVE"), nil, false},
	{"move a stream", passedOn("$JS.API.STREAM.PEER.EVACUATE.samestep-log-0"), operatorOnly, false},
	{"write a result", publishTo("$KV.samestep-results.forged"), workerOnly, false},
	{"deliver a log to another", deliver("samestep-log-0", "samestep.log.0.>", "none"), nil, false},
	{"lift a ban", publishTo("$KV.samestep-denied.bans-1"), server, false},
	{"deliver the directory to a log", deliver("KV_samestep-matches", "$KV.samestep-matches.>", "none"), serverAnd, false},
	{"deliver jobs to a log", deliver("samestep-jobs", "samestep.jobs.other", "explicit"), operatorOnly, false},

	// What an answer to another subject could do. Servers and operators share an account with the logs.
	{"answer to a log: the account", answer("$JS.API.INFO", nil), serverAnd, true},
	{"answer to a log: a stream", answer("$JS.API.STREAM.INFO.samestep-log-0", nil), serverAnd, true},
	{"answer to a log: a message", answer("$JS.API.STREAM.MSG.GET.samestep-log-0", []byte(`{"seq":1}`)), serverAnd, true},
	{"answer to a log: messages", answer("$JS.API.DIRECT.GET.samestep-log-0", []byte(`{"seq":1,"batch":9,"next_by_subj":"samestep.log.0.>"}`)), serverAnd, true},
	{"answer to a log: an entry", answer("$JS.API.DIRECT.GET.KV_samestep-matches", []byte(`{"seq":1}`)), serverAnd, true},
	{"answer to a log: a replay", answer("$JS.API.DIRECT.GET.OBJ_samestep-replays", []byte(`{"seq":1}`)), serverAnd, true},
	{"answer to a log: a job", answer("$JS.API.CONSUMER.MSG.NEXT.samestep-jobs.farm-build", []byte("1")), nil, true},

	{"delete a bucket", api("$JS.API.STREAM.DELETE.KV_samestep-matches"), nil, false},
	{"delete a stream", api("$JS.API.STREAM.DELETE.samestep-log-0"), nil, false},
	{"delete a message", func(ctx context.Context, c *storage.Conn) error {
		return request(ctx, c, "$JS.API.STREAM.MSG.DELETE.samestep-log-0", []byte(`{"seq":1}`))
	}, nil, false},
	{"change a stream", api("$JS.API.STREAM.UPDATE.samestep-log-0"), nil, false},
	{"make another stream", api("$JS.API.STREAM.CREATE.other"), nil, false},
	{"list the streams", api("$JS.API.STREAM.NAMES"), nil, false},
	{"restore a stream", api("$JS.API.STREAM.RESTORE.other"), nil, false},
	{"publish elsewhere", publishTo("elsewhere"), nil, false},
}

// subscriptions are refused to every role: nobody sees records before they are stored, nor the answers to others.
var subscriptions = []string{">", "samestep.log.>", "$KV.>", "$JS.API.>", "$SYS.>", "$JS.EVENT.>"}

// fill stores a message in each stream.
func fill(t *testing.T, s *secured) {
	t.Helper()
	ctx := within(t, 20*time.Second)
	for role, subjects := range map[storage.Role][]string{
		storage.ServerRole: {"samestep.log.0.1111", "$KV.samestep-matches.duel", "$KV.samestep-servers.a-000000", "$KV.samestep-denied.bans-1"}, storage.WorkerRole: {"$KV.samestep-results.x"},
	} {
		c := s.dial(t, role)
		for _, subject := range subjects {
			if err := publishTo(subject)(ctx, c); err != nil {
				t.Fatal(subject, err)
			}
		}
	}
	submit(t, s.dial(t, storage.OperatorRole), "one")
}

// refusable returns a context that ends after a time, or soon after the server has said that it refuses something: then no
// answer comes.
func refusable(t *testing.T, d time.Duration, violations <-chan struct{}) context.Context {
	t.Helper()
	for len(violations) > 0 {
		<-violations // of an earlier attempt that did not wait for it
	}
	ctx, cancel := context.WithCancel(within(t, d))
	go func() {
		defer cancel()
		select {
		case <-violations:
			time.Sleep(20 * time.Millisecond)
		case <-ctx.Done():
		}
	}()
	return ctx
}

// Each role can do what its row says, and nothing that another role's row says.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, role := range storage.Roles {
		t.Run(string(role), func(t *testing.T) {
			t.Parallel()
			s := newSecured(t)
			fill(t, s)
			look, c := s.dial(t, storage.ServerRole), s.dial(t, role)
			violations := make(chan struct{}, 100)
			c.NATS.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
				if errors.Is(err, nats.ErrPermissionViolation) {
					violations <- struct{}{}
				}
			})
			for _, a := range attempts {
				may := slices.Contains(a.may, role)
				before := contents(t, look)
				limit := 250 * time.Millisecond
				if may {
					limit = 5 * time.Second
				}
				err := a.do(refusable(t, limit, violations), c)
				changed := func() bool { return !maps.Equal(before, contents(t, look)) }
				if may && !a.quiet {
					if err != nil {
						t.Errorf("%s: refused: %v", a.name, err)
					}
					continue
				}
				if !may && !a.quiet && err == nil {
					t.Errorf("%s: not refused", a.name)
				}
				if may { // the control: this is why the role must be trusted
					for deadline := time.Now().Add(5 * time.Second); !changed(); time.Sleep(5 * time.Millisecond) {
						if time.Now().After(deadline) {
							t.Errorf("%s: nothing changed; is the row still right?", a.name)
							break
						}
					}
					continue
				}
				time.Sleep(30 * time.Millisecond)
				if changed() {
					t.Errorf("%s: the storage has changed: got %v, want %v", a.name, contents(t, look), before)
				}
			}
			refused := make(chan string, len(subscriptions))
			c.NATS.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
				if strings.Contains(err.Error(), "Subscription to") {
					refused <- err.Error()
				}
			})
			for _, subject := range subscriptions {
				if _, err := c.NATS.SubscribeSync(subject); err != nil {
					t.Fatal(err)
				}
				select {
				case text := <-refused:
					if !strings.Contains(text, strconv.Quote(subject)) {
						t.Errorf("subscribing to %s: got %s", subject, text)
					}
				case <-time.After(2 * time.Second):
					t.Errorf("subscribing to %s: not refused", subject)
				}
			}
		})
	}
}

// Nobody connects without a key, or with one that is not in the list.
func TestStrangers(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	if _, err := storage.Dial(s.node.URL(), storage.DialOptions{Name: "nobody"}); err == nil {
		t.Error("connected without a key")
	}
	if _, err := storage.Dial(s.node.URL(), storage.DialOptions{Name: "nobody", User: "server", Password: "server"}); err == nil {
		t.Error("connected with a password")
	}
	other := newSecured(t)
	s.seeds[storage.ServerRole] = other.seeds[storage.ServerRole]
	if _, err := storage.Dial(s.node.URL(), storage.DialOptions{Name: "nobody", Seed: s.seeds[storage.ServerRole]}); err == nil {
		t.Error("connected with the key of another cluster")
	}
}
