package condition

import (
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// parseNetwork reads a network in CIDR form.
func parseNetwork(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return netip.Prefix{}, fmt.Errorf("from %s: the mask is missing, %s/%d is this address alone", text, text, a.BitLen())
	}
	network, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return network, fmt.Errorf("from %s: not a network such as 203.0.113.0/24 or 2001:db8::/32", text)
	case network.Addr().Is4In6():
		return network, fmt.Errorf("from %s: write the network as one of IPv4", text)
	case network != network.Masked():
		return network, fmt.Errorf("from %s: bits behind the mask are set, the network is %s", text, network.Masked())
	}
	return network, nil
}

// hours are hours of the day in a zone. The zero value is all of them.
type hours struct {
	set      bool
	from, to int // minutes of the day; to is the first behind, and before from over midnight
	zone     *time.Location
}

// parseHours reads "08:00-18:00", with a zone of the IANA database behind it or without. "" is every hour.
func parseHours(text string) (hours, error) {
	if text == "" {
		return hours{}, nil
	}
	h := hours{set: true, zone: time.Local}
	span, zone, zoned := strings.Cut(text, " ")
	from, to, _ := strings.Cut(span, "-")
	var ok1, ok2 bool
	h.from, ok1 = minuteOf(from)
	h.to, ok2 = minuteOf(to)
	switch {
	case !ok1 || !ok2 || h.from == minutesOfDay:
		return h, fmt.Errorf("between %s: the hours are written as 08:00-18:00", text)
	case h.from == h.to:
		return h, fmt.Errorf("between %s: no time is between the two", text)
	}
	if zoned {
		var err error
		if h.zone, err = time.LoadLocation(zone); err != nil {
			return h, fmt.Errorf("between %s: this machine knows no zone %q, which is written as Europe/Berlin or UTC", text, zone)
		}
	}
	return h, nil
}

const minutesOfDay = 24 * 60

// minuteOf reads "08:00" as a minute of the day. "24:00" is its end.
func minuteOf(text string) (int, bool) {
	if text == "24:00" {
		return minutesOfDay, true
	}
	if len(text) != len("08:00") {
		return 0, false
	}
	t, err := time.Parse("15:04", text)
	return t.Hour()*60 + t.Minute(), err == nil
}

// has tells whether a moment is within the hours, by the clocks of the zone.
func (h *hours) has(now time.Time) bool {
	if !h.set {
		return true
	}
	now = now.In(h.zone)
	minute := now.Hour()*60 + now.Minute()
	if h.from < h.to {
		return h.from <= minute && minute < h.to
	}
	return minute >= h.from || minute < h.to
}
