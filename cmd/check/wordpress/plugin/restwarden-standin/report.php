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
