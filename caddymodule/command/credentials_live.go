package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/command/curl"
	"github.com/restwarden/restwarden/caddymodule/command/siteroot"
	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// applicationPassword is one as the platform lists it. The list holds no secret.
type applicationPassword struct {
	UUID    string `json:"uuid"`
	Name    string `json:"name"`
	Created string `json:"created"`
	Used    string `json:"last_used,omitempty"`
	Address string `json:"last_ip,omitempty"`
}

// ownPasswords is what --live prints as JSON.
type ownPasswords struct {
	Version   int                   `json:"v"` // 1
	Passwords []applicationPassword `json:"passwords"`
}

// runLive lists the application passwords of a login. It returns the exit status.
func (l *accepter) runLive(cmd *cobra.Command, platform *platforms.Platform) (int, error) {
	header, err := curl.Headers(l.header, cmd.InOrStdin())
	switch {
	case err != nil:
		return exitUsage, err
	case len(header) == 0:
		return exitUsage, errors.New(`--live needs the login: -H "Authorization: Basic …", or -H @FILE, which no list of processes shows`)
	}
	root, err := siteroot.Fetch(cmd.Context(), l.live, platform.Prefix, header)
	if errors.Is(err, siteroot.ErrUsage) {
		return exitUsage, err
	}
	if err != nil {
		return exitUnknown, err
	}
	route := "/" + platform.Core + "/users/me/application-passwords"
	answer, err := root.Ask(cmd.Context(), route, url.Values{}, header)
	var own *ownPasswords
	if err == nil {
		own, err = passwordsIn(answer)
	}
	if err != nil {
		return exitUnknown, fmt.Errorf("%s: %w", route, err)
	}
	out := cmd.OutOrStdout()
	if err := show(out, l.format, own, (*ownPasswords).text); err != nil {
		return exitUsage, err
	}
	if len(own.Passwords) == 0 {
		return exitUnknown, errors.New("the login has no application passwords")
	}
	return 0, nil
}

// passwordsIn reads the list.
func passwordsIn(a *siteroot.Answer) (*ownPasswords, error) {
	var refusal struct {
		Code string `json:"code"`
	}
	_ = json.Unmarshal(a.Body, &refusal) // a page has none
	status := strings.TrimSpace(fmt.Sprintf("%d %s", a.Status, http.StatusText(a.Status)) + " " + refusal.Code)
	own := &ownPasswords{Version: 1, Passwords: []applicationPassword{}}
	switch {
	case a.Status == http.StatusUnauthorized, a.Status == http.StatusForbidden:
		return nil, fmt.Errorf("the site does not accept the login of -H, or the login may not list its passwords (%s)", status)
	case a.Status == http.StatusNotFound:
		return nil, fmt.Errorf("the site has no application passwords: an old release, or a plugin has taken them away (%s)", status)
	case a.Status == http.StatusNotImplemented:
		return nil, fmt.Errorf("application passwords are switched off, or the address is not https (%s)", status)
	case a.Status != http.StatusOK:
		return nil, fmt.Errorf("an answer that cannot be used (%s)", status)
	case json.Unmarshal(a.Body, &own.Passwords) != nil:
		return nil, errors.New("the answer is no list in JSON")
	}
	return own, nil
}

func (own *ownPasswords) text() string {
	rows := [][]string{{"UUID", "NAME", "CREATED", "LAST USED", "FROM"}}
	for _, p := range own.Passwords {
		rows = append(rows, []string{p.UUID, p.Name, p.Created, cmp.Or(p.Used, "never"), p.Address})
	}
	return terminal.Aligned("", rows)
}
