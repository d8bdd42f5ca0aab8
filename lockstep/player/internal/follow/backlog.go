package follow

// A backlog is a queue of bytes: the records that have arrived and are yet to be run.
type backlog struct {
	buf  []byte
	head int
}

// keepBacklog is how much memory an empty backlog keeps.
const keepBacklog = 64 << 10

func (q *backlog) len() int { return len(q.buf) - q.head }

// bytes returns the content of the queue. It is valid until the next push.
func (q *backlog) bytes() []byte { return q.buf[q.head:] }

func (q *backlog) push(b []byte) {
	if q.head > 0 && q.head >= len(q.buf)/2 {
		q.buf = q.buf[:copy(q.buf, q.buf[q.head:])]
		q.head = 0
	}
	q.buf = append(q.buf, b...)
}

func (q *backlog) pop(n int) {
	q.head += n
	if q.head == len(q.buf) {
		q.clear()
	}
}

func (q *backlog) clear() {
	q.buf, q.head = q.buf[:0], 0
	if cap(q.buf) > keepBacklog {
		q.buf = nil
	}
}
