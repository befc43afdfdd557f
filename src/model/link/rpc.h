/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The lines of the Model Context Protocol over standard input and output: each is one message of
 * JSON-RPC 2.0.  The other side is hostile input.
 */
#pragma once

#include "base/jsonio.h"

enum { RPC_LINE_MAX = 1 << 20 /* with its newline */ };

/* Why a message is refused, in the numbers of JSON-RPC. */
enum rpc_refusal {
	RPC_FINE = 0,
	RPC_NO_JSON = -32700,
	RPC_NO_REQUEST = -32600,
	RPC_NO_METHOD = -32601,
	RPC_NO_PARAMS = -32602,
};

/* Zero-initialised is empty. */
struct rpc {
	struct json_object *object; /* the whole message */
	struct json_object *id; /* a text or a whole number, of object; NULL: no answer is due */
	const char *method;     /* of object; NULL: it is an answer, or nothing that we know */
	struct json_object *params; /* an object, of object; NULL: none */
};
void rpc_clear(struct rpc *rpc);
#define cleanup_rpc CLEANUP(rpc_clear)

/* Read a line without its newline.  Else why it is refused, and *ret has the id if that is known. */
enum rpc_refusal rpc_read(const char *line, size_t length, struct rpc *ret);

/* Add the line of an answer.  id: NULL when it is not known.  result and id stay the caller's. */
void rpc_answer(struct strbuf *ret, struct json_object *id, struct json_object *result);
void rpc_refuse(struct strbuf *ret, struct json_object *id, enum rpc_refusal why, const char *text);
