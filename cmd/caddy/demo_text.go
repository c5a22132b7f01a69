package main

import (
	_ "embed"
	"strconv"
	"strings"
	"text/template"

	"github.com/restwarden/restwarden/policies/call/platforms"
)

//go:embed demo.txt
var demoText string

var demoTemplate = template.Must(template.New("demo").Funcs(template.FuncMap{"list": list}).Parse(demoText))

// sections are the parts of the text that are printed on demand.
type sections struct{ Curl, Users, Caddyfile bool }

func list(ids []int) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.Itoa(id)
	}
	return strings.Join(words, ", ")
}

// shopWord is the shop's own word in a set of names: the namespace of its abilities.
func shopWord(platform string) string {
	names, _ := platforms.ByName(platform)
	shop, _, _ := strings.Cut(names.MCP, "/")
	return shop
}

// text returns the demo's output for people.
func (d *runningDemo) text() (string, error) {
	return d.render("demo")
}

// lines returns the shell lines of the text, and the comments between them.
func (d *runningDemo) lines() ([]string, error) {
	text, err := d.render("try")
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines, err
}

func (d *runningDemo) render(name string) (string, error) {
	names, _ := platforms.ByName(d.Platform)
	var out strings.Builder
	err := demoTemplate.ExecuteTemplate(&out, name, map[string]any{
		"Platform": d.Platform, "Release": d.Release, "Gateway": d.Gateway, "Backend": d.Backend, "Metrics": d.Metrics,
		"Base": d.Base, "Users": d.Users, "Orders": d.Orders, "Subscriptions": d.Subscriptions, "Products": d.Products,
		"Keys": d.Keys, "Routes": d.Routes, "Caddyfile": d.caddyfile,
		"Prefix": d.Prefix, "Core": names.Core, "Shop": names.Shop[2], "Checkout": names.Checkout,
		"Analytics": names.Analytics, "Admin": strings.TrimSuffix(names.Analytics, "analytics") + "admin", "Word": shopWord(d.Platform), "SMTP": d.smtp,
		"Show": d.show, "Socket": d.admin, "StatusPage": d.page,
	})
	return out.String(), err
}
