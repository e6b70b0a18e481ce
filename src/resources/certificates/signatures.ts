// The signatures of certificate requests: resources have no cryptography, so a verifier is given to the rows.
import type { FieldError, KubeObject } from '../../apimachinery/index.ts';
import type { Resource } from '../../registry/index.ts';
import { checkRequestSignature } from './certificate-signing-request.ts';
import { type SignatureClaim, checkSignature } from './pod-keys.ts';

/** What verifies signatures. */
export interface SignatureVerifier {
  /** Whether signatures of an algorithm can be verified. */
  canVerify(algorithm: string): boolean;
  verify(claim: SignatureClaim): boolean;
}

/** The rows of both kinds of certificate requests with the signatures of new ones verified; other rows as they are. */
export function withSignatures(row: Resource, { verify, canVerify }: SignatureVerifier): Resource {
  if (row.custom || row.group !== 'certificates.k8s.io') return row;
  const { strategy } = row;
  const own = (object: KubeObject, context: Parameters<NonNullable<typeof strategy.validate>>[1]): readonly FieldError[] =>
    strategy.validate?.(object, context) ?? [];
  const validates: Readonly<Record<string, typeof strategy.validate>> = {
    CertificateSigningRequest: (object, context) => [...checkRequestSignature({ object, verify, canVerify }), ...own(object, context)],
    PodCertificateRequest: (object, context) => [...own(object, context), ...checkSignature(object, verify)],
  };
  const validate = validates[row.kind];
  return validate === undefined ? row : { ...row, strategy: { ...strategy, validate } };
}
