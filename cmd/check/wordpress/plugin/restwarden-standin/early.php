<?php
/**
 * Ends pages early, so that thousands of requests cost little: where the server
 * sets STANDIN_EARLY, WordPress's own parse_request is asked as soon as it is
 * loaded, and a request for which it finds no rest_route ends there. What it does
 * find goes the whole way. Every dispatch is a line in one file, whatever became of
 * the headers: route (base64), method, and the id that the body or query names.
 */

if ( empty( $_SERVER['STANDIN_EARLY'] ) ) {
	return;
}

// Rules as a theme and a plugin add them.
if ( ! empty( $_SERVER['STANDIN_RULES'] ) ) {
	add_filter(
		'option_rewrite_rules',
		function ( $rules ) {
			$own = array(
				'^api/(.+)'                 => 'index.php?rest_route=/$matches[1]',
				'^.well-known/canary/(.+)$' => 'index.php?rest_route=/canary/v1/$matches[1]',
			);
			return $rules ? $own + (array) $rules : $rules;
		}
	);
}

add_filter(
	'rest_pre_dispatch',
	function ( $result, $server, WP_REST_Request $request ) {
		$fact = array(
			'route'  => base64_encode( (string) $request->get_route() ),
			'method' => (string) $request->get_method(),
			'uri'    => base64_encode( (string) $_SERVER['REQUEST_URI'] ),
		);
		file_put_contents( STANDIN_REPORTS . '/early', json_encode( $fact, JSON_INVALID_UTF8_SUBSTITUTE ) . "\n", FILE_APPEND | LOCK_EX );
		return $result;
	},
	PHP_INT_MIN,
	3
);

/** Whether WordPress finds a rest_route in this request. It changes nothing. */
function standin_is_rest(): bool {
	$saved   = array( $_GET, $_POST, $_COOKIE, $_SERVER, $_REQUEST );
	$actions = $GLOBALS['wp_filter']['parse_request'] ?? null;
	unset( $GLOBALS['wp_filter']['parse_request'] );
	wp_magic_quotes();
	$GLOBALS['wp_rewrite'] = new WP_Rewrite();
	$wp                    = new WP();
	$wp->add_query_var( 'rest_route' );
	$wp->parse_request();
	unset( $GLOBALS['wp_rewrite'] );
	if ( null !== $actions ) {
		$GLOBALS['wp_filter']['parse_request'] = $actions;
	}
	list( $_GET, $_POST, $_COOKIE, $_SERVER, $_REQUEST ) = $saved;
	return ! empty( $wp->query_vars['rest_route'] );
}

// Other scripts than index.php may run what they like: they go the whole way, too.
if ( defined( 'WP_USE_THEMES' ) && ! isset( $_SERVER['HTTP_X_STANDIN_WHOLE'] ) && ! standin_is_rest() ) {
	exit( 'a page' );
}
