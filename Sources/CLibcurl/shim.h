// libcurl's option calls are variadic, and a variadic call is neither importable nor checked. One
// setter per kind of argument gives each of them a type.
#ifndef FETCHRES_CLIBCURL_SHIM_H
#define FETCHRES_CLIBCURL_SHIM_H

#include <curl/curl.h>
#include <stddef.h>

typedef size_t (*fetchres_curl_data_callback)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode fetchres_curl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode fetchres_curl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode fetchres_curl_set_string(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode fetchres_curl_set_list(CURL *easy, CURLoption option,
                                              struct curl_slist *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode fetchres_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}
// The bytes are not copied: they have to stay where they are until the handle is reset.
static inline CURLcode fetchres_curl_set_lent_bytes(CURL *easy, CURLoption option,
                                                    const void *bytes, size_t count) {
  struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_NOCOPY};
  return curl_easy_setopt(easy, option, &blob);
}
static inline CURLcode fetchres_curl_set_nothing(CURL *easy, CURLoption option) {
  return curl_easy_setopt(easy, option, NULL);
}
static inline CURLcode fetchres_curl_set_data_callback(CURL *easy, CURLoption option,
                                                       fetchres_curl_data_callback callback) {
  return curl_easy_setopt(easy, option, callback);
}
static inline CURLcode fetchres_curl_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode fetchres_curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode fetchres_curl_get_string(CURL *easy, CURLINFO info, char **value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode fetchres_curl_get_pointer(CURL *easy, CURLINFO info, void **value) {
  return curl_easy_getinfo(easy, info, (char **)value);
}
static inline CURLMcode fetchres_curl_multi_set_long(CURLM *multi, CURLMoption option,
                                                     long value) {
  return curl_multi_setopt(multi, option, value);
}
// The result of a finished transfer; the union inside CURLMsg is not reached from Swift.
static inline CURLcode fetchres_curl_message_result(const CURLMsg *message) {
  return message->data.result;
}

#endif
