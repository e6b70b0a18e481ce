// History and access in the console of this server.
import { describe } from 'node:test';
import { missingBrowser, startShop } from './browser.ts';
import { testExploration } from './explore.suite.ts';

describe('history and access in the console', { skip: missingBrowser() }, () => testExploration(startShop));
