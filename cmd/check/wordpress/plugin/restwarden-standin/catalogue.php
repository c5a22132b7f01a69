<?php
/**
 * Stand-ins for the plugins of RestWarden's catalogue. The server names a file of routes in
 * STANDIN_CATALOGUE; the test makes it from the catalogue. A handler answers which plugin,
 * method and route it was called for. A closed route says the same to callers whom it refuses.
 */

add_action(
	'rest_api_init',
	function () {
		foreach ( json_decode( file_get_contents( $_SERVER['STANDIN_CATALOGUE'] ), true ) as $r ) {
			$echo = fn( WP_REST_Request $request ) => array(
				'slug'   => $r['slug'],
				'method' => $request->get_method(),
				'route'  => $request->get_route(),
			);
			$may  = fn( WP_REST_Request $request ) => current_user_can( 'manage_options' )
				?: new WP_Error( 'standin_closed', 'The plugin refuses.', array( 'status' => 403 ) + $echo( $request ) );
			register_rest_route(
				$r['namespace'],
				$r['pattern'],
				array(
					'methods'             => $r['methods'],
					'callback'            => $echo,
					'permission_callback' => $r['closed'] ? $may : '__return_true',
				)
			);
		}
	}
);
