<?php
/**
 * Routes whose handlers report all that they can see of a call, by every accessor and with the
 * types that PHP has for it. They take part in the core's batch. So does a collection of the
 * shop's kind, whose batch hands each item its fields and the query (docs/platform III.5).
 */

/** A value, with as many levels of arrays as a rule's conditions name, and one more. */
function standin_typed( $value, int $levels = 3 ): array {
	if ( is_array( $value ) ) {
		$members = array();
		foreach ( $levels > 0 ? $value : array() as $name => $member ) {
			$members[] = array( 'name' => base64_encode( (string) $name ), 'value' => standin_typed( $member, $levels - 1 ) );
		}
		return array( 'kind' => 'array', 'members' => $members );
	}
	$text = is_float( $value ) ? var_export( $value, true ) : ( is_scalar( $value ) ? (string) $value : '' );
	return array( 'kind' => gettype( $value ), 'text' => base64_encode( $text ) );
}

/** Whether the first route of this request was the core's batch. */
function standin_in_batch( ?string $route = null ): bool {
	static $first = null;
	$first ??= $route;
	return '/batch/v1' === strtolower( rtrim( (string) $first, '/' ) );
}

function standin_carried( WP_REST_Request $request, bool $part ) {
	$one = array();
	foreach ( array( 'status', 'order_total', 'billing', 'id' ) as $name ) {
		if ( isset( $request[ $name ] ) ) {
			$one[ $name ] = $request->get_param( $name );
		}
	}
	$places = array(
		'get_params'       => $request->get_params(),
		'get_param'        => $one,
		'get_json_params'  => $request->get_json_params(),
		'get_body_params'  => $request->get_body_params(),
		'get_query_params' => $request->get_query_params(),
		'get_file_params'  => $request->get_file_params(),
	);
	if ( ! $part ) {
		$body = (string) $request->get_body();
		parse_str( $body, $form );
		$json    = json_decode( $body, true );
		$none    = in_array( trim( $body ), array( '', 'null' ), true );
		$places += array(
			'$_GET'     => wp_unslash( $_GET ),
			'$_POST'    => wp_unslash( $_POST ),
			'$_REQUEST' => wp_unslash( $_REQUEST ),
			'$_FILES'   => $_FILES,
			'get_body'  => $none || is_array( $json ) ? $json : $form,
		);
	}
	$fact = array( 'at' => 'carried', 'route' => $request->get_route(), 'method' => $request->get_method(), 'own' => $request->get_url_params()['id'] ?? '', 'part' => $part );
	standin_report( $fact + array( 'places' => array_map( 'standin_typed', $places ) ) );
	return array( 'seen' => count( $places['get_params'] ) );
}

function standin_probe_batch( $request ) {
	$done = array();
	foreach ( array( 'create' => 'POST', 'update' => 'PUT' ) as $action => $method ) {
		foreach ( array_filter( (array) ( $request[ $action ] ?? array() ) ) as $item ) {
			$own = new WP_REST_Request( $method, $request->get_route() );
			$own->set_body_params( (array) $item );
			$own->set_query_params( $request->get_query_params() );
			$done[] = standin_carried( $own, true );
		}
	}
	return $done;
}

add_action(
	'rest_api_init',
	function () {
		$route = fn( string $namespace, string $path, string $methods, callable $callback ) => register_rest_route(
			$namespace,
			$path,
			array(
				array( 'methods' => $methods, 'callback' => $callback, 'permission_callback' => '__return_true' ),
				'allow_batch' => array( 'v1' => true ),
			)
		);
		$dump  = fn( $request ) => standin_carried( $request, standin_in_batch() );
		foreach ( array( 'kept', 'named', 'compared' ) as $kind ) {
			$route( 'probe/v1', '/' . $kind . '/(?P<id>[a-z0-9]+)', 'GET,POST,PUT,PATCH,DELETE', $dump );
		}
		$route( 'wc/v3', '/probes', 'GET,POST', $dump );
		$route( 'wc/v3', '/probes/(?P<id>[\d]+)', 'GET,POST,PUT,PATCH,DELETE', $dump );
		$route( 'wc/v3', '/probes/batch', 'POST,PUT,PATCH', 'standin_probe_batch' );
	}
);
add_filter(
	'rest_pre_dispatch',
	function ( $result, $server, WP_REST_Request $request ) {
		standin_in_batch( (string) $request->get_route() );
		return $result;
	},
	10,
	3
);
