/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/engine/http-internal.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/library.h"

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

enum {
	MAX_ANSWER = 16 << 20,
	MAX_LINE = 1 << 20,
	CONNECT_MS = 10000,
};

LIBRARY_NOTE("[{\"feature\":\"containers\",\"description\":\"Agents in containers\","
	     "\"priority\":\"recommended\","
	     "\"soname\":[\"libcurl.so.4\",\"libcurl-gnutls.so.4\"]}]");

/* ---- the library ------------------------------------------------------------------------------ */

#define CURL_FUNCTIONS(X) \
	X(global_init)    \
	X(easy_init)      \
	X(easy_cleanup)   \
	X(easy_reset)     \
	X(easy_setopt)    \
	X(easy_perform)   \
	X(easy_getinfo)   \
	X(easy_strerror)  \
	X(slist_append)   \
	X(slist_free_all)

static struct {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a member cannot have any */
#define MEMBER(name) __typeof__(curl_##name) *name;
	CURL_FUNCTIONS(MEMBER)
#undef MEMBER
} curl;

static const struct library_function curl_functions[] = {
#define ENTRY(name) { "curl_" #name, (void **)&curl.name },
	CURL_FUNCTIONS(ENTRY)
#undef ENTRY
};

static struct library curl_library = {
	.name = "libcurl",
	.sonames = { "libcurl.so.4", "libcurl-gnutls.so.4" },
	.purpose = "which speaks to container engines",
	.packages = "libcurl4 or libcurl3-gnutls (Debian), libcurl (Fedora), curl (Arch)",
	.functions = curl_functions,
	.n_functions = ARRAY_SIZE(curl_functions),
};

/* Once for each process: libcurl cannot be unloaded safely. */
static int start_library(struct error *err)
{
	static bool is_started;
	if (is_started)
		return 0;
	if (library_load(&curl_library, err) < 0)
		return -1;
	if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return error_set(err, ERROR_UNAVAILABLE, "libcurl does not start");
	is_started = true;
	return 0;
}

/* ---- a connection ----------------------------------------------------------------------------- */

struct http {
	CURL *easy;
	char *where;  /* for messages */
	char *socket; /* path, or NULL */
	char *base;   /* what precedes a path in URLs */
	char *tls;    /* the directory of the certificates, or NULL */
	char *ca, *certificate, *key;
	bool is_direct; /* it is on this machine, or plain: no proxy sees it */
};

/* NULL: there is none. */
static char *file_in(const char *directory, const char *name)
{
	cleanup_free char *path = path_join(directory, name);
	return access(path, F_OK) == 0 ? TAKE_PTR(path) : NULL;
}

static void set_base(struct http *http, const struct engine_address *address)
{
	const char *host = strstr(address->url, "://");
	host = host ? host + 3 : address->url;
	http->where = xstrdup(address->url);
	http->is_direct = !address->tls || starts_with(host, "127.") ||
			  starts_with(host, "localhost") || starts_with(host, "[::1]");
	if (starts_with(address->url, "unix://")) {
		http->socket = xstrdup(host);
		http->base = xstrdup("http://localhost");
		return;
	}
	http->base = xasprintf("%s://%.*s", address->tls ? "https" : "http",
			       (int)strcspn(host, "/"), host);
	if (address->tls) {
		http->tls = xstrdup(address->tls);
		http->ca = file_in(address->tls, "ca.pem");
		http->certificate = file_in(address->tls, "cert.pem");
		http->key = file_in(address->tls, "key.pem");
	}
}

int http_open(const struct engine_address *address, struct http **ret, struct error *err)
{
	if (start_library(err) < 0)
		return -1;
	/* The system's authorities would not do for an engine that has its own. */
	if (address->tls && access(address->tls, X_OK) < 0)
		return error_set(
			err, ERROR_UNAVAILABLE,
			"cannot read the certificates for the container engine at %s: %s: %s",
			address->url, address->tls, strerror(errno));
	CURL *easy = curl.easy_init();
	if (!easy)
		return error_set(err, ERROR_UNAVAILABLE, "libcurl does not start");
	struct http *http = xcalloc(1, sizeof(*http));
	http->easy = easy;
	set_base(http, address);
	*ret = http;
	return 0;
}

void http_close(struct http *http)
{
	if (!http)
		return;
	curl.easy_cleanup(http->easy);
	free(http->where);
	free(http->socket);
	free(http->base);
	free(http->tls);
	free(http->ca);
	free(http->certificate);
	free(http->key);
	free(http);
}

void http_answer_clear(struct http_answer *answer)
{
	json_object_put(answer->json);
	free(answer->server);
	free(answer->api_version);
	*answer = (struct http_answer){ 0 };
}

/* ---- one exchange ----------------------------------------------------------------------------- */

struct exchange {
	struct http *http;
	const struct http_call *call;
	int64_t deadline_ms;
	struct strbuf text; /* the answer, or the line that is not whole yet */
	struct http_answer answer;
	bool too_long, stopped;
	int read_errno;               /* of the upload */
	char detail[CURL_ERROR_SIZE]; /* of the library, for people; or "" */
};

/* libcurl opens sockets without SOCK_CLOEXEC. */
static curl_socket_t on_open(void *data UNUSED, curlsocktype purpose UNUSED,
			     struct curl_sockaddr *address)
{
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static size_t on_header(char *data, size_t size, size_t count, void *user)
{
	static const char server[] = "server:", version[] = "api-version:";
	struct exchange *e = user;
	size_t length = size * count;
	cleanup_free char *line = xstrndup(data, length);
	line[strcspn(line, "\r\n")] = '\0';
	char **slot = NULL;
	const char *value = line;
	if (!strncasecmp(line, server, sizeof(server) - 1)) {
		slot = &e->answer.server;
		value += sizeof(server) - 1;
	} else if (!strncasecmp(line, version, sizeof(version) - 1)) {
		slot = &e->answer.api_version;
		value += sizeof(version) - 1;
	}
	if (slot)
		replace_string(slot, value + strspn(value, " \t"));
	return length;
}

static bool is_by_lines(struct exchange *e)
{
	long status = 0;
	curl.easy_getinfo(e->http->easy, CURLINFO_RESPONSE_CODE, &status);
	return e->call->on_line && status >= 200 && status < 300;
}

static void give_line(struct exchange *e, const char *line, size_t length)
{
	if (length > 0 && line[length - 1] == '\r')
		length--;
	if (length > 0 && !e->stopped)
		e->stopped = e->call->on_line(line, length, e->call->data) != 0;
}

static void give_lines(struct exchange *e)
{
	char *start = e->text.data, *end = start + e->text.length, *newline;
	while (!e->stopped && (newline = memchr(start, '\n', (size_t)(end - start)))) {
		give_line(e, start, (size_t)(newline - start));
		start = newline + 1;
	}
	memmove(e->text.data, start, (size_t)(end - start) + 1);
	e->text.length = (size_t)(end - start);
}

static size_t on_data(char *data, size_t size, size_t count, void *user)
{
	struct exchange *e = user;
	size_t length = size * count;
	bool by_lines = is_by_lines(e);
	if (e->text.length + length > (by_lines ? MAX_LINE : MAX_ANSWER)) {
		e->too_long = true;
		return 0;
	}
	strbuf_add(&e->text, data, length);
	if (by_lines && length > 0)
		give_lines(e);
	return e->stopped ? 0 : length;
}

/* A pipe whose writer hangs would keep libcurl from looking at its deadline. */
static size_t on_upload(char *buffer, size_t size, size_t count, void *user)
{
	struct exchange *e = user;
	struct pollfd wait = { .fd = e->call->upload, .events = POLLIN };
	for (;;) {
		int ready = poll(&wait, 1, clock_left_ms(e->deadline_ms));
		if (ready == 0)
			e->read_errno = ETIMEDOUT;
		ssize_t got = ready > 0 ? read(e->call->upload, buffer, size * count) : -1;
		if (got >= 0)
			return (size_t)got;
		if (ready != 0 && errno == EINTR)
			continue;
		if (ready != 0)
			e->read_errno = errno;
		return CURL_READFUNC_ABORT;
	}
}

/* The deadline counts suspend, and libcurl's own clock does not. */
static int on_progress(void *user, curl_off_t a UNUSED, curl_off_t b UNUSED, curl_off_t c UNUSED,
		       curl_off_t d UNUSED)
{
	struct exchange *e = user;
	return clock_ms() >= e->deadline_ms;
}

static void set_tls(struct http *http)
{
	CURL *easy = http->easy;
	curl.easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl.easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	curl.easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	if (http->ca)
		curl.easy_setopt(easy, CURLOPT_CAINFO, http->ca);
	if (http->certificate)
		curl.easy_setopt(easy, CURLOPT_SSLCERT, http->certificate);
	if (http->key)
		curl.easy_setopt(easy, CURLOPT_SSLKEY, http->key);
}

static void set_transport(struct http *http, struct exchange *e)
{
	CURL *easy = http->easy;
	curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl.easy_setopt(easy, CURLOPT_ERRORBUFFER, e->detail);
	curl.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
	curl.easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)e->call->timeout_ms);
	curl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl.easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
	curl.easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl.easy_setopt(easy, CURLOPT_XFERINFODATA, e);
	if (http->socket)
		curl.easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, http->socket);
	if (http->is_direct)
		curl.easy_setopt(easy, CURLOPT_PROXY, "");
	if (http->tls)
		set_tls(http);
}

static void set_call(struct http *http, struct exchange *e, struct curl_slist *headers)
{
	CURL *easy = http->easy;
	const struct http_call *call = e->call;
	bool only_reads = streq(call->method, "GET") || streq(call->method, "HEAD");
	curl.easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
	curl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl.easy_setopt(easy, CURLOPT_HEADERDATA, e);
	curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
	curl.easy_setopt(easy, CURLOPT_WRITEDATA, e);
	/* libcurl repeats a call when an old connection turns out to be closed. */
	curl.easy_setopt(easy, CURLOPT_FRESH_CONNECT, only_reads ? 0L : 1L);
	if (streq(call->method, "HEAD"))
		curl.easy_setopt(easy, CURLOPT_NOBODY, 1L);
	else if (call->uploads) {
		curl.easy_setopt(easy, CURLOPT_UPLOAD, 1L);
		curl.easy_setopt(easy, CURLOPT_READFUNCTION, on_upload);
		curl.easy_setopt(easy, CURLOPT_READDATA, e);
	} else if (streq(call->method, "POST")) {
		const char *body = call->body
					   ? json_object_to_json_string_ext(call->body,
									    JSON_C_TO_STRING_PLAIN)
					   : "";
		curl.easy_setopt(easy, CURLOPT_POSTFIELDS, body);
		curl.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
	}
	if (!streq(call->method, "HEAD"))
		curl.easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method);
}

static struct curl_slist *make_headers(const struct http_call *call)
{
	struct curl_slist *headers = curl.slist_append(NULL, "Expect:");
	if (call->uploads) {
		headers = curl.slist_append(headers, "Content-Type: application/x-tar");
		headers = curl.slist_append(headers, "Transfer-Encoding: chunked");
	} else {
		headers = curl.slist_append(headers, "Content-Type: application/json");
	}
	return headers;
}

/* ---- what came of it -------------------------------------------------------------------------- */

static const char *remedy_of(int os_errno)
{
	switch (os_errno) {
	case EACCES:
	case EPERM:
		return ": this user may not use it (docker: \"usermod -aG docker USER\" as root, and log in "
		       "again; or use podman)";
	case ENOENT:
	case ECONNREFUSED:
		return ": it does not run";
	default:
		return "";
	}
}

static int explain_connect(struct exchange *e, CURLcode code, struct error *err)
{
	long os_errno = 0;
	curl.easy_getinfo(e->http->easy, CURLINFO_OS_ERRNO, &os_errno);
	return error_set(err, ERROR_UNAVAILABLE,
			 "cannot connect to the container engine at %s: %s%s", e->http->where,
			 os_errno ? strerror((int)os_errno) : curl.easy_strerror(code),
			 remedy_of((int)os_errno));
}

static int explain_upload(struct exchange *e, struct error *err)
{
	if (e->read_errno == ETIMEDOUT)
		return error_set(err, ERROR_TIMEOUT,
				 "nothing came from the tar file for the container engine");
	return error_set_errno(err, e->read_errno, "read the tar file for the container engine");
}

static int explain_other(struct exchange *e, CURLcode code, struct error *err)
{
	cleanup_free char *detail = visible(*e->detail ? e->detail : curl.easy_strerror(code));
	const char *tls = e->http->tls;
	long status = 0;
	/* An engine that wants another certificate of ours says so after the handshake. */
	curl.easy_getinfo(e->http->easy, CURLINFO_RESPONSE_CODE, &status);
	if (tls && !status)
		return error_set(err, ERROR_UNAVAILABLE,
				 "no trusted connection to the container engine at %s: %s "
				 "(certificates: %s)",
				 e->http->where, detail, tls);
	return error_set(err, ERROR_UNAVAILABLE,
			 "the container engine at %s did not complete its answer: %s",
			 e->http->where, detail);
}

static int explain(struct exchange *e, CURLcode code, struct error *err)
{
	if (e->read_errno)
		return explain_upload(e, err);
	if (e->too_long)
		return error_set(err, ERROR_CORRUPT,
				 "the container engine at %s sent too long an answer",
				 e->http->where);
	switch (code) {
	case CURLE_COULDNT_CONNECT:
	case CURLE_COULDNT_RESOLVE_HOST:
		return explain_connect(e, code, err);
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_ABORTED_BY_CALLBACK:
		return error_set(err, ERROR_TIMEOUT,
				 "the container engine at %s did not answer %s within %d s",
				 e->http->where, e->call->method,
				 (e->call->timeout_ms + 999) / 1000);
	default:
		return explain_other(e, code, err);
	}
}

static int finish(struct exchange *e, struct error *err)
{
	long status = 0;
	curl.easy_getinfo(e->http->easy, CURLINFO_RESPONSE_CODE, &status);
	e->answer.status = (int)status;
	if (is_by_lines(e)) {
		give_line(e, strbuf_text(&e->text), e->text.length);
		return 0;
	}
	size_t length = e->text.length;
	const char *text = strbuf_text(&e->text);
	if (strspn(text, " \t\r\n") == length)
		return 0;
	cleanup_error struct error why = { 0 };
	if (json_parse(text, length, "answer", &e->answer.json, &why) == 0)
		return 0;
	/* A proxy or a router explains a refusal in words. */
	if (status >= 400) {
		cleanup_free char *words = xstrndup(text, length < 200 ? length : 200);
		e->answer.json = json_object_new_object();
		json_set(e->answer.json, "message", json_text(words));
		return 0;
	}
	return error_set(err, ERROR_CORRUPT, "the container engine at %s answered nonsense: %s",
			 e->http->where, why.message);
}

static void exchange_clear(struct exchange *e)
{
	strbuf_free(&e->text);
	http_answer_clear(&e->answer);
	curl.easy_reset(e->http->easy);
}

int http_request(struct http *http, const struct http_call *call, struct http_answer *ret,
		 struct error *err)
{
	CLEANUP(exchange_clear)
	struct exchange e = { .http = http,
			      .call = call,
			      .deadline_ms = clock_ms() + call->timeout_ms };
	cleanup_free char *url = xasprintf("%s%s", http->base, call->path);
	struct curl_slist *headers = make_headers(call);
	curl.easy_setopt(http->easy, CURLOPT_URL, url);
	set_transport(http, &e);
	set_call(http, &e, headers);
	CURLcode code = curl.easy_perform(http->easy);
	curl.slist_free_all(headers);
	if (code != CURLE_OK && !e.stopped)
		return explain(&e, code, err);
	if (finish(&e, err) < 0)
		return -1;
	*ret = e.answer;
	e.answer = (struct http_answer){ 0 };
	return 0;
}
