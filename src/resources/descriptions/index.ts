// What kubectl explain says of the built-in kinds: short sentences, one text for each group.
import { configurationDescriptions } from './configuration.data.ts';
import { containerDescriptions } from './containers.data.ts';
import { metaDescriptions } from './meta.data.ts';
import { podDescriptions } from './pods.data.ts';
import { serviceDescriptions } from './services.data.ts';
import { volumeDescriptions } from './volumes.data.ts';
import { workloadDescriptions } from './workloads.data.ts';

/** Descriptions in the notation that loadSchemas of apimachinery reads. The first text has what the others share. */
export const descriptionData: readonly string[] = [
  metaDescriptions, podDescriptions, containerDescriptions, volumeDescriptions, workloadDescriptions, serviceDescriptions, configurationDescriptions,
];
