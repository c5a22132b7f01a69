<?php
/**
 * What AI agents reach: abilities over REST (docs/platform I.9, III.11), which the packaged
 * WordPress is too old for, and the servers that run them as tools. STANDIN_AGENTS says whose
 * reading: "0.5" is mcp-adapter 0.5 and later on WordPress 7.1, "0.4" is mcp-adapter up to
 * 0.4.1 on 6.9. Everything that runs is reported as "agent", with its input and user.
 */

require __DIR__ . '/agents-abilities.php';
require __DIR__ . '/agents-adapter.php';
require __DIR__ . '/agents-tools.php';
require __DIR__ . '/agents-others.php';

/** Whether the site reads messages as the releases up to 0.4.1 did. */
function standin_agents_old(): bool {
	return '0.4' === $_SERVER['STANDIN_AGENTS'];
}

function standin_ran( string $what, $input ): void {
	standin_report( array( 'at' => 'agent', 'ran' => $what, 'input' => $input, 'user' => get_current_user_id() ) );
}

/** A message that the servers cannot take at all: they answer 500. */
class Standin_Unreadable extends Exception {}

function standin_rpc_error( $id, int $code, string $message ): array {
	return array( 'jsonrpc' => '2.0', 'id' => $id, 'error' => compact( 'code', 'message' ) );
}

/** Runs a REST call inside, as the servers' own REST tools do: it is reported as a dispatch of its own. */
function standin_inner( string $method, string $route, array $input ) {
	list( $path, $query ) = explode( '?', $route, 2 ) + array( '', '' );
	$request              = new WP_REST_Request( $method, $path );
	if ( in_array( $method, array( 'GET', 'DELETE' ), true ) ) {
		parse_str( $query, $parameters );
		$request->set_query_params( array_merge( $parameters, 'GET' === $method ? $input : array() ) );
	} else {
		$request->set_body_params( $input );
	}
	return rest_do_request( $request )->get_data();
}
