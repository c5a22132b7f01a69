package statuspage

import (
	"encoding/json"
	"net/http"
	"time"
)

const (
	// pause is between two times that a page is told something: a flood of refusals must not
	// keep a browser busy.
	pause = 250 * time.Millisecond
	// beat is how often a page without news is sent a comment, so that a broken connection is
	// noticed.
	beat = 15 * time.Second
	// readPatience is how long a browser may take to receive what is written.
	readPatience = 10 * time.Second
)

// serveEvents sends what happens as server-sent events: "refusals" with news, and "caddy"
// with the reason why nothing comes, or "".
func (p *Page) serveEvents(w http.ResponseWriter, r *http.Request, v view) error {
	reader := p.feed.join(v)
	defer p.feed.leave(reader)
	w.Header().Set("Content-Type", "text/event-stream")
	s := stream{w, http.NewResponseController(w)}
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for s.write(": \n\n") {
		select {
		case <-reader.changed:
			if !s.tell(p.feed.take(reader), v) {
				return nil
			}
			select {
			case <-time.After(pause):
			case <-r.Context().Done():
			}
		case <-ticker.C:
		case <-r.Context().Done():
			return nil
		}
	}
	return nil // the browser is gone
}

// stream writes events to one browser. Its methods return false once the browser is gone.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (s stream) tell(n news, v view) bool {
	if n.state {
		if n.problem != "" && !v.all() { // it tells of the machine
			n.problem = errSilent.Error()
		}
		if !s.event("caddy", map[string]string{"problem": n.problem}) {
			return false
		}
	}
	return len(n.Records) == 0 && n.Lost == 0 || s.event("refusals", n)
}

func (s stream) event(name string, v any) bool {
	text, err := json.Marshal(v)
	return err == nil && s.write("event: "+name+"\ndata: "+string(text)+"\n\n")
}

func (s stream) write(text string) bool {
	_ = s.control.SetWriteDeadline(time.Now().Add(readPatience)) // what wraps the connection may have none
	_, err := s.w.Write([]byte(text))
	return err == nil && s.control.Flush() == nil
}
