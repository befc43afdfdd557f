/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/link/rpc.h"

#include "base/jsonwrite.h"

#include <string.h>

void rpc_clear(struct rpc *rpc)
{
	json_object_put(rpc->object);
	*rpc = (struct rpc){ 0 };
}

static bool is_id(const struct json_object *id)
{
	return json_object_is_type(id, json_type_string) || json_object_is_type(id, json_type_int);
}

enum rpc_refusal rpc_read(const char *line, size_t length, struct rpc *ret)
{
	struct json_object *id = NULL, *method = NULL, *params = NULL;
	cleanup_error struct error why = { 0 };
	if (json_parse(line, length, "a message", &ret->object, &why) < 0)
		return RPC_NO_JSON;
	if (!json_object_is_type(ret->object, json_type_object))
		return RPC_NO_REQUEST;
	const bool has_id = json_object_object_get_ex(ret->object, "id", &id);
	if (has_id && is_id(id))
		ret->id = id;
	if (!streq(json_get_string(ret->object, "jsonrpc", ""), "2.0") || (has_id && !is_id(id)))
		return RPC_NO_REQUEST;
	if (!json_object_object_get_ex(ret->object, "method", &method)) {
		const bool is_answer = json_object_object_get_ex(ret->object, "result", NULL) ||
				       json_object_object_get_ex(ret->object, "error", NULL);
		return is_answer ? RPC_FINE : RPC_NO_REQUEST;
	}
	if (!json_object_is_type(method, json_type_string))
		return RPC_NO_REQUEST;
	if (json_object_object_get_ex(ret->object, "params", &params) && params &&
	    !json_object_is_type(params, json_type_object))
		return RPC_NO_PARAMS;
	ret->method = json_object_get_string(method);
	ret->params = params;
	return RPC_FINE;
}

static void end(struct strbuf *ret, struct json_writer *writer)
{
	json_write_end(writer, '}');
	strbuf_add(ret, writer->text.data, writer->text.length);
	strbuf_adds(ret, "\n");
}

static void begin(struct json_writer *writer, struct json_object *id)
{
	json_write_begin(writer, NULL, '{');
	json_write_string(writer, "jsonrpc", "2.0");
	json_write_value(writer, "id", id);
}

void rpc_answer(struct strbuf *ret, struct json_object *id, struct json_object *result)
{
	cleanup_json_writer struct json_writer writer = { .is_line = true };
	begin(&writer, id);
	json_write_value(&writer, "result", result);
	end(ret, &writer);
}

void rpc_refuse(struct strbuf *ret, struct json_object *id, enum rpc_refusal why, const char *text)
{
	cleanup_json_writer struct json_writer writer = { .is_line = true };
	begin(&writer, id);
	json_write_begin(&writer, "error", '{');
	json_write_int(&writer, "code", why);
	json_write_string(&writer, "message", text);
	json_write_end(&writer, '}');
	end(ret, &writer);
}
