<?php
/**
 * Other doors to the same update (docs/platform III.7): the tool server, which
 * turns a subscription into an order, and wc/v4, which does not.
 */

function standin_tool_caller( $request ) {
	if ( STANDIN_KEY === $request->get_header( 'x_mcp_api_key' ) ) {
		wp_set_current_user( (int) get_option( 'standin_key_user' ) );
		return true;
	}
	return new WP_Error( 'authentication_required', 'Authentication required.', array( 'status' => 401 ) );
}

/** What newer releases of the tool server make of a message: params inside params win, names are trimmed. */
function standin_tool( $request ) {
	$answer = array( 'jsonrpc' => '2.0', 'id' => $request['id'] );
	$params = (array) ( $request['params']['params'] ?? $request['params'] );
	$name   = trim( (string) ( $params['name'] ?? '' ) );
	if ( 'tools/call' !== $request['method'] ) {
		return $answer + array( 'result' => array( 'tools' => array( array( 'name' => 'woocommerce-orders-update' ) ) ) );
	}
	if ( 'woocommerce-orders-update' !== $name ) {
		return $answer + array( 'error' => array( 'code' => -32602, 'message' => 'Unknown tool.' ) );
	}
	$update = new WP_REST_Request( 'PUT' );
	$update->set_body_params( (array) ( $params['arguments'] ?? array() ) );
	standin_report( array( 'at' => 'item', 'method' => 'PUT', 'id' => (int) $update['id'] ) );
	$result = standin_order_update( $update );
	if ( is_wp_error( $result ) ) {
		return $answer + array( 'result' => array( 'isError' => true, 'content' => $result->get_error_message() ) );
	}
	return $answer + array( 'result' => array( 'content' => $result->get_data() ) );
}

add_action(
	'rest_api_init',
	function () {
		register_rest_route(
			'woocommerce',
			'/mcp',
			array( 'methods' => 'POST', 'callback' => 'standin_tool', 'permission_callback' => 'standin_tool_caller' )
		);
		register_rest_route(
			'wc/v4',
			'/orders/(?P<id>[\d]+)',
			array(
				'methods'             => WP_REST_Server::EDITABLE,
				'permission_callback' => standin_may( 'edit', 'Sorry, you are not allowed to edit this resource.' ),
				'callback'            => function ( $request ) {
					$record = standin_record( $request['id'] );
					return $record
						? standin_save( (int) $record['id'], $request, $record['type'] )
						: standin_error( 'shop_order_invalid_id', 'Invalid ID.', 404 );
				},
			)
		);
		register_rest_route(
			'wc-analytics',
			'/products/count-low-in-stock',
			array(
				'methods'             => 'GET',
				'permission_callback' => standin_may( 'view', 'Sorry, you cannot list resources.' ),
				'callback'            => fn() => array( 'total' => 0 ),
			)
		);
	}
);
