// Is loaded by processes that serve connections, before the server: the meter of their main threads.
import { connect } from 'node:net';
import { METER_SOCKET, StretchMeter, answerWith } from './stretches.ts';

const path = process.env[METER_SOCKET];
if (path !== undefined) answerWith(new StretchMeter(), connect(path));
