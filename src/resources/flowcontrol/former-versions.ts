// Objects of flowcontrol.apiserver.k8s.io/v1beta1 to v1beta3, which are served no more, as v1 has them: shares have another name in the first two, and
// zero means the default in all of them.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { FormerVersion } from '../../registry/index.ts';
import { readPointer, setZero } from '../common/defaults.ts';
import { formerSchema, sameAs } from '../common/former-versions.ts';

const GROUP = 'flowcontrol.apiserver.k8s.io';
const DEFAULT_SHARES = 30;

/** An annotation that the conversion from v1beta3 alone may write. */
export const PRESERVE_ZERO = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';

function renameShares(level: KubeObject): KubeObject {
  const limited = readPointer(level['spec'], 'limited');
  if (limited === undefined) return level;
  setZero(limited, { assuredConcurrencyShares: DEFAULT_SHARES });
  limited['nominalConcurrencyShares'] = limited['assuredConcurrencyShares'];
  delete limited['assuredConcurrencyShares'];
  return level;
}

/** Zero shares are the default unless the annotation that v1beta3 has for them keeps them. */
function keepZeroShares(level: KubeObject): KubeObject {
  const { [PRESERVE_ZERO]: kept, ...annotations } = level.metadata.annotations ?? {};
  const limited = readPointer(level['spec'], 'limited');
  if (kept !== undefined) level.metadata.annotations = annotations;
  if (limited !== undefined) setZero(limited, { nominalConcurrencyShares: kept === undefined ? DEFAULT_SHARES : 0 });
  return level;
}

const formerLevel: FormerVersion = { schema: formerSchema('flowcontrol.v1beta2.PriorityLevelConfiguration'), convert: renameShares };

/** Former versions of PriorityLevelConfiguration. */
export const formerPriorityLevels: Readonly<Record<string, FormerVersion>> = {
  [`${GROUP}/v1beta1`]: formerLevel, [`${GROUP}/v1beta2`]: formerLevel, [`${GROUP}/v1beta3`]: { convert: keepZeroShares },
};

/** Former versions of FlowSchema. */
export const formerFlowSchemas = sameAs(`${GROUP}/v1beta1`, `${GROUP}/v1beta2`, `${GROUP}/v1beta3`);
