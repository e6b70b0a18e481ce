// Groups of the Kubernetes community and the annotation by which a definition in one of them names its approval. Mirrors the reference's
// api-approved.kubernetes.io policy, its texts included.

const APPROVAL_ANNOTATION = 'api-approved.kubernetes.io';
const REVIEW_LINK = 'https://github.com/kubernetes/enhancements/pull/1111';

/** Whether a group is the Kubernetes community's: its APIs need an approval. */
export function isProtectedGroup(group: string): boolean {
  return ['k8s.io', 'kubernetes.io'].some((domain) => group === domain || group.endsWith(`.${domain}`));
}

/** What the approval annotation of a definition says. */
export interface Approval {
  readonly type: 'approved' | 'bypassed' | 'missing' | 'invalid';
  readonly message: string;
}

/** Reads the approval annotation. */
export function readApproval(annotations: Readonly<Record<string, string>> | undefined): Approval {
  const value = annotations?.[APPROVAL_ANNOTATION];
  const must = `protected groups must have approval annotation "${APPROVAL_ANNOTATION}"`;
  if (!value) return { type: 'missing', message: `${must}, see ${REVIEW_LINK}` };
  if (/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#\s]\S*$/.test(value)) return { type: 'approved', message: `approved in ${value}` };
  if (value.startsWith('unapproved')) return { type: 'bypassed', message: `not approved: ${JSON.stringify(value)}` };
  return { type: 'invalid', message: `${must} with either a URL or a reason starting with "unapproved", see ${REVIEW_LINK}` };
}
