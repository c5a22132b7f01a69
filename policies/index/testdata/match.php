<?php
// The pattern that each route matches, by the platform's own loop (WP_REST_Server::match_request_to_handler).
error_reporting( 0 );
$in = json_decode( stream_get_contents( STDIN ), true );
$of = array();
foreach ( $in['Patterns'] as $pattern ) {
	$of[ $pattern ] = '';
	foreach ( $in['Namespaces'] as $ns ) {
		if ( str_starts_with( "$pattern/", "/$ns/" ) && strlen( $ns ) > strlen( $of[ $pattern ] ) ) {
			$of[ $pattern ] = $ns;
		}
	}
}
$out = array();
foreach ( $in['Routes'] as $route ) {
	$path     = base64_decode( $route );
	$patterns = array();
	$within   = false;
	foreach ( $in['Namespaces'] as $ns ) {
		if ( 0 === strpos( rtrim( ltrim( $path, '/' ), '/\\' ) . '/', $ns ) ) {
			$within   = true;
			$patterns = array_merge( $patterns, array_keys( $of, $ns, true ) );
		}
	}
	$found = -1;
	foreach ( $within ? $patterns : $in['Patterns'] as $pattern ) {
		if ( preg_match( '@^' . $pattern . '$@i', $path ) ) {
			$found = array_search( $pattern, $in['Patterns'], true );
			break;
		}
	}
	$out[] = $found;
}
echo json_encode( $out );
