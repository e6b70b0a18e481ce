// What requests for certificates and bundles of trust need beyond the right to write them: the right to approve, sign or attest for their signer. The
// client signer of kube-apiserver is never asked for membership in system:masters. Mirrors CertificateApproval, CertificateSigning,
// ClusterTrustBundleAttest and CertificateSubjectRestriction.
import { type KubeObject, equalJson, forbidden, forbiddenField, invalid, parseCertificateRequest, parsePem } from '../../../apimachinery/index.ts';
import { type AdmissionAttributes, groupResource } from '../../../registry/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import { changesOnlyOwners, isRow, refuse, writes } from '../../refusal.ts';

type Verb = 'approve' | 'sign' | 'attest';

/** Whether a caller may do this with a signer, of which `name` is the name or `domain/*`. */
export type MayUseSigner = (user: AdmissionAttributes['context']['user'], verb: Verb, name: string) => Promise<boolean>;

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';
const TRUST_BUNDLES = 'certificates.k8s.io/clustertrustbundles';
const POD_REQUESTS = 'certificates.k8s.io/podcertificaterequests';
const MASTERS_GROUP = 'system:masters';

const isRequest = ({ resource }: AdmissionAttributes): boolean => resource.group === 'certificates.k8s.io' && resource.plural === 'certificatesigningrequests';
const signerOf = (object: KubeObject | undefined): string => ((object?.['spec'] ?? {}) as { signerName?: string }).signerName ?? '';

/** The right to a signer is that to its name or to all of its domain. */
async function mayUseSigner({ context: { user } }: AdmissionAttributes, { verb, signer }: { readonly verb: Verb; readonly signer: string },
  mayUse: MayUseSigner): Promise<boolean> {
  return await mayUse(user, verb, signer) || mayUse(user, verb, `${signer.split('/', 1)[0] ?? ''}/*`);
}

async function requireSigner(attributes: AdmissionAttributes, verb: Verb, mayUse: MayUseSigner): Promise<void> {
  const { oldObject, resource, name } = attributes;
  const signer = signerOf(oldObject);
  if (await mayUseSigner(attributes, { verb, signer }, mayUse)) return;
  throw forbidden(groupResource(resource), name, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`);
}

/** What a signer writes: the certificate, and that there will be none. */
function signedPart(request: KubeObject | undefined): unknown {
  const { certificate, conditions } = (request?.['status'] ?? {}) as { certificate?: string; conditions?: { type?: string }[] | null };
  return [certificate ?? '', (conditions ?? []).filter(({ type }) => type === 'Failed')];
}

/** A bundle of a signer is written by those that may speak for the signer; its name is not changed by an update. */
async function requireAttestation(attributes: AdmissionAttributes, mayUse: MayUseSigner): Promise<void> {
  const { object, oldObject } = attributes;
  const signer = signerOf(object);
  if (object === undefined || signer === '' || changesOnlyOwners(object, oldObject)) return;
  if (await mayUseSigner(attributes, { verb: 'attest', signer }, mayUse)) return;
  throw refuse(attributes, `user not permitted to attest for signerName ${JSON.stringify(signer)}`);
}

/** The plugins, in their order. */
export function createCertificateAdmission(mayUse: MayUseSigner): AdmissionPlugin[] {
  return [
    {
      name: 'CertificateApproval',
      handles: (attributes) => isRequest(attributes) && attributes.operation === 'UPDATE' && attributes.subresource === 'approval',
      validate: (attributes) => requireSigner(attributes, 'approve', mayUse),
    },
    {
      name: 'CertificateSigning',
      handles: (attributes) => isRequest(attributes) && attributes.operation === 'UPDATE' && attributes.subresource === 'status',
      async validate(attributes) {
        if (!equalJson(signedPart(attributes.object), signedPart(attributes.oldObject))) await requireSigner(attributes, 'sign', mayUse);
      },
    },
    {
      name: 'ClusterTrustBundleAttest',
      handles: (attributes) => writes(attributes, TRUST_BUNDLES, ['CREATE', 'UPDATE']),
      validate: (attributes) => requireAttestation(attributes, mayUse),
    },
    {
      name: 'CertificateSubjectRestriction',
      handles: (attributes) => isRequest(attributes) && attributes.operation === 'CREATE' && attributes.subresource === '',
      validate: restrictSubject,
    },
  ];
}

/**
 * A user that answers a PodCertificateRequest needs the right to sign. The reference asks for it in its storage, where a refusal is a problem of
 * validation: the plugin runs after the others.
 */
export function createPodCertificateSigning(mayUse: MayUseSigner): AdmissionPlugin {
  return {
    name: 'PodCertificateSigning',
    handles: ({ resource, subresource, operation }) => operation === 'UPDATE' && subresource === 'status' && isRow(resource, POD_REQUESTS),
    async validate(attributes) {
      const { object, oldObject, resource: { group, kind }, name, context: { user } } = attributes;
      if (equalJson(object?.['status'] ?? {}, oldObject?.['status'] ?? {})) return;
      const signer = signerOf(oldObject);
      if (await mayUseSigner(attributes, { verb: 'sign', signer }, mayUse)) return;
      const text = `User ${JSON.stringify(user.name)} is not permitted to "sign" for signer ${JSON.stringify(signer)}`;
      throw invalid({ group, kind }, name, [forbiddenField('spec.signerName', text)]);
    },
  };
}

function restrictSubject({ object, resource, name }: AdmissionAttributes): void {
  if (signerOf(object) !== CLIENT_SIGNER) return;
  const { request = '' } = (object?.['spec'] ?? {}) as { request?: string };
  const [block] = parsePem(atob(request));
  const parts = block === undefined ? undefined : parseCertificateRequest(block.bytes);
  if (parts === undefined) throw forbidden(groupResource(resource), name, 'failed to parse CSR');
  if (!parts.organizations.includes(MASTERS_GROUP)) return;
  throw forbidden(groupResource(resource), name, `use of ${CLIENT_SIGNER} signer with ${MASTERS_GROUP} group is not allowed`);
}
