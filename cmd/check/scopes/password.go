package scopes

import (
	"encoding/json"
	"fmt"

	"github.com/restwarden/restwarden/cmd/check/testkit/client"
)

// NewPassword makes an application password with a name for a login, and returns it with its uuid. ask sends a call of the core as an
// administrator, and returns the body of the answer.
func NewPassword(ask func(method, route, query, body string) string, login, name string) (secret, uuid string, err error) {
	var users []struct {
		ID       int
		Username string
	}
	if err := json.Unmarshal([]byte(ask("GET", "/wp/v2/users", "context=edit&per_page=100", "")), &users); err != nil {
		return "", "", err
	}
	for _, u := range users {
		if u.Username == login {
			made := ask("POST", fmt.Sprintf("/wp/v2/users/%d/application-passwords", u.ID), "", fmt.Sprintf(`{"name":%q}`, name))
			secret, _ = client.At(made, "password").(string)
			uuid, _ = client.At(made, "uuid").(string)
		}
	}
	if uuid == "" {
		return "", "", fmt.Errorf("no password for %s", login)
	}
	return secret, uuid, nil
}
