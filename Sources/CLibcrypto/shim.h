// OpenSSL's stacks, stream macros and unions are macros or not seen by Swift: each thing that is needed
// of them is a plain typed function here. Nothing in here decides anything.
#ifndef FETCHRES_CLIBCRYPTO_SHIM_H
#define FETCHRES_CLIBCRYPTO_SHIM_H

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdint.h>

// --- Bytes ---

static inline long fetchres_bio_bytes(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }

// --- PKCS#12: what is in the file ---

static inline int fetchres_pkcs7_count(const STACK_OF(PKCS7) *stack) { return sk_PKCS7_num(stack); }
static inline PKCS7 *fetchres_pkcs7_at(const STACK_OF(PKCS7) *stack, int index) {
  return sk_PKCS7_value(stack, index);
}
static inline void fetchres_pkcs7_free_all(STACK_OF(PKCS7) *stack) {
  sk_PKCS7_pop_free(stack, PKCS7_free);
}
static inline int fetchres_pkcs7_kind(const PKCS7 *content) { return OBJ_obj2nid(content->type); }
// What an encrypted part is encrypted with; NULL if it does not say.
static inline const X509_ALGOR *fetchres_pkcs7_algorithm(const PKCS7 *content) {
  if (content->d.encrypted == NULL || content->d.encrypted->enc_data == NULL) return NULL;
  return content->d.encrypted->enc_data->algorithm;
}
static inline int fetchres_bag_count(const STACK_OF(PKCS12_SAFEBAG) *stack) {
  return sk_PKCS12_SAFEBAG_num(stack);
}
static inline const PKCS12_SAFEBAG *fetchres_bag_at(const STACK_OF(PKCS12_SAFEBAG) *stack, int index) {
  return sk_PKCS12_SAFEBAG_value(stack, index);
}
static inline void fetchres_bag_free_all(STACK_OF(PKCS12_SAFEBAG) *stack) {
  sk_PKCS12_SAFEBAG_pop_free(stack, PKCS12_SAFEBAG_free);
}

// --- Algorithm identifiers ---

static inline int fetchres_algorithm_kind(const X509_ALGOR *algorithm) {
  const ASN1_OBJECT *object = NULL;
  X509_ALGOR_get0(&object, NULL, NULL, algorithm);
  return OBJ_obj2nid(object);
}
// Writes the object identifier in dotted digits.
static inline void fetchres_algorithm_text(const X509_ALGOR *algorithm, char *text, int size) {
  const ASN1_OBJECT *object = NULL;
  X509_ALGOR_get0(&object, NULL, NULL, algorithm);
  if (object == NULL || OBJ_obj2txt(text, size, object, 1) <= 0) text[0] = 0;
}
// The numbers that tell how a password becomes a key and with what is encrypted then. A kind is 0 where
// OpenSSL has no name for it; the iterations are -1 where there are none.
struct fetchres_pbe {
  int derivation;
  int cipher;
  int64_t iterations;
};
static inline int64_t fetchres_small_integer(const ASN1_INTEGER *number) {
  int64_t value = 0;
  return number != NULL && ASN1_INTEGER_get_int64(&value, number) == 1 ? value : -1;
}
// False if the parameters do not parse.
static inline bool fetchres_read_pbe(const X509_ALGOR *algorithm, struct fetchres_pbe *found) {
  found->derivation = fetchres_algorithm_kind(algorithm);
  found->cipher = 0;
  found->iterations = -1;
  if (found->derivation == NID_pbes2) {
    PBE2PARAM *parameters = (PBE2PARAM *)ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBE2PARAM),
                                                                  algorithm->parameter);
    if (parameters == NULL) return false;
    found->cipher = fetchres_algorithm_kind(parameters->encryption);
    found->derivation = fetchres_algorithm_kind(parameters->keyfunc);
    if (found->derivation == NID_id_pbkdf2) {
      PBKDF2PARAM *derivation = (PBKDF2PARAM *)ASN1_TYPE_unpack_sequence(
          ASN1_ITEM_rptr(PBKDF2PARAM), parameters->keyfunc->parameter);
      if (derivation != NULL) found->iterations = fetchres_small_integer(derivation->iter);
      PBKDF2PARAM_free(derivation);
    }
    PBE2PARAM_free(parameters);
    return true;
  }
  int cipher = 0;
  if (EVP_PBE_find(EVP_PBE_TYPE_OUTER, found->derivation, &cipher, NULL, NULL) == 1) {
    found->cipher = cipher;
  }
  PBEPARAM *parameters =
      (PBEPARAM *)ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBEPARAM), algorithm->parameter);
  if (parameters != NULL) found->iterations = fetchres_small_integer(parameters->iter);
  PBEPARAM_free(parameters);
  return true;
}

// --- Certificates ---

// On one line, other scripts as they are, control characters escaped.
static inline bool fetchres_print_name(BIO *bio, const X509_NAME *name) {
  return X509_NAME_print_ex(bio, name, 0, XN_FLAG_ONELINE & ~ASN1_STRFLGS_ESC_MSB) >= 0;
}
// Seconds since 1970; false if the time does not parse.
static inline bool fetchres_time_seconds(const ASN1_TIME *time, int64_t *seconds) {
  ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
  int days = 0, rest = 0;
  bool is_time = epoch != NULL && ASN1_TIME_diff(&days, &rest, epoch, time) == 1;
  ASN1_TIME_free(epoch);
  *seconds = (int64_t)days * 86400 + rest;
  return is_time;
}

#endif
