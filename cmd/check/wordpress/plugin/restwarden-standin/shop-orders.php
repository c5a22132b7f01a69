<?php
/**
 * The shop's order routes as a 10.6 release has them: v2, v3 and the analytics
 * routes turn any record that they update into an order; v1 checks the type
 * (docs/platform III.1, III.2, III.5, III.6).
 */

function standin_save( int $id, $request, string $type ): WP_REST_Response {
	global $wpdb;
	$change = array( 'type' => $type );
	foreach ( array( 'status', 'customer_note' ) as $field ) {
		if ( is_string( $request[ $field ] ) ) {
			$change[ $field ] = $request[ $field ];
		}
	}
	$wpdb->update( standin_table(), $change, array( 'id' => $id ) );
	return rest_ensure_response( standin_body( standin_record( $id ) ) );
}

function standin_order_update( $request, bool $checked = false ) {
	$id    = (int) $request['id'];
	$fixed = $checked && ! standin_is( $id, STANDIN_ORDER );
	if ( $fixed || ! standin_record( $id ) ) {
		return standin_error( 'shop_order_invalid_id', $checked ? 'ID is invalid.' : 'Invalid ID.', 400 );
	}
	return standin_save( $id, $request, STANDIN_ORDER );
}

function standin_order_create( $request ) {
	global $wpdb;
	if ( ! empty( $request['id'] ) ) {
		return standin_error( 'shop_order_exists', 'Cannot create existing shop_order.', 400 );
	}
	$wpdb->insert( standin_table(), array( 'type' => STANDIN_ORDER, 'status' => 'pending', 'customer_note' => '' ) );
	$response = standin_save( $wpdb->insert_id, $request, STANDIN_ORDER );
	$response->set_status( 201 );
	return $response;
}

function standin_order_delete( $request, bool $checked = false ) {
	global $wpdb;
	$record = standin_record( $request['id'] );
	if ( ! $record || ( $checked && STANDIN_ORDER !== $record['type'] ) ) {
		return standin_error( 'shop_order_invalid_id', 'Invalid ID.', 404 );
	}
	if ( rest_sanitize_boolean( $request['force'] ?? false ) ) {
		$wpdb->delete( standin_table(), array( 'id' => $record['id'] ) );
	} else {
		$wpdb->update( standin_table(), array( 'status' => 'trash' ), array( 'id' => $record['id'] ) );
	}
	return rest_ensure_response( standin_body( $record ) );
}

function standin_order_read( $request, bool $checked = false ) {
	$record = standin_record( $request['id'] );
	if ( $checked && ( $record['type'] ?? '' ) !== STANDIN_ORDER ) {
		return standin_error( 'invalid_shop_order_id', 'Invalid ID.', 404 );
	}
	if ( ! $record ) {
		return standin_error( 'shop_order_invalid_id', 'Invalid ID.', 404 );
	}
	return rest_ensure_response( standin_body( $record ) );
}

/** A list of any status leaves some out; two of them no list shows (docs/platform III.3). */
function standin_order_list( $request ) {
	global $wpdb;
	$status = $request['status'] ?? 'any';
	if ( 'draft' === $status ) {
		return new WP_Error( 'rest_invalid_param', 'Invalid parameter(s): status', array( 'status' => 400 ) );
	}
	$orders = $wpdb->get_results( 'SELECT * FROM ' . standin_table() . " WHERE type = 'shop_order' ORDER BY id", ARRAY_A );
	$wanted = wp_parse_id_list( $request['include'] ?? array() );
	$hidden = array( 'trash', 'checkout-draft', 'auto-draft', 'draft' );
	$found  = array_filter(
		$orders,
		fn( $o ) => ( ! $wanted || in_array( (int) $o['id'], $wanted, true ) )
			&& ( 'any' === $status ? ! in_array( $o['status'], $hidden, true ) : $status === $o['status'] && 'auto-draft' !== $status )
	);
	return rest_ensure_response( array_map( 'standin_body', array_values( $found ) ) );
}

/** The lists of a batch are the route's own business: no item is dispatched (docs/platform III.5). */
function standin_order_batch( $request, bool $checked ) {
	$lists = array();
	foreach ( array( 'create', 'update', 'delete' ) as $action ) {
		$lists[ $action ] = array_filter( (array) ( $request[ $action ] ?? array() ) );
	}
	if ( array_sum( array_map( 'count', $lists ) ) > 100 ) {
		return standin_error( 'request_entity_too_large', 'Unable to accept more than 100 items for this request.', 413 );
	}
	$done = array();
	foreach ( $lists as $action => $items ) {
		foreach ( $items as $item ) {
			$done[ $action ][] = standin_order_item( $action, $item, $checked );
		}
	}
	return rest_ensure_response( $done );
}

function standin_order_item( string $action, $item, bool $checked ) {
	$own = new WP_REST_Request( array( 'create' => 'POST', 'update' => 'PUT', 'delete' => 'DELETE' )[ $action ] );
	if ( 'delete' === $action ) {
		$own->set_query_params( array( 'id' => (int) $item, 'force' => true ) );
	} else {
		$own->set_body_params( (array) $item );
	}
	standin_report( array( 'at' => 'item', 'method' => $own->get_method(), 'id' => (int) $own['id'] ) );
	$result = call_user_func( 'standin_order_' . $action, $own, $checked );
	if ( ! is_wp_error( $result ) ) {
		return $result->get_data();
	}
	$error = array( 'code' => $result->get_error_code(), 'message' => $result->get_error_message() );
	return array( 'id' => (int) $own['id'], 'error' => $error + array( 'data' => $result->get_error_data() ) );
}

function standin_order_routes( string $namespace, bool $checked ): void {
	$id   = array( 'id' => array( 'description' => 'Unique identifier for the resource.', 'type' => 'integer' ) );
	$call = fn( string $name ) => fn( $request ) => $name( $request, $checked );
	register_rest_route(
		$namespace,
		'/orders',
		array(
			array( 'methods' => 'GET', 'callback' => 'standin_order_list', 'permission_callback' => standin_may( 'view', 'Sorry, you cannot list resources.' ) ),
			array( 'methods' => 'POST', 'callback' => 'standin_order_create', 'permission_callback' => standin_may( 'create', 'Sorry, you are not allowed to create resources.' ) ),
		)
	);
	register_rest_route(
		$namespace,
		'/orders/(?P<id>[\d]+)',
		array(
			'args' => $id,
			array( 'methods' => 'GET', 'callback' => $call( 'standin_order_read' ), 'permission_callback' => standin_may( 'view', 'Sorry, you cannot view this resource.' ) ),
			array( 'methods' => WP_REST_Server::EDITABLE, 'callback' => $call( 'standin_order_update' ), 'permission_callback' => standin_may( 'edit', 'Sorry, you are not allowed to edit this resource.' ) ),
			array( 'methods' => 'DELETE', 'callback' => $call( 'standin_order_delete' ), 'permission_callback' => standin_may( 'delete', 'Sorry, you are not allowed to delete this resource.' ) ),
		)
	);
	register_rest_route(
		$namespace,
		'/orders/batch',
		array( 'methods' => WP_REST_Server::EDITABLE, 'callback' => $call( 'standin_order_batch' ), 'permission_callback' => standin_may( 'batch', 'Sorry, you are not allowed to batch manipulate this resource.' ) )
	);
}

add_action(
	'rest_api_init',
	function () {
		standin_order_routes( 'wc/v1', true );
		foreach ( array( 'wc/v2', 'wc/v3', 'wc-analytics' ) as $namespace ) {
			standin_order_routes( $namespace, false );
		}
	}
);
