package examples

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
)

// engine answers what caddy-docker-proxy asks Docker for, as if the services of an example ran.
type engine struct {
	t       *testing.T
	project *types.Project

	mu     sync.Mutex
	labels map[string]types.Labels // by service
}

// container is what Docker lists of one.
type container struct {
	ID              string       `json:"Id"`
	Labels          types.Labels `json:"Labels"`
	NetworkSettings struct {
		Networks map[string]endpoint `json:"Networks"`
	} `json:"NetworkSettings"`
}

type endpoint struct{ NetworkID, IPAddress string }

// startEngine returns the address of an engine.
func startEngine(t *testing.T, project *types.Project) (e *engine, address string) {
	t.Helper()
	e = &engine{t: t, project: project, labels: map[string]types.Labels{}}
	for name, service := range project.Services {
		e.labels[name] = service.Labels
	}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	return e, server.Listener.Addr().String()
}

// ServeHTTP answers under any version of the interface.
func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, path, versioned := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v"), "/")
	if !strings.HasPrefix(r.URL.Path, "/v") || !versioned {
		path = strings.TrimPrefix(r.URL.Path, "/")
	}
	var answer any
	switch path {
	case "_ping":
		w.Header().Set("Api-Version", "1.44")
		return
	case "info":
		answer = struct{}{}
	case "networks":
		answer = e.networks()
	case "containers/json":
		answer = e.containers()
	case "events": // none: it asks now and then
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	default:
		e.t.Errorf("Docker is asked for %s", r.URL)
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		e.t.Error(err)
	}
}

func (e *engine) networks() (list []map[string]string) {
	for name := range e.project.Networks {
		list = append(list, map[string]string{"Name": e.project.Networks[name].Name, "Id": "id-of-" + name})
	}
	return list
}

func (e *engine) containers() (list []container) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, service := range e.project.Services {
		c := container{ID: name, Labels: e.labels[name]}
		c.NetworkSettings.Networks = map[string]endpoint{}
		for network := range service.Networks {
			c.NetworkSettings.Networks[e.project.Networks[network].Name] = endpoint{"id-of-" + network, "127.0.0.1"}
		}
		list = append(list, c)
	}
	return list
}

// label gives a service labels in place of those that it had.
func (e *engine) label(service string, labels types.Labels) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.labels[service] = labels
}
