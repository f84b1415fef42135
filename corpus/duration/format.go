package duration

import (
	"strconv"
	"strings"
	"time"
)

// Format writes d with the largest units first and without zero parts; zero itself is "0s".
func Format(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	var b strings.Builder
	if d < 0 {
		b.WriteByte('-')
		d = -d
	}
	for unit := Week; unit >= Nanosecond; unit-- {
		if n := d / unit.Length(); n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10))
			b.WriteString(unit.String())
			d -= n * unit.Length()
		}
	}
	return b.String()
}
