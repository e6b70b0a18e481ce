// The day on which a token from a Secret was last used, as a label of the Secret. Mirrors kube-apiserver, whose record kube-controller-manager reads before it
// removes tokens that are used no more: it is kept whichever of the two fills such Secrets.
import type { KubeObject } from '../../apimachinery/index.ts';
import { createSystemClient } from '../../registry/index.ts';
import type { ControllerContext } from '../context.ts';

const LAST_USED_LABEL = 'kubernetes.io/legacy-token-last-used';

/** Records that a token of a Secret was used today. */
export type NoteTokenUse = (secret: KubeObject) => void;

/** Makes the function that does so, once a day for a Secret. */
export function createTokenUse(context: ControllerContext): NoteTokenUse {
  const secrets = createSystemClient(context, ['', 'v1', 'secrets'], 'kube-apiserver');
  /** Secrets whose use is being written down. */
  const noted = new Set<string>();
  return ({ metadata: { namespace = '', name = '', labels } }) => {
    const today = new Date(context.clock.now()).toISOString().slice(0, 10);
    const text = `${namespace}/${name}`;
    if (labels?.[LAST_USED_LABEL] === today || noted.has(text)) return;
    noted.add(text);
    const mark = (current: KubeObject): KubeObject =>
      ({ ...current, metadata: { ...current.metadata, labels: { ...current.metadata.labels, [LAST_USED_LABEL]: today } } });
    void secrets.update({ namespace, name }, '', mark).catch((error: unknown) => context.report('serviceaccount-token', text, error))
      .finally(() => noted.delete(text));
  };
}
