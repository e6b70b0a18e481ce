// Servers that are started with flags of their own, for the rows that need them.
import type { Setup } from '../row.ts';
import { auditing } from './auditing.ts';
import { authentication } from './authentication.ts';
import { authorization, modes } from './authorization.ts';
import { collecting } from './collecting.ts';
import { electing } from './electing.ts';
import { ending } from './ending.ts';
import { extending } from './extending.ts';
import { fairness, inFlight } from './limiting.ts';
import { limits } from './limits.ts';
import { parting } from './parting.ts';
import { serving } from './serving.ts';
import { storing } from './storing.ts';
import { signing } from './signing.ts';
import { streaming } from './streaming.ts';
import { unreadable } from './unreadable.ts';

export const setups: readonly Setup[] = [serving, authentication, signing, authorization, modes, auditing, storing, parting, unreadable, streaming, limits,
  collecting, electing, inFlight, fairness, extending, ending];
