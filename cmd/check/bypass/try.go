package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/restwarden/restwarden/cmd/check/grammar"
	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
)

// atOnce is how many requests are under way at once.
const atOnce = 4

// trial is one run: the two servers, and what the platform answers when it runs the call.
type trial struct {
	*settings
	proxy, platform *peer
	run             []byte // the answer, as plain writes it
}

var (
	errNotRun     = errors.New("the platform does not run the call")
	errNotAlike   = errors.New("the answer to the call cannot be told from others")
	errWritable   = errors.New("strangers may do more than read the route, or nothing says what they may: take another one")
	errNotOpen    = errors.New("the proxy does not pass the answer of the open route as it is, so that nothing would be known of the other one")
	errNotAgain   = errors.New("the platform answers the call in another way than before")
	documentedAt  = []string{"/?rest_route=", "/wp-json"}
	unrelatedPath = "/restwarden-nothing-is-here"
)

// try sends all requests to both servers.
func try(ctx context.Context, s *settings, proxy, platform *peer) (*report, error) {
	t := &trial{settings: s, proxy: proxy, platform: platform}
	if err := t.learn(ctx); err != nil {
		return nil, err
	}
	list, err := s.draw(platform.host)
	if err != nil {
		return nil, err
	}
	outcomes := make([]outcome, len(list))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, r := range list {
		group.Go(func() (err error) {
			outcomes[i], err = t.send(groupCtx, r)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, errors.Join(err, context.Cause(ctx))
	}
	before := t.run
	if err := t.learn(ctx); err != nil {
		return nil, err
	}
	if !bytes.Equal(before, t.run) {
		return nil, errNotAgain
	}
	return t.report(outcomes), nil
}

// outcome is what became of a request.
type outcome struct {
	request *grammar.Request
	run     bool // by the platform
	past    bool
}

// send sends a request to the platform itself and to the proxy.
func (t *trial) send(ctx context.Context, r *grammar.Request) (o outcome, err error) {
	bare, err := t.platform.send(ctx, r)
	if err != nil {
		return o, err
	}
	behind, err := t.proxy.send(ctx, r)
	past := t.ran(behind)
	return outcome{request: r, run: past || t.ran(bare), past: past}, err
}

// ran tells whether an answer is that of the call.
func (t *trial) ran(a rawhttp.Answer) bool {
	return a.Status == http.StatusOK && bytes.Equal(plain(a), t.run)
}

// plain is the body of an answer. Behind a proxy with TLS a site may write its own
// addresses with another scheme.
func plain(a rawhttp.Answer) []byte {
	return bytes.ReplaceAll(a.Body, []byte(`https:\/\/`), []byte(`http:\/\/`))
}

// learn asks the platform for the call, and that its answer can be told from others and
// comes through the proxy.
func (t *trial) learn(ctx context.Context) error {
	answer, err := t.platform.send(ctx, asking(documentedAt[0]+t.route))
	if err != nil {
		return err
	}
	if answer.Status != http.StatusOK || len(answer.Body) == 0 {
		return fmt.Errorf("%w: %d to GET %s", errNotRun, answer.Status, documentedAt[0]+t.route)
	}
	if !readOnly(answer) {
		return fmt.Errorf("%w: %s, Allow: %q", errWritable, t.route, answer.Header.Get("Allow"))
	}
	t.run = plain(answer)
	again, err := t.platform.send(ctx, asking(documentedAt[0]+t.route))
	if err != nil {
		return err
	}
	if !t.ran(again) {
		return fmt.Errorf("%w: it answers in another way each time", errNotAlike)
	}
	for _, target := range []string{"/", unrelatedPath, documentedAt[0] + unrelatedPath, documentedAt[0] + t.open} {
		other, err := t.platform.send(ctx, asking(target))
		if err != nil {
			return err
		}
		if bytes.Equal(plain(other), t.run) {
			return fmt.Errorf("%w: %s", errNotAlike, target)
		}
	}
	return t.passes(ctx)
}

// passes is that the open route runs behind the proxy as it does past it.
func (t *trial) passes(ctx context.Context) error {
	for _, form := range documentedAt {
		bare, err := t.platform.send(ctx, asking(form+t.open))
		if err != nil {
			return err
		}
		behind, err := t.proxy.send(ctx, asking(form+t.open))
		if err != nil {
			return err
		}
		if bare.Status == http.StatusOK && behind.Status == http.StatusOK && bytes.Equal(plain(bare), plain(behind)) {
			if !readOnly(bare) {
				return fmt.Errorf("%w: %s", errWritable, t.open)
			}
			return nil
		}
	}
	return fmt.Errorf("%w: %s", errNotOpen, t.open)
}

func asking(target string) *grammar.Request {
	return &grammar.Request{Method: http.MethodGet, Target: target}
}

// readOnly tells whether the platform says that the caller may only read a route.
func readOnly(a rawhttp.Answer) bool {
	allowed := a.Header.Get("Allow")
	for method := range strings.SplitSeq(allowed, ",") {
		switch strings.TrimSpace(method) {
		case http.MethodGet, http.MethodHead, http.MethodOptions:
		default:
			return false
		}
	}
	return true
}
