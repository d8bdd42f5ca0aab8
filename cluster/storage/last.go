package storage

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Last returns the last message of the log of a match and its sequence. The error is [jetstream.ErrMsgNotFound] if the log is
// empty. The node that leads the stream answers, so the answer is not older than any append that was acknowledged before.
// The client's own call asks any copy.
func (c *Conn) Last(ctx context.Context, id lockstep.MatchID) (sequence uint64, message []byte, err error) {
	stream, subject := c.LogOf(id)
	return c.last(ctx, stream, subject)
}

// last returns the last message of a subject, as Last does.
func (c *Conn) last(ctx context.Context, stream, subject string) (sequence uint64, message []byte, err error) {
	body, err := json.Marshal(map[string]string{"last_by_subj": subject})
	if err != nil {
		panic(err) // texts only
	}
	answer, err := c.NATS.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+stream, body)
	if err != nil {
		return 0, nil, fmt.Errorf("storage: the end of %s: %w", subject, err)
	}
	var a struct {
		Error   *jetstream.APIError
		Message struct {
			Seq  uint64
			Data []byte
		}
	}
	switch err := json.Unmarshal(answer.Data, &a); {
	case err != nil:
		return 0, nil, fmt.Errorf("storage: the end of %s: %w", subject, err)
	case a.Error != nil && a.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return 0, nil, jetstream.ErrMsgNotFound
	case a.Error != nil:
		return 0, nil, fmt.Errorf("storage: the end of %s: %w", subject, a.Error)
	}
	return a.Message.Seq, a.Message.Data, nil
}
