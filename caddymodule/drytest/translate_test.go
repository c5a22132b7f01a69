package drytest

import (
	"encoding/json"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// object is one of a configuration in JSON.
type object = map[string]any

// translated returns a configuration whose sites, files and upstreams are of this test.
// What decides on requests stays as it is.
func (c *running) translated(config []byte, to upstream) []byte {
	c.t.Helper()
	var root object
	if err := json.Unmarshal(config, &root); err != nil {
		c.t.Fatal(err)
	}
	root["admin"] = object{"listen": c.admin, "config": object{"persist": false}}
	root["storage"] = object{"module": "file_system", "root": filepath.Join(c.dir, "storage")}
	discard := object{"output": "discard"}
	root["logging"] = object{"logs": object{
		"default": object{"writer": discard, "level": "ERROR"},
		"access":  c.log("access.log", "http.log.access"), "records": c.log("records.log", "http.handlers.restwarden", "restwarden"),
	}}
	apps := root["apps"].(object)
	delete(apps, "restwarden") // a store that nobody runs
	apps["pki"] = object{"certificate_authorities": object{"local": object{"install_trust": false}}}
	apps["tls"] = object{"automation": object{"policies": []object{{"issuers": []object{{"module": "internal"}}, "on_demand": true}}}}
	web := apps["http"].(object)
	web["http_port"], web["https_port"] = c.port("80"), c.port("443")
	web["grace_period"] = "5s"
	for _, server := range web["servers"].(object) {
		c.translateServer(server.(object))
	}
	to.stand(web)
	text, err := json.Marshal(root)
	if err != nil {
		c.t.Fatal(err)
	}
	return text
}

// log is a log of what some loggers say.
func (c *running) log(file string, loggers ...string) object {
	return object{
		"writer":  object{"output": "file", "filename": filepath.Join(c.dir, file), "roll": false},
		"encoder": object{"format": "json"}, "include": loggers,
	}
}

// port returns the port of this test in place of one of the configuration.
func (c *running) port(of string) json.Number {
	if c.ports[of] == "" {
		c.ports[of] = machine.Port(machine.FreeAddress(c.t))
	}
	return json.Number(c.ports[of])
}

func (c *running) translateServer(server object) {
	var listen []string
	for _, address := range server["listen"].([]any) {
		_, port, err := net.SplitHostPort(address.(string))
		if err != nil {
			c.t.Fatal(err)
		}
		listen = append(listen, "127.0.0.1:"+c.port(port).String())
		c.listens[port] = true
		if port == "443" { // Caddy redirects to it
			c.listens["80"] = true
		}
	}
	server["listen"], server["protocols"] = listen, []string{"h1"}
	delete(server, "listener_wrappers")
	server["logs"] = object{}
	var appends []object
	for _, name := range []string{"kind", "outcome", "policy", "code", "caller", "method", "route", "rule", "at"} {
		appends = append(appends, object{"handler": "log_append", "key": name, "value": "{http.vars.restwarden." + name + "}"})
	}
	within := []object{server}
	if errs, ok := server["errors"].(object); ok { // the vars of a gateway among them count
		within = append(within, errs)
	}
	for _, o := range within {
		routes, _ := o["routes"].([]any)
		o["routes"] = slices.Concat([]any{object{"handle": appends}}, routes)
	}
}

// stand puts u in place of every upstream in a part of a configuration.
func (u upstream) stand(part any) {
	switch part := part.(type) {
	case []any:
		for _, child := range part {
			u.stand(child)
		}
	case object:
		if part["handler"] == "reverse_proxy" {
			address := u.http
			if transport, ok := part["transport"].(object); ok && transport["protocol"] == "fastcgi" {
				address = u.fastcgi
			}
			part["upstreams"] = []object{{"dial": address}}
			for _, asked := range []string{"dynamic_upstreams", "health_checks"} {
				delete(part, asked)
			}
		}
		for _, child := range part {
			u.stand(child)
		}
	}
}

// withRoots puts a directory in place of those that Caddyfiles of the docs name.
func withRoots(caddyfile, root string) string {
	return strings.NewReplacer("/srv/www", root, "/var/www/html", root).Replace(caddyfile)
}
