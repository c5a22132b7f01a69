<?php
/**
 * Notes, refunds and subscriptions of the stand-in shop (docs/platform III.3,
 * III.6, III.10).
 */

function standin_notes( $request ) {
	if ( ! standin_is( $request['order_id'], STANDIN_ORDER ) ) {
		return standin_error( 'order_invalid_id', 'Invalid order ID.', 404 );
	}
	return rest_ensure_response( array() );
}

/** The answer that tells an order from all else: an order has no such note, other records are no such order. */
function standin_note( $request ) {
	$notes = standin_notes( $request );
	return is_wp_error( $notes ) ? $notes : standin_error( 'invalid_id', 'Invalid resource ID.', 404 );
}

/** A release that ignores compute_totals books a refund of nothing, on a record of any type. */
function standin_refund( $request ) {
	if ( ! standin_record( $request['order_id'] ) ) {
		return standin_error( 'invalid_order_id', 'Invalid order ID.', 500 );
	}
	$refunds = (array) get_option( 'standin_refunds', array() );
	$refund  = array( 'id' => 5000 + count( $refunds ), 'order_id' => (int) $request['order_id'], 'amount' => (string) $request['amount'] );
	update_option( 'standin_refunds', array_merge( $refunds, array( $refund ) ) );
	return new WP_REST_Response( $refund, 201 );
}

function standin_subscription( $request ) {
	$update = 'GET' !== $request->get_method();
	if ( ! standin_is( $request['id'], STANDIN_SUBSCRIPTION ) ) {
		return standin_error( 'shop_subscription_invalid_id', 'Invalid ID.', $update ? 400 : 404 );
	}
	if ( $update ) {
		return standin_save( (int) $request['id'], $request, STANDIN_SUBSCRIPTION );
	}
	return rest_ensure_response( standin_body( standin_record( $request['id'] ) ) );
}

function standin_sub_routes( string $namespace ): void {
	$view   = standin_may( 'view', 'Sorry, you cannot list resources.' );
	$create = standin_may( 'create', 'Sorry, you are not allowed to create resources.' );
	$order  = array( 'order_id' => array( 'description' => 'The order ID.', 'type' => 'integer' ) );
	register_rest_route(
		$namespace,
		'/orders/(?P<order_id>[\d]+)/notes',
		array(
			'args' => $order,
			array( 'methods' => 'GET', 'callback' => 'standin_notes', 'permission_callback' => $view ),
			array( 'methods' => 'POST', 'callback' => 'standin_notes', 'permission_callback' => $create ),
		)
	);
	register_rest_route(
		$namespace,
		'/orders/(?P<order_id>[\d]+)/notes/(?P<id>[\d]+)',
		array(
			'args' => $order,
			array( 'methods' => 'GET', 'callback' => 'standin_note', 'permission_callback' => $view ),
			array( 'methods' => 'DELETE', 'callback' => 'standin_note', 'permission_callback' => $create ),
		)
	);
	register_rest_route(
		$namespace,
		'/orders/(?P<order_id>[\d]+)/refunds',
		array(
			'args' => $order,
			array( 'methods' => 'GET', 'callback' => fn() => rest_ensure_response( array() ), 'permission_callback' => $view ),
			array(
				'methods'             => 'POST',
				'callback'            => 'standin_refund',
				'permission_callback' => $create,
				'args'                => array( 'amount' => array( 'type' => 'string' ), 'api_refund' => array( 'type' => 'boolean' ) ),
			),
		)
	);
}

add_action(
	'rest_api_init',
	function () {
		array_map( 'standin_sub_routes', array( 'wc/v1', 'wc/v2', 'wc/v3', 'wc-analytics' ) );
		$subscription = array(
			'args' => array( 'id' => array( 'type' => 'integer' ) ),
			array( 'methods' => 'GET', 'callback' => 'standin_subscription', 'permission_callback' => standin_may( 'view', 'Sorry, you cannot view this resource.' ) ),
			array( 'methods' => WP_REST_Server::EDITABLE, 'callback' => 'standin_subscription', 'permission_callback' => standin_may( 'edit', 'Sorry, you are not allowed to edit this resource.' ) ),
		);
		register_rest_route( 'wc/v1', '/subscriptions/(?P<id>[\d]+)', $subscription );
		register_rest_route( 'wc/v3', '/subscriptions/(?P<id>[\d]+)', $subscription );
	}
);
