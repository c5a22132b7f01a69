package admin

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
)

const (
	// eventsBeat is how often a follower without news is sent a comment, so that a broken
	// connection is noticed.
	eventsBeat = 15 * time.Second
	// eventsPatience is how long a follower may take to receive what is written.
	eventsPatience = 10 * time.Second
)

// serveEvents answers GET events: server-sent events, one for each refusal.
// They go on across reloads and end when Caddy stops.
func serveEvents(w http.ResponseWriter, r request) error {
	followers := r.gateways.Followers()
	f, err := followers.Follow()
	if err != nil {
		return failed(http.StatusServiceUnavailable, err)
	}
	defer followers.Leave(f)
	stream, err := newEventStream(w, r.Request)
	defer stream.end()
	beat := time.NewTicker(eventsBeat)
	defer beat.Stop()
	for err == nil {
		select {
		case rec := <-f.Records():
			err = stream.event("", rec)
		case <-beat.C:
			err = stream.write(": nothing new\n\n")
		case <-f.Ended():
			return nil
		case <-stream.gone:
			return nil
		}
		if lost := f.Lost(); err == nil && lost > 0 {
			err = stream.event(adminapi.EventLost, adminapi.Lost{Lost: lost})
		}
	}
	return nil // the follower is gone
}

// eventStream writes events to one client.
type eventStream struct {
	gone     <-chan struct{}
	out      *bufio.Writer
	deadline func(time.Time) error
	flush    func() error
	end      func()
}

// newEventStream begins the answer; its error means that the client is gone. Where it can, it takes the connection over: a reload
// replaces the server of the admin endpoint, and waits for the answers of the old one.
func newEventStream(w http.ResponseWriter, r *http.Request) (*eventStream, error) {
	const head = "Content-Type: text/event-stream\r\nCache-Control: no-store\r\n"
	control := http.NewResponseController(w)
	if r.ProtoMajor == 1 {
		if conn, rw, err := control.Hijack(); err == nil {
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				_, _ = io.Copy(io.Discard, rw) // ends with the connection
			}()
			s := &eventStream{gone: gone, out: bufio.NewWriter(conn), deadline: conn.SetWriteDeadline, end: func() { _ = conn.Close() }}
			s.flush = s.out.Flush
			return s, s.write("HTTP/1.1 200 OK\r\n" + head + "Connection: close\r\n\r\n")
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	_ = control.SetReadDeadline(time.Time{}) // the server's would end the answer
	s := &eventStream{gone: r.Context().Done(), out: bufio.NewWriter(w), deadline: control.SetWriteDeadline, end: func() {}}
	s.flush = func() error {
		if err := s.out.Flush(); err != nil {
			return err
		}
		return control.Flush()
	}
	w.WriteHeader(http.StatusOK)
	return s, s.flush()
}

func (s *eventStream) event(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if name != "" {
		name = "event: " + name + "\n"
	}
	return s.write(name + "data: " + string(text) + "\n\n")
}

func (s *eventStream) write(text string) error {
	_ = s.deadline(time.Now().Add(eventsPatience)) // what wraps the connection may have none
	if _, err := s.out.WriteString(text); err != nil {
		return err
	}
	return s.flush()
}
