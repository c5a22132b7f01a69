package gateway

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"golang.org/x/net/http/httpguts"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
)

// Operators says which proxies of the operators' own, in front of Caddy's admin endpoint, tell who an operator is.
type Operators struct {
	// Header is the header with the name of the operator.
	Header string `json:"header"`
	// From are where requests come from whose header counts: addresses and networks of proxies, "10.0.0.5", "10.0.1.0/24", and sockets on
	// which the endpoint listens, "unix//run/caddy/admin.sock".
	From []string `json:"from"`

	networks []netip.Prefix
	sockets  []string // paths
}

// configure reads the block of the global option.
func (o *Operators) configure(global policy.Option) error {
	if len(global.Args) > 0 {
		return global.Errorf("operators takes a block only")
	}
	err := global.Each(func(inner policy.Option) error {
		switch {
		case inner.Name != "header":
			return inner.Unknown("header")
		case len(inner.Args) < 3 || inner.Args[1] != "from" || len(inner.Block) > 0:
			return inner.Errorf("header: write a header, from, and addresses or sockets: header X-Operator from 10.0.0.5")
		}
		o.Header, o.From = inner.Args[0], inner.Args[2:]
		if err := o.provision(); err != nil {
			return inner.Errorf("%w", err)
		}
		return nil
	})
	if err == nil && o.Header == "" {
		err = global.Missing("needs header")
	}
	return err
}

// provision checks the options.
func (o *Operators) provision() error {
	switch {
	case !httpguts.ValidHeaderFieldName(o.Header):
		return fmt.Errorf("header: %q is no name of a header", o.Header)
	case strings.EqualFold(o.Header, adminapi.OperatorHeader):
		return fmt.Errorf("header: %s is what commands send by themselves (--operator)", adminapi.OperatorHeader)
	case !httpguts.ValidTrailerHeader(o.Header), strings.EqualFold(o.Header, "Upgrade"), strings.EqualFold(o.Header, "Origin"), decidesOn(o.Header):
		return fmt.Errorf("header: %s has another meaning", o.Header)
	case len(o.From) == 0:
		return errors.New("from: say where requests come from whose header counts")
	}
	o.networks, o.sockets = nil, nil
	for _, from := range o.From {
		if socket, ok := socketOf(from); ok {
			o.sockets = append(o.sockets, socket)
			continue
		}
		network, err := networkOf(from)
		if err != nil {
			return fmt.Errorf("from: %q is no address such as 10.0.0.5, no network such as 10.0.1.0/24, and no socket such as unix//run/caddy/admin.sock", from)
		}
		o.networks = append(o.networks, network)
	}
	return nil
}

// decidesOn tells whether a header is a credential for the platforms, or they decide on it.
func decidesOn(header string) bool {
	return slices.ContainsFunc(platforms.All(), func(p platforms.Platform) bool {
		return slices.Contains(policies.Deciding(&p, caller.Own{}, nil), http.CanonicalHeaderKey(header)) || caller.NewSite(p, caller.Own{}).IsCredential(header)
	})
}

// socketOf returns the path of a socket that is written as Caddy's admin has it. It is the one that a listener has.
func socketOf(from string) (path string, ok bool) {
	to, err := caddy.ParseNetworkAddress(from)
	if err != nil || to.Network != "unix" || strings.ContainsAny(from, "{}") {
		return "", false
	}
	path, _, _ = strings.Cut(to.Host, "|") // the permissions that the socket is made with
	return filepath.Clean(path), filepath.IsAbs(path) || strings.HasPrefix(path, "@") && len(path) > 1
}

var errNetwork = errors.New("not a network")

// networkOf reads an address, or a network that is written without bits beyond its length. A zone would name an interface of this machine.
func networkOf(from string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(from); err == nil && address.Zone() == "" {
		return address.Unmap().Prefix(address.Unmap().BitLen())
	}
	network, err := netip.ParsePrefix(from)
	if err == nil && (network != network.Masked() || network.Addr().Is4In6()) {
		err = errNetwork
	}
	return network, err
}

// of returns the name of the operator whom a request to the admin endpoint is from; "" if no proxy that is trusted tells one. The error says
// that the name is not certain.
func (o *Operators) of(r *http.Request) (string, error) {
	if o == nil || !o.trusts(r) {
		return "", nil
	}
	switch names := r.Header.Values(o.Header); {
	case len(names) > 1:
		return "", fmt.Errorf("the header %s is there %d times", o.Header, len(names))
	case len(names) == 0 || names[0] == "":
		return "", nil
	default:
		return names[0], adminapi.CheckOperator(names[0])
	}
}

// trusts tells whether a request comes from where its header counts.
func (o *Operators) trusts(r *http.Request) bool {
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && at.Network() == "unix" {
		return slices.Contains(o.sockets, filepath.Clean(at.String()))
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && slices.ContainsFunc(o.networks, func(n netip.Prefix) bool { return n.Contains(peer.Addr().Unmap().WithZone("")) })
}
