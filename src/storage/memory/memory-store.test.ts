// The memory Store against the suite of all Stores.
import { describeStore } from '../store.suite.ts';
import { createMemoryStore } from './memory-store.ts';

describeStore('createMemoryStore', async (clock) => createMemoryStore({ clock }));
