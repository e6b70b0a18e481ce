// What kubectl explain says of the built-in kinds: short sentences, one text for each group.
import { metaDescriptions } from './meta.data.ts';

/** Descriptions in the notation that loadSchemas of apimachinery reads. */
export const descriptionData: readonly string[] = [metaDescriptions];
