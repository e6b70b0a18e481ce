// The door of test-support: servers, clients and waits for the tests of this repository.
export { type ClientRequest, type ClientResponse, type TestClient, createTestClient } from './client.ts';
export { findPorts } from './ports.ts';
export { type RawConnection, exchangeRaw, openRawConnection } from './raw-connection.ts';
export { type CountSteps, type TurnClock, createTurnClock, startStepCounter } from './steps.ts';
export { type TestServer, requestUntil, startTestServer, testTokens } from './test-server.ts';
export { eventually, readMainThreadMs, recordLongestTurn } from './wait.ts';
