<?php
/**
 * A rewrite rule that makes calls of what looks like pages, for requests that ask for it, and a
 * route that ends in a fatal error.
 */

if ( isset( $_SERVER['HTTP_X_STANDIN_RULE'] ) ) {
	add_filter(
		'option_rewrite_rules',
		fn( $rules ) => is_array( $rules ) ? array( '^api/(.+)' => 'index.php?rest_route=/$matches[1]' ) + $rules : $rules
	);
}

add_action(
	'rest_api_init',
	fn() => register_rest_route(
		'standin/v1',
		'/fatal',
		array(
			'methods'             => 'GET',
			'permission_callback' => '__return_true',
			'callback'            => fn() => standin_no_such_function(),
		)
	)
);
