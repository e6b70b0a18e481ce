// The door of testing: servers and clients for tests, those of this repository and those of its users.
export { type ClientRequest, type ClientResponse, type TestClient, createTestClient } from './client.ts';
export { type TestServer, requestUntil, startTestServer, testTokens } from './test-server.ts';
export { eventually, recordLongestTurn } from './wait.ts';
