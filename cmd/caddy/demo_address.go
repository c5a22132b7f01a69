package main

import (
	"context"
	"net"
	"net/netip"
	"strconv"
)

// address is where a server of the demo listens; without a host, everywhere.
type address struct{ host, port string }

// listen listens on text, and returns the port that it got for port 0.
func listen(ctx context.Context, text string) (net.Listener, address, error) {
	host, _, err := net.SplitHostPort(text)
	if err != nil {
		return nil, address{}, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", text)
	if err != nil {
		return nil, address{}, err
	}
	return l, address{host, strconv.Itoa(l.Addr().(*net.TCPAddr).Port)}, nil
}

// freeAddress returns text with a port that is free now. A port in use is an error: Caddy
// would share it with its owner without a message.
func freeAddress(ctx context.Context, text string) (address, error) {
	l, a, err := listen(ctx, text)
	if err != nil {
		return a, err
	}
	return a, l.Close()
}

// site returns the beginning of a site block that answers any Host at this address.
func (a address) site() string {
	begin := "http://:" + a.port + " {"
	if a.host == "" {
		return begin
	}
	return begin + "\n\tbind " + a.host
}

// dial returns host and port for a client on this machine.
func (a address) dial() string {
	host := a.host
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, a.port)
}
