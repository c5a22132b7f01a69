package monitoring

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// httpClient keeps no connections: a gateway that ends would wait for them.
var httpClient = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// prometheus is a running Prometheus.
type prometheus struct {
	tb  testing.TB
	url string
}

// startPrometheus runs Prometheus until the test ends, with the configuration that
// docs/operations.md shows: for the targets there the test's own, and a shorter interval.
func startPrometheus(tb testing.TB, targets []string) *prometheus {
	tb.Helper()
	config := strings.NewReplacer(
		"scrape_interval: 15s", "scrape_interval: 500ms\n  evaluation_interval: 500ms",
		"/etc/prometheus/restwarden/alerts.yml", filepath.Join(root(tb), alertsFile),
	).Replace(exampleConfig(tb))
	shown := target.FindAllString(config, -1)
	if len(shown) != len(targets) {
		tb.Fatalf("the example has %d targets, the test %d", len(shown), len(targets))
	}
	for i, address := range shown {
		config = strings.Replace(config, address, "["+targets[i]+"]", 1)
	}
	dir, address := tb.TempDir(), machine.FreeAddress(tb)
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		tb.Fatal(err)
	}
	running, err := machine.Start(dir, "prometheus", "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	if err != nil {
		tb.Fatal(fmt.Errorf("%w; `go run ./cmd/check` installs it, or: apt-get install prometheus", err))
	}
	tb.Cleanup(running.Stop)
	p := &prometheus{tb, "http://" + address}
	ready := func(ctx context.Context) error { _, err := get(ctx, p.url+"/-/ready"); return err }
	if err := running.Ready(tb.Context(), ready); err != nil {
		tb.Fatal(err)
	}
	return p
}

var (
	yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")
	target    = regexp.MustCompile(`\[[\w.]+:\d+\]`)
)

// exampleConfig is the configuration of Prometheus in docs/operations.md.
func exampleConfig(tb testing.TB) string {
	tb.Helper()
	m := yamlBlock.FindStringSubmatch(read(tb, "docs/operations.md"))
	if m == nil {
		tb.Fatal("docs/operations.md shows no configuration of Prometheus")
	}
	return m[1]
}

func get(ctx context.Context, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return "", err
	}
	res, err := httpClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", res.Status, text)
	}
	return string(text), err
}

// api asks the HTTP interface, and reads the member data of the answer into data.
func (p *prometheus) api(path string, parameters url.Values, data any) error {
	text, err := get(p.tb.Context(), p.url+"/api/v1/"+path+"?"+parameters.Encode())
	if err != nil {
		return err
	}
	answer := struct{ Data any }{data}
	return json.Unmarshal([]byte(text), &answer)
}

// sample is a series that an expression has now.
type sample struct {
	Metric map[string]string
	Value  [2]any // the time, and the value as text
}

func (s *sample) value() string { return fmt.Sprint(s.Value[1]) }

// query evaluates an expression now.
func (p *prometheus) query(expression string) ([]sample, error) {
	var data struct{ Result []sample }
	err := p.api("query", url.Values{"query": {expression}}, &data)
	return data.Result, err
}

// labels returns the labels that the series of a metric have, also those that have ended.
func (p *prometheus) labels(metric string) (map[string]bool, error) {
	var series []map[string]string
	err := p.api("series", url.Values{"match[]": {metric}}, &series)
	names := map[string]bool{}
	for _, s := range series {
		for name := range s {
			names[name] = true
		}
	}
	return names, err
}

// brokenRules returns the rules that Prometheus could not evaluate, and how many it could.
func (p *prometheus) brokenRules() (broken []string, good int) {
	p.tb.Helper()
	var data struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}
	if err := p.api("rules", nil, &data); err != nil {
		p.tb.Fatal(err)
	}
	for _, g := range data.Groups {
		for _, r := range g.Rules {
			if r.Health == "ok" {
				good++
			} else {
				broken = append(broken, r.Name+": "+r.Health+" "+r.LastError)
			}
		}
	}
	return broken, good
}

// metrics returns the names of the gateway's metrics, without the suffixes of histograms.
func (p *prometheus) metrics() ([]string, error) {
	var names []string
	if err := p.api("label/__name__/values", nil, &names); err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for _, name := range names {
		if strings.HasPrefix(name, "caddy_restwarden_") {
			all[metricOf(name)] = true
		}
	}
	return slices.Sorted(maps.Keys(all)), nil
}

var suffix = regexp.MustCompile(`_(bucket|sum|count)$`)

// metricOf is the metric that a series belongs to.
func metricOf(series string) string { return suffix.ReplaceAllString(series, "") }
