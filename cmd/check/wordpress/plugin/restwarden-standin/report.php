<?php
/**
 * Reports what WordPress made of a request, as JSON lines in a file that bears
 * the request's X-Request-Tag: "loaded" (WordPress ran), "dispatch" (a route
 * was dispatched, batch parts and embeds included), "match" (with which pattern,
 * ids and user), "run" (its handler was called), "item" (of a shop batch).
 */

function standin_report( array $fact ): void {
	$tag = $_SERVER['HTTP_X_REQUEST_TAG'] ?? '';
	if ( defined( 'STANDIN_REPORTS' ) && preg_match( '/^[a-z0-9-]{1,60}\z/', $tag ) ) {
		$line = json_encode( $fact, JSON_INVALID_UTF8_SUBSTITUTE | JSON_PARTIAL_OUTPUT_ON_ERROR ) . "\n";
		file_put_contents( STANDIN_REPORTS . '/' . $tag, $line, FILE_APPEND | LOCK_EX );
	}
}

/** The first pattern that fits route and method, as the REST server finds it. */
function standin_pattern( WP_REST_Request $request ): ?string {
	foreach ( rest_get_server()->get_routes() as $pattern => $handlers ) {
		if ( ! preg_match( '@^' . $pattern . '$@i', $request->get_route() ) ) {
			continue;
		}
		foreach ( $handlers as $handler ) {
			$methods = $handler['methods'];
			$method  = $request->get_method();
			if ( ! empty( $methods[ $method ] ) || ( 'HEAD' === $method && ! empty( $methods['GET'] ) ) ) {
				return $pattern;
			}
		}
	}
	return null;
}

standin_report( array( 'at' => 'loaded' ) );

add_filter(
	'rest_pre_dispatch',
	function ( $result, $server, WP_REST_Request $request ) {
		standin_report(
			array(
				'at'      => 'dispatch',
				'route'   => base64_encode( (string) $request->get_route() ),
				'method'  => (string) $request->get_method(),
				'pattern' => standin_pattern( $request ),
				'user'    => get_current_user_id(),
				'key'     => function_exists( 'standin_acts' ) ? standin_acts() : '',
				'app'     => (string) rest_get_authenticated_app_password(),
			)
		);
		return $result;
	},
	PHP_INT_MIN,
	3
);

add_filter(
	'rest_request_before_callbacks',
	function ( $response, $handler, WP_REST_Request $request ) {
		standin_report(
			array(
				'at'       => 'match',
				'id'       => $request['id'],
				'order_id' => $request['order_id'],
				'error'    => is_wp_error( $response ) ? $response->get_error_code() : '',
			)
		);
		return $response;
	},
	PHP_INT_MIN,
	3
);

add_filter(
	'rest_dispatch_request',
	function ( $result, $request, $route ) {
		standin_report( array( 'at' => 'run', 'pattern' => $route ) );
		return $result;
	},
	PHP_INT_MIN,
	3
);

// Doors beside REST that take the same credentials (docs/platform III.8): messages that have logged in, and pages with
// the key that acts there or that the shop's older interface takes.
add_action(
	'xmlrpc_call',
	fn() => standin_report( array( 'at' => 'door', 'door' => 'xmlrpc.php', 'user' => get_current_user_id() ) )
);
add_action(
	'parse_request',
	function ( $wp ) {
		$key = function_exists( 'standin_older_key' ) ? standin_older_key( $wp ) : '';
		if ( '' === $key && empty( $wp->query_vars['rest_route'] ) && function_exists( 'standin_acts' ) ) {
			$key = standin_acts();
		}
		standin_report( array( 'at' => 'door', 'door' => 'page', 'key' => $key ) );
	},
	0
);
add_action(
	'admin_init',
	fn() => standin_report( array( 'at' => 'door', 'door' => 'admin', 'key' => function_exists( 'standin_acts' ) ? standin_acts() : '' ) )
);
