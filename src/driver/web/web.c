/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/web/web.h"

#include "base/library.h"
#include "base/text.h"

#include <curl/curl.h>
#include <string.h>

enum { CONNECT_MS = 10000, STATUS_REFUSED = 300 };

#define CURL_FUNCTIONS(X) \
	X(global_init)    \
	X(easy_init)      \
	X(easy_cleanup)   \
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
	.purpose = "which speaks to web servers",
	.packages = "libcurl4 or libcurl3-gnutls (Debian), libcurl (Fedora), curl (Arch)",
	.functions = curl_functions,
	.n_functions = ARRAY_SIZE(curl_functions),
};

struct answer {
	struct strbuf line;
	bool skips; /* the rest of a line that is too long */
	bool came;  /* something did */
	web_handler handler;
	void *context;
};

static size_t on_bytes(char *bytes, size_t one UNUSED, size_t length, void *context)
{
	struct answer *answer = context;
	answer->came = true;
	for (size_t i = 0; answer->handler && i < length; i++) {
		if (bytes[i] != '\n') {
			answer->skips |= answer->line.length >= WEB_LINE_MAX;
			if (!answer->skips)
				strbuf_add(&answer->line, &bytes[i], 1);
			continue;
		}
		if (!answer->skips && answer->line.length)
			answer->handler(strbuf_text(&answer->line), answer->context);
		answer->skips = false;
		strbuf_drop(&answer->line, answer->line.length);
	}
	return length;
}

static struct curl_slist *make_headers(const struct web_request *request)
{
	struct curl_slist *headers = NULL;
	if (request->authorization) {
		cleanup_free char *header = xasprintf("Authorization: %s", request->authorization);
		headers = curl.slist_append(headers, header);
	}
	return request->body ? curl.slist_append(headers, "Content-Type: application/json")
			     : headers;
}

static void prepare(CURL *easy, const struct web_request *request, struct curl_slist *headers,
		    struct answer *answer)
{
	(void)curl.easy_setopt(easy, CURLOPT_URL, request->url);
#if LIBCURL_VERSION_NUM >= 0x075500
	(void)curl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	(void)curl.easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	(void)curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	(void)curl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	(void)curl.easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
	(void)curl.easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
	(void)curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
	(void)curl.easy_setopt(easy, CURLOPT_WRITEDATA, answer);
	if (request->body)
		(void)curl.easy_setopt(easy, CURLOPT_POSTFIELDS, request->body);
}

/* The host alone: "https://ntfy.sh". */
static char *where(const struct web_request *request)
{
	const char *host = strstr(request->url, "://");
	host = host ? host + 3 : request->url;
	const char *end = host + strcspn(host, "/?#");
	const char *login = memrchr(host, '@', (size_t)(end - host));
	if (login)
		host = login + 1;
	cleanup_free char *name = xstrndup(host, (size_t)(end - host));
	return visible(name);
}

static int fetch(const struct web_request *request, struct answer *answer, struct error *err)
{
	if (!curl_library.is_loaded && (library_load(&curl_library, err) < 0 ||
					curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK))
		return err && err->message
			       ? -1
			       : error_set(err, ERROR_UNAVAILABLE, "libcurl does not start");
	CURL *easy = curl.easy_init();
	if (!easy)
		return error_set(err, ERROR_UNAVAILABLE, "libcurl does not start");
	struct curl_slist *headers = make_headers(request);
	cleanup_free char *name = where(request);
	long status = 0;
	prepare(easy, request, headers, answer);
	const CURLcode code = curl.easy_perform(easy);
	(void)curl.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	curl.slist_free_all(headers);
	curl.easy_cleanup(easy);
	if (status >= STATUS_REFUSED)
		return error_set(err, ERROR_CHILD, "%s refuses it with status %ld", name, status);
	if (code == CURLE_OPERATION_TIMEDOUT)
		return error_set(err, ERROR_TIMEOUT, "%s does not answer", name);
	return code == CURLE_OK ? 0
				: error_set(err, ERROR_UNAVAILABLE, "%s: %s", name,
					    curl.easy_strerror(code));
}

int web_post(const struct web_request *request, struct error *err)
{
	struct answer answer = { 0 };
	return fetch(request, &answer, err);
}

int web_follow(const struct web_request *request, web_handler handler, void *context,
	       struct error *err)
{
	struct answer answer = { .handler = handler, .context = context };
	cleanup_error struct error why = { 0 };
	const int r = fetch(request, &answer, &why);
	strbuf_free(&answer.line);
	if (r < 0 && answer.came && why.code == ERROR_TIMEOUT)
		error_clear(&why);
	return why.message ? error_move(err, &why) : 0;
}
