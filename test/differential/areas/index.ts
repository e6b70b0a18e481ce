// The areas that the differential test knows.
import type { Area } from '../case.ts';
import { apply } from './apply.ts';
import { customObjects, definitions } from './definitions.ts';
import { kinds } from './kinds.ts';
import { deletions, lists } from './lists.ts';
import { negotiation, reviews } from './negotiation.ts';
import { patches } from './patches.ts';

/** All areas, by the order in which they are run. */
export const AREAS: readonly Area[] = [definitions, customObjects, patches, apply, kinds, deletions, lists, reviews, negotiation];
