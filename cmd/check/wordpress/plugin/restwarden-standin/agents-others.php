<?php
/**
 * Servers of other plugins, which read messages in ways of their own. wordpress-mcp needs no
 * jsonrpc and no id, AI Engine no content type and no id, Royal MCP no id, and it goes by the
 * method of the wire. Their tools run REST inside.
 */

const STANDIN_AGENT_TOKEN = 'labtoken1234567890abcdef';
const STANDIN_AGENT_KEY   = 'lab-royal-key-0123456789';

/** Calls a tool of wordpress-mcp, or answers null where there is none of that name. */
function standin_wpmcp_tool( string $name, $arguments ): ?array {
	switch ( $name ) {
		case 'lab_tool':
			standin_ran( '(tool lab_tool)', $arguments );
			return array( 'ok' => true );
		case 'run_api_function':
			return (array) standin_inner( (string) ( $arguments['method'] ?? '' ), (string) ( $arguments['route'] ?? '' ), (array) ( $arguments['data'] ?? array() ) );
	}
	return null;
}

/** A tools/call of wordpress-mcp: it looks for the name in params, and once more inside. Falsy arguments are dropped. */
function standin_wpmcp_call( array $params ): ?array {
	$params = $params['params'] ?? $params;
	if ( ! is_array( $params ) || ! isset( $params['name'] ) ) {
		return null;
	}
	if ( ! empty( $params['arguments'] ) && is_array( $params['arguments'] ) ) {
		$params['arguments'] = array_filter( $params['arguments'], fn( $value ) => ! empty( $value ) && 'null' !== $value );
	}
	$name = $params['params']['name'] ?? $params['name'];
	return is_string( $name ) ? standin_wpmcp_tool( $name, $params['params']['arguments'] ?? $params['arguments'] ?? array() ) : null;
}

function standin_wpmcp_result( $method, $params ): ?array {
	if ( ! is_string( $method ) || ! is_array( $params ) ) {
		throw new Standin_Unreadable();
	}
	switch ( $method ) {
		case 'initialize':
		case 'init':
		case 'ping':
			return array();
		case 'tools/list':
			return array( 'tools' => array( array( 'name' => 'lab_tool' ), array( 'name' => 'run_api_function' ) ) );
		case 'tools/call':
			return standin_wpmcp_call( $params );
	}
	return null;
}

function standin_wpmcp( WP_REST_Request $request ) {
	$message = $request->get_json_params();
	if ( ! is_array( $message ) || ! isset( $message['method'] ) ) {
		return new WP_Error( 'invalid_request', 'Invalid request.', array( 'status' => 400 ) );
	}
	try {
		$result = standin_wpmcp_result( $message['method'], $message['params'] ?? $message );
	} catch ( Standin_Unreadable $e ) {
		$result = null;
	}
	return $result ?? new WP_Error( 'handler_error', 'Handler error.', array( 'status' => 'tools/call' === $message['method'] ? 500 : 400 ) );
}

function standin_wpmcp_streamable( WP_REST_Request $request ) {
	if ( 'POST' !== $request->get_method() ) {
		return new WP_REST_Response( null, 'OPTIONS' === $request->get_method() ? 204 : 405 );
	}
	$accepted = (string) $request->get_header( 'accept' );
	$type     = (string) $request->get_header( 'content-type' );
	$body     = $request->get_json_params();
	if ( ! str_contains( $accepted, 'application/json' ) || ! str_contains( $accepted, 'text/event-stream' )
		|| '' !== $type && ! str_contains( $type, 'application/json' ) || null === $body ) {
		return new WP_REST_Response( standin_rpc_error( 0, -32700, 'Bad request' ), 400 );
	}
	$messages = is_array( $body ) && isset( $body[0] ) ? $body : array( $body );
	foreach ( $messages as $message ) {
		if ( ! is_array( $message ) || '2.0' !== ( $message['jsonrpc'] ?? null ) ) {
			return new WP_REST_Response( standin_rpc_error( 0, -32600, 'Invalid Request' ), 400 );
		}
	}
	return standin_wpmcp_answers( $messages );
}

function standin_wpmcp_answers( array $messages ): WP_REST_Response {
	$answers = array();
	foreach ( $messages as $message ) {
		if ( ! isset( $message['method'], $message['id'] ) ) {
			continue;
		}
		try {
			$result = standin_wpmcp_result( $message['method'], $message['params'] ?? array() );
		} catch ( Standin_Unreadable $e ) {
			return new WP_REST_Response( standin_rpc_error( 0, -32603, 'Internal error' ), 500 );
		}
		$id        = (int) $message['id'];
		$answers[] = null === $result ? standin_rpc_error( $id, -32601, 'Not found' ) : array( 'jsonrpc' => '2.0', 'id' => $id, 'result' => (object) $result );
	}
	return $answers ? new WP_REST_Response( 1 === count( $answers ) ? $answers[0] : $answers, 200 ) : new WP_REST_Response( null, 202 );
}

/** AI Engine's server decodes the body itself, whatever it calls itself. */
function standin_engine( WP_REST_Request $request ): WP_REST_Response {
	if ( 'POST' !== $request->get_method() ) {
		return new WP_REST_Response( null, 405 );
	}
	$message = json_decode( $request->get_body(), true );
	if ( ! is_array( $message ) ) {
		return new WP_REST_Response( standin_rpc_error( null, -32700, 'Parse error' ), 400 );
	}
	$id     = $message['id'] ?? null;
	$params = $message['params'] ?? array();
	if ( 'tools/call' !== ( $message['method'] ?? null ) || ! is_array( $params ) || ! is_string( $params['name'] ?? null ) ) {
		return new WP_REST_Response( array( 'jsonrpc' => '2.0', 'id' => $id, 'result' => new stdClass() ), 200 );
	}
	$arguments = $params['arguments'] ?? array();
	switch ( $params['name'] ) {
		case 'lab_tool':
			standin_ran( '(tool lab_tool)', $arguments );
			break;
		case 'create_posts':
			standin_inner( 'POST', '/wp/v2/posts', (array) $arguments );
			break;
		case 'list_posts':
			standin_inner( 'GET', '/wp/v2/posts', (array) $arguments );
			break;
		default:
			return new WP_REST_Response( standin_rpc_error( $id, -32602, 'Unknown tool' ), 200 );
	}
	return new WP_REST_Response( array( 'jsonrpc' => '2.0', 'id' => $id, 'result' => array( 'content' => array() ) ), 200 );
}

/** The token is as good as the first administrator, in a header or in the path. */
function standin_engine_caller( WP_REST_Request $request ): bool {
	$token = str_ends_with( $request->get_route(), STANDIN_AGENT_TOKEN ) || 'Bearer ' . STANDIN_AGENT_TOKEN === $request->get_header( 'authorization' );
	if ( $token ) {
		wp_set_current_user( (int) get_option( 'standin_key_user' ) );
	}
	return current_user_can( 'manage_options' );
}

/** Royal MCP: one key for one user; the method of the wire counts. */
function standin_royal( WP_REST_Request $request ): WP_REST_Response {
	$key = $request->get_header( 'X-Royal-MCP-API-Key' ) ?? str_replace( 'Bearer ', '', (string) $request->get_header( 'authorization' ) );
	if ( STANDIN_AGENT_KEY !== $key ) {
		return new WP_REST_Response( array( 'error' => 'Unauthorized' ), 401 );
	}
	wp_set_current_user( (int) get_option( 'standin_key_user' ) );
	if ( 'POST' !== $_SERVER['REQUEST_METHOD'] ) {
		return new WP_REST_Response( null, 405 );
	}
	$message = $request->get_json_params();
	if ( ! is_array( $message ) || '2.0' !== ( $message['jsonrpc'] ?? null ) || ! isset( $message['method'] ) ) {
		return new WP_REST_Response( standin_rpc_error( null, -32600, 'Invalid Request' ), 400 );
	}
	$params = $message['params'] ?? array();
	if ( 'tools/call' === $message['method'] && is_array( $params ) && 'wp_create_post' === ( $params['name'] ?? null ) ) {
		standin_ran( '(a post was written)', array( 'title' => $params['arguments']['title'] ?? '' ) );
	}
	return isset( $message['id'] )
		? new WP_REST_Response( array( 'jsonrpc' => '2.0', 'id' => $message['id'], 'result' => new stdClass() ), 200 )
		: new WP_REST_Response( null, 202 );
}

add_action(
	'rest_api_init',
	function ( WP_REST_Server $server ) {
		register_rest_route( 'wp/v2', '/wpmcp', array( 'methods' => 'POST', 'callback' => 'standin_wpmcp', 'permission_callback' => 'is_user_logged_in' ) );
		register_rest_route( 'wp/v2', '/wpmcp/streamable', array( 'methods' => WP_REST_Server::ALLMETHODS, 'callback' => 'standin_wpmcp_streamable', 'permission_callback' => 'is_user_logged_in' ) );
		$engine = array( 'methods' => 'GET, POST, DELETE', 'callback' => 'standin_engine', 'show_in_index' => false, 'permission_callback' => 'standin_engine_caller' );
		register_rest_route( 'mcp/v1', '/http', $engine );
		register_rest_route( 'mcp/v1', '/' . STANDIN_AGENT_TOKEN, $engine );
		$royal = array( 'methods' => 'GET, POST, DELETE', 'callback' => 'standin_royal', 'permission_callback' => '__return_true' );
		register_rest_route( 'royal-mcp/v1', '/mcp', $royal );
		register_rest_route( 'royal-mcp/v1', '/messages', $royal );
		$server->register_route( 'royal-mcp/v1', '/royal-mcp/v1', array( $royal ) ); // beside the namespace's own index
	}
);
