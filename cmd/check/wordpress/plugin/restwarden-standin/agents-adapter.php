<?php
/**
 * How mcp-adapter reads a message: a list, or what PHP takes for one, is several; a message
 * without id is a notification; params inside params win; names are trimmed since 0.5.
 * A session is known to all servers of the site.
 */

const STANDIN_VERSIONS = array( '2025-11-25', '2025-06-18', '2024-11-05' );

/** Answers a request to one of the adapter's servers. */
function standin_adapter( WP_REST_Request $request, Standin_Tools $tools ): WP_REST_Response {
	switch ( $request->get_method() ) {
		case 'GET':
		case 'HEAD':
			return new WP_REST_Response( null, 405 );
		case 'DELETE':
			$session = (string) $request->get_header( 'Mcp-Session-Id' );
			if ( '' === $session ) {
				return new WP_REST_Response( standin_rpc_error( null, -32600, 'Missing Mcp-Session-Id header' ), 400 );
			}
			delete_user_meta( get_current_user_id(), 'standin_session', $session );
			return new WP_REST_Response( null, 200 );
	}
	$body = $request->get_json_params();
	if ( null === $body ) {
		return new WP_REST_Response( standin_rpc_error( null, -32700, 'Parse error' ), 400 );
	}
	try {
		if ( ! is_array( $body ) ) {
			throw new Standin_Unreadable();
		}
		return standin_adapter_answer( $request, $tools, $body );
	} catch ( Standin_Unreadable $e ) { // what stood before it in a list has run
		return new WP_REST_Response( standin_rpc_error( null, -32603, 'Internal error' ), 500 );
	}
}

function standin_adapter_answer( WP_REST_Request $request, Standin_Tools $tools, array $body ): WP_REST_Response {
	$list    = isset( $body[0] );
	$answers = array();
	foreach ( $list ? $body : array( $body ) as $message ) {
		$answer = standin_adapter_message( $request, $tools, $message );
		if ( null !== $answer ) {
			$answers[] = $answer;
		}
	}
	if ( $list ) {
		return new WP_REST_Response( $answers, 200 );
	}
	if ( ! $answers ) {
		return new WP_REST_Response( null, standin_agents_old() ? 200 : 202 );
	}
	$response = new WP_REST_Response( $answers[0], standin_adapter_status( $answers[0] ) );
	if ( 'initialize' === ( $body['method'] ?? null ) && isset( $answers[0]['result'] ) ) {
		$response->header( 'Mcp-Session-Id', standin_adapter_new_session() );
	}
	return $response;
}

function standin_adapter_status( array $answer ): int {
	$statuses = array(
		-32700 => 400, -32600 => 400, -32601 => 404, -32603 => 500, -32002 => 404, -32003 => 404,
		-32004 => 404, -32008 => 403, -32010 => 401, -32005 => standin_agents_old() ? 200 : 404,
	);
	return $statuses[ $answer['error']['code'] ?? 0 ] ?? 200;
}

/** Answers one message, null where there is no answer. */
function standin_adapter_message( WP_REST_Request $request, Standin_Tools $tools, $message ): ?array {
	if ( ! is_array( $message ) ) {
		throw new Standin_Unreadable();
	}
	$answered = isset( $message['result'] ) || isset( $message['error'] );
	if ( '2.0' !== ( $message['jsonrpc'] ?? null ) || ! isset( $message['method'] ) && ! $answered || $answered && ! isset( $message['id'] ) ) {
		return standin_rpc_error( null, -32600, 'Invalid Request' );
	}
	if ( ! isset( $message['method'], $message['id'] ) ) {
		return null;
	}
	$id      = $message['id'];
	$refusal = 'initialize' === $message['method'] ? null : standin_adapter_session( $request );
	if ( $refusal ) {
		return standin_rpc_error( $id, ...$refusal );
	}
	$params = $message['params'] ?? array();
	if ( ! is_string( $message['method'] ) || ! is_array( $params ) || standin_agents_old() && ! is_int( $id ) ) {
		throw new Standin_Unreadable();
	}
	$result = 'initialize' === $message['method'] ? standin_adapter_initialize( $params ) : standin_adapter_method( $message['method'], $params, $tools );
	return isset( $result['error'] )
		? standin_rpc_error( $id, ...$result['error'] )
		: array( 'jsonrpc' => '2.0', 'id' => $id, 'result' => $result ?: new stdClass() );
}

/** Why there is no session for the request, as code and text. */
function standin_adapter_session( WP_REST_Request $request ): ?array {
	$session = (string) $request->get_header( 'Mcp-Session-Id' );
	$version = $request->get_header( 'Mcp-Protocol-Version' );
	if ( '' === $session ) {
		return array( -32600, 'Missing Mcp-Session-Id header' );
	}
	if ( ! get_current_user_id() ) {
		return array( -32010, 'User not authenticated' );
	}
	if ( ! in_array( $session, get_user_meta( get_current_user_id(), 'standin_session' ), true ) ) {
		return array( -32005, 'Invalid or expired session' );
	}
	if ( ! standin_agents_old() && null !== $version && ! in_array( $version, STANDIN_VERSIONS, true ) ) {
		return array( -32600, 'Unsupported protocol version' );
	}
	return null;
}

/** Sessions are the user's. The real ones are 32 at most; these are as many as a test makes. */
function standin_adapter_new_session(): string {
	$session = wp_generate_uuid4();
	add_user_meta( get_current_user_id(), 'standin_session', $session );
	return $session;
}

function standin_adapter_initialize( array $params ): array {
	if ( ! get_current_user_id() ) {
		return array( 'error' => array( -32010, 'User not authenticated' ) );
	}
	$wanted = $params['protocolVersion'] ?? '';
	return array(
		'protocolVersion' => standin_agents_old() || in_array( $wanted, STANDIN_VERSIONS, true ) ? $wanted : STANDIN_VERSIONS[0],
		'capabilities'    => array( 'tools' => new stdClass(), 'resources' => new stdClass(), 'prompts' => new stdClass() ),
		'serverInfo'      => array( 'name' => 'Stand-in', 'version' => '1' ),
	);
}

/** The result of a method, or under "error" code and text. */
function standin_adapter_method( string $method, array $params, Standin_Tools $tools ): array {
	if ( standin_agents_old() && in_array( $method, array( 'completion/complete', 'logging/setLevel', 'roots/list' ), true ) ) {
		return array();
	}
	switch ( $method ) {
		case 'ping':
			return array();
		case 'tools/list':
		case 'tools/list/all':
			return array( 'tools' => $tools->listed() );
		case 'resources/list':
			return array( 'resources' => $tools->resources() );
		case 'prompts/list':
			return array( 'prompts' => $tools->prompts() );
		case 'tools/call':
		case 'resources/read':
		case 'prompts/get':
			$inner = $params['params'] ?? $params;
			if ( ! is_array( $inner ) ) {
				throw new Standin_Unreadable();
			}
			return standin_adapter_call( $method, $inner, $tools );
	}
	return array( 'error' => array( -32601, 'Method not found' ) );
}

function standin_adapter_call( string $method, array $params, Standin_Tools $tools ): array {
	$key = 'resources/read' === $method ? 'uri' : 'name';
	if ( ! isset( $params[ $key ] ) ) {
		return array( 'error' => array( -32602, "Missing parameter: $key" ) );
	}
	$arguments = $params['arguments'] ?? array();
	if ( 'uri' !== $key && ! standin_agents_old() && ! is_array( $arguments ) ) {
		return array( 'error' => array( -32602, 'arguments must be an object' ) );
	}
	if ( standin_agents_old() && ! is_string( $params[ $key ] ) ) {
		throw new Standin_Unreadable();
	}
	$name = $params[ $key ];
	if ( ! standin_agents_old() ) {
		$name = is_scalar( $name ) ? trim( (string) $name ) : 'Array';
	}
	switch ( $method ) {
		case 'resources/read':
			return $tools->read( is_string( $params[ $key ] ) ? $name : '' );
		case 'prompts/get':
			return $tools->prompt( $name, $arguments );
	}
	return $tools->call( $name, $arguments );
}

function standin_adapter_route( string $namespace, string $route, callable $tools, $permission ): void {
	register_rest_route(
		$namespace,
		$route,
		array(
			'methods'             => array( 'POST', 'GET', 'DELETE' ),
			'callback'            => fn( WP_REST_Request $request ) => standin_adapter( $request, $tools() ),
			'permission_callback' => $permission,
		)
	);
}

/** Hands a message on to the default server, with the caller's headers and body. */
function standin_adapter_hand_on( WP_REST_Request $request ) {
	$inner = new WP_REST_Request( 'POST', '/mcp/mcp-adapter-default-server' );
	$inner->set_headers( $request->get_headers() );
	$inner->set_body( $request->get_body() );
	return rest_do_request( $inner );
}

add_action(
	'rest_api_init',
	function () {
		$read   = fn() => current_user_can( 'read' );
		$custom = fn() => new Standin_Tools( array_keys( standin_abilities() ), true );
		standin_adapter_route( 'mcp', '/mcp-adapter-default-server', fn() => new Standin_Tools( array(), false ), $read );
		standin_adapter_route( 'lab-agent/v1', '/mcp', $custom, $read );
		standin_adapter_route( 'lab-team', '/team/(?P<team>[a-z]+)/mcp', $custom, $read );
		standin_adapter_route( 'lab-open', '/mcp', $custom, '__return_true' );
		standin_adapter_route( 'lab-plain/v1', '/assistant', $custom, $read ); // to be found in the REST index
		$open = array( 'callback' => 'standin_adapter_hand_on', 'permission_callback' => '__return_true' );
		register_rest_route( 'lp/v1', '/mcp', array( 'methods' => WP_REST_Server::ALLMETHODS ) + $open );
		register_rest_route( 'lab-alias/v1', '/mcp', array( 'methods' => 'POST' ) + $open );
		register_rest_route( 'lab-alias/v1', '/agent', array( 'methods' => 'POST', 'args' => array( 'topic' => array() ) ) + $open );
	},
	16
);
