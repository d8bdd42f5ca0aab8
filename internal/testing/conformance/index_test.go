package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// An Index lists the cases of the suite.
type Index struct {
	Format int    `json:"format"` // 1
	Cases  []Case `json:"cases"`
}

// A Case is one file and the result that a reader must get.
type Case struct {
	ID      string         `json:"id"`   // also the file's base name
	Kind    string         `json:"kind"` // a key of runners
	File    string         `json:"file"` // relative to the index
	Rules   []string       `json:"rules"`
	Verdict string         `json:"verdict"`
	About   string         `json:"about"`            // one sentence
	Expect  map[string]any `json:"expect,omitempty"` // by kind; 64-bit numbers are text
}

// A Built is a case with the content of its file.
type Built struct {
	Case
	Content []byte
}

// A Result is a reader's result for a file.
type Result struct {
	Verdict string
	Expect  map[string]any
}

// runners are the readers of each kind of case.
var runners = map[string]func(file []byte) Result{
	"replay": runReplay,
	"record": runRecord,
	"schema": runSchema,

	"message":    runMessage,
	"transcript": runTranscript,

	"module":      runModule,
	"description": runDescription,
	"abi":         runModuleMessage,
	"recording":   runRecording,
	"datagram":    runDatagram,
	"view":        runView,
	"flight":      runFlight,
}

// builders return the cases of each part of the suite, without Expect.
var builders = []func() []Built{
	goodReplays, brokenContainers, brokenSegments, largeFiles, brokenTails, brokenLogs, brokenContents,
	goodRecords, brokenRecords, payloads,
	goodSchemas, brokenSchemas, brokenValues,
	goodMessages, brokenMessages,
	identitySessions, greetingSessions, seatSessions, commandSessions, limitSessions, checkSessions, flowSessions, matchSessions, viewSessions, datagramSessions, fakeDatagramSessions,
	clientSessions, fakeSessions, fakeSyncSessions,
	resultRecords, resultReplays,
	modules, descriptions, moduleMessages,
	goodRecordings, brokenRecordings, datagrams, views, flights,
}

// Build returns all cases and the text of their index. Expect comes from this
// implementation, the verdict from the builder.
func Build() ([]Built, []byte, error) {
	var all []Built
	for _, b := range builders {
		all = append(all, b()...)
	}
	index := Index{Format: 1}
	for i := range all {
		c := &all[i]
		run := runners[c.Kind]
		if run == nil {
			return nil, nil, fmt.Errorf("conformance: case %s: kind %q has no runner", c.ID, c.Kind)
		}
		c.Expect = run(c.Content).Expect
		slices.Sort(c.Rules)
		index.Cases = append(index.Cases, c.Case)
	}
	text, err := encodeIndex(&index)
	return all, text, err
}

// encodeIndex returns the text of an index, with short lines for readable diffs.
func encodeIndex(index *Index) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(index)
	return b.Bytes(), err
}

// ParseIndex reads the text of an index.
func ParseIndex(text []byte) (*Index, error) {
	var index Index
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(&index); err != nil {
		return nil, fmt.Errorf("conformance: index: %w", err)
	}
	if index.Format != 1 {
		return nil, fmt.Errorf("conformance: index: format: got %d, want 1", index.Format)
	}
	return &index, nil
}

// Check runs the cases of an index with this implementation. It returns a line for each
// difference.
func Check(index *Index, read func(file string) ([]byte, error)) []string {
	var wrong []string
	for _, c := range index.Cases {
		run := runners[c.Kind]
		file, err := read(c.File)
		if run == nil || err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: kind %s, file %s: %v", c.ID, c.Kind, c.File, err))
			continue
		}
		got := run(file)
		if got.Verdict != c.Verdict {
			wrong = append(wrong, fmt.Sprintf("%s: verdict: got %s (%s), want %s", c.ID, got.Verdict, factText(got.Expect), c.Verdict))
		} else if g, w := factText(got.Expect), factText(c.Expect); g != w {
			wrong = append(wrong, fmt.Sprintf("%s: got %s, want %s", c.ID, g, w))
		}
	}
	return wrong
}

// factText returns facts as one line of JSON.
func factText(facts map[string]any) string {
	if len(facts) == 0 {
		return "{}"
	}
	b, err := json.Marshal(facts)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
