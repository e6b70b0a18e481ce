// Objects in the console of this server.
import { describe } from 'node:test';
import { missingBrowser, startShop } from './browser.ts';
import { testObjects } from './object.suite.ts';

describe('objects in the console', { skip: missingBrowser() }, () => testObjects(startShop));
