// The PEM of a CertificateSigningRequest.
import { parsePem } from '../../apimachinery/index.ts';
import { toText } from '../common/values.ts';

/** The text of base64; '' where it is none. */
export function decodeBase64(text: string): string {
  try {
    return atob(text);
  } catch {
    return '';
  }
}

/** The DER of the request that a field holds as base64; undefined where it holds no PEM of that type. */
export function readRequestBlock(request: unknown): Uint8Array | undefined {
  const [block] = parsePem(decodeBase64(toText(request)));
  return block?.type === 'CERTIFICATE REQUEST' ? block.bytes : undefined;
}
