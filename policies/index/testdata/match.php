<?php
// The pattern that each route matches, and what its named groups take, by the platform's own loop
// (WP_REST_Server::match_request_to_handler).
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
	$groups = array();
	foreach ( $within ? $patterns : $in['Patterns'] as $pattern ) {
		if ( preg_match( '@^' . $pattern . '$@i', $path, $matches ) ) {
			$found = array_search( $pattern, $in['Patterns'], true );
			foreach ( $matches as $name => $text ) {
				if ( ! is_int( $name ) && '' !== $text ) {
					$groups[ $name ] = base64_encode( $text );
				}
			}
			break;
		}
	}
	$out['Matches'][] = $found;
	$out['Groups'][]  = (object) $groups;
}
echo json_encode( $out );
