package main

import "fmt"

// writeCaddyfile returns the Caddyfile of the demo. Only this user reaches its admin
// endpoint, all that Caddy stores goes into dir, and it logs nothing but errors.
func (d *runningDemo) writeCaddyfile(gateway, metrics address, backend, dir string) string {
	baseLine := "# at the root of the address: no base"
	if d.Base != "" {
		baseLine = "base " + d.Base
	}
	return fmt.Sprintf(`{
	admin %[11]q
	persist_config off
	storage file_system %[12]q
	storage_check off
	storage_clean_interval off
	auto_https off
	metrics
	servers {
		# only programs of this machine are in front
		trusted_proxies static 127.0.0.1 ::1
	}
	log {
		level ERROR
	}
}

%[1]s
	restwarden %[2]s {
		%[3]s
		login_only
		allow anyone POST %[4]s
		allow anyone POST %[5]s
		allow signed cookie_plugin,cookie_plugin_request %[6]s
		abilities {
			allow readonly %[10]s/*
			allow resource shop://*
		}
		signature cookie_plugin {
			key       %[7]q
			tolerance 5m
		}
		signature cookie_plugin_request {
			scheme    request
			once
			key       %[7]q
			tolerance 5m
		}
	}
	reverse_proxy %[8]s
}

%[9]s
	metrics /metrics
}
`, gateway.site(), d.Platform, baseLine, d.Routes.Consent, d.Routes.Notify, d.Routes.StoreAuth,
		d.Keys.CookiePlugin, backend, metrics.site(), shopWord(d.Platform), d.admin, dir)
}
