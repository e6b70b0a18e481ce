// The authorities that a conversion webhook is trusted by: whether a caBundle holds certificates at all. Their contents are verified when a
// connection is made.
import { type FieldError, type KubeObject, invalidValue } from '../../apimachinery/index.ts';
import { specOf } from '../types.ts';

const block = /-----BEGIN CERTIFICATE-----\r?\n([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/g;
const NO_CERTIFICATES = 'data does not contain any valid RSA or ECDSA certificates';
const SEQUENCE_TAG = 0x30;

function decodeBase64(text: string): string | undefined {
  try {
    return atob(text.replace(/\s/g, ''));
  } catch {
    return undefined;
  }
}

/** A DER element that is a sequence and fills the bytes. */
function isSequence(der: string): boolean {
  if (der.charCodeAt(0) !== SEQUENCE_TAG || der.length < 2) return false;
  const first = der.charCodeAt(1);
  if (first < 0x80) return der.length === 2 + first;
  let length = 0;
  const digits = first & 0x7f;
  for (let i = 0; i < digits && i < 4; i++) length = length * 256 + der.charCodeAt(2 + i);
  return der.length === 2 + digits + length;
}

/** Why a bundle holds no authority; undefined when it does, or is empty. */
export function bundleProblem(bundle: string | undefined): string | undefined {
  if (bundle === undefined || bundle === '') return undefined;
  const pem = decodeBase64(bundle) ?? '';
  const found = [...pem.matchAll(block)].map(([, body]) => decodeBase64(body as string));
  if (found.length === 0) return NO_CERTIFICATES;
  return found.every((der) => der !== undefined && isSequence(der)) ? undefined : 'x509: malformed certificate';
}

/** The caBundle of a definition's conversion webhook. */
export function bundleOf(definition: KubeObject): string | undefined {
  const { conversion } = specOf(definition);
  return conversion?.strategy === 'Webhook' ? conversion.webhook?.clientConfig?.caBundle : undefined;
}

/** A bundle that is good cannot be replaced by one that is not. */
export function validateBundleUpdate(definition: KubeObject, old: KubeObject): FieldError[] {
  const problem = bundleProblem(bundleOf(definition));
  if (problem === undefined || bundleProblem(bundleOf(old)) !== undefined) return [];
  return [invalidValue('spec.conversion.webhookClientConfig.caBundle', bundleOf(definition), `unable to load root certificates: ${problem}`)];
}
