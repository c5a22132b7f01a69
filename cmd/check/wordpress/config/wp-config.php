<?php
// The addresses follow the port that a request came in on: one install stands
// behind several gateways.
$standin_host = $_SERVER['HTTP_HOST'] ?? '127.0.0.1';
if ( 'https' === ( $_SERVER['HTTP_X_FORWARDED_PROTO'] ?? '' ) ) {
	$_SERVER['HTTPS'] = 'on';
}
define( 'WP_HOME', ( 'on' === ( $_SERVER['HTTPS'] ?? '' ) ? 'https://' : 'http://' ) . $standin_host . '{{.Base}}' );
define( 'WP_SITEURL', WP_HOME . '{{.Core}}' );
{{- if .Core}}
define( 'COOKIEPATH', '{{.Base}}{{.Core}}/' ); // login cookies for the install path only
{{- end}}

define( 'DB_NAME', '{{.Database}}' );
define( 'DB_USER', 'wordpress' );
define( 'DB_PASSWORD', 'wordpress' );
define( 'DB_HOST', 'localhost:{{.Socket}}' );
define( 'DB_CHARSET', 'utf8mb4' );
$table_prefix = '{{.Prefix}}';

foreach ( array( 'AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY', 'AUTH_SALT', 'SECURE_AUTH_SALT', 'LOGGED_IN_SALT', 'NONCE_SALT' ) as $standin_key ) {
	define( $standin_key, hash( 'sha256', $standin_key . '{{.Secret}}' ) );
}

define( 'WP_ENVIRONMENT_TYPE', 'local' ); // application passwords without TLS
define( 'WP_HTTP_BLOCK_EXTERNAL', true );
define( 'AUTOMATIC_UPDATER_DISABLED', true );
define( 'DISABLE_WP_CRON', true );
define( 'WP_MEMORY_LIMIT', '512M' );
define( 'FS_METHOD', 'direct' );
define( 'STANDIN_REPORTS', '{{.Reports}}' );

if ( ! defined( 'ABSPATH' ) ) {
	define( 'ABSPATH', __DIR__ . '/' );
}
require_once ABSPATH . 'wp-settings.php';
