<?php
/**
 * Keys of the stand-in shop (docs/platform III.8). The shop takes a key as it is over TLS,
 * and a signature by OAuth 1 anywhere.
 */

/** Keys and their secrets; all act for an administrator. */
const STANDIN_KEYS = array( 'ck_standin' => 'cs_standin', 'ck_signs' => 'cs_signs' );

/** A key that counts over plain http too, for checks that are about something else. */
const STANDIN_KEY = 'ck_standin:cs_standin';

// The shop takes a request for its own by the raw text in the URI: its namespaces,
// and those of plugins for it.
function standin_is_shop() {
	return 1 === preg_match( '#wp-json/wc[/-]#', $_SERVER['REQUEST_URI'] ?? '' );
}

/** A key as the shop looks for it; '' for an unknown one. */
function standin_cleaned( $sent ): string {
	$key = is_string( $sent ) ? sanitize_text_field( wp_unslash( $sent ) ) : '';
	return isset( STANDIN_KEYS[ $key ] ) ? $key : '';
}

/** The key that a request carries as it is, if its secret is right, else ''. */
function standin_plain_key(): string {
	$sent = array(
		array( $_GET['consumer_key'] ?? '', $_GET['consumer_secret'] ?? '' ),
		array( $_SERVER['PHP_AUTH_USER'] ?? '', $_SERVER['PHP_AUTH_PW'] ?? '' ),
	);
	foreach ( $sent as list( $key, $secret ) ) {
		$key = standin_cleaned( $key );
		if ( '' !== $key && STANDIN_KEYS[ $key ] === $secret && ( is_ssl() || STANDIN_KEY === "$key:$secret" ) ) {
			return $key;
		}
	}
	return '';
}

/** The key that acts in this request, in place of a user, else ''. */
function standin_acts( ?string $key = null ): string {
	static $acts = '';
	return $acts = $key ?? $acts;
}

/** The key for the older interface, which looks for it on every page that leads there, else ''. */
function standin_older_key( WP $wp ): string {
	$path = (string) wp_parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH );
	if ( empty( $_GET['wc-api-version'] ) && 1 !== preg_match( '#^/wc-api/v[1-3]#', $path ) ) {
		return '';
	}
	return standin_plain_key() ?: standin_cleaned( $_GET['oauth_consumer_key'] ?? '' );
}

/** All that is signed: query, form and header. */
function standin_oauth_params(): array {
	$params = wp_unslash( $_POST ) + wp_unslash( $_GET );
	$header = trim( wp_unslash( $_SERVER['HTTP_AUTHORIZATION'] ?? '' ) );
	if ( str_starts_with( $header, 'OAuth ' ) ) {
		foreach ( explode( ',', substr( $header, 6 ) ) as $pair ) {
			list( $name, $value ) = explode( '=', trim( $pair ), 2 ) + array( '', '' );
			if ( str_starts_with( $name, 'oauth_' ) ) {
				$params[ $name ] = urldecode( trim( $value, '"' ) );
			}
		}
	}
	return $params;
}

/** One parameter as it is signed; the names inside of an array are encoded once, all else twice. */
function standin_signed_pairs( string $name, $value ): array {
	if ( ! is_array( $value ) ) {
		return array( rawurlencode( $name . '=' . rawurlencode( $value ) ) );
	}
	$pairs = array();
	foreach ( $value as $key => $item ) {
		$pairs = array_merge( $pairs, standin_signed_pairs( "$name%5B$key%5D", $item ) );
	}
	return $pairs;
}

function standin_signature( array $params, string $secret ): string {
	unset( $params['oauth_signature'] );
	ksort( $params, SORT_STRING );
	$pairs = array();
	foreach ( $params as $name => $value ) {
		$pairs = array_merge( $pairs, standin_signed_pairs( rawurlencode( $name ), $value ) );
	}
	$path = (string) wp_parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH );
	$home = home_url( '/', 'relative' );
	if ( str_starts_with( $path, $home ) ) {
		$path = substr( $path, strlen( $home ) );
	}
	$address = home_url( $path, is_ssl() ? 'https' : 'http' );
	$text    = strtoupper( $_SERVER['REQUEST_METHOD'] ) . '&' . rawurlencode( $address ) . '&' . implode( '%26', $pairs );
	$hash    = array( 'HMAC-SHA1' => 'sha1', 'HMAC-SHA256' => 'sha256' )[ $params['oauth_signature_method'] ] ?? null;
	return $hash ? base64_encode( hash_hmac( $hash, $text, $secret . '&', true ) ) : '';
}

/** Whether the signature of the request is good; null for a request without one. */
function standin_signed() {
	$params  = standin_oauth_params();
	$names   = array( 'oauth_consumer_key', 'oauth_timestamp', 'oauth_nonce', 'oauth_signature', 'oauth_signature_method' );
	$missing = array_filter( $names, fn( $name ) => empty( $params[ $name ] ) );
	if ( count( $missing ) === count( $names ) ) {
		return null;
	}
	if ( $missing ) {
		return standin_error( 'authentication_missing_parameter', 'Missing OAuth parameters ' . implode( ', ', $missing ), 401 );
	}
	$secret = STANDIN_KEYS[ standin_cleaned( $params['oauth_consumer_key'] ) ] ?? null;
	if ( null === $secret ) {
		return standin_error( 'authentication_error', 'Consumer key is invalid.', 401 );
	}
	if ( ! hash_equals( standin_signature( $params, $secret ), str_replace( ' ', '+', $params['oauth_signature'] ) ) ) {
		return standin_error( 'authentication_error', 'Invalid signature - provided signature does not match.', 401 );
	}
	if ( abs( time() - (int) $params['oauth_timestamp'] ) > 900 ) {
		return standin_error( 'authentication_error', 'Invalid timestamp.', 401 );
	}
	// add_option adds a name only once.
	if ( ! add_option( 'standin_nonce_' . md5( $params['oauth_nonce'] ), 1, '', 'no' ) ) {
		return standin_error( 'authentication_error', 'Invalid nonce - nonce has already been used.', 401 );
	}
	return true;
}

/** Whether a key counts for this request: true, false, or an error. A nonce is good once, so it is asked once. */
function standin_key_counts() {
	static $counts = null;
	if ( null === $counts ) {
		$counts = false;
		if ( standin_is_shop() ) {
			$counts = '' !== standin_plain_key() ? true : ( standin_signed() ?? false );
		}
	}
	return $counts;
}

add_filter(
	'determine_current_user',
	function ( $user ) {
		if ( $user || true !== standin_key_counts() ) {
			return $user;
		}
		standin_acts( standin_plain_key() ?: standin_cleaned( standin_oauth_params()['oauth_consumer_key'] ?? '' ) );
		return (int) get_option( 'standin_key_user' );
	},
	15
);

// Outside its own namespaces the shop makes WordPress ask who is calling before
// it looks for errors: only so a wrong application password is told, as
// "incorrect_password"; without it the caller is nobody.
add_filter(
	'rest_authentication_errors',
	function ( $result ) {
		if ( ! standin_is_shop() ) {
			wp_get_current_user();
			return $result;
		}
		return $result ?: ( is_wp_error( standin_key_counts() ) ? standin_key_counts() : $result );
	},
	15
);
