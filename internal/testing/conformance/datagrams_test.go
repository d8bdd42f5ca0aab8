package conformance

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep/datagram"
)

// datagrams are datagrams of both directions.
func datagrams() []Built {
	c := func(id, verdict, about, digits string, rules ...string) Built {
		digits = strings.ReplaceAll(digits, " ", "")
		return Built{Case{ID: id, Kind: "datagram", File: "datagram/" + id + ".hex", Rules: rules, Verdict: verdict, About: about},
			[]byte("# " + about + "\n" + digits + "\n")}
	}
	ok := func(id, about, digits string, rules ...string) Built { return c(id, "ok", about, digits, rules...) }
	bad := func(id, about, digits string, rules ...string) Built {
		return c(id, "malformed", about, digits, rules...)
	}
	const (
		player = "01 01 00 00 90 " // number 1, no receipts
		host   = "02 01 00 00 "
		at     = player + "0a "               // records from position 10 on
		frame  = "95 03 01 01 02 c4 02 07 09" // with one command
		none   = host + "00 00 00 "           // nothing has arrived
		pairs  = "01 01 "
	)
	large := func(n int) string { return none + "01 01 c5" + fmt.Sprintf("%04x", n) + strings.Repeat("00", n) }
	return []Built{
		ok("datagram-player", "The datagram of a host on the page.", "01 cd012c cd012a cd0127 92 0c cd03e9 cd0410 02 "+frame+" cc82 930500cd1234 01", "D-form", "D-head", "D-player", "D-item"),
		ok("datagram-host", "The datagram of a client on the page.", "02 cd012b cd012c cd0122 cd0413 0c cd03e8 0c 02 c4020709 01 01 c400", "D-form", "D-head", "D-host"),
		ok("datagram-player-least", "Nothing but a number.", player+"00", "D-player"),
		ok("datagram-host-least", "A client that waits for a state.", none, "D-host"),
		ok("datagram-head-largest", "The largest numbers.", "02 ceffffffff ceffffffff ceffffffff 00 00 00", "D-head"),
		ok("datagram-receipts-most", "32 receipts.", "01 01 00 00 dc0040 "+strings.Repeat(pairs, 32)+"00", "D-player"),
		ok("datagram-host-largest", "The largest numbers of a host, with all 63 bits.", host+"cf7fffffffffffffff cf7fffffffffffffff ceffffffff", "D-host"),
		ok("datagram-window", "A run of 64 empty ticks.", at+"40", "D-window", "D-item"),
		ok("datagram-window-gap", "The last record is 63 positions after the first.", at+"01 ccbd "+frame, "D-window", "D-item"),
		ok("datagram-runs-apart", "A record stands between two runs.", at+"02 "+frame+" 02", "D-item"),
		ok("datagram-sequence-last", "The largest sequence, after one before.", none+"cefffffffe 01 c400 01 01 c400", "D-host"),
		ok("datagram-largest", "1,200 bytes.", large(1200-12), "D-form"),
		bad("datagram-too-large", "1,201 bytes.", large(1201-12), "D-form"),
		bad("datagram-empty", "No bytes.", "", "D-form"),
		bad("datagram-cut", "It ends inside a number.", "01 01 00 00 90 cd", "D-form"),
		bad("datagram-long-form", "A number that is not in its smallest form.", "01 cc01 00 00 90 00", "D-form"),
		bad("datagram-trailing", "A number alone where a command begins.", none+"01", "D-form"),
		bad("datagram-kind", "Kind 3.", "03 01 00 00 90 00", "D-head"),
		bad("datagram-number-zero", "Number 0.", "02 00 00 00 00 00 00", "D-head"),
		bad("datagram-count", "More numbers have arrived than were seen.", "02 01 02 03 00 00 00", "D-head"),
		bad("datagram-count-zero", "A number was seen, and none has arrived.", "02 01 02 00 00 00 00", "D-head"),
		bad("datagram-receipts-odd", "A receipt without a tick.", "01 01 00 00 91 01 00", "D-player"),
		bad("datagram-receipts-many", "33 receipts.", "01 01 00 00 dc0042 "+strings.Repeat(pairs, 33)+"00", "D-player"),
		bad("datagram-receipt-sequence", "A receipt of sequence 0.", "01 01 00 00 92 00 01 00", "D-player"),
		bad("datagram-receipt-tick", "A receipt of tick 0.", "01 01 00 00 92 01 00 00", "D-player"),
		bad("datagram-position-zero", "Records from position 0 on.", player+"00 "+frame, "D-player"),
		bad("datagram-position-without", "A position without records.", at, "D-player"),
		bad("datagram-position-large", "A position of 2^63.", player+"cf8000000000000000 01", "D-player"),
		bad("datagram-empty-tick", "A record of one empty tick as an array.", at+"92 04 01", "D-item"),
		bad("datagram-run-zero", "A run of 0 empty ticks.", at+"00", "D-item"),
		bad("datagram-run-long", "65 as an item.", at+"41", "D-item"),
		bad("datagram-two-runs", "Two runs follow each other.", at+"01 01", "D-item"),
		bad("datagram-gap-first", "A gap is first.", at+"cc80 01", "D-item"),
		bad("datagram-gap-last", "A gap is last.", at+"01 cc81", "D-item"),
		bad("datagram-two-gaps", "Two gaps follow each other.", at+"01 cc80 cc80 "+frame, "D-item"),
		bad("datagram-gap-none", "127 as an item.", at+"01 7f 01", "D-item"),
		bad("datagram-item-text", "A text as an item.", at+"a1 61", "D-item"),
		bad("datagram-record-cut", "The last record is cut.", at+frame[:len(frame)-3], "D-item"),
		bad("datagram-record-nested", "An array inside a record.", at+"92 05 91 01", "D-item"),
		bad("datagram-window-beyond", "A record 64 positions after the first.", at+"02 ccbd "+frame, "D-window"),
		bad("datagram-window-run", "A run of 64 empty ticks after a record.", at+frame+" 40", "D-window"),
		bad("datagram-above-zero", "Records above position 0.", host+"00 01 00", "D-host"),
		bad("datagram-tick-zero", "A tick at position 0.", host+"00 00 01", "D-host"),
		bad("datagram-above-large", "A bit of 64.", host+"01 cf8000000000000000 00", "D-host"),
		bad("datagram-sequence-zero", "A command of sequence 0.", none+"00 01 c400", "D-host"),
		bad("datagram-sequence-again", "Two commands of one sequence.", none+"05 01 c400 00 01 c400", "D-host"),
		bad("datagram-sequence-beyond", "A sequence beyond 32 bits.", none+"ceffffffff 01 c400 01 01 c400", "D-host"),
		bad("datagram-command-kind", "A kind of 65,536.", none+"01 ce00010000 c400", "D-host"),
		bad("datagram-payload-text", "A payload that is a text.", none+"01 01 a161", "D-host"),
	}
}

// runDatagram reads a file with one datagram. It is written back from its values, with the same bytes.
func runDatagram(text []byte) Result {
	lines, err := hexLines(text)
	if err != nil || len(lines) > 1 {
		return Result{Verdict: fmt.Sprintf("%d lines: %v", len(lines), err)}
	}
	var b, again []byte
	if len(lines) == 1 {
		b = lines[0].bytes
	}
	var (
		r    datagram.Reader
		w    datagram.Writer
		head *datagram.Head
	)
	facts := map[string]any{}
	if len(b) > 0 && b[0] == 2 {
		var d datagram.ToHost
		err = r.ToHost(&d, b)
		commands := []any{}
		for _, c := range d.Commands {
			commands = append(commands, map[string]any{"sequence": c.Sequence, "kind": int(c.Kind), "payload": hex.EncodeToString(c.Payload)})
		}
		head, facts["position"], facts["above"], facts["tick"] = &d.Head, strconv.FormatUint(uint64(d.Position), 10), strconv.FormatUint(d.Above, 10), d.Tick
		facts["commands"] = commands
		if err == nil {
			again = w.ToHost(nil, &d)
		}
	} else {
		var d datagram.ToPlayer
		err = r.ToPlayer(&d, b)
		receipts, records := []any{}, []any{}
		for _, c := range d.Receipts {
			receipts = append(receipts, map[string]any{"sequence": c.Sequence, "tick": c.Tick})
		}
		for _, c := range d.Records {
			records = append(records, map[string]any{"position": strconv.FormatUint(uint64(c.Position), 10), "record": hex.EncodeToString(c.Bytes)})
		}
		head, facts["receipts"], facts["records"] = &d.Head, receipts, records
		if err == nil {
			again = w.ToPlayer(nil, &d)
		}
	}
	if err != nil {
		return Result{Verdict: "malformed"}
	}
	if !bytes.Equal(again, b) {
		return Result{Verdict: fmt.Sprintf("written as %x", again)}
	}
	facts["number"], facts["seen"], facts["count"] = head.Number, head.Seen, head.Count
	return Result{"ok", facts}
}
