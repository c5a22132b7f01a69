//go:build wordpress && !frankenphp

package wordpress

import "context"

// Without the build tag frankenphp no site is served by FrankenPHP: docs/project/wordpress.md says
// what the tag needs.

func frankenSites() []*site { return nil }

func (*stack) startFrankenPHP(context.Context) error { return nil }
