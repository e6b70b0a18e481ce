// A key on P-256, as tests of requests for certificates of pods use it: a request that it signed, its public key, and certificates that an authority
// made for it in 2024, the second with names that no certificate should have.
import { readFileSync } from 'node:fs';

/** The certificate request, which is empty but for its key. */
export const CERTIFICATE_REQUEST = 'MIG5MGICAQAwADBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGKl9u54PKqU80CJ9NlwThlgcIu+OElfOMiOvtClRxQxCByg1HNZq1rNmFgU7HAg2YtJsumwTB/x+2L05atyToCgADAKBggqhkjOPQQDAgNHADBEAiAaPIDTwBA0tgmqsIR5zdnlJWhNQykK4lyVKZIQPe306wIgELJ8eAotiM5gTuIeb0+bGgcjjBF4uU4La+42gV3/H/M=';

/** The key itself, as SPKI. */
export const PUBLIC_KEY = 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYqX27ng8qpTzQIn02XBOGWBwi744SV84yI6+0KVHFDEIHKDUc1mrWs2YWBTscCDZi0my6bBMH/H7YvTlq3JOgA==';

/** A certificate of two hours. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBADCBpwIBATAKBggqhkjOPQQDAjANMQswCQYDVQQDDAJjYTAeFw0yNDAxMDEw
MDAwMDBaFw0yNDAxMDEwMjAwMDBaMAwxCjAIBgNVBAMMAXgwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAARipfbueDyqlPNAifTZcE4ZYHCLvjhJXzjIjr7QpUcUMQgc
oNRzWatazZhYFOxwINmLSbLpsEwf8fti9OWrck6AMAoGCCqGSM49BAMCA0gAMEUC
IQDsH5Ux3XonnfXt2WedcKgvqbjORc7DrKqf8tQcljZ/SwIgUtu2QNdBYAMAxKa1
0PkM6Umum09p+lxPJTS7W2tR/fQ=
-----END CERTIFICATE-----
`;

/** The same with the names .a and b..c and the address x. */
export const NAMED_CERTIFICATE = readFileSync(new URL('../../../../test/data/certificate-with-names.pem', import.meta.url), 'utf8');
