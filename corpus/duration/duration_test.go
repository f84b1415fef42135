package duration

import (
	"errors"
	"testing"
	"time"

	"example.org/textscan"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		text string
		want time.Duration
	}{
		{"0s", 0},
		{"1h30m", 90 * time.Minute},
		{"90 min", 90 * time.Minute},
		{"2 Tage", 48 * time.Hour},
		{"1.5h", 90 * time.Minute},
		{"3µs", 3 * time.Microsecond},
		{"1w 1d", 8 * 24 * time.Hour},
	} {
		got, err := Parse(test.text)
		if err != nil || got != test.want {
			t.Errorf("Parse(%q) = %v, %v; want %v", test.text, got, err, test.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	if _, err := Parse("  "); !errors.Is(err, ErrEmpty) {
		t.Errorf("blank text: %v", err)
	}
	var syntax *SyntaxError
	if _, err := Parse("1h 5 parsecs"); !errors.As(err, &syntax) || syntax.Offset != 5 {
		t.Errorf("unknown unit: %v", err)
	}
}

func TestParseDurationStopsAtEnd(t *testing.T) {
	d, err := parseDuration(textscan.New("1h "))
	if err != nil || d != time.Hour {
		t.Errorf("parseDuration = %v, %v", d, err)
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add(int64(90 * time.Minute))
	f.Fuzz(func(t *testing.T, n int64) {
		if n < 0 {
			t.Skip()
		}
		got, err := Parse(Format(time.Duration(n)))
		if err != nil || int64(got) != n {
			t.Errorf("%d came back as %d, %v", n, got, err)
		}
	})
}
