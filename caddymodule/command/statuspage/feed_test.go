package statuspage

import (
	"fmt"
	"testing"
)

func recordOf(site string, i int) object {
	o := object{}
	o.set("site", site)
	o.set("time", fmt.Sprintf("2026-03-01T12:%02d:%02d.%03dZ", i/60000, i/1000%60, i%1000))
	o.set("at", "Caddyfile:3")
	return o
}

// TestFeed_Flood: a page is told of the last refusals of a flood, and how many there were.
func TestFeed_Flood(t *testing.T) {
	t.Parallel()
	var f feed
	all, one := f.join(view{}), f.join(view{"a.example"})
	f.take(all)
	f.take(one)
	for i := range 5000 {
		f.send(recordOf([]string{"a.example", "b.example"}[i%2], i))
	}
	f.lose(7)
	got, own := f.take(all), f.take(one)
	if len(got.Records) != pendingRecords || got.Counts["a.example"] != 2500 || got.Counts["b.example"] != 2500 || got.Lost != 7 {
		t.Errorf("%d records, %v, %d lost", len(got.Records), got.Counts, got.Lost)
	}
	if newest := got.Records[len(got.Records)-1]; keyOf(newest) != keyOf(recordOf("b.example", 4999)) {
		t.Error(keyOf(newest))
	}
	if len(own.Records) != pendingRecords || len(own.Counts) != 1 || own.Lost != 0 || own.Records[0]["at"] != nil {
		t.Errorf("%d records, %v, %d lost", len(own.Records), own.Counts, own.Lost)
	}
	if len(f.recent) > 2*keptRecords {
		t.Errorf("%d are kept", len(f.recent))
	}
	f.leave(all)
	f.leave(one)
	f.send(recordOf("a.example", 1))
	if n := f.take(all); n.Records != nil {
		t.Error("a page that has left is told more")
	}
}

// TestFeed_Merge: what Caddy has kept and what came as an event are one record, in the order
// of time, however many digits a second has.
func TestFeed_Merge(t *testing.T) {
	t.Parallel()
	var f feed
	at := func(time string) object {
		o := recordOf("a.example", 0)
		o.set("time", time)
		return o
	}
	f.merge([]object{at("2026-03-01T12:00:00.123Z"), at("2026-03-01T12:00:00.12Z"), at("2026-03-01T12:00:01Z")})
	f.send(at("2026-03-01T12:00:02Z"))
	r := f.join(view{})
	f.take(r)
	f.merge([]object{at("2026-03-01T12:00:02Z"), at("2026-03-01T12:00:01.5Z"), at("2026-03-01T12:00:01Z")})
	var times []string
	for _, record := range f.recent {
		times = append(times, record.text("time")[17:])
	}
	if got := fmt.Sprint(times); got != "[00.12Z 00.123Z 01Z 01.5Z 02Z]" {
		t.Error(got)
	}
	if n := f.take(r); len(n.Records) != 1 || len(n.Counts) != 0 {
		t.Errorf("%+v", n)
	}
}

// sameBytes returns another text of base64 for the bytes of a token: the last character has
// bits that stand for nothing.
func sameBytes(token string) string {
	return token[:len(token)-1] + string(token[len(token)-1]+1)
}

// FuzzTokens: no text but the token of a view shows anything.
func FuzzTokens(f *testing.F) {
	seeds := tokens{[]byte("key")}
	for _, text := range []string{"", ".", "x", seeds.of(view{}), seeds.of(view{"a.example"}), "." + seeds.of(view{}), seeds.of(view{"a.example/blog"}) + "=", sameBytes(seeds.of(view{})), sameBytes(seeds.of(view{"a.example"})), seeds.of(view{}) + "\n"} {
		f.Add("key", text)
	}
	f.Fuzz(func(t *testing.T, key, text string) {
		tokens := tokens{[]byte(key)}
		if v, ok := tokens.view(text); ok != (tokens.of(v) == text) && ok {
			t.Errorf("%q shows %+v, whose token is %q", text, v, tokens.of(v))
		}
		if v, ok := tokens.view(tokens.of(view{text})); !ok || v.site != text {
			t.Errorf("%q: %+v, %v", text, v, ok)
		}
	})
}

// FuzzEvents: whatever comes as an event, a reader of one site sees records of that site
// alone, without what tells of the machine.
func FuzzEvents(f *testing.F) {
	for _, text := range []string{`{"site":"a.example","at":"Caddyfile:3","error":"dial"}`, `{"site":"b.example"}`, `{"lost":3}`, `{"site":["a.example"]}`, `{"Site":"a.example"}`, `null`, ``} {
		f.Add("", text)
		f.Add("lost", text)
	}
	f.Fuzz(func(t *testing.T, name, data string) {
		var feed feed
		r := feed.join(view{"a.example"})
		_ = feed.event(name, data, nil) // an error ends the connection
		for _, record := range feed.take(r).Records {
			if record.text("site") != "a.example" || record["at"] != nil || record["error"] != nil || record["imported"] != nil {
				t.Errorf("%s %s: %v", name, data, record)
			}
		}
	})
}
