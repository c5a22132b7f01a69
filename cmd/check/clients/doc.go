// Package clients tries the gateway with the library that programs use for a shop's REST
// interface, @woocommerce/woocommerce-rest-api: its sessions come out the same with the gateway
// and without. Its tests need the build tag clients, Node.js and npm. The libraries for the
// platform itself run in front of WordPress, in the package wordpress.
package clients
