//go:build !js

package watch

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/parts"
)

var styles = regexp.MustCompile("\x1b\\[[0-9;]*m")

// A fakeSight returns a fixed report or error.
type fakeSight struct {
	report *parts.Report
	err    error
}

func (s *fakeSight) look(context.Context) (*parts.Report, error) { return s.report, s.err }

func manyRows(n int) *parts.Report {
	r := &parts.Report{Title: "title", Facts: []parts.Fact{{Name: "tick", Value: "7"}, {Name: "checksums", Value: "1 differed", Wrong: true}}, Line: "line"}
	r.Columns = []string{"player", "rate"}
	for i := range n {
		r.Rows = append(r.Rows, []string{fmt.Sprintf("row%02d", i), strings.Repeat("█", 40)})
	}
	return r
}

// The screen fits the terminal and follows the keys.
func TestWatchScreen(t *testing.T) {
	s := &fakeSight{report: manyRows(30)}
	m := &screen{ctx: t.Context(), Watching: parts.Watching{Look: s.look, Every: time.Hour}}
	press := func(key string) tea.Cmd {
		k := tea.KeyPressMsg{Text: key}
		switch key {
		case "down":
			k = tea.KeyPressMsg{Code: tea.KeyDown}
		case "up":
			k = tea.KeyPressMsg{Code: tea.KeyUp}
		}
		_, cmd := m.Update(k)
		return cmd
	}
	m.Update(tea.WindowSizeMsg{Width: 50, Height: 20})
	if !strings.Contains(m.draw(), "looking") {
		t.Errorf("before the first look: %q", m.draw())
	}
	m.Update(m.Init()())
	shows := func(what string, rows ...string) {
		t.Helper()
		text := styles.ReplaceAllString(m.draw(), "")
		lines := strings.Split(text, "\n")
		if len(lines) > m.height {
			t.Errorf("%s: %d lines on a screen of %d", what, len(lines), m.height)
		}
		for _, line := range lines {
			if lipgloss.Width(line) > m.width {
				t.Errorf("%s: a line of %d characters on a screen of %d: %q", what, lipgloss.Width(line), m.width, line)
			}
		}
		for _, row := range rows {
			if want := !strings.HasPrefix(row, "!"); strings.Contains(text, strings.TrimPrefix(row, "!")) != want {
				t.Errorf("%s: want %s in\n%s", what, row, text)
			}
		}
	}
	shows("at first", "title", "1 differed", "row00", "!row20", "more", "q quit")
	for range 5 {
		press("down")
	}
	shows("scrolled", "!row04", "row05")
	for range 50 {
		press("j")
	}
	shows("scrolled to the end", "row29", "!row10")
	for range 60 {
		press("up")
	}
	shows("scrolled back", "row00")
	for _, size := range []tea.WindowSizeMsg{{Width: 10, Height: 8}, {Width: 20, Height: 12}, {Width: 300, Height: 100}} {
		m.Update(size)
		shows(fmt.Sprint(size))
	}
	press("p")
	s.report = manyRows(2)
	m.Update(m.look())
	shows("paused", "row29", "paused")
	press("p")
	m.Update(m.look())
	shows("going on", "!row29", "row01")
	s.err = fmt.Errorf("%w: no route", parts.ErrUnseen)
	if _, cmd := m.Update(m.look()); cmd == nil || m.fatal != nil {
		t.Error("a look that failed is the last one")
	}
	shows("unseen", "row01", "no route")
	s.err = nil
	s.report.Over = true
	if _, cmd := m.Update(m.look()); cmd != nil {
		t.Error("looks on after the end")
	}
	shows("over", "the match is over")
	for _, key := range []string{"q"} {
		if cmd := press(key); cmd == nil || cmd() != tea.Quit() {
			t.Errorf("%s does not quit", key)
		}
	}
	s.err = errors.New("damaged")
	if _, cmd := m.Update(m.look()); cmd == nil || cmd() != tea.Quit() || m.fatal == nil {
		t.Error("the program runs on with nothing to show")
	}
	if v := m.View(); !v.AltScreen || v.Content == "" {
		t.Error("nothing is drawn")
	}
}
